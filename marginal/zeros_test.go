package marginal

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// TestZeros: impossible cells have probability 0 in the model and no rows in a sample, whatever was
// measured there; the rest follows the measurements.
func TestZeros(t *testing.T) {
	sizes := []int{3, 4, 5}
	u := rand.New(rand.NewPCG(4, 4))
	ms := simulate(sizes, [][]int{{0}, {1}, {2}, {0, 1}, {1, 2}}, 20000, 5, u)
	z := Zeros{Cols: []int{2, 0}, Impossible: make([]bool, 15)}
	for i := range z.Impossible {
		z.Impossible[i] = i/3 > 1+i%3
	}
	one := Zeros{Cols: []int{1}, Impossible: []bool{false, true, false, false}}
	m, err := Fit(context.Background(), sizes, ms, Options{Zeros: []Zeros{z, one}})
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float64, 15)
	if err := m.MarginalTo(p, z.Cols); err != nil {
		t.Fatal(err)
	}
	possible := 0.0
	for i, x := range p {
		if z.Impossible[i] && x != 0 {
			t.Errorf("cell %d has %v rows", i, x)
		}
		possible += x
	}
	if math.Abs(possible-m.Total()) > 1e-6*m.Total() {
		t.Errorf("%v of %v rows are possible", possible, m.Total())
	}
	rows := m.Sample(5000, u)
	for r := range 5000 {
		if z.Impossible[int(rows[2][r])*3+int(rows[0][r])] || rows[1][r] == 1 {
			t.Fatalf("row %d is impossible", r)
		}
	}
	// A warm start must not mistake the zeros for measurements.
	warm, err := Fit(context.Background(), sizes, ms, Options{Zeros: []Zeros{z, one}, Warm: m})
	if err != nil {
		t.Fatal(err)
	}
	q := make([]float64, 15)
	if err := warm.MarginalTo(q, z.Cols); err != nil {
		t.Fatal(err)
	}
	for i := range p {
		if math.Abs(p[i]-q[i]) > 2e-3*m.Total() {
			t.Errorf("cell %d: %v cold, %v warm", i, p[i], q[i])
		}
	}
}

func TestZerosAreChecked(t *testing.T) {
	for name, z := range map[string]Zeros{
		"no columns":   {Impossible: []bool{true}},
		"cells":        {Cols: []int{0}, Impossible: []bool{true}},
		"column":       {Cols: []int{9}, Impossible: []bool{true, false}},
		"column twice": {Cols: []int{0, 0}, Impossible: make([]bool, 4)},
	} {
		if _, err := Fit(context.Background(), []int{2, 2}, nil,
			Options{Total: 5, Zeros: []Zeros{z}}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestCoarseMeasurements: a table over groups moves the sums over its groups to what was measured,
// and leaves the shares within a group to the finer tables.
func TestCoarseMeasurements(t *testing.T) {
	sizes := []int{6, 4}
	coarse := Measurement{Cols: []int{1, 0}, Groups: [][]uint16{nil, {0, 0, 0, 1, 1, 1}},
		Counts: []float64{900, 100, 100, 900, 900, 100, 100, 900}, Sigma: 1}
	fine := Measurement{Cols: []int{0}, Counts: []float64{1000, 600, 400, 200, 800, 1000}, Sigma: 1}
	m, err := Fit(context.Background(), sizes, []Measurement{fine, coarse, coarse}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float64, 24)
	if err := m.MarginalTo(p, []int{1, 0}); err != nil {
		t.Fatal(err)
	}
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
		if _, err := Fit(context.Background(), sizes, []Measurement{bad}, Options{}); err == nil {
			t.Errorf("groups with %s: accepted", name)
		}
	}
	if _, err := NewGrouping([]int{6}, []Measurement{{Cols: []int{0}, Counts: []float64{1, 2},
		Groups: [][]uint16{{0, 0, 0, 1, 1, 1}}, Sigma: 1}}, 2); err == nil {
		t.Error("a grouping of groups: accepted")
	}
}
