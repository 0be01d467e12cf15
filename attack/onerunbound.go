package attack

import (
	"fmt"
	"math"
)

// Guesses are the outcome of a one-run audit.
type Guesses struct {
	Canaries int // each in or out by a fair coin of its own
	Made     int // guesses made, at most Canaries; for the others the auditor abstained
	Right    int // guesses that were right, at most Made
}

// PValue bounds the probability that an (ε, δ)-DP mechanism lets an auditor be right at least Right
// times.
//
// Symbols: m = Canaries, r = Made, v = Right, X ~ Binomial(r, e^ε/(1+e^ε)). With β = P(X ≥ v) and α
// = max_{1≤i≤v} P(v > X ≥ v − i)/i,
//
//	P(right ≥ v) ≤ β + 2·m·δ·α
//
// (Steinke, Nasr, Jagielski, "Privacy auditing with one (1) training run", 2023, arXiv 2305.08846,
// theorem 5.2; with the factor 2 of its appendix D). It needs the coins to be fair and independent,
// and the guesses to be a function of what was released. It panics unless 0 ≤ Right ≤ Made ≤
// Canaries.
func (g Guesses) PValue(epsilon, delta float64) float64 {
	if g.Right < 0 || g.Right > g.Made || g.Made > g.Canaries {
		panic(fmt.Sprintf("attack: %d right of %d guesses on %d canaries", g.Right, g.Made, g.Canaries))
	}
	if g.Made == 0 {
		return 1
	}
	q := 1 / (1 + math.Exp(-epsilon))
	p := atLeast(g.Right, g.Made, q)
	if delta > 0 && q < 1 {
		alpha, sum := 0.0, 0.0
		for i := 1; i <= g.Right; i++ {
			sum += binomial(g.Right-i, g.Made, q)
			alpha = max(alpha, sum/float64(i))
		}
		p += 2 * float64(g.Canaries) * delta * alpha
	}
	return min(1, p)
}

// Epsilon is the largest ε ≥ 0 that the guesses refute at δ with error probability tail, rounded
// down; 0 if they refute none.
func (g Guesses) Epsilon(delta, tail float64) float64 {
	lo, hi := 0.0, 64.0
	if g.PValue(0, delta) > tail {
		return 0
	}
	for range 100 {
		mid := (lo + hi) / 2
		if g.PValue(mid, delta) <= tail {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
