package synth

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/bounds"
)

// WGAN is DP-WGAN-GP with certified gradients: a critic's gradient over the private rows is
// released with the non-spherical noise that interval bounds allow, without clipping, and a
// generator is trained to agree with every measurement made so far.
//
// The generator starts from a marginal model, which a share of the budget buys in the same session
// (aim): it is trained to have the one- and two-way marginals of many rows drawn from that.
//
// Then the loop: certify the critic from its weights and the public schema, release its gradient
// sum (gradient.CertifiedSum), keep the release as a measurement, move the critic by released minus
// generated gradient, with a gradient penalty at generated points (free: it touches no
// private row), and let the generator take steps on the replay of all measurements. What follows
// the last release is post-processing. With every measurement kept, full batches lose nothing
// against many small ones, and the run is exactly Gaussian-DP.
//
// Sources: Gulrajani et al. 2017 (arXiv 1704.00028) for WGAN-GP; J. Pedersen's thesis (RPI 2022,
// hdl 20.500.13015/6261) for noise from interval bounds, which package bounds sharpens.
type WGAN struct {
	// column to predict: the marginal model looks at its pairs first
	Target string `mapstructure:"target"`
	// of the certificate: residual, box, thesis or ball (clipped rows); default residual
	Mode string `mapstructure:"mode"`
	// critic steps, one release each; default 16
	Steps int `mapstructure:"steps" default:"16" min:"1" max:"100000"`
	// Poisson rate of a batch, in (0, 1]; default 1
	Rate float64 `mapstructure:"rate" default:"1" min:"1e-6" max:"1"`
	// share of the budget (in μ²) for the marginal model that the generator is distilled from; the
	// rest is for the critic's gradients; default 0.9
	MarginalShare float64 `mapstructure:"marginal_share" default:"0.9" min:"1e-4" max:"0.999"`
	// units of each of the critic's hidden layers, of at most 16, as in 64,128; default one of 64
	Hidden []int `mapstructure:"hidden"`
	// of gradients at generated rows: kernels (hand-written) or gorgonia (automatic differentiation
	// of Gorgonia graphs, several times slower); default kernels
	Engine string `mapstructure:"engine"`
	// how the critic is held Lipschitz: penalty (at generated points, free), interpolates (between
	// private and generated rows, paid), spectral or clip; default penalty
	Lipschitz string `mapstructure:"lipschitz"`
	// generator steps on the marginal model alone, before the first release; default 1000
	DistilSteps int `mapstructure:"distil_steps" default:"1000" min:"1" max:"1e7"`
	// generator steps after each release; default 5
	GeneratorSteps int `mapstructure:"generator_steps" default:"5" min:"1" max:"1e6"`
	// generator steps after the last one; default 200
	PostSteps int `mapstructure:"post_steps" default:"200" min:"1" max:"1e7"`
}

// Settings that are words, the default first.
var (
	modeNames      = []string{bounds.Residual.String(), "box", "thesis", "ball"}
	engineNames    = []string{"kernels", gorgonia}
	lipschitzNames = []string{freePenalty, interpolates, "spectral", "clip"}
)

const (
	gorgonia = "gorgonia" // computes the gradients of the generator, and of the critic there

	freePenalty  = "penalty"
	interpolates = "interpolates" // the one way to hold the critic that looks at private rows
)

// check validates the settings.
func (c *WGAN) check() error {
	for _, x := range []struct {
		name  string
		value *string
		names []string
	}{
		{"mode", &c.Mode, modeNames}, {"lipschitz", &c.Lipschitz, lipschitzNames},
		{"engine", &c.Engine, engineNames},
	} {
		*x.value = cmp.Or(*x.value, x.names[0])
		if !slices.Contains(x.names, *x.value) {
			return fmt.Errorf("%s %q must be one of %s", x.name, *x.value, strings.Join(x.names, ", "))
		}
	}
	if c.Hidden == nil {
		c.Hidden = []int{64}
	}
	if n := len(c.Hidden); n < 1 || n > 16 {
		return fmt.Errorf("%d hidden layers, not 1 to 16", n)
	}
	for _, units := range c.Hidden {
		if units < 1 || units > 4096 {
			return fmt.Errorf("a hidden layer of %d units, not 1 to 4096", units)
		}
	}
	return nil
}

// Name is "wgan".
func (*WGAN) Name() string { return "wgan" }
