package privacy

import (
	"context"
	"fmt"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// testSchema has three columns of 2, 3 and 4 codes.
func testSchema(unit string, k int) *schema.Schema {
	cat := func(name string, n int) schema.Column {
		c := schema.Column{Name: name, Kind: schema.Categorical}
		for i := range n {
			c.Categories = append(c.Categories, fmt.Sprint(name, i))
		}
		return c
	}
	return &schema.Schema{Unit: unit, MaxRowsPerUnit: k, Columns: []schema.Column{cat("a", 2), cat("b", 3), cat("c", 4)}}
}

// testTable holds rows of codes; units may be nil.
func testTable(t testing.TB, s *schema.Schema, rows [][3]uint8, units []uint32) *table.Table {
	t.Helper()
	cols := make([]table.Codes, 3)
	for c := range cols {
		cols[c].U8 = make([]uint8, len(rows))
		for i, r := range rows {
			cols[c].U8[i] = r[c]
		}
	}
	tab, err := table.FromColumns(s, cols, units)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func columnsOf(tab *table.Table) (cols []table.Codes) {
	for i := range tab.Schema().Columns {
		cols = append(cols, tab.Column(i))
	}
	return cols
}

// someRows is n rows whose codes are spread over the cells.
func someRows(n int) [][3]uint8 {
	rows := make([][3]uint8, n)
	for i := range rows {
		rows[i] = [3]uint8{uint8(i % 2), uint8(i / 2 % 3), uint8(i * i % 4)}
	}
	return rows
}

// counted is private rows that count how often they are read.
func counted(t *table.Table, reads *int) *Rows {
	return &Rows{schema: t.Schema(), load: func(context.Context) (*table.Table, table.Report, error) {
		*reads++
		return t, table.Report{}, nil
	}}
}

// gaussian plans n calls of Counts or Total for single rows under add/remove.
func gaussian(sigma float64, n int) accountant.Composition {
	return accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: sigma}, Count: n}}
}

// wide is a budget for tests that are not about the budget.
var wide = accountant.Budget{Epsilon: 1e6, Delta: 1e-9}

// open opens a session on the table with a wide budget.
func open(t testing.TB, tab *table.Table, plan accountant.Composition) *Session {
	t.Helper()
	s, err := Open(context.Background(), FromTable(tab), Options{Budget: wide, Plan: plan, Price: pld.Upper,
		Method: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// only is the one number of a release.
func only(xs []int64, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return xs[0], nil
}

// compiledOf are queries ready to be counted.
func compiledOf(t testing.TB, s *session, qs ...Query) []compiled {
	t.Helper()
	out, err := s.compileAll(qs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// firstIs1 is the question whether the first code is 1.
var firstIs1 = Where{table.Condition{Column: 0, Allow: []bool{false, true}}}

// deltas are the sensitivities of disjoint counts.
func (nb Neighbours) deltas() (one, two float64) {
	_, one, two = nb.sensitivity(Marginal{})
	return one, two
}
