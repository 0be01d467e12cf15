package vote

import (
	"math"
	"testing"
)

// TestGNMaxLogQ compares with the sum written out.
func TestGNMaxLogQ(t *testing.T) {
	for _, counts := range [][]int64{{100, 90}, {10, 200, 30}, {50, 50, 50}, {0, 250, 0, 0, 0, 0, 0, 0,
		0, 0}} {
		for _, sigma := range []float64{5, 40, 200} {
			top := int64(0)
			for _, n := range counts {
				top = max(top, n)
			}
			q, skipped := 0.0, false
			for _, n := range counts {
				if n == top && !skipped {
					skipped = true
					continue
				}
				q += math.Erfc(float64(top-n)/(2*sigma)) / 2
			}
			q = min(q, 1-1/float64(len(counts)))
			if got := wrongWinner(counts, sigma); math.Abs(got-math.Log(q)) > 1e-9*(1+math.Abs(got)) {
				t.Errorf("%v, sigma %v: %v, want %v", counts, sigma, got, math.Log(q))
			}
		}
	}
	if got := wrongWinner([]int64{1000, 0}, 2); got > -1e4 || math.IsInf(got, 0) {
		t.Errorf("far out: %v", got)
	}
}

// TestGNMaxRDP: the bound holds against the true divergence of two-class answers, is below the
// data-independent one where teachers agree, and is that one where they do not.
func TestGNMaxRDP(t *testing.T) {
	const sigma = 40.0
	win := func(gap float64) float64 { return math.Erfc(-gap/(2*sigma)) / 2 } // N(gap, 2σ²) > 0
	for _, gap := range []int64{0, 40, 100, 160, 250} {
		p, logQ := win(float64(gap)), wrongWinner([]int64{gap, 0}, sigma)
		for _, alpha := range []float64{1.5, 2, 5, 10, 20, 60} {
			bound := winnerRDP(alpha, sigma, logQ)
			if bound > alpha/(sigma*sigma) || bound < 0 || math.IsNaN(bound) {
				t.Fatalf("gap %d, order %v: %v", gap, alpha, bound)
			}
			for _, other := range []float64{float64(gap) - 2, float64(gap) + 2} {
				power := func(a, b float64) float64 {
					return math.Exp(alpha*math.Log(a) + (1-alpha)*math.Log(b))
				}
				truth := math.Log(power(p, win(other))+power(win(-float64(gap)), win(-other))) / (alpha - 1)
				if truth > bound*(1+1e-6)+1e-12 {
					t.Errorf("gap %d, order %v: the divergence is %v, the bound %v", gap, alpha, truth, bound)
				}
			}
			if gap == 250 && alpha == 5 && bound > .5*alpha/(sigma*sigma) {
				t.Errorf("agreeing teachers cost %v, no less than half of %v", bound, alpha/(sigma*sigma))
			}
			if gap == 0 && bound != alpha/(sigma*sigma) {
				t.Errorf("divided teachers cost %v, not %v", bound, alpha/(sigma*sigma))
			}
		}
	}
	for _, q := range []float64{0, 1, math.NaN()} {
		if got := winnerRDP(3, sigma, q); got != 3/(sigma*sigma) {
			t.Errorf("logQ %v: %v", q, got)
		}
	}
}
