// Package wgan is DP-WGAN-GP with certified gradients: a critic's gradient over the private rows is released with the non-spherical noise that
// interval bounds allow, without clipping, and a generator is trained to agree with every measurement made so far.
//
// The loop: certify the critic from its weights and the public schema, release its gradient sum (privacy.Session.CertifiedSum), keep the release as a
// measurement, move the critic by released minus generated gradient, with a gradient penalty at generated points (free: it touches no
// private row), and let the generator take steps on the replay of all measurements. What follows the last release is post-processing. With every measurement
// kept, full batches lose nothing against many small ones, and the run is exactly Gaussian-DP.
//
// Sources: Gulrajani et al. 2017 (arXiv 1704.00028) for WGAN-GP; J. Pedersen's thesis (RPI 2022, hdl 20.500.13015/6261) for noise from interval bounds,
// which package bounds sharpens.
package wgan

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// Name is the method's name.
const Name = "wgan"

// Mode is the mode of the certificate: the modes of package bounds, with the one that measures best as the zero value.
type Mode uint8

// The modes: see package bounds.
const (
	Residual Mode = iota
	Blocks
	Box
	Thesis
)

// bounds is the mode as package bounds names it.
func (m Mode) bounds() bounds.Mode {
	return []bounds.Mode{bounds.Residual, bounds.Blocks, bounds.Box, bounds.Thesis}[m]
}

// String is the mode's name.
func (m Mode) String() string { return m.bounds().String() }

// UnmarshalText reads a mode's name.
func (m *Mode) UnmarshalText(text []byte) error {
	for mode := Residual; mode <= Thesis; mode++ {
		if mode.String() == string(text) {
			*m = mode
			return nil
		}
	}
	return fmt.Errorf("wgan: the mode must be %v, %v, %v or %v: %w", Residual, Blocks, Box, Thesis, synth.ErrConfig)
}

// Config are the settings. The zero value is the default.
type Config struct {
	Mode           Mode    `mapstructure:"mode"`            // of the certificate: residual, blocks, box or thesis; default residual
	Steps          int     `mapstructure:"steps"`           // critic steps, one release each; default 48
	Rate           float64 `mapstructure:"rate"`            // Poisson rate of a batch, in (0, 1]; default 1
	TotalShare     float64 `mapstructure:"total_share"`     // share of the budget (in μ²) for the number of rows; default 0.01
	MarginalShare  float64 `mapstructure:"marginal_share"`  // share for the one-way marginals that the generator starts from; default 0.1
	Hidden         int     `mapstructure:"hidden"`          // units of the critic's hidden layer; default 128
	Slope          float64 `mapstructure:"slope"`           // of its LeakyReLU, in [0, 1]; default 0, ReLU
	CriticRate     float64 `mapstructure:"critic_rate"`     // Adam's learning rate for the critic; default 0.01
	Penalty        float64 `mapstructure:"penalty"`         // weight of the gradient penalty; default 1
	GeneratorRate  float64 `mapstructure:"generator_rate"`  // Adam's learning rate for the generator, falling to a tenth over PostSteps; default 0.001
	GeneratorSteps int     `mapstructure:"generator_steps"` // generator steps after each release; default 20
	PostSteps      int     `mapstructure:"post_steps"`      // generator steps after the last one; default 3000
	Batch          int     `mapstructure:"batch"`           // generated rows a generator step, even; default 1024
	Snapshots      int     `mapstructure:"snapshots"`       // measurements that a generator step looks at; default 4
	ColdStart      bool    `mapstructure:"cold_start"`      // buy no one-way marginals; start the generator at random
	NoReplay       bool    `mapstructure:"no_replay"`       // train the generator on the last critic's score alone, as a plain WGAN does
}

// Fitter is a configured method.
type Fitter struct{ cfg Config }

// New validates the settings.
func New(c Config) (*Fitter, error) {
	def := func(x *float64, d float64) {
		if *x == 0 {
			*x = d
		}
	}
	defInt := func(x *int, d int) {
		if *x == 0 {
			*x = d
		}
	}
	defInt(&c.Steps, 48)
	def(&c.Rate, 1)
	def(&c.TotalShare, .01)
	def(&c.MarginalShare, .1)
	defInt(&c.Hidden, 128)
	def(&c.CriticRate, .01)
	def(&c.Penalty, 1)
	def(&c.GeneratorRate, .001)
	defInt(&c.GeneratorSteps, 20)
	defInt(&c.PostSteps, 3000)
	defInt(&c.Batch, 1024)
	defInt(&c.Snapshots, 4)
	for _, x := range []struct {
		name   string
		value  float64
		lo, hi float64
	}{
		{"steps", float64(c.Steps), 1, 1e5}, {"rate", c.Rate, 1e-6, 1}, {"total share", c.TotalShare, 1e-4, .5}, {"marginal share", c.MarginalShare, 1e-4, .8},
		{"hidden units", float64(c.Hidden), 1, 4096}, {"slope", c.Slope, 0, 1}, {"critic rate", c.CriticRate, 1e-8, 1}, {"penalty", c.Penalty, 1e-8, 1e4},
		{"generator rate", c.GeneratorRate, 1e-8, 1}, {"generator steps", float64(c.GeneratorSteps), 1, 1e6}, {"post steps", float64(c.PostSteps), 1, 1e7},
		{"batch", float64(c.Batch), 2, 1 << 20}, {"snapshots", float64(c.Snapshots), 1, 1e5},
	} {
		if !(x.value >= x.lo && x.value <= x.hi) {
			return nil, fmt.Errorf("wgan: %s %v must be from %v to %v: %w", x.name, x.value, x.lo, x.hi, synth.ErrConfig)
		}
	}
	if c.Batch%2 != 0 {
		return nil, fmt.Errorf("wgan: batch %d must be even: %w", c.Batch, synth.ErrConfig)
	}
	if c.Mode > Thesis {
		return nil, fmt.Errorf("wgan: mode %d is unknown: %w", c.Mode, synth.ErrConfig)
	}
	if c.ColdStart {
		c.MarginalShare = 0
	}
	if c.TotalShare+c.MarginalShare >= .95 {
		return nil, fmt.Errorf("wgan: the shares leave less than 5 %% for the critic: %w", synth.ErrConfig)
	}
	return &Fitter{cfg: c}, nil
}

// Name is "wgan".
func (f *Fitter) Name() string { return Name }

// Config are the settings, with the defaults filled in.
func (f *Fitter) Config() Config { return f.cfg }

// plan is the noise of a fit.
type plan struct {
	cfg    Config
	schema *schema.Schema
	nb     privacy.Neighbours
	total  float64 // σ of the number of rows
	oneWay float64 // σ of a one-way marginal's cell
	z      float64 // noise multiplier of a gradient sum
}

// Plan splits the budget in shares of μ² and scales all noise together until the exact composition meets it.
func (f *Fitter) Plan(s *schema.Schema, nb privacy.Neighbours, b accountant.Budget) (synth.Plan, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	if b.Delta == 0 {
		return nil, fmt.Errorf("wgan: its noise is Gaussian and needs delta > 0: %w", accountant.ErrBudgetRange)
	}
	if cells := cellCount(s); cells*f.cfg.Hidden > 1<<24 {
		return nil, fmt.Errorf("wgan: %d cells are too many for a critic of %d units; coarsen the bins or categories: %w", cells, f.cfg.Hidden, synth.ErrConfig)
	}
	p := &plan{cfg: f.cfg, schema: s, nb: nb}
	scale, err := accountant.Calibrate(b, nb.Adjacency, func(scale float64) accountant.Composition { return p.at(scale).Composition() })
	if err != nil {
		return nil, fmt.Errorf("wgan: %w", err)
	}
	return p.at(scale), nil
}

func cellCount(s *schema.Schema) (cells int) {
	for _, n := range s.Sizes() {
		cells += n
	}
	return cells
}

// at is the plan whose parts have the shares of μ² = 1/scale² (at rate 1; a lower rate costs less and is calibrated with the rest).
func (p *plan) at(scale float64) *plan {
	q := *p
	one := float64(max(1, p.nb.MaxRowsPerUnit))
	vector := one
	if p.nb.Adjacency == accountant.ReplaceOne {
		vector *= math.Sqrt2
	}
	q.total = one * scale / math.Sqrt(p.cfg.TotalShare)
	if !p.cfg.ColdStart {
		q.oneWay = vector * scale * math.Sqrt(float64(len(p.schema.Columns))/p.cfg.MarginalShare)
	}
	q.z = scale * math.Sqrt(float64(p.cfg.Steps)/(1-p.cfg.TotalShare-p.cfg.MarginalShare))
	return &q
}

func (p *plan) sum() privacy.CertifiedPlan {
	return privacy.CertifiedPlan{Mode: p.cfg.Mode.bounds(), Rate: p.cfg.Rate, NoiseMultiplier: p.z}
}

// Composition is the number of rows, d one-way marginals and the gradient sums.
func (p *plan) Composition() accountant.Composition {
	c := accountant.Composition{
		{Event: p.nb.TotalEvent(p.total), Count: 1},
		{Event: p.nb.CertifiedSumEvent(p.sum()), Count: p.cfg.Steps},
	}
	if !p.cfg.ColdStart {
		c = append(c, accountant.Charge{Event: p.nb.CountsEvent(p.oneWay), Count: len(p.schema.Columns)})
	}
	return c
}

// Forecast counts the multiplications of the generator's steps, which dominate.
func (p *plan) Forecast() synth.Forecast {
	cells, c := float64(cellCount(p.schema)), p.cfg
	steps := float64(c.Steps*c.GeneratorSteps + c.PostSteps)
	perStep := float64(c.Batch) * cells * (3*128 + 4*float64(c.Hidden*min(c.Snapshots, c.Steps)))
	noise := []synth.Noise{
		{What: "number of rows", Count: 1, Sigma: p.total},
		{What: fmt.Sprintf("gradient sum, noise multiplier %.4g", p.z), Count: c.Steps},
	}
	if !c.ColdStart {
		noise = append(noise, synth.Noise{What: "one-way marginal", Count: len(p.schema.Columns), Sigma: p.oneWay})
	}
	return synth.Forecast{
		MemoryBytes: int64(4*float64(c.Batch)*(6*cells+8*128+4*float64(c.Hidden*c.Snapshots)) + 4*9*cells*float64(c.Hidden*c.Steps)),
		Seconds:     steps * perStep / 2e10,
		Noise:       noise,
	}
}
