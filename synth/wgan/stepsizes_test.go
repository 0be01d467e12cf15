package wgan

import (
	"context"
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/modes"
	"github.com/decoy-dp/decoy/bounds/penalty"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/synth"
)

// Sizes are √(total variance) of the gradient sum's noise at noise multiplier 1, for one critic in
// each mode that clips nothing; and beside them, Interpolates, of the noise that a gradient penalty
// at points between private and generated rows needs, by its norm bound ([penalty.Certify]
// with a reach of 1): the reason why the penalty is taken between generated rows by default.
type Sizes struct{ Thesis, Box, Residual, Interpolates float64 }

// StepSizes fits a plan of this package and returns the sizes for each critic that it measured:
// what each mode would have cost at every step. The critics are public: they were computed from
// releases.
func StepSizes(ctx context.Context, fitting synth.Plan, s *privacy.Session) ([]Sizes, error) {
	p, ok := fitting.(*plan)
	if !ok {
		return nil, fmt.Errorf("wgan: the plan is of another method: %w", synth.ErrConfig)
	}
	watched := *p
	var out []Sizes
	var failed error
	watched.observe = func(c *critic.Critic) {
		in, err := gradient.CertifiedPlan{Scaled: c.Encoder().ScaledColumns()}.Domain(p.schema)
		if err == nil {
			var sizes Sizes
			if sizes, err = sizesOf(c, in, p.nb); err == nil {
				out = append(out, sizes)
			}
		}
		failed = errors.Join(failed, err)
	}
	_, err := watched.Fit(ctx, s, nil)
	return out, errors.Join(err, failed)
}

func sizesOf(c *critic.Critic, in *bounds.Input, nb privacy.Neighbours) (Sizes, error) {
	var size [3]float64
	for i, mode := range []bounds.Mode{modes.Thesis, modes.Box, bounds.Residual} {
		cert, err := bounds.Certify(c.Network(), in,
			bounds.Config{Mode: mode, Adjacency: nb.Adjacency, UnitRows: max(1, nb.MaxRowsPerUnit)})
		if err != nil {
			return Sizes{}, err
		}
		size[i] = cert.TotalStd()
	}
	paid, err := penalty.Certify(c.Network(),
		penalty.Config{Adjacency: nb.Adjacency, UnitRows: max(1, nb.MaxRowsPerUnit),
			Reach: 1})
	if err != nil {
		return Sizes{}, err
	}
	return Sizes{size[0], size[1], size[2], paid.TotalStd()}, nil
}

// Ordered reports whether thesis needs at least the noise of box, as it must. Residual has less
// where the sum of the inputs predicts much of the gradient, as on tables of many columns; nothing
// promises it.
func (s Sizes) Ordered() bool { return s.Thesis >= s.Box }
