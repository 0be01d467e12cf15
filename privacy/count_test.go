package privacy

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy/internal/access"
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
		{Cols: []int{0}}, {Cols: []int{1}}, {Cols: []int{0, 1}}, {Cols: []int{1, 0}},
		{Cols: []int{0}, Groups: [][]uint16{flat}}, {Cols: []int{0}, Groups: [][]uint16{other}},
		{Cols: []int{0, 1}, Groups: [][]uint16{other, nil}},
		{Cols: []int{1, 0}, Groups: [][]uint16{nil, other}},
		{Cols: []int{0}}, // twice in one call
	}
	var qs []access.Counted
	for _, m := range ms {
		qs = append(qs, compiledOf(t, s.session, m)[0])
	}
	var reads atomic.Int64
	s.recount(func() *table.Table { reads.Add(1); return tab })
	for range 3 {
		counts := s.in.Counts(qs)
		for i := range counts {
			if want := countOn(tab, qs[i]); !slices.Equal(counts[i], want) {
				t.Errorf("marginal %d: %v, want %v", i, counts[i], want)
			}
		}
	}
	if reads.Load() != 9 {
		t.Errorf("%d reads of 9 queries", reads.Load())
	}
	keys := map[string]int{}
	for i, q := range qs[:8] {
		if j, ok := keys[q.Key]; ok {
			t.Errorf("marginals %d and %d have one key", i, j)
		}
		keys[q.Key] = i
	}
}
