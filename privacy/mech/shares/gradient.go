package shares

import (
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/ellipsoid"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"
)

// Gradient is the sum of a critic's gradient over all rows of all parties, as
// [gradient.CertifiedSum] has it of one: at rate 1, in a mode that clips nothing. The noise
// multiplier follows from the question's ρ.
type Gradient struct {
	gradient.Plan
	Network bounds.Network
}

// leastSteps is the least σ of a coordinate, in steps of the grid. With it, what tells a sum of
// discrete Gaussians from one (τ of [accountant.Shares]) is below 1e-60.
const leastSteps = 4

// gradient compiles a question about a gradient. Symbols: n the parties that do not collude, c the
// certificate's scales and g its grid, z = 1/√(2nρ). A share has σ_k = max(4, ⌈z·c_k/g⌉) in
// coordinate k. A unit, with the rows that it may have at all parties, moves the sum by Δ with
// Σ(gΔ_k/c_k)² ≤ 1, and so Σ(Δ_k/σ_k)² ≤ 1/z². Its cost is that of the least σ, s, in all
// coordinates and of sensitivity s/z (docs/claims/shares.md).
func (q Question) gradient(s *privacy.Session, t Terms) (c counting, err error) {
	g := *q.Gradient
	if g.Rate != 1 {
		return c, errors.New("a gradient of a sample of rows")
	}
	critic, err := ellipsoid.Critic(s.Schema(), g.Network)
	if err != nil {
		return c, err
	}
	nb := s.Neighbours()
	nb.MaxRowsPerUnit = max(1, nb.MaxRowsPerUnit) * t.PerPerson
	c.cost = accountant.Shares{Honest: len(t.Identities) - t.Colluding, Sigma: math.Inf(1)}
	z := 1 / math.Sqrt(2*q.Rho*float64(c.cost.Honest)) * (1 + 1e-9)
	sum, cert, err := ellipsoid.Certified(nb, g.Mode, z, critic)
	if err != nil {
		return c, err
	}
	c.of = access.Ask("gradient").Text(fmt.Sprint(g.Mode)).Floats(sum.Grid).
		Floats(sum.Scales...).Floats(float64(critic.Slope()))
	for _, units := range critic.Sizes() {
		c.of.Ints(int64(units))
	}
	for _, w := range critic.Parameters() {
		c.of.Floats(float64(w))
	}
	shares := make([]*noise.DiscreteGaussian, len(sum.Scales))
	for k, scale := range sum.Scales {
		sigma := max(leastSteps, math.Ceil(scale/sum.Grid))
		if shares[k], err = noise.NewDiscreteGaussian(sigma); err != nil {
			return c, err
		}
		c.cost.Sigma = min(c.cost.Sigma, sigma)
	}
	c.cost.Cells, c.cost.Sensitivity = len(shares), c.cost.Sigma/z*(1+1e-12)
	c.addTo = func(xs []int64, src *noise.Source) {
		for k, share := range shares {
			share.AddTo(xs[k:k+1], src)
		}
	}
	c.count = func(rows access.Rows) ([]int64, error) { return ellipsoid.Exact(rows, 1)(sum) }
	c.total = func(sum []int64, parties int) Total {
		return Total{Cost: c.cost, Sigma: z * math.Sqrt(float64(parties)),
			Gradient: gradient.Certified{Certificate: cert, Released: sum}}
	}
	return c, nil
}
