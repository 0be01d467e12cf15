package attack

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
)

// clopperPearson returns bounds on the probability of an event that occurred in successes of n
// independent trials: each of low and high is wrong with probability at most tail, at every n
// (Clopper & Pearson 1934, Biometrika 26).
//
// It panics unless 0 ≤ successes ≤ n, n > 0 and 0 < tail < 1.
func clopperPearson(successes, n int, tail float64) (low, high float64) {
	if n <= 0 || successes < 0 || successes > n || !(tail > 0 && tail < 1) {
		panic(fmt.Sprintf("attack: %d successes of %d trials, tail %v", successes, n, tail))
	}
	// the largest p at which P(X ≥ s) ≤ tail for X ~ Binomial(n, p)
	lower := func(s int) float64 {
		return largest(float64(s)/float64(n), func(p float64) bool { return atLeast(s, n, p) <= tail })
	}
	return lower(successes), 1 - lower(n-successes)
}

// largest is the largest x from 0 to high at which it holds, rounded down; from there on it does
// not.
func largest(high float64, holds func(x float64) bool) float64 {
	low := 0.0
	for range 100 {
		if middle := low + (high-low)/2; holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// atLeast is P(X ≥ s) for X ~ Binomial(n, p).
func atLeast(s, n int, p float64) float64 {
	switch {
	case s <= 0:
		return 1
	case s > n:
		return 0
	}
	return mathext.RegIncBeta(float64(s), float64(n-s)+1, p)
}

// rates bound how often an event happens on two neighbouring tables: with probability at most Out
// on the one, at least In on the other. As rates of a membership test, Out is a bound on its false
// positives and In one on its true positives.
//
// Differential privacy holds for the event and for its complement, and with the tables exchanged;
// each method takes the strongest of what follows.
type rates struct {
	Out float64 `json:"out"` // upper bound, 0 to 1
	In  float64 `json:"in"`  // lower bound, 0 to 1
}

// Epsilon is the largest ε ≥ 0 that the rates refute at δ: ln of the larger of (In − δ)/Out and (1
// − Out − δ)/(1 − In), or 0. It is +Inf where a denominator is 0 and its numerator is not.
func (r rates) Epsilon(delta float64) float64 {
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
func (r rates) Delta(epsilon float64) float64 {
	e := math.Exp(epsilon)
	return max(0, r.In-e*r.Out, (1-r.Out)-e*(1-r.In))
}

// Mu is the largest μ ≥ 0 at which the rates refute μ-Gaussian differential privacy: Φ⁻¹(In) −
// Φ⁻¹(Out) (Dong, Roth, Su 2022, definition 2.6). It may be +Inf.
func (r rates) Mu() float64 {
	if r.In <= r.Out {
		return 0
	}
	return mathext.NormalQuantile(r.In) - mathext.NormalQuantile(r.Out)
}

// ceiling is the largest ε that any test of runs on each of two tables can show at δ, were the
// tables told apart without a mistake: ln((1 − p − δ)/p) with p = 1 − tail^{1/runs}. Each of the
// two rates is bounded with error probability tail; a two-sided interval for each, at confidence 1
// − α together, has tail = α/4.
//
// It panics unless runs > 0 and 0 < tail < 1.
func ceiling(runs int, tail, delta float64) float64 {
	low, _ := clopperPearson(runs, runs, tail)
	return rates{Out: 1 - low, In: low}.Epsilon(delta)
}

// point is one (ε, δ) of a claim.
type point struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Claim is what an audit puts to the test: (ε, δ)-differential privacy, and what else follows from
// the account behind it.
type Claim struct {
	Budget accountant.Budget
	// Curve are further points that the same account promises. A mechanism with too little noise
	// breaks those at small ε long before it can be seen to break the budget, whose δ is far too
	// small to count.
	Curve []point
}

// curvePoints is how many points ClaimOf puts between ε = 0 and the budget's.
const curvePoints = 16

// ClaimOf is the claim of a budget and of the composition that was planned within it.
func ClaimOf(
	b accountant.Budget, adj accountant.Adjacency, c accountant.Composition,
) (Claim, error) {
	claim := Claim{Budget: b}
	if err := b.Validate(); err != nil {
		return claim, err
	}
	for i := range curvePoints {
		epsilon := b.Epsilon * float64(i) / curvePoints
		bound, err := pld.DeltaAt(c, epsilon, adj)
		if err != nil {
			return claim, fmt.Errorf("the account at epsilon %v: %w", epsilon, err)
		}
		claim.Curve = append(claim.Curve, point{Epsilon: epsilon, Delta: min(1, bound.Delta)})
	}
	return claim, nil
}

// Break is a point of a claim that does not hold.
type Break struct {
	Epsilon float64 `json:"epsilon"`
	Claimed float64 `json:"claimed_delta"`
	Shown   float64 `json:"shown_delta"` // lower bound at the same ε
}

// broken is the point of the claim that the rates exceed most clearly, the budget itself first, or
// nil if all hold.
func (c Claim) broken(r rates) *Break {
	if shown := r.Delta(c.Budget.Epsilon); shown > c.Budget.Delta {
		return &Break{Epsilon: c.Budget.Epsilon, Claimed: c.Budget.Delta, Shown: shown}
	}
	var worst *Break
	for _, p := range c.Curve {
		shown := r.Delta(p.Epsilon)
		if shown > p.Delta && (worst == nil || shown-p.Delta > worst.Shown-worst.Claimed) {
			worst = &Break{Epsilon: p.Epsilon, Claimed: p.Delta, Shown: shown}
		}
	}
	return worst
}

// guesses are the outcome of an attack whose questions were fair coins.
type guesses struct {
	Canaries int `json:"canaries"` // each in or out by a fair coin of its own
	Made     int `json:"guesses"`  // at most Canaries; for the others the attacker abstained
	Right    int `json:"right"`    // of them, at most Made
}

// pValue bounds the probability that an (ε, δ)-DP mechanism lets an auditor be right at least Right
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
func (g guesses) pValue(epsilon, delta float64) float64 {
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
func (g guesses) Epsilon(delta, tail float64) float64 {
	return largest(64, func(epsilon float64) bool { return g.pValue(epsilon, delta) <= tail })
}

// exposure is how far a model has memorised a canary, in bits: log₂|R| − log₂ rank, where R are the
// equally likely texts or rows that the canary was drawn from and rank is its place among them by
// the model's log-probability, the most probable first, ties counted against it (Carlini et al.
// 2019, arXiv 1802.08232, definition 2). canary is its log-probability, others are those of the
// rest of R. It is 0 for the least probable and log₂|R| for the most; of a model that has not seen
// the canary the mean is below 1.45, and (ε, 0)-DP keeps it below that + ε/ln 2.
func exposure(canary float64, others []float64) float64 {
	rank := 1 + floats.Count(func(x float64) bool { return x >= canary }, others)
	return math.Log2(float64(len(others)+1)) - math.Log2(float64(rank))
}
