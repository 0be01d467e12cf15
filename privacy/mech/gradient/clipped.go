package gradient

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/ellipsoid"
)

// PenaltyPlan says how the gradient penalty at points between private and generated rows is
// released beside a gradient sum, for that one's event. The zero value releases none.
type PenaltyPlan struct {
	// of the event's 1/z² that pays for the penalty, in [0, 1); the rest pays for the gradient sum
	Share float64
	Reach float64 // of the norm bound, in (0, 1]: rows beyond are clipped (bounds.PenaltyConfig)
	// the cells of generated rows, row after row, of which there is one at least
	Generated []float32
}

// GradientMultiplier is the noise multiplier of the gradient sum: z/√(1 − share).
func (p PenaltyPlan) GradientMultiplier(z float64) float64 {
	if p.Share == 0 {
		return z
	}
	return multiplierSlack * z / math.Sqrt(1-p.Share)
}

// Multiplier is the noise multiplier of the penalty: z/√share.
func (p PenaltyPlan) Multiplier(z float64) float64 {
	return multiplierSlack * z / math.Sqrt(p.Share)
}

// multiplierSlack covers the rounding of both multipliers.
const multiplierSlack = 1 + 0x1p-48

// check refuses what is no plan for a critic.
func (p PenaltyPlan) check(c *critic.Critic) error {
	sizes := c.Sizes()
	switch {
	case p.Share == 0 && p.Reach == 0:
		return nil
	case !(p.Share > 0 && p.Share < 1) || !(p.Reach > 0 && p.Reach <= 1):
		return fmt.Errorf(
			"penalty's share %v must be in [0, 1), its reach %v in (0, 1]", p.Share, p.Reach,
		)
	case len(sizes) < 3 || len(p.Generated) == 0 || len(p.Generated)%sizes[0] != 0:
		return fmt.Errorf("a penalty of a critic of units %v at %d cells of generated rows", sizes,
			len(p.Generated))
	}
	return nil
}

// Pair is a noisy gradient sum, and that of a penalty. Both are public.
type Pair struct {
	Certified
	// of the penalty; nil without one
	Penalty         *bounds.PenaltyCertificate
	ReleasedPenalty []int64 // in steps of Penalty.Grid(): see bounds.PenaltyCertificate.DecodeTo
}

// ClippedSum is [CertifiedSum] in any mode, and with a penalty. In a mode that clips, each row's
// gradient is multiplied by the largest weight that brings it into the certificate's ellipsoid
// (docs/claims/clippedsum.md), which lets the noise be smaller than what holds for every row of the
// domain. A penalty is released of the same batch (docs/claims/penalty.md): the two are one vector
// and one Gaussian mechanism of the multiplier. Rows that stick out count for less, so released
// sums are biased.
func ClippedSum(s *privacy.Session, p Plan, beside PenaltyPlan, n bounds.Network) (Pair, error) {
	fail := func(err error) (Pair, error) {
		return Pair{}, fmt.Errorf("a gradient sum: %w", err)
	}
	c, err := ellipsoid.Critic(s.Schema(), n)
	if err != nil {
		return fail(err)
	}
	if err := beside.check(c); err != nil {
		return fail(err)
	}
	var out Pair
	var sum ellipsoid.Sum
	z := beside.GradientMultiplier(p.NoiseMultiplier)
	if p.Mode.Clipped() {
		sum, out.Certificate, err = clippedSum(s.Neighbours(), p.Mode, z, c)
	} else {
		sum, out.Certificate, err = ellipsoid.Certified(s.Neighbours(), p.Mode, z, c)
	}
	if err != nil {
		return fail(err)
	}
	sums := []ellipsoid.Sum{sum}
	if beside.Share != 0 {
		sum, out.Penalty, err = beside.sum(s.Neighbours(), p.NoiseMultiplier, c)
		if err != nil {
			return fail(err)
		}
		sums = append(sums, sum)
	}
	released, err := ellipsoid.Release(s, p.Rate, p.NoiseMultiplier, sums...)
	if err != nil {
		return Pair{}, err
	}
	if out.Released = released[0]; len(released) > 1 {
		out.ReleasedPenalty = released[1]
	}
	return out, nil
}

// clippedSum certifies a critic for rows that are clipped, and is its gradient sum over them.
func clippedSum(
	nb privacy.Neighbours, mode bounds.Mode, z float64, c *critic.Critic,
) (ellipsoid.Sum, *bounds.Certificate, error) {
	cert, err := ellipsoid.Certify(nb, mode, z, c)
	if err != nil {
		return ellipsoid.Sum{}, nil, err
	}
	sum := ellipsoid.NewSum(cert, z)
	sum.Of = func(columns []table.Codes, rows []int, _ int) []int64 {
		of := bounds.Sum{Gradient: make([]int64, cert.Parameters())}
		of.Rows = c.AddClippedSumTo(of.Gradient, cert.Factor(), bounds.NewClipper(cert).Weight,
			columns, rows)
		encoded := make([]int64, cert.Coordinates())
		cert.EncodeTo(encoded, of)
		return encoded
	}
	return sum, cert, nil
}

// sum certifies the penalty of a critic, and is its sum over rows. The words that choose the points
// come from a secret generator made for this one sum: how many are drawn depends on the rows.
func (p PenaltyPlan) sum(
	nb privacy.Neighbours, z float64, c *critic.Critic,
) (ellipsoid.Sum, *bounds.PenaltyCertificate, error) {
	z = p.Multiplier(z)
	cert, err := bounds.CertifyPenalty(c.Network(), bounds.PenaltyConfig{Adjacency: nb.Adjacency,
		UnitRows: max(1, nb.MaxRowsPerUnit), Reach: p.Reach, NoiseMultiplier: z})
	if err != nil {
		return ellipsoid.Sum{}, nil, err
	}
	sum := ellipsoid.NewSum(cert, z)
	sum.Of = func(columns []table.Codes, rows []int, _ int) []int64 {
		out := make([]int64, cert.Coordinates())
		c.AddPenaltySumTo(out, cert.Factor(), p.Generated, noise.NewSource().Uint64, cert.Weight,
			columns, rows)
		return out
	}
	return sum, cert, nil
}
