package wgan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/synth"
)

// Config are the settings. Zero values are the defaults, which the preset sets.
type Config struct {
	// auto, small (2 000 rows), medium (30 000) or large (300 000); default auto: by the noisy
	// number of rows
	Preset string `mapstructure:"preset"`
	// column to predict, of at most 32 codes: its joint tables with every column are bought in
	// place of one-way marginals
	Target string `mapstructure:"target"`
	// of the certificate: residual, box, thesis or ball (clipped rows); default residual
	Mode string `mapstructure:"mode"`
	// of mode ball: the norm of a gradient for which its noise is made; default 1
	Radius float64 `mapstructure:"radius"`
	// critic steps, one release each; default by preset
	Steps int `mapstructure:"steps"`
	// Poisson rate of a batch, in (0, 1]; default 1. Below 1 preset auto is medium
	Rate float64 `mapstructure:"rate"`
	// share of the budget (in μ²) for the number of rows; default 0.01
	TotalShare float64 `mapstructure:"total_share"`
	// share for the marginals that the generator starts from; default by preset, with a target
	// larger
	MarginalShare float64 `mapstructure:"marginal_share"`
	// units of each of the critic's hidden layers, of at most 16, as in 64,128; default one, by
	// preset
	Hidden []int `mapstructure:"hidden"`
	// of the critic's LeakyReLU, in [0, 1]; default 0, ReLU
	Slope float64 `mapstructure:"slope"`
	// how the critic sees numeric columns without missing cells: one_hot (a cell a bin) or scaled
	// (one number in [0, 1]); default one_hot
	Encoder string `mapstructure:"encoder"`
	// of gradients at generated rows: kernels (hand-written) or gorgonia (automatic differentiation
	// of Gorgonia graphs, several times slower); default kernels
	Engine string `mapstructure:"engine"`
	// measure with a new random critic at each step in place of one that is trained
	FreshCritics bool `mapstructure:"fresh_critics"`
	// Adam's learning rate for the critic; default 0.01
	CriticRate float64 `mapstructure:"critic_rate"`
	// how the critic is held Lipschitz: penalty (at generated points, free), interpolates (between
	// private and generated rows, paid), spectral, clip or none; default penalty
	Lipschitz string `mapstructure:"lipschitz"`
	// weight of the gradient penalty; default 1
	Penalty float64 `mapstructure:"penalty"`
	// share of each gradient sum's budget that pays for the penalty at interpolates; default 0.2
	PenaltyShare float64 `mapstructure:"penalty_share"`
	// norm to which a row's part of the penalty at interpolates is clipped, as a share of its norm
	// bound; 1 clips none; default 0.1
	PenaltyReach float64 `mapstructure:"penalty_reach"`
	// of each layer's spectral norm (spectral) or of every weight (clip); default 1
	Limit float64 `mapstructure:"limit"`
	// units of the generator's hidden layers; default by preset
	GeneratorUnits int `mapstructure:"generator_units"`
	// Adam's learning rate for the generator, falling to a tenth over PostSteps; default 0.001
	GeneratorRate float64 `mapstructure:"generator_rate"`
	// generator steps after each release; default 20, without replay 1
	GeneratorSteps int `mapstructure:"generator_steps"`
	// generator steps after the last one; default by preset, without replay 1
	PostSteps int `mapstructure:"post_steps"`
	// how the generator's cells are drawn in training: straight_through (rows of 0 and 1, the
	// gradient of the relaxed draw) or gumbel (relaxed); default straight_through
	Head        string  `mapstructure:"head"`
	Temperature float64 `mapstructure:"temperature"` // of the relaxed draw; default 0.5
	// generated rows a generator step, even; default 1024
	Batch int `mapstructure:"batch"`
	// measurements that a generator step looks at; default 4
	Snapshots int `mapstructure:"snapshots"`
	// weight of the target's tables beside the critic's measurements in the generator's loss;
	// default by preset
	TableWeight float64 `mapstructure:"table_weight"`
	// buy no marginals; start the generator at random
	ColdStart bool `mapstructure:"cold_start"`
	// train the generator on the last critic's score alone, as a plain WGAN does
	NoReplay bool `mapstructure:"no_replay"`
}

// Names of the presets.
const (
	Auto   = "auto"
	Small  = "small"
	Medium = "medium"
	Large  = "large"
)

// presetOf returns the settings of small, medium or large, the ones that depend on a table's size;
// "auto" and "" are the empty ones, which leave the choice to the noisy number of rows. An error
// wraps synth.ErrConfig.
func presetOf(name string) (Config, error) {
	switch name {
	case "", Auto:
		return Config{}, nil
	case Small:
		return Config{Preset: Small, Steps: 8, MarginalShare: .5, Hidden: []int{32},
			GeneratorUnits: 64, PostSteps: 1000, TableWeight: 8}, nil
	case Medium:
		return Config{Preset: Medium, Steps: 48, MarginalShare: .1, Hidden: []int{128},
			GeneratorUnits: 128, PostSteps: 3000, TableWeight: 1}, nil
	case Large:
		return Config{Preset: Large, Steps: 64, MarginalShare: .05, Hidden: []int{256},
			GeneratorUnits: 256, PostSteps: 5000, TableWeight: 1}, nil
	}
	return Config{}, fmt.Errorf("wgan: the preset must be %s, %s, %s or %s: %w", Auto, Small,
		Medium, Large, synth.ErrConfig)
}

// Encoders of numeric columns.
const (
	oneHot = "one_hot"
	scaled = "scaled"
)

// Engines, which compute the gradients of the generator, and of the critic at generated rows.
const (
	handWritten = "kernels"
	gorgonia    = "gorgonia"
)

// interpolates is the one way to hold the critic Lipschitz that looks at private rows.
const interpolates = "interpolates"

// Heads of the generator.
const (
	straightThrough = "straight_through"
	gumbel          = "gumbel"
)

// presetFor is the preset of a table of about that many rows.
func presetFor(rows float64) string {
	switch {
	case rows < 8000:
		return Small
	case rows < 120000:
		return Medium
	}
	return Large
}

// targetShare is the default share of the marginals of a target: each is two-way.
var targetShare = map[string]float64{Small: .8, Medium: .2, Large: .1}

// filled is c with the defaults of a preset where it has none.
func (c Config) filled(preset string) Config {
	p, _ := presetOf(preset)
	if c.Target != "" {
		p.MarginalShare = targetShare[preset]
	}
	p.Rate, p.TotalShare, p.CriticRate, p.Lipschitz, p.Penalty, p.Limit, p.Radius, p.PenaltyShare,
		p.PenaltyReach = 1, .01, .01, "penalty", 1, 1, 1, .2, .1
	p.GeneratorRate, p.GeneratorSteps, p.Batch, p.Snapshots, p.Head, p.Temperature, p.Encoder,
		p.Engine = .001, 20, 1024, 4, straightThrough, .5, oneHot, handWritten
	p.Mode = bounds.Residual.String()
	if c.NoReplay { // the score of one critic is not to be believed for long
		p.GeneratorSteps, p.PostSteps = 1, 1
	}
	from, to := reflect.ValueOf(p), reflect.ValueOf(&c).Elem()
	for i := range to.NumField() {
		if to.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	c.Preset = preset
	if c.ColdStart {
		c.MarginalShare = 0
	}
	return c
}

// New validates the settings. Errors wrap synth.ErrConfig.
func New(c Config) (*Fitter, error) {
	if _, err := presetOf(c.Preset); err != nil {
		return nil, err
	}
	f := &Fitter{given: c}
	for _, name := range []string{Small, Large, Medium} {
		if c.Preset == name || f.auto() {
			f.cfg = c.filled(name)
			if err := f.cfg.check(); err != nil {
				return nil, err
			}
		}
	}
	if f.auto() {
		f.cfg.Preset = Auto
	}
	return f, nil
}

// auto reports whether the noisy number of rows chooses the preset. Only at rate 1 can what is
// bought later be chosen later.
func (f *Fitter) auto() bool { return f.given.Preset == "" || f.given.Preset == Auto }

// check refuses settings out of range. Errors wrap synth.ErrConfig.
func (c Config) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("wgan: %s: %w", fmt.Sprintf(format, args...), synth.ErrConfig)
	}
	for _, x := range []struct {
		name   string
		value  float64
		lo, hi float64
	}{
		{"steps", float64(c.Steps), 1, 1e5}, {"rate", c.Rate, 1e-6, 1},
		{"total share", c.TotalShare, 1e-4, .5}, {"marginal share", c.MarginalShare, 0, .9},
		{"hidden layers", float64(len(c.Hidden)), 1, 16}, {"slope", c.Slope, 0, 1},
		{"critic rate", c.CriticRate, 1e-8, 1}, {"penalty", c.Penalty, 1e-8, 1e4},
		{"limit", c.Limit, 1e-6, 1e6}, {"radius", c.Radius, 1e-6, 1e6},
		{"generator units", float64(c.GeneratorUnits), 1, 4096},
		{"generator rate", c.GeneratorRate, 1e-8, 1},
		{"generator steps", float64(c.GeneratorSteps), 1, 1e6},
		{"post steps", float64(c.PostSteps), 1, 1e7}, {"batch", float64(c.Batch), 2, 1 << 20},
		{"snapshots", float64(c.Snapshots), 1, 1e5}, {"table weight", c.TableWeight, 1e-6, 1e6},
		{"penalty share", c.PenaltyShare, 1e-3, .9}, {"penalty reach", c.PenaltyReach, 1e-6, 1},
		{"temperature", c.Temperature, .01, 100},
	} {
		if !(x.value >= x.lo && x.value <= x.hi) {
			return refuse("%s %v must be from %v to %v", x.name, x.value, x.lo, x.hi)
		}
	}
	for _, units := range c.Hidden {
		if units < 1 || units > 4096 {
			return refuse("a hidden layer of %d units, not 1 to 4096", units)
		}
	}
	for _, x := range []struct {
		name, value string
		of          []string
	}{
		{"mode", c.Mode, []string{"residual", "box", "thesis", "ball"}},
		{"lipschitz", c.Lipschitz, []string{"penalty", interpolates, "spectral", "clip", "none"}},
		{"head", c.Head, []string{straightThrough, gumbel}},
		{"encoder", c.Encoder, []string{oneHot, scaled}},
		{"engine", c.Engine, []string{handWritten, gorgonia}},
	} {
		if last := len(x.of) - 1; !slices.Contains(x.of, x.value) {
			return refuse("%s %q must be %s or %s",
				x.name, x.value, strings.Join(x.of[:last], ", "), x.of[last])
		}
	}
	switch {
	case c.Batch%2 != 0:
		return refuse("batch %d must be even", c.Batch)
	case c.Lipschitz == interpolates && c.FreshCritics:
		return refuse("a penalty at interpolates is lost on fresh critics, which are not trained")
	case c.Encoder == scaled && c.Mode == "ball":
		return refuse("encoder %s cannot be used with mode ball", scaled)
	case !c.ColdStart && c.MarginalShare < 1e-4:
		return refuse("marginal share %v must be from 0.0001 to 0.9", c.MarginalShare)
	case c.TotalShare+c.MarginalShare >= .95:
		return refuse("the shares leave less than 5 %% for the critic")
	}
	return nil
}
