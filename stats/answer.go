package stats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/privacy/mech/randomized"
)

// errAnswers is wrapped by every error about a file of answers.
var errAnswers = errors.New("not answers to this form")

// maxLine is more than a line has that names randomized.MaxCells.
const maxLine = 1 << 16

// header is the first line of an answer, and may come again in a file of many.
var header = []string{"form", "columns", "cells"}

// Answer is one respondent's. It is public.
type Answer struct {
	randomized.Reply
	form *Form
}

// WriteTo writes the answer as CSV with a header: the form; the columns that were asked about,
// counted from 1; the cells that the answer names, counted from 0, row-major over the columns, last
// fastest. Both are separated by spaces.
func (a Answer) WriteTo(w io.Writer) (int64, error) {
	cols := slices.Clone(a.Cols)
	for i := range cols {
		cols[i]++
	}
	n, err := fmt.Fprintf(w, "%s\n%s,%s,%s\n", strings.Join(header, ","), a.form.id(), spaced(cols),
		spaced(a.Named))
	return int64(n), err
}

func spaced(xs []int) string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = strconv.Itoa(x)
	}
	return strings.Join(out, " ")
}

// Asked names the columns that were asked about.
func (a Answer) Asked() []string {
	var out []string
	for _, c := range a.Cols {
		out = append(out, a.form.schema.Columns[c].Name)
	}
	return out
}

// Odds are the number of cells of the question, and the probabilities with which an answer names
// that of the respondent and any other.
func (a Answer) Odds() (cells int, own, other float64) {
	cells = a.form.cells(a.Cols)
	own, other = randomized.Rates(cells, a.form.epsilon)
	return cells, own, other
}

// cells is the number of cells of a question of the form.
func (f *Form) cells(cols []int) int {
	n := 1
	for _, c := range cols {
		n *= f.sizes[c]
	}
	return n
}

// Read counts the answers of a file: lines as [Answer.WriteTo] makes them, under one header or many
// or none. Errors wrap errAnswers and say the line: one that is not of this form, is no answer to
// it, or is cut short; no answer at all.
func (f *Form) Read(r io.Reader) (*Tally, error) {
	t, id, line := f.NewTally(), f.id(), 0
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	fail := func(text string) (*Tally, error) {
		return nil, fmt.Errorf("line %d: %s: %w", line, text, errAnswers)
	}
	for in.Scan() {
		line++
		if in.Text() == "" {
			continue
		}
		record := strings.Split(in.Text(), ",")
		if len(record) != len(header) {
			return fail("want three fields: form, columns, cells")
		}
		switch {
		case slices.Equal(record, header):
			continue
		case record[0] != id:
			return fail("an answer to another schema or another epsilon (this form is " + id + ")")
		}
		cols, err := numbers(record[1])
		if err != nil {
			return fail("the columns are no numbers")
		}
		for i := range cols {
			cols[i]--
		}
		named, err := numbers(record[2])
		if err != nil {
			return fail("the cells are no increasing numbers")
		}
		if err := t.record(cols, named); err != nil {
			return fail(err.Error())
		}
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		line++
		return fail("it is longer than any answer")
	} else if err != nil {
		return nil, err
	}
	if t.Answers == 0 {
		return nil, fmt.Errorf("there is no answer: %w", errAnswers)
	}
	return t, nil
}

// numbers reads whole numbers from 0 that increase, spelled as spaced does.
func numbers(text string) ([]int, error) {
	var out []int
	for _, word := range strings.Fields(text) {
		x, err := strconv.Atoi(word)
		if err != nil || x < 0 || len(out) > 0 && x <= out[len(out)-1] {
			return nil, errAnswers
		}
		out = append(out, x)
	}
	if spaced(out) != text {
		return nil, errAnswers
	}
	return out, nil
}
