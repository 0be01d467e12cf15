package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/decoy-dp/decoy/internal/spelling"
)

// terminal is where the program speaks: results go to stdout, talk and progress to stderr.
type terminal struct {
	stdout, stderr io.Writer
	quiet          bool // no talk and no progress
	force          bool // outputs may take the place of files that are there
	json           bool // results are printed as JSON
	shown          *progress
}

// say is one line of talk. What came from a file cannot make two of it, nor move the cursor.
func (t *terminal) say(format string, args ...any) {
	t.shown.finish()
	if !t.quiet {
		fmt.Fprintln(t.stderr, spelling.Visible(fmt.Sprintf(format, args...)))
	}
}

// progress shows how far a long run is, until something else is to be shown.
func (t *terminal) progress() *progress {
	p := &progress{w: t.stderr, now: time.Now}
	p.start, t.shown = p.now(), p
	if t.quiet {
		p.w = io.Discard
	}
	if f, ok := t.stderr.(*os.File); ok && !t.quiet {
		info, err := f.Stat()
		p.bar = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// privateProgress is that of a run on private rows.
func (t *terminal) privateProgress() *progress {
	p := t.progress()
	p.private = true
	return p
}

// sayIgnored tells of the columns of a file, by number, that its schema does not name.
func (t *terminal) sayIgnored(file string, numbers []int) {
	if len(numbers) > 0 {
		t.say("%signored: the schema does not name %s", file, columnNumbers(numbers))
	}
}

// columnNumbers is columns of a file, by number, for people.
func columnNumbers(numbers []int) string {
	const most = 20
	text := strings.Trim(fmt.Sprint(numbers[:min(len(numbers), most)]), "[]")
	text = strings.ReplaceAll(text, " ", ", ")
	if more := len(numbers) - most; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	noun := "columns"
	if len(numbers) == 1 {
		noun = "column"
	}
	return noun + " " + text + " of the file"
}

// timeText is a forecast of some seconds for people.
func timeText(seconds float64) string {
	switch {
	case seconds < 1:
		return fmt.Sprintf("%.2g s", seconds)
	case seconds < 100:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 100*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.0f h", seconds/3600)
}

// plural is a number of things.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// stamp is the day of a reservation.
func stamp(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// A result is what a verb prints on standard output: with --json the value itself, else its text,
// in which cells that end in tabs line up.
type result interface{ text(w io.Writer) }

// print writes a result.
func (t *terminal) print(r result) error {
	t.shown.finish()
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
