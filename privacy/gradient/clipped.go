package gradient

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/clip"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/table"
)

// ClippingCritic is a network whose clipped gradient sum [ClippedSum] releases. Its contract is
// that of [Critic], with a weight for each row.
type ClippingCritic interface {
	// Network shows the weights. Its inputs are the codes of the schema, one one-hot block a column.
	Network() bounds.Network
	// AddClippedSumTo adds Σ w·∇D(x) over the selected rows (nil: all) of the columns to gradient, in
	// whole steps of factor² times the step of a weight, and returns Σ w. w is what weight returns for
	// the row's rounded factors (see clip.Clipper.Weight; x[0] is empty). It must keep nothing of what
	// it sees.
	AddClippedSumTo(
		gradient []int64, factor float64, weight func(x, delta [][]float64) int64, columns []table.Codes,
		rows []int,
	) int64
}

// ClippedPlan is how [ClippedSum] clips, samples and what noise it adds.
type ClippedPlan struct {
	// R > 0: the scales are those for rows whose centred gradient has Euclidean norm at most R
	Radius float64
	// each unit is in the batch with this probability, independently: 0 < q ≤ 1
	Rate            float64
	NoiseMultiplier float64 // z > 0: coordinate k gets noise of standard deviation z·c_k
	Penalty         PenaltyPlan
}

// ClippedEvent is the event of [ClippedSum]: clipped rows lie in the certificate's ellipsoid, of
// radius 1 under the session's own relation.
func ClippedEvent(p ClippedPlan) accountant.Event {
	return sampledEvent(p.Rate, p.NoiseMultiplier)
}

// ClippedSum is [CertifiedSum] in mode bounds.Ball: each row's gradient is multiplied by the
// largest weight that brings it into the certificate's ellipsoid (docs/claims/clippedsum.md), which
// lets the noise be smaller than what holds for every row of the domain. Rows that stick out count
// for less, so the released sum is biased. Event: [ClippedEvent].
func ClippedSum(s *privacy.Session, p ClippedPlan, critic ClippingCritic) (Certified, error) {
	fail := func(err error) (Certified, error) {
		return Certified{}, fmt.Errorf("privacy: a gradient sum: %w", err)
	}
	if err := checkSampling(p.Rate, p.NoiseMultiplier, p.Penalty); err != nil {
		return fail(err)
	}
	in, err := bounds.OneHot(s.Schema().Sizes())
	if err != nil {
		return fail(err)
	}
	config := bounds.Config{
		Mode:            bounds.Ball,
		Adjacency:       s.Neighbours().Adjacency,
		UnitRows:        unitRows(s),
		Radius:          p.Radius,
		NoiseMultiplier: p.Penalty.GradientMultiplier(p.NoiseMultiplier),
	}
	cert, err := bounds.Certify(critic.Network(), in, config)
	if err != nil {
		return fail(err)
	}
	gradient := ellipsoidSum{scales: make([]float64, cert.Coordinates()), grid: cert.Grid()}
	cert.ScalesTo(gradient.scales, p.Penalty.GradientMultiplier(p.NoiseMultiplier))
	gradient.of = func(columns []table.Codes, rows []int, _ int) []int64 {
		sum := bounds.Sum{Gradient: make([]int64, cert.Parameters())}
		sum.Rows = critic.AddClippedSumTo(
			sum.Gradient, cert.Factor(), clip.New(cert).Weight, columns, rows,
		)
		encoded := make([]int64, cert.Coordinates())
		cert.EncodeTo(encoded, sum)
		return encoded
	}
	released, penalty,
		err := release(s, ClippedEvent(p), p.Rate, gradient, p.Penalty, p.NoiseMultiplier, critic)
	if err != nil {
		return Certified{}, err
	}
	return Certified{cert, released, penalty}, nil
}
