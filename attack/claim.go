package attack

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/accountant/pld"
)

// Point is one (ε, δ) of a claim.
type Point struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Claim is what an audit puts to the test: (ε, δ)-differential privacy under an adjacency, and what
// else follows from the account behind it.
type Claim struct {
	Budget    accountant.Budget
	Adjacency accountant.Adjacency
	// Curve are further points that the same account promises. A mechanism with too little noise
	// breaks those at small ε long before it can be seen to break the budget, whose δ is far too
	// small to count.
	Curve []Point
	// Mu is the μ of the account where all of it is one Gaussian mechanism, else 0.
	Mu float64
}

// curvePoints is how many points [ClaimOf] puts between ε = 0 and the budget's.
const curvePoints = 16

// ClaimOf is the claim of a budget and of the composition that was planned within it.
func ClaimOf(
	b accountant.Budget, adj accountant.Adjacency, c accountant.Composition,
) (Claim, error) {
	claim := Claim{Budget: b, Adjacency: adj}
	if err := b.Validate(); err != nil {
		return claim, err
	}
	for i := range curvePoints {
		epsilon := b.Epsilon * float64(i) / curvePoints
		bound, err := pld.DeltaAt(c, epsilon, adj)
		if err != nil {
			return claim, fmt.Errorf("attack: the account at epsilon %v: %w", epsilon, err)
		}
		claim.Curve = append(claim.Curve, Point{Epsilon: epsilon, Delta: min(1, bound.Delta)})
	}
	bound, err := pld.DeltaAt(c, b.Epsilon, adj)
	if err == nil && bound.Method == "gdp" && b.Delta > 0 {
		if claim.Mu, err = calibrate.Mu(accountant.Budget{Epsilon: b.Epsilon,
			Delta: max(bound.Delta, 1e-300)}); err != nil {
			claim.Mu = 0
		}
	}
	return claim, nil
}

// Break is a point of a claim that does not hold.
type Break struct {
	Epsilon float64 `json:"epsilon"`
	Claimed float64 `json:"claimed_delta"`
	Shown   float64 `json:"shown_delta"` // lower bound at the same ε
}

// Broken is the point of the claim that the rates exceed most clearly, the budget itself first, or
// nil if all hold.
func (c Claim) Broken(r Rates) *Break {
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
