package synth

import (
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/schema"
)

// Source is where [WGAN.Train] has what it knows of private rows: sums over several parties, say.
type Source struct {
	// Marginals is the model that the generator is distilled from, a *release.Marginal.
	Marginals func() (Model, error)
	// Gradient is a noisy sum of the critic's gradient over all rows, which may cost as much as noise
	// of the plan's multiplier does; and the multiplier of the noise that it has.
	Gradient func(gradient.Plan, bounds.Network) (gradient.Certified, float64, error)
	Seed     [2]uint64 // of all that is random and public

	released func(*wganTraining) (gradient.Pair, float64, error)
}

// Train fits as a plan does whose gradients are paid from a filter of μ-GDP, or of μ²/2-zCDP, to
// sums that are bought elsewhere. The model is a function of these sums, the seed and the settings,
// on processors of one kind. The errors of settings that [WGAN.Shared] refuses are its own.
func (f *WGAN) Train(
	ctx context.Context, s *schema.Schema, nb privacy.Neighbours, mu float64, from Source,
	progress Progress,
) (Model, error) {
	if err := f.Shared(); err != nil {
		return Model{}, err
	}
	p, err := f.unpaid(Terms{Schema: s, Neighbours: nb})
	if err != nil {
		return Model{}, err
	}
	from.released = func(t *wganTraining) (gradient.Pair, float64, error) {
		sum, multiplier, err := from.Gradient(t.wganPlan.sum(), t.critic.Network())
		return gradient.Pair{Certified: sum}, multiplier, err
	}
	return p.at(mu).train(ctx, from, progress)
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
