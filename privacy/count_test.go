package privacy

import (
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/table"
)

// TestCountsAreRemembered: remembered counts are those of counting anew, for marginals that differ
// in columns, order or groups only, and beyond what is kept.
func TestCountsAreRemembered(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(500), nil)
	s := open(t, tab, gaussian(5, 1))
	sizes := s.schema.Sizes()
	flat := make([]uint16, sizes[0])
	other := slices.Clone(flat)
	other[0] = 1
	ms := []Marginal{
		{
			Cols: []int{0},
		}, {Cols: []int{1}}, {Cols: []int{0, 1}}, {Cols: []int{1, 0}},
		{Cols: []int{0}, Groups: [][]uint16{flat}},
		{
			Cols:   []int{0},
			Groups: [][]uint16{other},
		}, {Cols: []int{0, 1}, Groups: [][]uint16{other, nil}},
		{Cols: []int{1, 0}, Groups: [][]uint16{nil, other}},
		{Cols: []int{0}}, // twice in one call
	}
	qs := make([]compiled, len(ms))
	for i, m := range ms {
		var err error
		if qs[i], err = s.compile(m); err != nil {
			t.Fatal(err)
		}
	}
	reads := 0
	s.data = func() *table.Table { reads++; return tab }
	for range 3 {
		counts, err := s.counts(qs)
		if err != nil {
			t.Fatal(err)
		}
		for i := range counts {
			if want := qs[i].count(nil, tab); !slices.Equal(counts[i], want) {
				t.Errorf("marginal %d: %v, want %v", i, counts[i], want)
			}
		}
	}
	if reads != 1 {
		t.Errorf("%d reads", reads)
	}
	keys := map[string]int{}
	for i, q := range qs[:8] {
		if j, ok := keys[q.key]; ok {
			t.Errorf("marginals %d and %d have one key", i, j)
		}
		keys[q.key] = i
	}
	rule, err := s.compile(Cells{bit()})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // what code counts is not remembered
		if _, err := s.counts([]compiled{rule}); err != nil {
			t.Fatal(err)
		}
	}
	if reads != 3 {
		t.Errorf("%d reads with those of a rule", reads)
	}
}
