// Package engine is the door by which rows that lie elsewhere come to the gate as counts: an engine
// counts them where they are, once, and the gate keeps the counts as it keeps the rows of a file.
// It is internal, so that no user of the library makes private rows of numbers of his own.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"github.com/decoy-dp/decoy/schema"
)

// Source is a private table that another engine counts.
type Source struct {
	Sets [][]int // of columns, each increasing, that may be asked about
	// Count returns the exact counts over each of the sets, row-major, the last column fastest, of one
	// table: at most max_rows_per_unit rows of each unit, which are chosen without regard to others.
	// Nothing of what the rows are is in its errors, but that they break the schema
	// (schema.ErrSchema).
	Count func(ctx context.Context) ([][]int64, error)
	// Sum answers a question about that table, with the number of its rows first, then the sums; nil:
	// it answers none. Of its errors holds the same. Asked again, it gives the same answer.
	Sum func(q Question) ([]int64, error)

	// a question that is asked when the table is read, in place of the sets; nil: there are sets
	Begin *Question

	rows  int64   // of the table, once it was read
	begun []int64 // the answer to Begin
}

// Question asks about each row for some numbers, which are added up over the rows modulo 2^64. They
// depend on that row alone. The question is public.
type Question struct {
	Kind   string          `json:"kind"`   // which it is of those that an engine's program knows
	Of     json.RawMessage `json:"of"`     // what that kind needs to know
	Length int             `json:"length"` // how many numbers
	// behind these, what has a cell of its own: pairs of the cell and a number above zero
	Listed bool `json:"listed,omitempty"`
}

// Joint is true counts over some columns.
type Joint struct {
	Cols   []int
	Counts []int64
}

// Rows makes a *privacy.Rows of a source. Package privacy/counted binds it. Such rows answer
// marginals over columns that are in one of the sets, the number of rows, and sums that a mechanism
// knows to ask for.
var Rows func(s *schema.Schema, from Source) any

// Texts makes a *text.Table of a source: the columns of s, of which those numbers may be asked
// about, are columns of texts. Package privacy/text binds it.
var Texts func(s *schema.Schema, asked []int, from Source) any

// ErrCounts says nothing of the counts.
var ErrCounts = errors.New("engine: what was counted is not one table")

// ErrNoSum is returned by [Source.Answer] of a source that answers no question.
var ErrNoSum = errors.New("engine: nothing but marginals is counted there")

// Answer has a question answered about the table that was read.
func (s *Source) Answer(q Question) ([]int64, error) {
	if s.begun != nil && reflect.DeepEqual(q, *s.Begin) {
		return s.begun, nil
	}
	rows, answer, err := s.ask(q)
	if err == nil && rows != s.rows {
		return nil, ErrCounts
	}
	return answer, err
}

// ask has a question answered, and checks the form of the answer.
func (s *Source) ask(q Question) (rows int64, answer []int64, err error) {
	if s.Sum == nil {
		return 0, nil, ErrNoSum
	}
	if answer, err = s.Sum(q); err != nil {
		return 0, nil, err
	}
	n := 1 + q.Length
	if len(answer) < n || answer[0] < 0 || len(answer) > n && !q.Listed || (len(answer)-n)%2 != 0 {
		return 0, nil, ErrCounts
	}
	return answer[0], answer[1:], nil
}

// Read has the rows counted, for columns of these sizes, checks that the counts are those of one
// table, and returns how they are looked up: the smallest of the joint counts that has the columns.
// With Begin there is nothing to look up.
func (s *Source) Read(ctx context.Context, sizes []int) (func(cols []int) Joint, error) {
	if s.Begin != nil {
		var err error
		s.rows, s.begun, err = s.ask(*s.Begin)
		return nil, err
	}
	counts, err := s.Count(ctx)
	if err != nil {
		return nil, err
	}
	if len(counts) != len(s.Sets) {
		return nil, ErrCounts
	}
	total := int64(0)
	for i, set := range s.Sets {
		cells, rows := 1, int64(0)
		for _, c := range set {
			cells *= sizes[c]
		}
		for _, n := range counts[i] {
			if n < 0 {
				return nil, ErrCounts
			}
			rows += n
		}
		if i == 0 {
			total = rows
		}
		if len(counts[i]) != cells || rows != total {
			return nil, ErrCounts
		}
	}
	s.rows = total
	return func(cols []int) Joint {
		best := -1
		for i, set := range s.Sets {
			outside := func(c int) bool { return !slices.Contains(set, c) }
			if !slices.ContainsFunc(cols, outside) &&
				(best < 0 || len(counts[i]) < len(counts[best])) {
				best = i
			}
		}
		return Joint{Cols: s.Sets[best], Counts: counts[best]}
	}, nil
}
