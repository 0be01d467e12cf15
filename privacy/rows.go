package privacy

import (
	"context"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Rows is a private table that only the gate can read. What is read stands behind functions, so
// that no way of printing or encoding it, alone or inside another value, shows a row. Nothing is
// read before a [Session] is opened on it.
type Rows struct {
	from access.Loader
	// of the rows that a session counts itself. Linked tables are counted by their views
	// ([session.View]): of them it is what a unit is
	schema *schema.Schema
}

// File names a private file (.csv, .parquet, "-" for CSV on standard input) to be read by [Open],
// leniently whatever the schema says.
func File(path string, s *schema.Schema) *Rows {
	s = s.Clone()
	return &Rows{access.Loader{Tables: schema.One(s), Load: func(
		ctx context.Context, begin func() error, _ access.Bound) (out access.Loaded, err error) {
		out.Table, out.Report, err = table.Read(ctx, path, s.ForPrivate(),
			table.ReadOptions{Begin: begin})
		return out, err
	}}, s}
}

// FromTable treats a table as private from here on. Its columns must not change any more. Its
// schema may: the gate has its own.
func FromTable(t *table.Table) *Rows {
	s := t.Schema().Clone()
	return FromLoader(access.Loader{Tables: schema.One(s), Load: func(
		_ context.Context, begin func() error, _ access.Bound) (out access.Loaded, err error) {
		if err = begin(); err == nil {
			out.Table, err = table.FromColumns(s.Clone(), t.Columns(), t.Units())
		}
		return out, err
	}})
}

// FromLoader is for the packages below this one, which read rows in forms of their own.
func FromLoader(from access.Loader) *Rows {
	if from.Tables.Single() {
		return &Rows{from, from.Tables.Tables[0].Schema}
	}
	return &Rows{from, &schema.Schema{Unit: from.Tables.Unit, MaxRowsPerUnit: 1}}
}

// Tables is a copy of what the rows are of.
func (r *Rows) Tables() *schema.Linked { return r.from.Tables.Clone() }

// Schema is a copy of the public schema of the rows that a session counts.
func (r *Rows) Schema() *schema.Schema { return r.schema.Clone() }

// Format says nothing about the rows, whatever the verb.
func (r *Rows) Format(f fmt.State, _ rune) { fmt.Fprint(f, "privacy.Rows(private)") }

// MarshalText refuses.
func (r *Rows) MarshalText() ([]byte, error) { return nil, access.ErrPrivate }

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
