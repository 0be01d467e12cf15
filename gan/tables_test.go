package gan

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// someTables are random tables of column 1 of testSizes, with a part that is not measured.
func someTables(e *Encoder, weight float32) Tables {
	u := testRand(21)
	n := e.Cells() * testSizes[1]
	t := Tables{Target: 1, Means: normals(u, n, .2), SDs: make([]float32, n), Weight: weight}
	for i := range t.SDs {
		t.SDs[i] = float32(.5 + u.Float64())
		if i%5 == 0 {
			t.SDs[i] = float32(math.Inf(1))
		}
	}
	return t
}

// TestTablesGradient compares with finite differences of the loss, on relaxed rows.
func TestTablesGradient(t *testing.T) {
	u := testRand(22)
	e := testEncoder(t, testSizes...)
	r := NewHistory(someMeasurement(t, e, 1, false, 3).Critic)
	if err := r.SetTables(someTables(e, .7)); err != nil {
		t.Fatal(err)
	}
	const n = 6
	x, down := matrix.Dense(n, e.Cells(), normals(u, n*e.Cells(), 1)), matrix.New(n, e.Cells())
	r.tables.addTo(down, x)
	// The loss is a·b in the means of two halves: the gradient in the rows of a half is exact for a
	// step of any size.
	scratch := matrix.New(n, e.Cells())
	for i := range x.Data {
		was := x.Data[i]
		x.Data[i] = was + .5
		up := r.tables.addTo(scratch, x)
		x.Data[i] = was - .5
		got := up - r.tables.addTo(scratch, x)
		x.Data[i] = was
		if math.Abs(got-float64(down.Data[i])) > 1e-4 {
			t.Fatalf("cell %d: %v, by differences %v", i, down.Data[i], got)
		}
	}
}

func TestTablesRefuse(t *testing.T) {
	e := testEncoder(t, testSizes...)
	r := NewHistory(someMeasurement(t, e, 1, false, 3).Critic)
	for name, change := range map[string]func(*Tables){
		"deviation of 0":    func(s *Tables) { s.SDs[1] = 0 },
		"infinite mean":     func(s *Tables) { s.Means[1] = float32(math.Inf(1)) },
		"measures nothing":  func(s *Tables) { fill(s.SDs, float32(math.Inf(1))) },
		"deviation is none": func(s *Tables) { s.SDs[2] = float32(math.NaN()) },
	} {
		s := someTables(e, 1)
		change(&s)
		if err := r.SetTables(s); err == nil || r.tables != nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func fill(x []float32, v float32) {
	for i := range x {
		x[i] = v
	}
}

// TestConditionalStart: null: after SetConditionals with factor 0 the target and, given it, another
// column have the given probabilities, but for the width of the steps; n = 40 000. Probabilities 30
// % off are rejected.
func TestConditionalStart(t *testing.T) {
	g, _ := NewGenerator(testEncoder(t, 3, 2), GeneratorOptions{Hidden: 16}, testRand(4))
	prior := []float64{.6, .3, .1}
	given := [][]float64{{1, 0, 0, .2, .8}, {0, 1, 0, .7, .3}, {0, 0, 1, .4, .6}}
	g.SetConditionals(prior, given, 0)
	x := g.Sample(40000, testRand(5))
	counts := make([]float64, 6)
	for i, y := range x[0] {
		counts[2*int(y)+int(x[1][i])]++
	}
	for k, p := range prior {
		for c := range 2 {
			want := p * given[k][3+c]
			if got := counts[2*k+c] / 40000; math.Abs(got-want) > .02 {
				t.Errorf("P(y=%d, x=%d) = %v, want %v", k, c, got, want)
			}
		}
	}
	if _, _, ok := stattest.ChiSquare([]int64{int64(counts[0]), int64(counts[1])},
		[]float64{.5, .5}); ok {
		t.Error("the column does not depend on the target")
	}
}
