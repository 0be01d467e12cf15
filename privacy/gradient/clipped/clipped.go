// Package clipped releases sums over private rows of which a row that sticks out of its ellipsoid
// counts for less: of the gradients of a critic's score, in mode ball of package bounds, and of
// those of its gradient penalty.
package clipped

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/clip"
	"github.com/decoy-dp/decoy/bounds/penalty"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/privacy/internal/ellipsoid"
	"github.com/decoy-dp/decoy/table"
)

// Critic is a network whose sums over private rows [Sum] releases. Its contract is that of
// [gradient.Critic], with a weight for each row.
type Critic interface {
	gradient.Critic
	// AddClippedSumTo adds Σ w·∇D(x) over the selected rows (nil: all) of the columns to gradient, in
	// whole steps of factor² times the step of a weight, and returns Σ w. w is what weight returns for
	// the row's rounded factors (see clip.Clipper.Weight; x[0] is empty). Every column is a one-hot
	// block. It must keep nothing of what it sees.
	AddClippedSumTo(
		gradient []int64, factor float64, weight func(x, delta [][]float64) int64, columns []table.Codes,
		rows []int,
	) int64
	// AddPenaltySumTo adds Σ w·∇_W (‖∇_x D(x̂)‖₂ − 1)² over the selected rows (nil: all) of the
	// columns to gradient, which holds the weights W¹, W², ..., in whole steps of factor² times the
	// step of w. x̂ lies between the row and a generated one, as one word of draw, independent of all
	// else, says; draw gives no word that noise is made of. w is what weight returns for the row's
	// rounded factors (penalty.Certificate.Weight). It must keep nothing of what it sees and draws.
	AddPenaltySumTo(
		gradient []int64, factor float64, draw func() uint64, weight func(t, delta [][]float64) int64,
		columns []table.Codes, rows []int,
	)
}

// Plan is how [Sum] clips and samples, and what noise it adds. Its event is
// [gradient.CertifiedEvent].
type Plan struct {
	gradient.CertifiedPlan         // of any mode; if that clips nothing is scaled
	Penalty                Penalty // what else is released of the same batch, for the same event
}

// Released are noisy sums. They are public.
type Released struct {
	gradient.Certified
	// of the penalty; nil without one
	Penalty         *penalty.Certificate
	ReleasedPenalty []int64 // in steps of Penalty.Grid(): see penalty.Certificate.DecodeTo
}

// Sum is [gradient.CertifiedSum] where rows are clipped. In a mode that clips each row's gradient
// is multiplied by the largest weight that brings it into the certificate's ellipsoid
// (docs/claims/clippedsum.md), which lets the noise be smaller than what holds for every row of the
// domain. With a penalty, that is released beside it (docs/claims/penalty.md): the two are one
// vector and one Gaussian mechanism of the multiplier. Rows that stick out count for less, so
// released sums are biased.
func Sum(s *privacy.Session, p Plan, critic Critic) (Released, error) {
	fail := func(err error) (Released, error) {
		return Released{}, fmt.Errorf("privacy: a gradient sum: %w", err)
	}
	if err := p.Penalty.check(); err != nil {
		return fail(err)
	}
	p.Mode = p.Mode.Own() // as CertifiedSum does
	if p.Mode.Clipped() && slices.Contains(p.Scaled, true) {
		return fail(fmt.Errorf("mode %v with scaled columns", p.Mode))
	}
	in, err := p.Domain(s.Schema())
	if err != nil {
		return fail(err)
	}
	var out Released
	var sum ellipsoid.Sum
	z := p.Penalty.GradientMultiplier(p.NoiseMultiplier)
	if p.Mode.Clipped() {
		sum, out.Certificate, err = weighted(s.Neighbours(), in, p.Mode, z, critic)
	} else {
		sum, out.Certificate, err = ellipsoid.Certified(s.Neighbours(), in, p.Mode, z, critic)
	}
	if err != nil {
		return fail(err)
	}
	sums := []ellipsoid.Sum{sum}
	if p.Penalty.Share != 0 {
		sum, out.Penalty, err = penaltySum(s.Neighbours(), p.Penalty, p.NoiseMultiplier, critic)
		if err != nil {
			return fail(err)
		}
		sums = append(sums, sum)
	}
	released, err := ellipsoid.Release(s, p.Rate, p.NoiseMultiplier, sums...)
	if err != nil {
		return Released{}, err
	}
	if out.Certified.Released = released[0]; len(released) > 1 {
		out.ReleasedPenalty = released[1]
	}
	return out, nil
}

// weighted certifies the critic for rows that are clipped, and is its gradient sum over them.
func weighted(
	nb privacy.Neighbours, in *bounds.Input, mode bounds.Mode, z float64, critic Critic,
) (ellipsoid.Sum, *bounds.Certificate, error) {
	cert, err := bounds.Certify(critic.Network(), in, bounds.Config{Mode: mode,
		Adjacency: nb.Adjacency, UnitRows: max(1, nb.MaxRowsPerUnit), NoiseMultiplier: z})
	if err != nil {
		return ellipsoid.Sum{}, nil, err
	}
	sum := ellipsoid.Sum{Scales: make([]float64, cert.Coordinates()), Grid: cert.Grid()}
	cert.ScalesTo(sum.Scales, z)
	sum.Of = func(columns []table.Codes, rows []int, _ int) []int64 {
		of := bounds.Sum{Gradient: make([]int64, cert.Parameters())}
		of.Rows = critic.AddClippedSumTo(
			of.Gradient, cert.Factor(), clip.New(cert).Weight, columns, rows,
		)
		encoded := make([]int64, cert.Coordinates())
		cert.EncodeTo(encoded, of)
		return encoded
	}
	return sum, cert, nil
}
