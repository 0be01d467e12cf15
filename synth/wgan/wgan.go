// Package wgan is DP-WGAN-GP with certified gradients: a critic's gradient over the private rows is
// released with the non-spherical noise that interval bounds allow, without clipping, and a
// generator is trained to agree with every measurement made so far.
//
// The generator starts from a marginal model, which a share of the budget buys in the same session
// (package aim): it is trained to have the one- and two-way marginals of many rows drawn from that.
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
package wgan

import "github.com/decoy-dp/decoy/synth"

// Name is the method's name.
const Name = "wgan"

// Fitter is a configured method.
type Fitter struct {
	given     Config          // as the caller gave them
	cfg       Config          // with the defaults, for 30 000 rows where the rows decide
	marginals synth.Continuer // of the model that the generator is distilled from
}

// Name is "wgan".
func (f *Fitter) Name() string { return Name }

// Config are the settings, with the defaults filled in.
func (f *Fitter) Config() Config { return f.cfg }

// Given are the settings as they were given.
func (f *Fitter) Given() Config { return f.given }
