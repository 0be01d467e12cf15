package synth

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// distilled is the method of the model that the generator of wgan and pategan is distilled from.
func distilled(target string) *AIM {
	m, _ := Checked(&AIM{Target: target}) // its shares are the defaults
	return m
}

// reserveFor is one filter of the largest μ, for a method that predicts a column: a target that the
// schema has not is refused.
func reserveFor(target string, t Terms, b accountant.Budget, before float64) (
	accountant.Composition, accountant.Pricer, error,
) {
	if target != "" && t.Schema.Index(target) < 0 {
		return nil, nil, fmt.Errorf("target: the schema has no column %q%s: %w", target,
			t.Schema.Hint(target), ErrConfig)
	}
	return gaussian{}.Reserve(t, b, before)
}

func cellCount(s *schema.Schema) (cells int) {
	for _, n := range s.Sizes() {
		cells += n
	}
	return cells
}

// What generators are trained with.
const (
	batch         = 512  // generated rows that a step compares with measurements, or shows a student
	generatorRate = .001 // Adam's learning rate, which falls to a tenth
)

// distilling is the training of a generator that begins with what a marginal model says.
type distilling struct {
	u         *rand.Rand
	encoder   *critic.Encoder
	generator *gan.Generator
	released  *release.Generator
	distil    *gan.Distillation
	pass      *gan.Pass
	down      matrix.Matrix // of the pass, what rows are to become
}

// begin makes the generator, which is to agree with the model.
func (d *distilling) begin(s *schema.Schema, m *release.Marginal) (err error) {
	if d.encoder, err = critic.NewEncoder(s); err != nil {
		return err
	}
	if d.generator, err = gan.NewGenerator(d.encoder, gan.GeneratorOptions{}, d.u); err != nil {
		return err
	}
	d.released = &release.Generator{Net: d.generator, Rows: max(1, m.Total()),
		Toward: &release.Marginal{Model: m.Model, Grouping: m.Grouping}}
	d.distil = d.generator.Distil(d.released.Pairs())
	d.pass = d.generator.NewPass(batch, gan.Head{Hard: true})
	d.down = matrix.New(batch, d.encoder.Cells())
	return nil
}

// stepper takes the steps of a training, of which a method takes so many at a time. It tells how
// far the training is, and stops where the context does.
type stepper struct {
	ctx          context.Context
	progress     Progress
	first, later int // steps of the distillation, and after it
	taken        int
}

// alone takes the steps of the distillation.
func (s *stepper) alone(d *distilling) error {
	err := s.take(s.first, "distilling the marginal model", func() error {
		d.distil.Step(float64(s.taken)/float64(s.first), d.u)
		return nil
	})
	d.distil.Settle()
	return err
}

// take calls step n times.
func (s *stepper) take(n int, stage string, step func() error) error {
	for range n {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
		if s.taken++; s.taken%16 == 0 {
			s.tell(stage)
		}
	}
	return nil
}

// rate is the generator's learning rate after the distillation.
func (s *stepper) rate() float64 {
	return generatorRate * (1 - .9*float64(s.taken-s.first)/float64(s.later))
}

// tell reports the stage.
func (s *stepper) tell(stage string) {
	s.progress.Report(stage, float64(s.taken)/float64(s.first+s.later))
}
