package privacy

import (
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/table"
)

// TestRecount: remembered counts are those of counting anew, for marginals that differ in columns, order or groups only, and beyond what is kept.
func TestRecount(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(500), nil)
	s := open(t, tab, gaussian(5, 1))
	sizes := s.schema.Sizes()
	flat := make([]uint16, sizes[0])
	other := slices.Clone(flat)
	other[0] = 1
	ms := []Marginal{
		{Cols: []int{0}}, {Cols: []int{1}}, {Cols: []int{0, 1}}, {Cols: []int{1, 0}}, {Cols: []int{0}, Groups: [][]uint16{flat}},
		{Cols: []int{0}, Groups: [][]uint16{other}}, {Cols: []int{0, 1}, Groups: [][]uint16{other, nil}}, {Cols: []int{1, 0}, Groups: [][]uint16{nil, other}},
		{Cols: []int{0}}, // twice in one call
	}
	cs := make([]counter, len(ms))
	for i, m := range ms {
		var err error
		if cs[i], err = s.counter(m); err != nil {
			t.Fatal(err)
		}
	}
	reads := 0
	recount := newRecount(func() *table.Table { reads++; return tab })
	for range 3 {
		for i, counts := range recount(ms, cs) {
			if want := cs[i].count(tab); !slices.Equal(counts, want) {
				t.Errorf("marginal %d: %v, want %v", i, counts, want)
			}
		}
	}
	if reads != 3 {
		t.Errorf("%d reads", reads)
	}
	keys := map[string]int{}
	for i, m := range ms[:8] {
		if j, ok := keys[keyOf(m)]; ok {
			t.Errorf("marginals %d and %d have one key", i, j)
		}
		keys[keyOf(m)] = i
	}
}
