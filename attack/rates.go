package attack

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Rates bound how often an event happens on two neighbouring tables: with probability at most Out
// on the one, at least In on the other. As rates of a membership test, Out is a bound on its false
// positives and In one on its true positives.
//
// Differential privacy holds for the event and for its complement, and with the tables exchanged;
// each method takes the strongest of what follows.
type Rates struct {
	Out float64 `json:"out"` // upper bound, 0 to 1
	In  float64 `json:"in"`  // lower bound, 0 to 1
}

// Epsilon is the largest ε ≥ 0 that the rates refute at δ: ln of the larger of (In − δ)/Out and (1
// − Out − δ)/(1 − In), or 0. It is +Inf where a denominator is 0 and its numerator is not.
func (r Rates) Epsilon(delta float64) float64 {
	ratio := func(above, below float64) float64 {
		if above <= 0 {
			return 0
		}
		return max(0, math.Log(above/below))
	}
	return max(ratio(r.In-delta, r.Out), ratio(1-r.Out-delta, 1-r.In))
}

// Delta is the smallest δ that the rates leave at ε: the larger of In − e^ε·Out and (1 − Out) −
// e^ε·(1 − In), or 0.
func (r Rates) Delta(epsilon float64) float64 {
	e := math.Exp(epsilon)
	return max(0, r.In-e*r.Out, (1-r.Out)-e*(1-r.In))
}

// Mu is the largest μ ≥ 0 at which the rates refute μ-Gaussian differential privacy: Φ⁻¹(In) −
// Φ⁻¹(Out) (Dong, Roth, Su 2022, definition 2.6). It may be +Inf.
func (r Rates) Mu() float64 {
	if r.In <= r.Out {
		return 0
	}
	return mathext.NormalQuantile(r.In) - mathext.NormalQuantile(r.Out)
}

// Ceiling is the largest ε that any test of runs on each of two tables can show at δ, were the
// tables told apart without a mistake: ln((1 − p − δ)/p) with p = 1 − tail^{1/runs}. Each of the
// two rates is bounded with error probability tail; a two-sided interval for each, at confidence 1
// − α together, has tail = α/4.
//
// It panics unless runs > 0 and 0 < tail < 1.
func Ceiling(runs int, tail, delta float64) float64 {
	low, _ := clopperPearson(runs, runs, tail)
	return Rates{Out: 1 - low, In: low}.Epsilon(delta)
}
