package attack

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/decoy-dp/decoy/accountant"
)

// Guesses are the outcome of an attack whose questions were fair coins.
type Guesses struct {
	Canaries int `json:"canaries"` // each in or out by a fair coin of its own
	Made     int `json:"guesses"`  // at most Canaries; for the others the attacker abstained
	Right    int `json:"right"`    // of them, at most Made
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
		x := distuv.Binomial{N: float64(g.Made), P: q}
		alpha, sum := 0.0, 0.0
		for i := 1; i <= g.Right; i++ {
			sum += x.Prob(float64(g.Right - i))
			alpha = max(alpha, sum/float64(i))
		}
		p += 2 * float64(g.Canaries) * delta * alpha
	}
	return min(1, p)
}

// Epsilon is the largest ε ≥ 0 that the guesses refute at δ with error probability tail, rounded
// down; 0 if they refute none.
func (g Guesses) Epsilon(delta, tail float64) float64 {
	return largest(64, func(epsilon float64) bool { return g.PValue(epsilon, delta) <= tail })
}

// accuracy is what guesses say of an attacker.
type accuracy struct {
	Guesses
	Share float64 `json:"accuracy"` // of the guesses that were right
	// Privacy is min(2·(1 − accuracy), 1): 1 when the attacker guesses, 0 when he knows. The interval
	// is two standard errors √(A·(1 − A)/N) of the accuracy either way, times 2, within [0, 1].
	Privacy     float64 `json:"privacy"`
	PrivacyLow  float64 `json:"privacy_low"`
	PrivacyHigh float64 `json:"privacy_high"`
	// the most that the claim allows of one guess: e^ε/(1 + e^ε) + δ
	Limit float64 `json:"accuracy_claimed"`
}

func accuracyOf(g Guesses, b accountant.Budget) *accuracy {
	a := float64(g.Right) / float64(g.Made)
	r := &accuracy{Guesses: g, Share: a, Privacy: min(2*(1-a), 1),
		Limit: min(1, 1/(1+math.Exp(-b.Epsilon))+b.Delta)}
	margin := 2 * 2 * math.Sqrt(a*(1-a)/float64(g.Made))
	r.PrivacyLow, r.PrivacyHigh = max(0, r.Privacy-margin), min(1, r.Privacy+margin)
	return r
}

// guessed is the result of guesses about a mechanism with a claim.
func guessed(mechanism string, g Guesses, b accountant.Budget, confidence float64) Result {
	best := g
	best.Right = best.Made
	r := Result{Mechanism: mechanism, Confidence: confidence, Guessed: accuracyOf(g, b),
		Epsilon: g.Epsilon(b.Delta, 1-confidence), Ceiling: best.Epsilon(b.Delta, 1-confidence)}
	r.Refuted = r.Epsilon > b.Epsilon
	return r
}
