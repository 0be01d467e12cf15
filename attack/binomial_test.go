package attack

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestClopperPearson: published intervals, and the definition: at the bound the tail is what was
// asked.
func TestClopperPearson(t *testing.T) {
	for _, tt := range []struct {
		name      string
		s, n      int
		tail      float64
		low, high float64
	}{
		{"none of 10, 95 %", 0, 10, .025, 0, .308497}, // 1 − .025^{1/10}
		{"all of 10, 95 %", 10, 10, .025, .691503, 1}, // .025^{1/10}
		// Clopper & Pearson's chart; R binom.test(1, 10)
		{"1 of 10, 95 %", 1, 10, .025, .002529, .445016},
		// R binom.test(5, 10)
		{"5 of 10, 95 %", 5, 10, .025, .187086, .812914},
		// Newcombe 1998, Statistics in Medicine 17, table I
		{"81 of 263, 95 %", 81, 263, .025, .252706, .367626},
		{"15 of 148, 95 %", 15, 148, .025, .0578, .1617}, // Newcombe 1998
		{"none of 20, 95 %", 0, 20, .025, 0, .1684},      // Newcombe 1998
		{"1 of 29, 95 %", 1, 29, .025, .0009, .1776},     // Newcombe 1998
		// rule of the ceiling
		{"none of 400, 90 %", 0, 400, .025, 0, 1 - math.Exp(math.Log(.025)/400)},
	} {
		low, high := clopperPearson(tt.s, tt.n, tt.tail)
		if math.Abs(low-tt.low) > 6e-5 || math.Abs(high-tt.high) > 6e-5 {
			t.Errorf("%s: [%.6f, %.6f], want [%.6f, %.6f]", tt.name, low, high, tt.low, tt.high)
		}
	}
	for _, n := range []int{1, 7, 400, 10_000} {
		for _, s := range []int{1, n / 2, n - 1} {
			if s < 1 || s >= n {
				continue
			}
			for _, tail := range []float64{1e-9, .025, .4} {
				low, high := clopperPearson(s, n, tail)
				if got := atLeast(s, n, low); math.Abs(got/tail-1) > 1e-6 {
					t.Errorf("%d of %d: P(X ≥ s) = %v at the lower bound, want %v", s, n, got, tail)
				}
				if got := atLeast(n-s, n, 1-high); math.Abs(got/tail-1) > 1e-3 {
					t.Errorf("%d of %d: P(X ≤ s) = %v at the upper bound, want %v", s, n, got, tail)
				}
			}
		}
	}
}

// TestBinomial: the tail is the sum of the probabilities.
func TestBinomial(t *testing.T) {
	for _, n := range []int{1, 5, 60} {
		for _, p := range []float64{.01, .5, .93} {
			sum := 0.0
			for k := n; k >= 0; k-- {
				sum += distuv.Binomial{N: float64(n), P: p}.Prob(float64(k))
				if got := atLeast(k, n, p); math.Abs(got-sum) > 1e-12 {
					t.Errorf("P(X ≥ %d) of Binomial(%d, %v) is %v, the sum %v", k, n, p, got, sum)
				}
			}
		}
	}
	if atLeast(5, 4, .9) != 0 {
		t.Error("more successes than trials are possible")
	}
}

func TestClopperPearsonPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"no trials":     func() { clopperPearson(0, 0, .05) },
		"too many":      func() { clopperPearson(5, 4, .05) },
		"negative":      func() { clopperPearson(-1, 4, .05) },
		"tail 0":        func() { clopperPearson(1, 4, 0) },
		"tail NaN":      func() { clopperPearson(1, 4, math.NaN()) },
		"guesses":       func() { Guesses{Canaries: 3, Made: 4}.PValue(1, 0) },
		"right of none": func() { Guesses{Canaries: 3, Made: 2, Right: 3}.PValue(1, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
