package synth

import (
	"context"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"
)

// Federated is a method that can be fitted to sums over the rows of several parties alone.
type Federated interface {
	// Shared refuses settings with which these sums do not add up.
	Shared() error
	// Train fits to the sums of a source, which cost at most rho. Of the terms it has the schema and
	// the neighbouring relation.
	Train(ctx context.Context, t Terms, rho float64, from Source, p Progress) (Model, error)
}

// Source is where a [Federated] method has what it knows of private rows.
type Source struct {
	// Tree is a model of the columns and of the pairs of a spanning tree, a *release.Marginal. It has
	// the settings of m, and costs rho.
	Tree func(m MST, rho float64) (Model, error)
	// Gradient is a noisy sum of the critic's gradient over all rows, which may cost as much as noise
	// of the plan's multiplier does; and the multiplier of the noise that it has.
	Gradient func(gradient.Plan, bounds.Network) (gradient.Certified, float64, error)
	Seed     [2]uint64 // of all that is random and public

	marginals func() (Model, error) // that the generator is distilled from
	released  func(*wganTraining) (gradient.Pair, float64, error)
}

// Train fits as a plan does whose gradients are paid from a filter of ρ-zCDP, to sums that are
// bought elsewhere. The model is a function of these sums, the seed and the settings, on processors
// of one kind. The errors of settings that [WGAN.Shared] refuses are its own.
func (f *WGAN) Train(
	ctx context.Context, t Terms, rho float64, from Source, progress Progress,
) (Model, error) {
	if err := f.Shared(); err != nil {
		return Model{}, err
	}
	p, err := f.unpaid(t)
	if err != nil {
		return Model{}, err
	}
	from.marginals = func() (Model, error) { return from.Tree(MST{}, rho*f.MarginalShare) }
	from.released = func(t *wganTraining) (gradient.Pair, float64, error) {
		sum, multiplier, err := from.Gradient(t.wganPlan.sum(), t.critic.Network())
		return gradient.Pair{Certified: sum}, multiplier, err
	}
	return p.at(math.Sqrt(2*rho)).train(ctx, from, progress)
}

// mostShared is the most sums over parties of a fit.
const mostShared = 100

// Shared refuses settings with which the sums of several parties do not add up, or which say of a
// marginal model what is not asked there. Errors wrap ErrConfig.
func (f *WGAN) Shared() error {
	c, why := f, ""
	switch {
	case c.Rate < 1:
		why = "rate below 1: each party would draw rows of its own"
	case c.Mode == "ball":
		why = "mode ball, which clips rows"
	case c.Lipschitz == interpolates:
		why = "lipschitz interpolates, which takes sums of another kind"
	case c.Engine == gorgonia:
		why = "engine " + c.Engine + ", which does not promise the same everywhere"
	case c.Target != "":
		why = "target: sums over all rows choose the pairs that are counted"
	case c.Steps > mostShared:
		why = fmt.Sprintf("number of steps above %d", mostShared)
	default:
		return nil
	}
	return fmt.Errorf("wgan: over several parties there is no %s: %w", why, ErrConfig)
}

// Shared refuses nothing: each setting is one of sums over several parties, too.
func (*MST) Shared() error { return nil }

// Train is the tree that is asked for elsewhere.
func (m *MST) Train(_ context.Context, _ Terms, rho float64, s Source, _ Progress) (Model, error) {
	return s.Tree(*m, rho)
}
