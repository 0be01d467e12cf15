package table

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestFromColumns(t *testing.T) {
	s := &schema.Schema{CSV: schema.CSV{Comma: ','}, Columns: []schema.Column{
		{Name: "a", Kind: schema.Integer, Min: 0, Max: 2}, {Name: "b", Kind: schema.Integer, Min: 0,
			Max: 299, Bins: 300},
	}}
	withUnit := *s
	withUnit.Unit, withUnit.MaxRowsPerUnit = "id", 2
	a, b := Codes{U8: []uint8{0, 2}}, Codes{U16: []uint16{299, 0}}
	tab, err := FromColumns(s, []Codes{a, b}, nil)
	if err != nil || tab.Rows() != 2 || tab.Schema() != s || tab.Units() != nil ||
		tab.Column(0).At(1) != 2 || tab.Column(1).At(0) != 299 {
		t.Errorf("%v, %v", tab, err)
	}
	if tab, err = FromColumns(&withUnit, []Codes{a, b}, []uint32{7, 7}); err != nil ||
		!slices.Equal(tab.Units(), []uint32{7, 7}) {
		t.Errorf("with units: %v", err)
	}
	if _, err = FromColumns(&withUnit, []Codes{a, b}, nil); err != nil {
		t.Errorf("synthetic rows of a schema with a unit: %v", err)
	}
	if tab, err = FromColumns(s, []Codes{{}, {}}, nil); err != nil || tab.Rows() != 0 {
		t.Errorf("no rows: %v", err)
	}
	for _, tt := range []struct {
		name  string
		s     *schema.Schema
		cols  []Codes
		units []uint32
		want  string
	}{
		{"columns", s, []Codes{a}, nil, "table: 1 columns of codes for a schema of 2"},
		{"rows", s, []Codes{a, {U16: []uint16{1}}}, nil, `table: column 2 ("b"): 1 codes for 2 rows`},
		{"narrow range", s, []Codes{{U8: []uint8{0, 3}}, b}, nil,
			`table: column 1 ("a"): a code is not below 3`},
		{"wide range", s, []Codes{a, {U16: []uint16{300, 0}}}, nil,
			`table: column 2 ("b"): a code is not below 300`},
		{"too wide", s, []Codes{{U16: []uint16{0, 1}}, b}, nil,
			`table: column 1 ("a"): 3 codes need U8, not U16`},
		{"too narrow", s, []Codes{a, a}, nil, `table: column 2 ("b"): 300 codes need U16, not U8`},
		{"both", s, []Codes{{U8: []uint8{1}, U16: []uint16{1}}, b}, nil,
			`table: column 1 ("a"): both U8 and U16 are set`},
		{"no unit", s, []Codes{a, b}, []uint32{1, 2},
			"table: unit numbers for a schema that names no unit column"},
		{"units", &withUnit, []Codes{a, b}, []uint32{1}, "table: 1 unit numbers for 2 rows"},
	} {
		if _, err := FromColumns(tt.s, tt.cols, tt.units); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestSelect(t *testing.T) {
	tab := randomTable(rand.New(rand.NewPCG(1, 2)), 10, []int{5, 300}, 0)
	tab.units = []uint32{0, 0, 1, 2, 2, 2, 3, 4, 4, 0}
	for _, rows := range [][]int{{}, {3}, {9, 0, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		got := tab.Select(rows)
		if got.Rows() != len(rows) {
			t.Errorf("%v: %d rows", rows, got.Rows())
		}
		for i, r := range rows {
			for c := range tab.cols {
				if got.Column(c).At(i) != tab.Column(c).At(r) {
					t.Errorf("%v: row %d, column %d differs", rows, i, c)
				}
			}
			if got.Units()[i] != tab.units[r] {
				t.Errorf("%v: row %d has another unit", rows, i)
			}
		}
	}
	for _, row := range []int{-1, 10} {
		stattest.Panics(t, func() { tab.Select([]int{0, row}) }, "row %d", row)
	}
}

// Permuted rows have the same marginals.
func TestSelectPermutes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tab := randomTable(rng, 1000, []int{5, 300, 7}, 1)
	want, got := tab.Counts(2, 0, 1), tab.Select(rng.Perm(1000)).Counts(2, 0, 1)
	if !slices.Equal(got, want) {
		t.Error("the order of the rows changes a marginal")
	}
}

func TestCodes(t *testing.T) {
	for size, wide := range map[int]bool{1: false, 256: false, 257: true, 65536: true} {
		c := NewCodes(size, 3)
		if (c.U16 != nil) != wide || c.Len() != 3 {
			t.Errorf("%d codes: %v", size, c)
		}
		c.Set(1, uint16(size-1))
		if c.At(1) != uint16(size-1) || c.At(0) != 0 {
			t.Errorf("%d codes: %v", size, c)
		}
	}
}
