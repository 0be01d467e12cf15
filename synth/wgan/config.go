package wgan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/aim"
)

// Config are the settings. Zero values are the defaults, which the preset sets.
type Config struct {
	// column to predict: the marginal model looks at its pairs first
	Target string `mapstructure:"target"`
	// of the certificate: residual, box, thesis or ball (clipped rows); default residual
	Mode string `mapstructure:"mode"`
	// of mode ball: the norm of a gradient for which its noise is made; default 1
	Radius float64 `mapstructure:"radius" default:"1" min:"1e-6" max:"1e6"`
	// critic steps, one release each; default 4 to 64, by budget and noisy number of rows, and 16
	// at a rate below 1
	Steps int `mapstructure:"steps" default:"16" min:"1" max:"100000"`
	// Poisson rate of a batch, in (0, 1]; default 1
	Rate float64 `mapstructure:"rate" default:"1" min:"1e-6" max:"1"`
	// share of the budget (in μ²) for the marginal model that the generator is distilled from; the
	// rest is for the critic's gradients; default 0.9
	MarginalShare float64 `mapstructure:"marginal_share" default:"0.9" min:"1e-4" max:"0.999"`
	// units of each of the critic's hidden layers, of at most 16, as in 64,128; default one of 16
	// to 256, by budget and noisy number of rows
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
	// units of the generator's hidden layers; default 128
	GeneratorUnits int `mapstructure:"generator_units" default:"128" min:"1" max:"4096"`
	// Adam's learning rate for the generator, falling to a tenth over PostSteps; default 0.001
	GeneratorRate float64 `mapstructure:"generator_rate" default:"0.001" min:"1e-8" max:"1"`
	// generator steps after each release; default 5, without replay 1
	GeneratorSteps int `mapstructure:"generator_steps" default:"5" min:"1" max:"1e6"`
	// generator steps on the marginal model alone, before the first release; default 1000
	DistilSteps int `mapstructure:"distil_steps" default:"1000" min:"1" max:"1e7"`
	// generator steps after the last one; default 200, without replay 1
	PostSteps int `mapstructure:"post_steps" default:"200" min:"1" max:"1e7"`
	// how the generator's cells are drawn in training: straight_through (rows of 0 and 1, the
	// gradient of the relaxed draw) or gumbel (relaxed); default straight_through
	Head string `mapstructure:"head"`
	// of the relaxed draw; default 0.5
	Temperature float64 `mapstructure:"temperature" default:"0.5" min:"0.01" max:"100"`
	// generated rows that a generator step compares with measurements, even; default 512
	Batch int `mapstructure:"batch" default:"512" min:"2" max:"1048576"`
	// measurements that a generator step looks at; default 4
	Snapshots int `mapstructure:"snapshots" default:"4" min:"1" max:"1e5"`
	// weight of the pairs of the marginal model beside the critic's measurements in the generator's
	// loss; default 1
	TableWeight float64 `mapstructure:"table_weight" default:"1" min:"1e-6" max:"1e6"`
	// draw rows from the generator as they come, independent of each other, in place of steering
	// their pairs towards those of the marginal model
	Unsteered bool `mapstructure:"unsteered"`
	// train the generator on the last critic's score alone, as a plain WGAN does
	NoReplay bool `mapstructure:"no_replay"`
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

// New validates the settings. Errors wrap synth.ErrConfig.
func New(c Config) (*Fitter, error) {
	given := c
	text := func(setting *string, preset string) {
		if *setting == "" {
			*setting = preset
		}
	}
	text(&c.Lipschitz, "penalty")
	text(&c.Head, straightThrough)
	text(&c.Encoder, oneHot)
	text(&c.Engine, handWritten)
	text(&c.Mode, bounds.Residual.String())
	if c.Hidden == nil {
		c.Hidden = []int{64}
	}
	if c.NoReplay { // the score of one critic is not to be believed for long
		c.GeneratorSteps, c.PostSteps = max(1, c.GeneratorSteps), max(1, c.PostSteps)
	}
	if err := synth.Fill(Name, &c); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	marginals, err := aim.New(aim.Config{Target: c.Target})
	return &Fitter{given, c, marginals}, err
}

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
	}
	return nil
}
