package gan

import (
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestSampleIsPublic(t *testing.T) {
	g, err := NewGenerator(testEncoder(t, testSizes...), GeneratorOptions{Latent: 4, Hidden: 8},
		testRand(1))
	stattest.Check(t, err)
	const n = 1500 // more than a batch, not a multiple of it
	a, b, c := g.Sample(n, testRand(2)), g.Sample(n, testRand(2)), g.Sample(n, testRand(3))
	for k, size := range testSizes {
		if len(a[k]) != n || !slices.Equal(a[k], b[k]) {
			t.Errorf("column %d: %d rows, or another sample from the same seed", k, len(a[k]))
		}
		if size > 1 && slices.Equal(a[k], c[k]) {
			t.Errorf("column %d: the same sample from another seed", k)
		}
		for _, code := range a[k] {
			if int(code) >= size {
				t.Fatalf("column %d of %d codes: code %d", k, size, code)
			}
		}
	}
	if len(g.Sample(0, testRand(1))[0]) != 0 {
		t.Error("rows in a sample of none")
	}
}

// TestMarginalStart: null: after setMarginals with factor 0 a column's codes have the given
// probabilities, n = 20 000. Probabilities 30 % off are rejected.
func TestMarginalStart(t *testing.T) {
	g, _ := NewGenerator(testEncoder(t, 3, 4), GeneratorOptions{}, testRand(4))
	p := []float64{.5, .3, .2, .1, .2, .3, .4}
	g.setMarginals([]float32{.5, .3, .2, .1, .2, .3, .4}, 0)
	counts := make([]int64, 4)
	for _, c := range g.Sample(20000, testRand(5))[1] {
		counts[c]++
	}
	if x, limit, ok := stattest.ChiSquare(counts, p[3:]); !ok {
		t.Errorf("counts %v: %v > %v", counts, x, limit)
	}
	if _, _, ok := stattest.ChiSquare(counts, []float64{.13, .2, .3, .37}); ok {
		t.Errorf("counts %v pass for a wrong distribution", counts)
	}
}

// TestHardHead: hard cells are one a block, the largest of the relaxed ones, and the gradient is
// that of the relaxed head.
func TestHardHead(t *testing.T) {
	e := testEncoder(t, testSizes...)
	g, _ := NewGenerator(e, GeneratorOptions{Latent: 4, Hidden: 8}, testRand(6))
	soft, hard := g.NewPass(12, Head{}), g.NewPass(12, Head{Hard: true})
	x, y := soft.Forward(testRand(7)), hard.Forward(testRand(7))
	codes, want := make([][]uint16, e.Columns()), matrix.New(12, e.Cells())
	for k := range codes {
		codes[k] = make([]uint16, 12)
	}
	for i := range x.Rows {
		for k := range codes {
			codes[k][i] = uint16(largest(x.Row(i)[e.Offset(k):e.Offset(k+1)]))
		}
	}
	oneHotTo(e, want, codes)
	if !slices.Equal(y.Data, want.Data) {
		t.Error("hard cells are not the largest of the relaxed ones")
	}
	down := normals(testRand(8), len(x.Data), 1)
	a := soft.Backward(matrix.Dense(12, e.Cells(), slices.Clone(down)))
	b := hard.Backward(matrix.Dense(12, e.Cells(), slices.Clone(down)))
	if !slices.Equal(a, b) {
		t.Error("gradients of the hard and the relaxed head differ")
	}
}
