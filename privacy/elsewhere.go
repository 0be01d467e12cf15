package privacy

import (
	"context"
	"slices"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// FromEngine opens the gate to rows that lie elsewhere, of which another engine has counted
// marginals. They answer marginals over columns that are in one of the sets that the source's first
// question asks about, the number of rows, and sums that a mechanism knows to ask for.
func FromEngine(s *schema.Schema, sealed engine.Sealed) *Rows {
	own, sizes, from := s.Clone(), s.Sizes(), engine.Open(sealed)
	load := func(
		_ context.Context, begin func() error, _ access.Bound) (out access.Loaded, err error) {
		joint, err := from.Read(sizes, begin)
		if err != nil {
			return out, err
		}
		out.Joint = &access.Joint{CountTo: func(counts []int64, cols []int, offsets [][]int32) {
			jointTo(counts, joint(cols), sizes, cols, offsets)
		}, Sum: from.Answer}
		return out, nil
	}
	return FromLoader(access.Loader{Tables: schema.One(own), Load: load})
}

// jointTo counts rows of which there are counts over some columns, cols among them: each cell of
// these has the cell in which its rows count.
func jointTo(counts []int64, from engine.Joint, sizes, cols []int, offsets [][]int32) {
	cell := []int32{0}
	for _, col := range from.Cols {
		offset := make([]int32, sizes[col]) // of a column that is not asked about
		if at := slices.Index(cols, col); at >= 0 {
			offset = offsets[at]
		}
		next := make([]int32, 0, len(cell)*len(offset))
		for _, k := range cell {
			for _, o := range offset {
				next = append(next, k+o)
			}
		}
		cell = next
	}
	for i, k := range cell {
		counts[k] += from.Counts[i]
	}
}

// Elsewhere reports whether another engine has counted the rows: nothing but what it was asked for
// can be counted. It is public.
func (s *session) Elsewhere() bool { return s.condition().Elsewhere }
