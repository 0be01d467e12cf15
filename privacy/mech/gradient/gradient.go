// Package gradient releases sums over private rows of the gradients of a critic, with noise that a
// certificate of package bounds says is enough. The critic is given by its weights: the gate
// computes the gradients, and no code of the caller sees a row.
package gradient

import (
	"fmt"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/ellipsoid"
)

// Plan is how a gradient sum samples and what noise it adds.
type Plan struct {
	Mode bounds.Mode // that of [CertifiedSum] clips nothing
	// each unit is in the batch with this probability, independently: 0 < q ≤ 1
	Rate            float64
	NoiseMultiplier float64 // z > 0: coordinate k gets noise of standard deviation z·c_k
}

// Certified is a noisy gradient sum. It is public.
type Certified struct {
	Certificate *bounds.Certificate
	// the encoded sum with noise, in steps of Certificate.Grid(): see bounds.Certificate.DecodeTo
	Released []int64
}

// Event is the event of a gradient sum: the certificate's ellipsoid has radius 1 under the
// session's own relation.
func Event(p Plan) accountant.Event { return ellipsoid.Event(p.Rate, p.NoiseMultiplier) }

// CertifiedSum certifies the gradient of a network's score over the schema's domain (its inputs are
// the codes of the schema, one one-hot block a column), draws a Poisson sample of units (all of
// them at rate 1), sums the gradient over it in exact integers, and adds ellipsoid noise:
// coordinate k gets round(N(0, (z·c_k)²)) on the certificate's grid. No row is clipped
// (docs/claims/certifiedsum.md). Event: [Event].
func CertifiedSum(s *privacy.Session, p Plan, n bounds.Network) (Certified, error) {
	fail := func(err error) (Certified, error) {
		return Certified{}, fmt.Errorf("a gradient sum: %w", err)
	}
	c, err := ellipsoid.Critic(s.Schema(), n)
	if err != nil {
		return fail(err)
	}
	sum, cert, err := ellipsoid.Certified(s.Neighbours(), p.Mode, p.NoiseMultiplier, c)
	if err != nil {
		return fail(err)
	}
	released, err := ellipsoid.Release(s, p.Rate, p.NoiseMultiplier, sum)
	if err != nil {
		return Certified{}, err
	}
	return Certified{cert, released[0]}, nil
}
