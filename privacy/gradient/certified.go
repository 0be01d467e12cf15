package gradient

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Critic is a network whose gradient sum over private rows [CertifiedSum] releases. Its one
// contract is the model of arithmetic of package bounds: what AddSumTo adds for a row depends on
// that row and the weights that Network shows, and on nothing else.
type Critic interface {
	// Network shows the weights. Its inputs are the codes of the schema: one one-hot block a column,
	// or one number in [0, 1] for a column that the plan scales.
	Network() bounds.Network
	// AddSumTo adds Σ ∇D(x) over the selected rows (nil: all) of the columns to gradient, in whole
	// steps of factor², and to cells, unless it is nil, the number of selected rows with each cell
	// active, and of a scaled column the sum of its numbers, which are whole multiples of factor, in
	// steps of factor. It must keep nothing of what it sees.
	AddSumTo(gradient, cells []int64, factor float64, columns []table.Codes, rows []int)
}

// CertifiedPlan is how [CertifiedSum] samples and what noise it adds.
type CertifiedPlan struct {
	Mode bounds.Mode // not bounds.Ball, which needs clipping
	// each unit is in the batch with this probability, independently: 0 < q ≤ 1
	Rate            float64
	NoiseMultiplier float64 // z > 0: coordinate k gets noise of standard deviation z·c_k
	// of each column, whether it enters the critic as one number in [0, 1]; nil for none
	Scaled  []bool
	Penalty PenaltyPlan // what else is released of the same batch, for the same event
}

// Domain is the public domain of the critic's input. It returns an error unless Scaled is nil or
// has one element a column.
func (p CertifiedPlan) Domain(s *schema.Schema) (*bounds.Input, error) {
	if p.Scaled != nil && len(p.Scaled) != len(s.Columns) {
		return nil, fmt.Errorf("%d columns scaled or not, of %d", len(p.Scaled), len(s.Columns))
	}
	var fields []bounds.Field
	for k, m := range s.Sizes() {
		if p.Scaled != nil && p.Scaled[k] {
			fields = append(fields, bounds.Scalar(0, 1))
		} else {
			fields = append(fields, bounds.Block(m))
		}
	}
	return bounds.NewInput(fields...)
}

// inSteps turns the sums of inputs that a critic adds into steps of the factor, of which an active
// cell is 1/factor.
func (p CertifiedPlan) inSteps(inputs []int64, s *schema.Schema, factor float64) {
	if inputs == nil {
		return
	}
	at := 0
	for k, m := range s.Sizes() {
		if p.Scaled != nil && p.Scaled[k] {
			at++
			continue
		}
		for range m {
			inputs[at] *= int64(1 / factor)
			at++
		}
	}
}

// Certified is a noisy gradient sum. It is public.
type Certified struct {
	Certificate *bounds.Certificate
	// the encoded sum with noise, in steps of Certificate.Grid(): see bounds.Certificate.DecodeTo
	Released []int64
	Penalty  Penalized
}

// CertifiedEvent is the event of [CertifiedSum]: the certificate's ellipsoid has radius 1 under the
// session's own relation.
func CertifiedEvent(p CertifiedPlan) accountant.Event {
	return sampledEvent(p.Rate, p.NoiseMultiplier)
}

// CertifiedSum certifies the critic's gradient over the schema's domain, draws a Poisson sample of
// units (all of them at rate 1), sums the gradient of the critic's score over it in exact integers,
// and adds ellipsoid noise: coordinate k gets round(N(0, (z·c_k)²)) on the certificate's grid. No
// row is clipped (docs/claims/certifiedsum.md). The certificate is made here, from the weights that
// are about to be used. Event: [CertifiedEvent].
func CertifiedSum(s *privacy.Session, p CertifiedPlan, critic Critic) (Certified, error) {
	fail := func(err error) (Certified, error) {
		return Certified{}, fmt.Errorf("privacy: a gradient sum: %w", err)
	}
	if err := checkSampling(p.Rate, p.NoiseMultiplier, p.Penalty); err != nil {
		return fail(err)
	}
	p.Scaled = slices.Clone(p.Scaled)
	if p.Mode == bounds.Ball {
		return fail(fmt.Errorf("mode %v holds for clipped rows only", p.Mode))
	}
	sch := s.Schema()
	in, err := p.Domain(sch)
	if err != nil {
		return fail(err)
	}
	cert, err := bounds.Certify(
		critic.Network(),
		in,
		bounds.Config{
			Mode:            p.Mode,
			Adjacency:       s.Neighbours().Adjacency,
			UnitRows:        unitRows(s),
			NoiseMultiplier: p.Penalty.GradientMultiplier(p.NoiseMultiplier),
		},
	)
	if err != nil {
		return fail(err)
	}
	gradient := ellipsoidSum{scales: make([]float64, cert.Coordinates()), grid: cert.Grid()}
	cert.ScalesTo(gradient.scales, p.Penalty.GradientMultiplier(p.NoiseMultiplier))
	gradient.of = func(columns []table.Codes, rows []int, n int) []int64 {
		sum := bounds.Sum{Rows: int64(n), Gradient: make([]int64, cert.Parameters())}
		if cert.Inputs() > 0 {
			sum.Inputs = make([]int64, cert.Inputs())
		}
		critic.AddSumTo(sum.Gradient, sum.Inputs, cert.Factor(), columns, rows)
		p.inSteps(sum.Inputs, sch, cert.Factor())
		encoded := make([]int64, cert.Coordinates())
		cert.EncodeTo(encoded, sum)
		return encoded
	}
	released, penalty,
		err := release(s, CertifiedEvent(p), p.Rate, gradient, p.Penalty, p.NoiseMultiplier, critic)
	if err != nil {
		return Certified{}, err
	}
	return Certified{cert, released, penalty}, nil
}
