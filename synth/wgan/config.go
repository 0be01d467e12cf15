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
	Radius float64 `mapstructure:"radius" default:"1" min:"1e-6" max:"1e6"`
	// critic steps, one release each; default by preset
	Steps int `mapstructure:"steps" min:"1" max:"100000"`
	// Poisson rate of a batch, in (0, 1]; default 1. Below 1 preset auto is medium
	Rate float64 `mapstructure:"rate" default:"1" min:"1e-6" max:"1"`
	// share of the budget (in μ²) for the number of rows; default 0.01
	TotalShare float64 `mapstructure:"total_share" default:"0.01" min:"1e-4" max:"0.5"`
	// share for the marginals that the generator starts from; default by preset, with a target
	// larger
	MarginalShare float64 `mapstructure:"marginal_share" min:"0" max:"0.9"`
	// units of each of the critic's hidden layers, of at most 16, as in 64,128; default one, by
	// preset
	Hidden []int `mapstructure:"hidden"`
	// of the critic's LeakyReLU, in [0, 1]; default 0, ReLU
	Slope float64 `mapstructure:"slope" min:"0" max:"1"`
	// how the critic sees numeric columns without missing cells: one_hot (a cell a bin) or scaled
	// (one number in [0, 1]); default one_hot
	Encoder string `mapstructure:"encoder"`
	// of gradients at generated rows: kernels (hand-written) or gorgonia (automatic differentiation
	// of Gorgonia graphs, several times slower); default kernels
	Engine string `mapstructure:"engine"`
	// measure with a new random critic at each step in place of one that is trained
	FreshCritics bool `mapstructure:"fresh_critics"`
	// Adam's learning rate for the critic; default 0.01
	CriticRate float64 `mapstructure:"critic_rate" default:"0.01" min:"1e-8" max:"1"`
	// how the critic is held Lipschitz: penalty (at generated points, free), interpolates (between
	// private and generated rows, paid), spectral, clip or none; default penalty
	Lipschitz string `mapstructure:"lipschitz"`
	// weight of the gradient penalty; default 1
	Penalty float64 `mapstructure:"penalty" default:"1" min:"1e-8" max:"1e4"`
	// share of each gradient sum's budget that pays for the penalty at interpolates; default 0.2
	PenaltyShare float64 `mapstructure:"penalty_share" default:"0.2" min:"1e-3" max:"0.9"`
	// norm to which a row's part of the penalty at interpolates is clipped, as a share of its norm
	// bound; 1 clips none; default 0.1
	PenaltyReach float64 `mapstructure:"penalty_reach" default:"0.1" min:"1e-6" max:"1"`
	// of each layer's spectral norm (spectral) or of every weight (clip); default 1
	Limit float64 `mapstructure:"limit" default:"1" min:"1e-6" max:"1e6"`
	// units of the generator's hidden layers; default by preset
	GeneratorUnits int `mapstructure:"generator_units" min:"1" max:"4096"`
	// Adam's learning rate for the generator, falling to a tenth over PostSteps; default 0.001
	GeneratorRate float64 `mapstructure:"generator_rate" default:"0.001" min:"1e-8" max:"1"`
	// generator steps after each release; default 20, without replay 1
	GeneratorSteps int `mapstructure:"generator_steps" default:"20" min:"1" max:"1e6"`
	// generator steps after the last one; default by preset, without replay 1
	PostSteps int `mapstructure:"post_steps" min:"1" max:"1e7"`
	// how the generator's cells are drawn in training: straight_through (rows of 0 and 1, the
	// gradient of the relaxed draw) or gumbel (relaxed); default straight_through
	Head string `mapstructure:"head"`
	// of the relaxed draw; default 0.5
	Temperature float64 `mapstructure:"temperature" default:"0.5" min:"0.01" max:"100"`
	// generated rows a generator step, even; default 1024
	Batch int `mapstructure:"batch" default:"1024" min:"2" max:"1048576"`
	// measurements that a generator step looks at; default 4
	Snapshots int `mapstructure:"snapshots" default:"4" min:"1" max:"1e5"`
	// weight of the target's tables beside the critic's measurements in the generator's loss;
	// default by preset
	TableWeight float64 `mapstructure:"table_weight" min:"1e-6" max:"1e6"`
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

// filled is c with the defaults of a preset where it has none. An error wraps synth.ErrConfig.
func (c Config) filled(preset string) (Config, error) {
	p, _ := presetOf(preset)
	if c.Target != "" {
		p.MarginalShare = targetShare[preset]
	}
	p.Lipschitz, p.Head, p.Encoder, p.Engine, p.Mode = "penalty", straightThrough, oneHot,
		handWritten, bounds.Residual.String()
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
	return c, synth.Fill(Name, &c)
}

// New validates the settings. Errors wrap synth.ErrConfig.
func New(c Config) (*Fitter, error) {
	if _, err := presetOf(c.Preset); err != nil {
		return nil, err
	}
	f := &Fitter{given: c}
	for _, name := range []string{Small, Large, Medium} {
		if c.Preset == name || f.auto() {
			var err error
			if f.cfg, err = c.filled(name); err == nil {
				err = f.cfg.check()
			}
			if err != nil {
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

// check refuses settings that are none, or do not go together. Errors wrap synth.ErrConfig.
func (c Config) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("wgan: %s: %w", fmt.Sprintf(format, args...), synth.ErrConfig)
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
	case len(c.Hidden) < 1 || len(c.Hidden) > 16:
		return refuse("%d hidden layers, not 1 to 16", len(c.Hidden))
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
