// Package gradient releases sums of a critic's gradients over private rows, with noise that a
// certificate of package bounds says is enough.
package gradient

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/ellipsoid"
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
	Mode bounds.Mode // none that clips: see package clipped
	// each unit is in the batch with this probability, independently: 0 < q ≤ 1
	Rate            float64
	NoiseMultiplier float64 // z > 0: coordinate k gets noise of standard deviation z·c_k
	// of each column, whether it enters the critic as one number in [0, 1]; nil for none
	Scaled []bool
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

// Certified is a noisy gradient sum. It is public.
type Certified struct {
	Certificate *bounds.Certificate
	// the encoded sum with noise, in steps of Certificate.Grid(): see bounds.Certificate.DecodeTo
	Released []int64
}

// CertifiedEvent is the event of [CertifiedSum]: the certificate's ellipsoid has radius 1 under the
// session's own relation.
func CertifiedEvent(p CertifiedPlan) accountant.Event {
	return ellipsoid.Event(p.Rate, p.NoiseMultiplier)
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
	p.Mode = p.Mode.Own() // the critic, which is foreign, may write to the caller's
	in, err := p.Domain(s.Schema())
	if err != nil {
		return fail(err)
	}
	sum, cert, err := ellipsoid.Certified(s.Neighbours(), in, p.Mode, p.NoiseMultiplier, critic)
	if err != nil {
		return fail(err)
	}
	released, err := ellipsoid.Release(s, p.Rate, p.NoiseMultiplier, sum)
	if err != nil {
		return Certified{}, err
	}
	return Certified{cert, released[0]}, nil
}
