package gradient

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/penalty"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/table"
)

// PenaltyPlan says how the gradient penalty at points between private and generated rows is
// released beside a gradient sum, for that one's event. The zero value releases none.
type PenaltyPlan struct {
	// of the event's 1/z² that pays for the penalty, in [0, 1); the rest pays for the gradient sum
	Share float64
	Reach float64 // of the norm bound, in (0, 1]: rows beyond are clipped (package bounds/penalty)
}

// GradientMultiplier is the noise multiplier of the gradient sum: z/√(1 − share).
func (p PenaltyPlan) GradientMultiplier(z float64) float64 {
	if p.Share == 0 {
		return z
	}
	return slack * z / math.Sqrt(1-p.Share)
}

// Multiplier is the noise multiplier of the penalty: z/√share.
func (p PenaltyPlan) Multiplier(z float64) float64 { return slack * z / math.Sqrt(p.Share) }

// slack covers the rounding of both multipliers.
const slack = 1 + 0x1p-48

// check refuses what is no plan.
func (p PenaltyPlan) check() error {
	if p == (PenaltyPlan{}) {
		return nil
	}
	if !(p.Share > 0 && p.Share < 1) || !(p.Reach > 0 && p.Reach <= 1) {
		return fmt.Errorf(
			"penalty's share %v must be in [0, 1), its reach %v in (0, 1]", p.Share, p.Reach,
		)
	}
	return nil
}

// PenaltyCritic is a [Critic] or [ClippingCritic] whose gradient penalty is taken between private
// and generated rows, which are its own.
type PenaltyCritic interface {
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

// Penalized is a noisy sum of the penalty's gradients. It is public. The zero value is none.
type Penalized struct {
	Certificate *penalty.Certificate
	Released    []int64 // in steps of Certificate.Grid(): see penalty.Certificate.DecodeTo
}

// networked is what shows weights: a Critic or ClippingCritic.
type networked interface {
	Network() bounds.Network
}

// penaltySum certifies the penalty for the weights that the critic shows. The words that choose the
// points come from a secret generator made for this one sum, as the critic is foreign code: with
// the session's own it could keep draw and see noise to come.
func penaltySum(
	nb privacy.Neighbours, p PenaltyPlan, z float64, critic networked,
) (ellipsoidSum, *penalty.Certificate, error) {
	penalised, ok := critic.(PenaltyCritic)
	if !ok {
		return ellipsoidSum{}, nil, fmt.Errorf("a penalty of a critic that has none")
	}
	cert, err := penalty.Certify(critic.Network(), penalty.Config{Adjacency: nb.Adjacency,
		UnitRows: max(1, nb.MaxRowsPerUnit), Reach: p.Reach, NoiseMultiplier: p.Multiplier(z)})
	if err != nil {
		return ellipsoidSum{}, nil, err
	}
	sum := ellipsoidSum{scales: make([]float64, cert.Coordinates()), grid: cert.Grid()}
	cert.ScalesTo(sum.scales, p.Multiplier(z))
	sum.of = func(columns []table.Codes, rows []int, _ int) []int64 {
		out := make([]int64, cert.Coordinates())
		penalised.AddPenaltySumTo(
			out, cert.Factor(), noise.NewSource().Uint64, cert.Weight, columns, rows,
		)
		return out
	}
	return sum, cert, nil
}
