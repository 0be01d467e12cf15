package privacy

import (
	"context"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Rows is a private table that only the gate can read. It holds its data behind a function, so that
// no way of printing or encoding it, alone or inside another value, shows a row. Nothing is read
// before a [Session] is opened on it.
type Rows struct {
	schema *schema.Schema
	load   func(ctx context.Context, begin func() error) (*table.Table, table.Report, error)
	source access.Load // in place of load, for rows in another form
}

// File names a private file (.csv, .parquet, "-" for CSV on standard input) to be read by [Open],
// leniently whatever the schema says. Nothing is called meanwhile: that would tell how long it is.
func File(path string, s *schema.Schema) *Rows {
	own, reading := s.Clone(), s.ForPrivate()
	return &Rows{schema: own, load: func(ctx context.Context, begin func() error) (
		*table.Table, table.Report, error) {
		return table.Read(ctx, path, reading, table.ReadOptions{Begin: begin})
	}}
}

// Schema is a copy of the public schema of the rows.
func (r *Rows) Schema() *schema.Schema { return r.schema.Clone() }

// Format says nothing about the rows, whatever the verb.
func (r *Rows) Format(f fmt.State, _ rune) { fmt.Fprint(f, "privacy.Rows(private)") }

// MarshalText refuses.
func (r *Rows) MarshalText() ([]byte, error) { return nil, access.ErrPrivate }

// read loads the rows into the session and bounds each unit's contribution. How many rows the units
// had before is kept for a [ContributionHistogram]. It calls begin before it reads a row.
func (r *Rows) read(ctx context.Context, s *session, begin func() error) (err error) {
	quiet, stop := access.Deaf(ctx)
	defer stop()
	bound := func(units []uint32) []int {
		s.in.Units = func() []uint32 { return units }
		return boundUnits(units, s.nb.MaxRowsPerUnit, s.src)
	}
	if r.source != nil {
		s.in.Joint, err = r.source(quiet, begin, bound)
		s.in.Source, s.in.Counts = s.src, counter(s.in)
		return err
	}
	t, report, err := r.load(quiet, begin)
	if err != nil {
		return err
	}
	if r.schema.Unit != "" {
		units := t.Units()
		if units == nil && t.Rows() > 0 {
			return fmt.Errorf("privacy: the table has no unit column: %w", schema.ErrSchema)
		}
		if keep := bound(units); len(keep) < len(units) {
			t = t.Select(keep)
		}
	}
	s.in.Table, s.in.Source, s.report = func() *table.Table { return t }, s.src, report
	s.in.Counts = counter(s.in)
	return nil
}

// boundUnits returns, in increasing order, the rows to keep: a uniformly random subset of k rows
// for each unit with more than k, all rows of the others. What is kept of one unit does not depend
// on any other unit.
func boundUnits(units []uint32, k int, src *noise.Source) []int {
	order := make([]int, len(units))
	for i := range order {
		order[i] = i
	}
	src.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	seen := make(map[uint32]int)
	keep := order[:0]
	for _, row := range order {
		if u := units[row]; seen[u] < k {
			seen[u]++
			keep = append(keep, row)
		}
	}
	slices.Sort(keep)
	return keep
}
