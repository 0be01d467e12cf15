package gan

import (
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
)

// TestSampleToward: rows of a generator that knows nothing have the pairs that they are steered to,
// in one block of rows and in several, and follow the seed.
func TestSampleToward(t *testing.T) {
	sizes := []int{5, 5, 3}
	e := testEncoder(t, sizes...)
	g := stattest.Must(NewGenerator(e, GeneratorOptions{Latent: 3, Hidden: 8}, testRand(1)))
	want := marginal.CountPairs(sizes, someRows(100_000, sizes))
	same := func(codes [][]uint16) (share float64) {
		for r, code := range codes[0] {
			if code == codes[1][r] {
				share += 1 / float64(len(codes[0]))
			}
		}
		return share
	}
	if x := same(g.Sample(20_000, testRand(3))); x > .4 {
		t.Fatalf("two columns agree in %.3f of the rows as they come: nothing to do", x)
	}
	draw := func(n int, seed uint64) [][]uint16 { return g.SampleToward(want, n, testRand(seed)) }
	for _, n := range []int{300, 2*steeredRows + 9} {
		if x := same(draw(n, 4)); x < .97 {
			t.Errorf("two columns agree in %.3f of %d steered rows, not in all", x, n)
		}
	}
	a, b, c := draw(500, 5), draw(500, 5), draw(500, 6)
	for k := range a {
		if !slices.Equal(a[k], b[k]) || slices.Equal(a[k], c[k]) {
			t.Errorf("column %d: rows do not follow the seed", k)
		}
	}
	if len(draw(0, 1)[0]) != 0 {
		t.Error("rows in a sample of none")
	}
}
