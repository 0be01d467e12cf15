package privacy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestCountOfGroups compares counts over groups with a loop over the rows: narrow and wide columns,
// groups that merge, permute or keep the codes, more rows than a block.
func TestCountOfGroups(t *testing.T) {
	u := rand.New(rand.NewPCG(5, 6))
	const rows = 9001
	s := &schema.Schema{}
	for c, size := range []int{3, 300, 7} {
		col := schema.Column{Name: fmt.Sprint("c", c), Kind: schema.Categorical}
		for k := range size {
			col.Categories = append(col.Categories, fmt.Sprint(k))
		}
		s.Columns = append(s.Columns, col)
	}
	cols := []table.Codes{
		{U8: make([]uint8, rows)},
		{U16: make([]uint16, rows)},
		{U8: make([]uint8, rows)},
	}
	for r := range rows {
		cols[0].U8[r], cols[1].U16[r], cols[2].U8[r] = uint8(u.IntN(3)), uint16(u.IntN(300)),
			uint8(u.IntN(7))
	}
	tab := stattest.Must(table.FromColumns(s, cols, nil))
	halves := make([]uint16, 300)
	for i := range halves {
		halves[i] = uint16(i / 2)
	}
	session := open(t, tab, gaussian(1, 1))
	for name, m := range map[string]Marginal{
		"one merged": {Cols: []int{1, 0}, Groups: [][]uint16{halves, nil}},
		"permuted":   {Cols: []int{0}, Groups: [][]uint16{{2, 0, 1}}},
		"gap":        {Cols: []int{0}, Groups: [][]uint16{{2, 0, 2}}},
		"three columns": {Cols: []int{2, 1, 0},
			Groups: [][]uint16{{0, 1, 0, 1, 0, 1, 2}, halves, {1, 0, 1}}},
		"no group":   {Cols: []int{2, 0}, Groups: [][]uint16{nil, nil}},
		"no columns": {},
	} {
		c := compiledOf(t, session.session, m)[0]
		want := make([]int64, c.Cells)
		for r := range rows {
			cell := 0
			for i, col := range m.Cols {
				code, n := tab.Column(col).At(r), s.Sizes()[col]
				if m.Groups != nil && m.Groups[i] != nil {
					n = int(slices.Max(m.Groups[i])) + 1
					code = m.Groups[i][code]
				}
				cell = cell*n + int(code)
			}
			want[cell]++
		}
		if got := countOn(tab, c); !slices.Equal(got, want) {
			t.Errorf("%s: counts differ", name)
		}
	}
}

// TestGroupsBoundTheCells: columns of very many codes can be counted together in groups; what
// bounds a question is the cells that it has.
func TestGroupsBoundTheCells(t *testing.T) {
	const rows, codes = 500, 20000
	u, s := rand.New(rand.NewPCG(7, 8)), &schema.Schema{}
	var cols []table.Codes
	for c := range 4 {
		s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprint("c", c), Kind: schema.Integer,
			Max: codes - 1, Bins: codes})
		cols = append(cols, table.Codes{U16: make([]uint16, rows)})
		for r := range rows {
			cols[c].U16[r] = uint16(u.IntN(codes))
		}
	}
	tab := stattest.Must(table.FromColumns(s, cols, nil))
	groups := func(n int) []uint16 {
		g := make([]uint16, codes)
		for i := range g {
			g[i] = uint16(i * n / codes)
		}
		return g
	}
	session := open(t, tab, gaussian(1, 1))
	for _, n := range [][]int{{30, 40}, {5, 6, 7}, {1, codes, 1, 3}, {codes, 60}} {
		m, cells := Marginal{}, 1
		for c, k := range n {
			m.Cols, m.Groups, cells = append(m.Cols, c), append(m.Groups, groups(k)), cells*k
		}
		want := make([]int64, cells)
		for r := range rows {
			cell := 0
			for c, k := range n {
				cell = cell*k + int(m.Groups[c][cols[c].U16[r]])
			}
			want[cell]++
		}
		if got := countOn(tab, compiledOf(t, session.session, m)[0]); !slices.Equal(got, want) {
			t.Errorf("%v groups: counts differ", n)
		}
	}
	for name, m := range map[string]Marginal{
		"no groups":      {Cols: []int{0, 1}},
		"of one column":  {Cols: []int{0, 1}, Groups: [][]uint16{groups(6711), nil}},
		"too many":       {Cols: []int{0, 1}, Groups: [][]uint16{groups(12000), groups(12000)}},
		"over 32 bits":   {Cols: []int{0, 1, 2}, Groups: slices.Repeat([][]uint16{groups(1626)}, 3)},
		"over 64 bits":   {Cols: []int{0, 1, 2, 3}, Groups: make([][]uint16, 4)},
		"too many codes": {Cols: []int{0, 1}, Groups: [][]uint16{groups(30), append(groups(30), 1)}},
		"too high":       {Cols: []int{0}, Groups: [][]uint16{append(groups(9)[:codes-1], codes)}},
	} {
		stattest.Fails(t, stattest.Err(session.compile([]Query{m})), "%s: it can be asked", name)
	}
}
