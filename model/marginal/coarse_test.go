package marginal

import (
	"context"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestCoarseMeasurements: a table over groups moves the sums over its groups to what was measured,
// and leaves the shares within a group to the finer tables.
func TestCoarseMeasurements(t *testing.T) {
	sizes := []int{6, 4}
	coarse := Measurement{Cols: []int{1, 0}, Groups: [][]uint16{nil, {0, 0, 0, 1, 1, 1}},
		Counts: []float64{900, 100, 100, 900, 900, 100, 100, 900}, Sigma: 1}
	fine := Measurement{Cols: []int{0}, Counts: []float64{1000, 600, 400, 200, 800, 1000}, Sigma: 1}
	m := must(Fit(context.Background(), sizes, []Measurement{fine, coarse, coarse}, Options{}))
	p := make([]float64, 24)
	stattest.Check(t, m.MarginalTo(p, []int{1, 0}))
	for i, x := range p {
		half := 0
		if i%6 >= 3 {
			half = 1
		}
		want := coarse.Counts[i/6*2+half] * fine.Counts[i%6] / 2000
		if math.Abs(x-want) > 3 {
			t.Errorf("cell %d: %v, want %v", i, x, want)
		}
	}
	for name, groups := range map[string][][]uint16{
		"one short": {nil}, "codes": {nil, {0, 1}}, "gap": {nil, {0, 2, 0, 2, 0, 2}},
	} {
		bad := coarse
		bad.Groups = groups
		stattest.Fails(t, stattest.Err(Fit(context.Background(), sizes, []Measurement{bad}, Options{})),
			"groups with %s: accepted", name)
	}
	if _, err := NewGrouping([]int{6}, []Measurement{{Cols: []int{0}, Counts: []float64{1, 2},
		Groups: [][]uint16{{0, 0, 0, 1, 1, 1}}, Sigma: 1}}, 2); err == nil {
		t.Error("a grouping of groups: accepted")
	}
}
