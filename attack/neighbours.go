package attack

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// The shapes of worst-case tables. Both are made of two opposite rows: the corner has the first
// code in every column, the target the last.
const (
	// Balanced has as many rows of the one as of the other. Counts are far from 0 and respond to
	// one more row as noise lets them: it shows noise that is too small, a wrong sensitivity, a
	// step that was not charged.
	Balanced = "balanced"
	// Rare has corner rows only, so that the target's codes occur in one of the two tables and not
	// in the other: it shows what depends on which codes occur.
	Rare = "rare"
)

// Shapes lists the shapes.
func Shapes() []string { return []string{Balanced, Rare} }

// Pair is two neighbouring tables, and a third that tells how a method responds to their
// difference.
type Pair struct {
	Name    string
	Out, In *table.Table // differ by one privacy unit: In has it
	// Strong differs from Out as In does, by Strength units. Runs on it are never evidence: they
	// only teach an audit where to look, with a signal that is Strength times as large.
	Strong   *table.Table
	Strength int
	// codes of the unit's rows; of the rows they replace under replace-one, and of the opposite
	// corner
	Target, Corner []uint16
}

// Neighbours builds neighbouring tables of a schema, of about the given number of rows (at least 8
// units). Under add/remove In has one unit of target rows more than Out; under replace-one it has a
// unit of target rows where Out has one of corner rows. A unit is a row, or as many rows as the
// schema lets one id have.
func Neighbours(s *schema.Schema, adj accountant.Adjacency, shape string, rows int) (*Pair, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	// The relation is read off the schema and the adjacency here, not asked of package privacy: an
	// auditor does not take the audited's word.
	k := 1
	if s.Unit != "" {
		k = max(1, s.MaxRowsPerUnit)
	}
	sizes := s.Sizes()
	p := &Pair{Name: shape, Corner: make([]uint16, len(sizes)), Target: lastCodes(sizes)}
	if slices.Max(sizes) == 1 {
		return nil, fmt.Errorf("attack: all columns of the schema have one code only: there is "+
			"nothing to tell apart: %w", schema.ErrInvalid)
	}
	units := max(8, rows/k)
	p.Strength = max(2, units/4)
	targets := 0
	if shape == Balanced {
		targets = units / 2
	} else if shape != Rare {
		return nil, fmt.Errorf("attack: tables of shape %q are unknown; there is %v", shape, Shapes())
	}
	build := func(more int) (*table.Table, error) {
		corners := units - targets
		if adj == accountant.ReplaceOne {
			corners -= more
		}
		b := newBuilder(s, k)
		b.add(p.Corner, corners)
		b.add(p.Target, targets+more)
		return b.table()
	}
	var err error
	for _, t := range []struct {
		to   **table.Table
		more int
	}{{&p.Out, 0}, {&p.In, 1}, {&p.Strong, p.Strength}} {
		if *t.to, err = build(t.more); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// lastCodes is the row with the last code in every column.
func lastCodes(sizes []int) (row []uint16) {
	for _, n := range sizes {
		row = append(row, uint16(n-1))
	}
	return row
}

// builder collects rows by unit.
type builder struct {
	schema *schema.Schema
	k      int
	sizes  []int
	cols   [][]uint16
	units  []uint32
	next   uint32
}

func newBuilder(s *schema.Schema, k int) *builder {
	return &builder{schema: s, k: k, sizes: s.Sizes(), cols: make([][]uint16, len(s.Columns))}
}

// add appends units of equal rows.
func (b *builder) add(row []uint16, units int) {
	for range units {
		for range b.k {
			for i, code := range row {
				b.cols[i] = append(b.cols[i], code)
			}
			b.units = append(b.units, b.next)
		}
		b.next++
	}
}

func (b *builder) table() (*table.Table, error) {
	units := b.units
	if b.schema.Unit == "" {
		units = nil
	}
	return table.FromColumns(b.schema, codesOf(b.cols, b.sizes), units)
}

// codesOf stores columns of codes as package table does.
func codesOf(cols [][]uint16, sizes []int) []table.Codes {
	out := make([]table.Codes, len(cols))
	for i, c := range cols {
		out[i] = table.NewCodes(sizes[i], len(c))
		for r, code := range c {
			out[i].Set(r, code)
		}
	}
	return out
}
