// Package engine is the door by which rows that lie elsewhere come to the gate as counts: an engine
// counts them where they are, once, and the gate keeps the counts as it keeps the rows of a file.
// It is internal, so that no user of the library makes private rows of numbers of his own.
package engine

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
)

// Source is a private table that another engine counts.
type Source struct {
	// Ask has a question answered about one table: at most max_rows_per_unit rows of each unit, which
	// are chosen without regard to others. The number of its rows is first, then the sums. Asked
	// again, it gives the same answer. Nothing of what the rows are is in its errors, but that they
	// break the schema (schema.ErrSchema).
	Ask   func(q Question) ([]int64, error)
	Begin Question // is asked when the table is read
	// Check, if it is not nil, finds what is public and wrong, before anything is spent: no
	// connection, no table, other columns than the question needs. It counts no row.
	Check func(q Question) error

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

// Sealed is a source that whoever cannot import this package can neither make nor ask.
type Sealed struct{ source Source }

// Sealed is a copy of the source for the gate.
func (s Source) Sealed() Sealed { return Sealed{s} }

// Open is for the gate.
func Open(s Sealed) *Source { return &s.source }

// ErrCounts says nothing of the counts.
var ErrCounts = errors.New("what was counted is not one table")

// Answer has a question answered about the table that was read.
func (s *Source) Answer(q Question) ([]int64, error) {
	if s.begun != nil && reflect.DeepEqual(q, s.Begin) {
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
	if answer, err = s.Ask(q); err != nil {
		return 0, nil, err
	}
	n := 1 + q.Length
	if len(answer) < n || answer[0] < 0 || len(answer) > n && !q.Listed || (len(answer)-n)%2 != 0 {
		return 0, nil, ErrCounts
	}
	return answer[0], answer[1:], nil
}

// Read has the table read, for columns of these sizes, once it is known that it can be, and begin
// has paid for it. Where Begin asks about sets it checks that the counts are those of one table,
// and returns how they are looked up: the smallest of the joint counts that has the columns.
func (s *Source) Read(sizes []int, begin func() error) (func(cols []int) Joint, error) {
	var err error
	if s.Check != nil {
		err = s.Check(s.Begin)
	}
	if err == nil {
		err = begin()
	}
	if err != nil {
		return nil, err
	}
	if s.rows, s.begun, err = s.ask(s.Begin); err != nil || s.Begin.Kind != Sets {
		return nil, err
	}
	sets, err := AskedSets(s.Begin, sizes)
	if err != nil {
		return nil, err
	}
	var joints []Joint
	rest := s.begun
	for _, set := range sets {
		counts, rows := rest[:CellsOf(set, sizes)], int64(0)
		for _, n := range counts {
			if n < 0 {
				return nil, ErrCounts
			}
			rows += n
		}
		if rows != s.rows {
			return nil, ErrCounts
		}
		joints, rest = append(joints, Joint{set, counts}), rest[len(counts):]
	}
	return func(cols []int) Joint {
		best := -1
		for i, j := range joints {
			outside := func(c int) bool { return !slices.Contains(j.Cols, c) }
			if !slices.ContainsFunc(cols, outside) &&
				(best < 0 || len(j.Counts) < len(joints[best].Counts)) {
				best = i
			}
		}
		return joints[best]
	}, nil
}
