package wgan

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/modes"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/privacy/gradient/clipped"
	"github.com/decoy-dp/decoy/privacy/query"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// plan is the noise of a fit.
type plan struct {
	given Config
	cfg   Config // with the defaults
	// the preset is chosen once the number of rows is bought; what it buys is then paid from a filter
	auto   bool
	mode   bounds.Mode
	schema *schema.Schema
	nb     privacy.Neighbours
	target int     // column, −1 for none
	scale  float64 // 1/μ of the whole
	total  float64 // σ of the number of rows
	table  float64 // σ of a cell of a marginal
	z      float64 // noise multiplier of a gradient sum
	scaled []bool  // of each column, whether the critic sees it as one number; nil if none is

	observe func(*critic.Critic) // called with each critic before it is measured; nil for none
}

// maxTarget is the largest number of codes of a target.
const maxTarget = 32

// Plan splits the budget in shares of μ² and scales all noise together until the exact composition
// meets it.
func (f *Fitter) Plan(
	s *schema.Schema, nb privacy.Neighbours, b accountant.Budget,
) (synth.Plan, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	if b.Delta == 0 {
		return nil, fmt.Errorf("wgan: its noise is Gaussian and needs delta > 0: %w",
			accountant.ErrBudgetRange)
	}
	if cells := cellCount(s); weights(cells, f.cfg.Hidden) > 1<<24 {
		return nil, fmt.Errorf("wgan: %d cells are too many for a critic of %d units; "+
			"coarsen the bins or categories: %w", cells, f.cfg.Hidden, synth.ErrConfig)
	}
	mode, err := modes.Of(f.cfg.Mode, f.cfg.Radius)
	if err != nil {
		return nil, fmt.Errorf("wgan: %w: %w", err, synth.ErrConfig)
	}
	p := &plan{mode: mode, given: f.given, cfg: f.cfg, auto: f.auto() && f.cfg.Rate == 1, schema: s,
		nb:     nb,
		target: -1, scaled: scaledColumns(s, f.cfg)}
	if name := f.cfg.Target; name != "" {
		if p.target = s.Index(name); p.target < 0 {
			return nil, fmt.Errorf("wgan: target: the schema has no column %q%s: %w", name,
				s.Hint(name), synth.ErrConfig)
		}
		if m := s.Sizes()[p.target]; m > maxTarget {
			return nil, fmt.Errorf("wgan: target: column %q has %d codes, more than %d: %w", name,
				m, maxTarget, synth.ErrConfig)
		}
		if len(s.Columns) == 1 {
			p.target = -1 // nothing to be predicted from
		}
	}
	var prices []accountant.Pricer
	if p.cfg.Rate < 1 {
		prices = []accountant.Pricer{pld.RDP, pld.Epsilon}
	}
	scale, err := calibrate.Scale(b, nb.Adjacency,
		func(scale float64) accountant.Composition { return p.at(scale).Composition() }, prices...)
	if err != nil {
		return nil, fmt.Errorf("wgan: %w", err)
	}
	p = p.at(scale)
	if p.scaled != nil && p.z > mostScaled {
		return nil, fmt.Errorf("wgan: with encoder %s epsilon %v at delta %v needs a noise "+
			"multiplier of %.4g, more than the %d it can have; encoder %s has no limit: %w",
			scaled, b.Epsilon, b.Delta, p.z, mostScaled, oneHot, synth.ErrConfig)
	}
	return p, nil
}

// mostScaled is the largest noise multiplier with scaled columns: their grid cannot be made coarser
// to follow the noise (bounds.Config), of which a certificate may need some ten times as much.
const mostScaled = 1 << 11

func cellCount(s *schema.Schema) (cells int) {
	for _, n := range s.Sizes() {
		cells += n
	}
	return cells
}

// weights is the number of weights of a critic's hidden layers.
func weights(cells int, hidden []int) (n int) {
	for _, units := range hidden {
		n += cells * units
		cells = units
	}
	return n
}

// at is the plan whose parts have the shares of μ² = 1/scale² (at rate 1; a lower rate costs less
// and is calibrated with the rest).
func (p *plan) at(scale float64) *plan {
	q := *p
	one := float64(max(1, p.nb.MaxRowsPerUnit))
	vector := one
	if p.nb.Adjacency == accountant.ReplaceOne {
		vector *= math.Sqrt2
	}
	q.scale = scale
	q.total = one * scale / math.Sqrt(p.cfg.TotalShare)
	if n := p.tables(); n > 0 {
		q.table = vector * scale * math.Sqrt(float64(n)/p.cfg.MarginalShare)
	}
	q.z = scale * math.Sqrt(float64(p.cfg.Steps)/(1-p.cfg.TotalShare-p.cfg.MarginalShare))
	return &q
}

// chosen is the plan with the preset for that many rows, paid from what the filter has.
func (p *plan) chosen(rows float64) *plan {
	if !p.auto {
		return p
	}
	q := *p
	q.cfg, _ = p.given.filled(presetFor(rows)) // checked by New
	return q.at(p.scale * (1 + 1e-9))          // the filter rounds against us
}

// tables is the number of marginals that are bought.
func (p *plan) tables() int {
	switch {
	case p.cfg.ColdStart:
		return 0
	case p.target >= 0:
		return len(p.schema.Columns) - 1
	}
	return len(p.schema.Columns)
}

// columns are those of marginal i.
func (p *plan) columns(i int) []int {
	if p.target < 0 {
		return []int{i}
	}
	if i >= p.target {
		i++
	}
	return []int{i, p.target}
}

// sum is the plan of a gradient sum.
func (p *plan) sum() clipped.Plan {
	return clipped.Plan{CertifiedPlan: gradient.CertifiedPlan{Mode: p.mode, Rate: p.cfg.Rate,
		NoiseMultiplier: p.z, Scaled: p.scaled}, Penalty: p.penalty()}
}

// penalty is what the gradient penalty at interpolates takes of each gradient sum's event.
func (p *plan) penalty() clipped.Penalty {
	if p.cfg.Lipschitz != interpolates {
		return clipped.Penalty{}
	}
	return clipped.Penalty{Share: p.cfg.PenaltyShare, Reach: p.cfg.PenaltyReach}
}

// sumEvent is the event of a gradient sum.
func (p *plan) sumEvent() accountant.Event {
	return gradient.CertifiedEvent(p.sum().CertifiedPlan)
}

// Price is by closed formulas, unless batches are samples.
func (p *plan) Price() accountant.Pricer {
	if p.cfg.Rate < 1 {
		return pld.Epsilon
	}
	return nil
}

// Composition is the number of rows, the marginals and the gradient sums; or, if the number of rows
// is to choose these, a filter for all of them.
func (p *plan) Composition() accountant.Composition {
	c := accountant.Composition{{Event: p.nb.MeasureEvent(query.Total{}, p.total), Count: 1}}
	if p.auto {
		return append(
			c,
			accountant.Charge{Event: accountant.GDPFilter{Mu: math.Sqrt(1-p.cfg.TotalShare) / p.scale},
				Count: 1})
	}
	c = append(c, accountant.Charge{Event: p.sumEvent(), Count: p.cfg.Steps})
	if n := p.tables(); n > 0 {
		c = append(c, accountant.Charge{Event: p.nb.MeasureEvent(privacy.Marginal{}, p.table),
			Count: n})
	}
	return c
}

// Forecast counts the multiplications of the generator's steps, which dominate.
func (p *plan) Forecast() synth.Forecast {
	cells, c := float64(cellCount(p.schema)), p.cfg
	steps := float64(c.Steps*c.GeneratorSteps + c.PostSteps)
	critic := float64(weights(cellCount(p.schema), c.Hidden))
	perStep := float64(c.Batch) * (3*cells*float64(c.GeneratorUnits) +
		4*critic*float64(min(c.Snapshots, c.Steps)))
	speed := 2.7e10
	if c.Engine == gorgonia {
		speed /= 4
	}
	noise := []synth.Noise{
		{What: "number of rows", Count: 1, Sigma: p.total},
		{What: "gradient sum", Count: c.Steps, Multiplier: p.penalty().GradientMultiplier(p.z)},
	}
	if c.Lipschitz == interpolates {
		noise = append(noise, synth.Noise{What: "sum of the penalty's gradient", Count: c.Steps,
			Multiplier: p.penalty().Multiplier(p.z)})
	}
	if n := p.tables(); n > 0 {
		what := "one-way marginal"
		if p.target >= 0 {
			what = "joint table with the target"
		}
		noise = append(noise, synth.Noise{What: what, Count: n, Sigma: p.table})
	}
	return synth.Forecast{
		MemoryBytes: int64(
			4*float64(c.Batch)*(6*cells+float64(8*c.GeneratorUnits+4*c.Hidden[0]*c.Snapshots)) +
				4*21*critic*float64(c.Steps)),
		Seconds: steps * perStep / speed,
		Noise:   noise,
	}
}
