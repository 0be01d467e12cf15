package synth

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"
)

// plan is a fit that has been paid for.
type wganPlan struct {
	cfg       WGAN
	mode      bounds.Mode
	schema    *schema.Schema
	mu        float64 // of all that is bought from the filter: at rate 1 everything
	marginals Plan    // the model that the generator is distilled from
	z         float64 // noise multiplier of a gradient sum

	criticRate    float32              // Adam's learning rate of the critic
	penaltyWeight float64              // of the gradient penalty
	observe       func(*critic.Critic) // called with each critic before it is measured; nil for none
}

// Reserve is one filter, at rate 1. Below, the gradient sums are events of their own, and all noise
// is scaled together until the exact composition meets the budget.
func (f *WGAN) Reserve(t Terms, b accountant.Budget, before float64) (
	accountant.Composition, accountant.Pricer, error,
) {
	filter, _, err := reserveFor(f.Target, t, b, before)
	if f.Rate == 1 || err != nil {
		return filter, nil, err
	}
	p, err := f.unpaid(t)
	if err != nil {
		return nil, nil, err
	}
	at := func(scale float64) accountant.Composition {
		mu2 := before + p.cfg.MarginalShare/(scale*scale)
		return accountant.Composition{{Event: accountant.GDPFilter{Mu: math.Sqrt(mu2)}, Count: 1},
			{Event: gradient.Event(p.at(1 / scale).sum()), Count: p.cfg.Steps}}
	}
	scale, err := accountant.ScaleFor(b, t.Neighbours.Adjacency, at, pld.RDP, pld.Epsilon)
	return at(scale), pld.Epsilon, err
}

// Unseen refuses settings that need a schema, and a target that is no column.
func (f *WGAN) Unseen(columns []string) (target string, err error) {
	if f.Rate < 1 {
		return "", fmt.Errorf("wgan: rate below 1 needs a schema: %w", ErrConfig)
	}
	return distilled(f.Target).Unseen(columns)
}

// Plan is paid for by what is left: of one filter, at rate 1; below, the noise of the gradient sums
// is that of the samples that are reserved.
func (f *WGAN) Plan(t Terms) (Plan, error) {
	p, err := f.unpaid(t)
	if err != nil {
		return nil, err
	}
	if mu := math.Sqrt(t.Left.Mu2); f.Rate == 1 {
		p = p.at(mu)
	} else {
		p = p.at(mu / math.Sqrt(p.cfg.MarginalShare))
		p.z = t.Left.Sampled.NoiseMultiplier
	}
	t.Left = accountant.Account{Mu2: p.mu * p.mu * p.cfg.MarginalShare}
	p.marginals, err = distilled(f.Target).Plan(t)
	return p, err
}

// unpaid is the plan without a budget.
func (f *WGAN) unpaid(t Terms) (*wganPlan, error) {
	s := t.Schema
	mode, err := bounds.ModeNamed(f.Mode, 1)
	if err != nil {
		return nil, fmt.Errorf("wgan: %w: %w", err, ErrConfig)
	}
	p := &wganPlan{mode: mode, cfg: *f, schema: s, criticRate: .01, penaltyWeight: 1}
	if cells := cellCount(s); weights(cells, p.cfg.Hidden) > 1<<24 {
		return nil, fmt.Errorf("wgan: %d cells are too many for a critic of %d units; "+
			"coarsen the bins or categories: %w", cells, p.cfg.Hidden, ErrConfig)
	}
	return p, nil
}

// weights is the number of weights of a critic's hidden layers.
func weights(cells int, hidden []int) (n int) {
	for _, units := range hidden {
		n += cells * units
		cells = units
	}
	return n
}

// at is the plan whose parts have their shares of μ² (at rate 1; a lower rate costs less and is
// calibrated with the rest).
func (p *wganPlan) at(mu float64) *wganPlan {
	q := *p
	q.mu = mu
	q.z = math.Sqrt(float64(p.cfg.Steps)/(1-p.cfg.MarginalShare)) / mu * (1 + 1e-9)
	return &q
}

// sum is the plan of a gradient sum.
func (p *wganPlan) sum() gradient.Plan {
	return gradient.Plan{Mode: p.mode, Rate: p.cfg.Rate, NoiseMultiplier: p.z}
}

// penalty is what the gradient penalty at interpolates takes of each gradient sum's event.
func (p *wganPlan) penalty() gradient.PenaltyPlan {
	if p.cfg.Lipschitz != interpolates {
		return gradient.PenaltyPlan{}
	}
	return gradient.PenaltyPlan{Share: .2, Reach: .1}
}
