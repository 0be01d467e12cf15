package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/decoy-dp/decoy/internal/spelling"
)

// A result is what a verb prints on standard output: with --json the value itself, else its text,
// in which cells that end in tabs line up.
type result interface{ text(w io.Writer) }

// print writes a result.
func (t *terminal) print(r result) error {
	if t.json {
		var text bytes.Buffer
		if err := encode(&text, r); err != nil {
			return err
		}
		_, err := t.stdout.Write(visibleJSON(text.Bytes()))
		return err
	}
	w := tabwriter.NewWriter(t.stdout, 0, 0, 2, ' ', 0)
	r.text(w)
	return w.Flush()
}

// encode writes a value as indented JSON.
func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// visibleJSON escapes what package json leaves of the characters that a terminal obeys. All of them
// stand inside strings.
func visibleJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r >= 0x7f && spelling.Visible(string(r)) != string(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// listing is a result of things that are all alike: a line for each, below a heading.
type listing[T any] struct {
	items []T
	head  string // cells with tabs between, as line gives them
	line  func(T) string
}

func (l listing[T]) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	err := encode(&text, append([]T{}, l.items...)) // never null
	return text.Bytes(), err
}

func (l listing[T]) text(w io.Writer) {
	fmt.Fprintln(w, l.head)
	for _, x := range l.items {
		fmt.Fprintln(w, l.line(x))
	}
}

// row is a line of cells. What came from a file cannot make two of one.
func row(values ...any) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = spelling.Visible(fmt.Sprint(v))
	}
	return strings.Join(out, "\t")
}
