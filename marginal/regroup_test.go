package marginal

import (
	"slices"
	"testing"
)

// TestRegroup: a measurement over groups of its own becomes one over groups of the grouping's
// groups, as fine as both allow.
func TestRegroup(t *testing.T) {
	// codes 1 and 3 are rare: groups 0, 2, 4 → 0, 1, 2, and {1, 3} → 3
	g, err := NewGrouping([]int{5, 2}, []Measurement{
		{Cols: []int{0}, Counts: []float64{90, 0, 90, 0, 90}, Sigma: 1},
		{Cols: []int{1}, Counts: []float64{90, 90}, Sigma: 1}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		own    []uint16
		counts []float64 // over own × 2
		groups []uint16
		want   []float64
	}{
		{"the same groups", []uint16{0, 3, 1, 3, 2}, []float64{1, 2, 3, 4, 5, 6, 7, 8}, nil,
			[]float64{1, 2, 3, 4, 5, 6, 7, 8}},
		{"coarser", []uint16{0, 0, 0, 0, 1}, []float64{1, 2, 3, 4}, []uint16{0, 0, 1, 0},
			[]float64{1, 2, 3, 4}},
		{"finer", []uint16{0, 1, 2, 3, 4}, []float64{1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, nil,
			[]float64{1, 1, 3, 3, 5, 5, 6, 6}},
		{"across", []uint16{0, 0, 1, 1, 2}, []float64{1, 2, 3, 4, 5, 6}, []uint16{0, 0, 1, 0},
			[]float64{4, 6, 5, 6}},
	} {
		m := g.GroupMeasurement(Measurement{Cols: []int{0, 1}, Counts: c.counts, Sigma: 1,
			Groups: [][]uint16{c.own, nil}})
		var groups []uint16
		if m.Groups != nil {
			groups = m.Groups[0]
		}
		if !slices.Equal(groups, c.groups) || !slices.Equal(m.Counts, c.want) {
			t.Errorf("%s: %v over %v", c.name, m.Counts, groups)
		}
		if err := m.Check(g.Sizes()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
