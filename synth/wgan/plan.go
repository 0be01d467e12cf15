package wgan

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/modes"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/privacy/gradient/clipped"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// plan is a fit that has been paid for.
type plan struct {
	fitter    *Fitter
	cfg       Config // with the defaults
	mode      bounds.Mode
	schema    *schema.Schema
	nb        privacy.Neighbours
	mu        float64    // of all that is bought from the filter: at rate 1 everything
	marginals synth.Plan // the model that the generator is distilled from
	z         float64    // noise multiplier of a gradient sum
	scaled    []bool     // of each column, whether the critic sees it as one number; nil if none is

	criticRate    float32              // Adam's learning rate of the critic
	penaltyWeight float64              // of the gradient penalty
	observe       func(*critic.Critic) // called with each critic before it is measured; nil for none
}

// Plan splits the budget in shares of μ². At rate 1 it is one filter. Below, the gradient sums are
// events of their own, and all noise is scaled together until the exact composition meets the
// budget.
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
	if name := f.cfg.Target; name != "" && s.Index(name) < 0 {
		return nil, fmt.Errorf("wgan: target: the schema has no column %q%s: %w", name,
			s.Hint(name), synth.ErrConfig)
	}
	p, err := f.plan(s, nb)
	if err != nil {
		return nil, err
	}
	mu, err := calibrate.Mu(b)
	if p.cfg.Rate < 1 && err == nil {
		var scale float64
		scale, err = calibrate.Scale(b, nb.Adjacency, func(scale float64) accountant.Composition {
			return p.at(1 / scale).Composition()
		}, pld.RDP, pld.Epsilon)
		mu = 1 / scale
	}
	if err != nil {
		return nil, fmt.Errorf("wgan: %w", err)
	}
	return p.at(mu).with(nil)
}

// Unseen refuses settings that need a schema, and a target that is no column.
func (f *Fitter) Unseen(columns []string) (target string, err error) {
	if f.cfg.Rate < 1 {
		return "", fmt.Errorf("wgan: rate below 1 needs a schema: %w", synth.ErrConfig)
	}
	return f.marginals.Unseen(columns)
}

// Continue plans with what is left of a filter.
func (f *Fitter) Continue(
	s *schema.Schema, nb privacy.Neighbours, mu float64, known []marginal.Measurement,
) (synth.Plan, error) {
	p, err := f.plan(s, nb)
	if err != nil {
		return nil, err
	}
	return p.at(mu).with(known)
}

// plan is the plan without a budget.
func (f *Fitter) plan(s *schema.Schema, nb privacy.Neighbours) (*plan, error) {
	if cells := cellCount(s); weights(cells, f.cfg.Hidden) > 1<<24 {
		return nil, fmt.Errorf("wgan: %d cells are too many for a critic of %d units; "+
			"coarsen the bins or categories: %w", cells, f.cfg.Hidden, synth.ErrConfig)
	}
	mode, err := modes.Of(f.cfg.Mode, 1)
	if err != nil {
		return nil, fmt.Errorf("wgan: %w: %w", err, synth.ErrConfig)
	}
	return &plan{mode: mode, cfg: f.cfg, fitter: f, schema: s, nb: nb,
		scaled: scaledColumns(s, f.cfg), criticRate: .01, penaltyWeight: 1}, nil
}

// scaledColumns are those that encoder scaled shows to the critic as one number: ordered bins,
// three or more, without a code for missing cells, which has no place among them. nil if there are
// none.
func scaledColumns(s *schema.Schema, c Config) []bool {
	if c.Encoder != scaled {
		return nil
	}
	out := make([]bool, len(s.Columns))
	for k, m := range s.Sizes() {
		column := s.Columns[k]
		out[k] = m > 2 && len(column.Missing) == 0 && column.Kind.Ordered()
	}
	if !slices.Contains(out, true) {
		return nil
	}
	return out
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

// at is the plan whose parts have their shares of μ² (at rate 1; a lower rate costs less and is
// calibrated with the rest).
func (p *plan) at(mu float64) *plan {
	q := *p
	q.mu = mu
	q.z = math.Sqrt(float64(p.cfg.Steps)/(1-p.cfg.MarginalShare)) / mu * (1 + 1e-9)
	return &q
}

// The most hidden units and releases that follow from the rows.
const (
	mostUnits = 256
	mostSteps = 64
)

// sized is the plan for about that many rows: where no setting says otherwise, the critic's units
// and releases follow from the signal of the gradients, rows over the noise that one release of
// their whole share would have. Below rate 1 that number is part of the plan, and stays.
func (p *plan) sized(rows float64) *plan {
	q := *p
	signal := math.Sqrt(1-p.cfg.MarginalShare) * p.mu * rows
	if units := 8 * math.Round(1.5*math.Sqrt(signal)/8); p.fitter.given.Hidden == nil {
		q.cfg.Hidden = []int{int(min(max(units, 16), mostUnits))}
	}
	if p.fitter.given.Steps == 0 && p.cfg.Rate == 1 {
		q.cfg.Steps = min(max(int(math.Sqrt(signal)/3), 4), mostSteps)
	}
	return q.at(p.mu)
}

// with plans the marginal model and checks the noise.
func (p *plan) with(known []marginal.Measurement) (*plan, error) {
	if p.scaled != nil && p.z > mostScaled {
		return nil, fmt.Errorf("wgan: with encoder %s this budget needs a noise multiplier of "+
			"%.4g, more than the %d it can have; encoder %s has no limit: %w",
			scaled, p.z, mostScaled, oneHot, synth.ErrConfig)
	}
	var err error
	p.marginals, err = p.fitter.marginals.Continue(p.schema, p.nb,
		p.mu*math.Sqrt(p.cfg.MarginalShare), known)
	return p, err
}

// Joints are those of the marginal model, if the gradient sums can be made by another engine: over
// all rows, none clipped, of a critic that fits into its query.
func (p *plan) Joints() [][]int {
	hidden := p.fitter.given.Hidden
	if hidden == nil {
		hidden = []int{mostUnits}
	}
	marginals, ok := p.marginals.(synth.Countable)
	if !ok || p.cfg.Rate < 1 || p.mode.Clipped() || p.cfg.Lipschitz == interpolates ||
		weights(cellCount(p.schema), hidden) > 1<<19 {
		return nil
	}
	return marginals.Joints()
}

// Sums is one a release.
func (p *plan) Sums() int {
	if p.fitter.given.Steps == 0 {
		return mostSteps
	}
	return p.cfg.Steps
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
	return clipped.Penalty{Share: .2, Reach: .1}
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

// Composition is one filter; with samples, one for the marginal model and the gradient sums.
func (p *plan) Composition() accountant.Composition {
	if p.cfg.Rate == 1 {
		return accountant.Composition{{Event: accountant.GDPFilter{Mu: p.mu}, Count: 1}}
	}
	return accountant.Composition{
		{Event: accountant.GDPFilter{Mu: p.mu * math.Sqrt(p.cfg.MarginalShare)}, Count: 1},
		{Event: p.sumEvent(), Count: p.cfg.Steps},
	}
}

// forecastRows is for how many rows a forecast is: they decide the size of the critic.
const forecastRows = 30_000

// Forecast counts the multiplications of the generator's steps, beside the marginal model.
func (p *plan) Forecast() synth.Forecast {
	p = p.sized(forecastRows)
	c := p.cfg
	critic := float64(weights(cellCount(p.schema), c.Hidden))
	row, distil := gan.Work(cellCount(p.schema))
	measured := batch * (row + 4*critic*float64(min(snapshots, c.Steps)))
	speed := 2.7e10
	if c.Engine == gorgonia {
		speed /= 4
	}
	trained := float64(c.Steps*c.GeneratorSteps + c.PostSteps)
	f := p.marginals.Forecast()
	f.Noise = append(slices.Clone(f.Noise), synth.Noise{What: "gradient sum", Count: c.Steps,
		Multiplier: p.penalty().GradientMultiplier(p.z)})
	if c.Lipschitz == interpolates {
		f.Noise = append(f.Noise, synth.Noise{What: "sum of the penalty's gradient",
			Count: c.Steps, Multiplier: p.penalty().Multiplier(p.z)})
	}
	cells := float64(cellCount(p.schema))
	f.MemoryBytes = max(f.MemoryBytes, int64(4*batch*(6*cells+float64(1024+4*snapshots*c.Hidden[0]))+
		4*21*critic*float64(c.Steps)+4*cells*cells))
	f.Seconds += (float64(c.DistilSteps)*distil + trained*(distil+measured)) / speed
	return f
}
