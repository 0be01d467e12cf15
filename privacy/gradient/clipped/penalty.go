package clipped

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/bounds/penalty"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/ellipsoid"
	"github.com/decoy-dp/decoy/table"
)

// Penalty says how the gradient penalty at points between private and generated rows is
// released beside a gradient sum, for that one's event. The zero value releases none.
type Penalty struct {
	// of the event's 1/z² that pays for the penalty, in [0, 1); the rest pays for the gradient sum
	Share float64
	Reach float64 // of the norm bound, in (0, 1]: rows beyond are clipped (package bounds/penalty)
}

// GradientMultiplier is the noise multiplier of the gradient sum: z/√(1 − share).
func (p Penalty) GradientMultiplier(z float64) float64 {
	if p.Share == 0 {
		return z
	}
	return slack * z / math.Sqrt(1-p.Share)
}

// Multiplier is the noise multiplier of the penalty: z/√share.
func (p Penalty) Multiplier(z float64) float64 { return slack * z / math.Sqrt(p.Share) }

// slack covers the rounding of both multipliers.
const slack = 1 + 0x1p-48

// check refuses what is no plan.
func (p Penalty) check() error {
	if p == (Penalty{}) {
		return nil
	}
	if !(p.Share > 0 && p.Share < 1) || !(p.Reach > 0 && p.Reach <= 1) {
		return fmt.Errorf(
			"penalty's share %v must be in [0, 1), its reach %v in (0, 1]", p.Share, p.Reach,
		)
	}
	return nil
}

// penaltySum certifies the penalty for the weights that the critic shows. The words that choose the
// points come from a secret generator made for this one sum, as the critic is foreign code: with
// the session's own it could keep draw and see noise to come.
func penaltySum(
	nb privacy.Neighbours, p Penalty, z float64, critic Critic,
) (ellipsoid.Sum, *penalty.Certificate, error) {
	cert, err := penalty.Certify(critic.Network(), penalty.Config{Adjacency: nb.Adjacency,
		UnitRows: max(1, nb.MaxRowsPerUnit), Reach: p.Reach, NoiseMultiplier: p.Multiplier(z)})
	if err != nil {
		return ellipsoid.Sum{}, nil, err
	}
	sum := ellipsoid.Sum{Scales: make([]float64, cert.Coordinates()), Grid: cert.Grid()}
	cert.ScalesTo(sum.Scales, p.Multiplier(z))
	sum.Of = func(columns []table.Codes, rows []int, _ int) []int64 {
		out := make([]int64, cert.Coordinates())
		critic.AddPenaltySumTo(
			out, cert.Factor(), noise.NewSource().Uint64, cert.Weight, columns, rows,
		)
		return out
	}
	return sum, cert, nil
}
