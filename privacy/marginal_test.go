package privacy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
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
