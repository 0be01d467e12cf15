package gan

import (
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestClippedSumIsWeighted: with weights that are a function of the factors, the sum is that of
// single rows times their weights, for one and two hidden layers, and the factors are those that
// the sum multiplies.
func TestClippedSumIsWeighted(t *testing.T) {
	u := testRand(31)
	e := testEncoder(t, testSizes...)
	const rows, factor = 300, 0x1p-12
	columns := randomColumns(u, e, rows)
	for _, hidden := range [][]int{{5}, {5, 3}} {
		c := stattest.Must(NewCritic(e, CriticOptions{Hidden: hidden, Slope: .2}, u))
		weight := func(x, delta [][]float64) int64 {
			if len(x) != len(hidden)+1 || len(x[0]) != 0 || len(x[1]) != 5 ||
				delta[len(hidden)][0] != 1 {
				t.Fatalf("factors of %d and %d layers", len(x), len(delta))
			}
			return int64(1000*(x[1][0]+1)) & 0xff
		}
		got, want := make([]int64, len(c.Parameters())), make([]int64, len(c.Parameters()))
		sum, total := c.AddClippedSumTo(got, factor, weight, columns, nil), int64(0)
		for i := range rows {
			var w int64
			one := make([]int64, len(c.Parameters()))
			c.AddClippedSumTo(one, factor, func(x, delta [][]float64) int64 {
				w = weight(x, delta)
				return w
			}, columns, []int{i})
			plain := make([]int64, len(c.Parameters()))
			c.AddSumTo(plain, nil, factor, columns, []int{i})
			for k, v := range plain {
				if one[k] != w*v {
					t.Fatalf("row %d, parameter %d: %d, want %d times %d", i, k, one[k], w, v)
				}
				want[k] += one[k]
			}
			total += w
		}
		if sum != total || !slices.Equal(got, want) {
			t.Errorf("%d layers: the sum is not that of its rows", len(hidden))
		}
	}
}

// TestClippedSumOfLargeFactors: a factor near 2²⁶ steps times a weight of 256 is more than 32 bits,
// and is multiplied exactly all the same.
func TestClippedSumOfLargeFactors(t *testing.T) {
	e := testEncoder(t, testSizes...)
	const factor = 0x1p-16
	columns := randomColumns(testRand(32), e, 40)
	c := stattest.Must(NewCritic(e, CriticOptions{Hidden: []int{8, 8}, Slope: .2}, testRand(33)))
	for _, layer := range c.Network().Layers {
		w := layer.Weights
		for i := range w {
			w[i] *= 30
		}
	}
	plain, got := make([]int64, len(c.Parameters())), make([]int64, len(c.Parameters()))
	c.AddSumTo(plain, nil, factor, columns, nil)
	largest := 0.
	c.AddClippedSumTo(got, factor, func(_, delta [][]float64) int64 {
		for _, d := range delta[0] {
			largest = max(largest, d, -d)
		}
		return 256
	}, columns, nil)
	if largest <= 0x1p31/256*factor || largest > 0x1p26*factor {
		t.Fatalf("the test's factors reach %v", largest)
	}
	for k, v := range plain {
		if got[k] != 256*v {
			t.Fatalf("parameter %d: %d, want 256 times %d", k, got[k], v)
		}
	}
}

func TestClippedSumPanics(t *testing.T) {
	e := testEncoder(t, testSizes...)
	c, _ := NewCritic(e, CriticOptions{Hidden: []int{2}}, testRand(1))
	columns := randomColumns(testRand(2), e, 3)
	all := make([]int64, len(c.Parameters()))
	one := func(x, delta [][]float64) int64 { return 1 }
	for name, call := range map[string]func(){
		"factor": func() { c.AddClippedSumTo(all, .3, one, columns, nil) },
		"length": func() { c.AddClippedSumTo(all[:3], .5, one, columns, nil) },
	} {
		stattest.Panics(t, call, "%s", name)
	}
}
