// Package engine is the door by which rows that lie elsewhere come to the gate as counts: an engine
// counts them where they are, once, and the gate keeps the counts as it keeps the rows of a file.
// It is internal, so that no user of the library makes private rows of numbers of his own.
package engine

import (
	"context"
	"encoding/json"
	"errors"
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

	rows int64 // of the table, once it was read
}

// Question asks about each row for some numbers, which are added up over the rows modulo 2^64. They
// depend on that row alone. The question is public.
type Question struct {
	Kind   string          `json:"kind"`   // which it is of those that an engine's program knows
	Of     json.RawMessage `json:"of"`     // what that kind needs to know
	Length int             `json:"length"` // how many numbers
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

// ErrCounts says nothing of the counts.
var ErrCounts = errors.New("engine: what was counted is not one table")

// ErrNoSum is returned by [Source.Answer] of a source that answers no question.
var ErrNoSum = errors.New("engine: nothing but marginals is counted there")

// Answer has a question answered about the table that was read.
func (s *Source) Answer(q Question) ([]int64, error) {
	if s.Sum == nil {
		return nil, ErrNoSum
	}
	answer, err := s.Sum(q)
	if err == nil && (len(answer) != 1+q.Length || answer[0] != s.rows) {
		err = ErrCounts
	}
	if err != nil {
		return nil, err
	}
	return answer[1:], nil
}

// Read has the rows counted, for columns of these sizes, checks that the counts are those of one
// table, and returns how they are looked up: the smallest of the joint counts that has the columns.
func (s *Source) Read(ctx context.Context, sizes []int) (func(cols []int) Joint, error) {
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
