package eval

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// category is a categorical column of n codes, named like "c0", "c1".
func category(name string, n int) schema.Column {
	c := schema.Column{Name: name, Kind: schema.Categorical}
	for k := range n {
		c.Categories = append(c.Categories, fmt.Sprintf("c%d", k))
	}
	return c
}

// number is a real column of n equal bins from 0 to n.
func number(name string, n int) schema.Column {
	return schema.Column{Name: name, Kind: schema.Real, Min: 0, Max: float64(n), Bins: n}
}

// optional makes a column one that may be missing: its last code.
func optional(c schema.Column) schema.Column {
	c.Missing = []string{""}
	return c
}

// schemaOf is a valid schema of the columns.
func schemaOf(t testing.TB, columns ...schema.Column) *schema.Schema {
	t.Helper()
	s := &schema.Schema{Columns: columns}
	stattest.Check(t, s.Validate())
	return s
}

// tableOf is a table whose row i has the codes rows[i].
func tableOf(t testing.TB, s *schema.Schema, rows ...[]int) *table.Table {
	t.Helper()
	return tableFrom(t, s, len(rows), func(i, c int) int { return rows[i][c] })
}

// tableFrom is a table of n rows whose row i has code at(i, c) in column c. Rows are filled in
// order, column by column in a row, so that at may draw.
func tableFrom(t testing.TB, s *schema.Schema, n int, at func(i, c int) int) *table.Table {
	t.Helper()
	cols := make([]table.Codes, len(s.Columns))
	for c, size := range s.Sizes() {
		cols[c] = table.NewCodes(size, n)
	}
	for i := range n {
		for c := range cols {
			cols[c].Set(i, uint16(at(i, c)))
		}
	}
	out := stattest.Must(table.FromColumns(s, cols, nil))
	return out
}

// pointsOf are the rows of a table as points.
func pointsOf(t testing.TB, tab *table.Table, d Distance) *Points {
	t.Helper()
	p := stattest.Must(TablePoints(tab, d))
	return p
}

// uniformTable is a table of n rows of independent uniform codes.
func uniformTable(t testing.TB, s *schema.Schema, n int, u *rand.Rand) *table.Table {
	sizes := s.Sizes()
	return tableFrom(t, s, n, func(_, c int) int { return u.IntN(sizes[c]) })
}
