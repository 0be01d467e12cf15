package logistic

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// gradientBits is the grid of residuals in [Gradient].
const gradientBits = 20

// GradientEvent is the event of [Gradient] at standard deviation sigma: Gaussian with the exact
// bound √m of a row's gradient over m one-hot columns, √(2m) for more than two classes, times the
// rows of a unit, and twice that where a unit is replaced.
func GradientEvent(nb privacy.Neighbours, p Problem, sigma float64) accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: access.Down(sigma, p.sensitivity(nb))}
}

// Gradient returns the gradient of the summed logistic loss of all rows at public weights, output
// after output, plus noise round(N(0, sigma²)) on a grid of 2⁻²⁰ in each coordinate
// (docs/claims/logisticgradient.md). weights has one element for each output and cell, of size 2^12
// at most, and is rounded to the grid of 2⁻⁴⁰. Event: [GradientEvent].
func Gradient(
	s *privacy.Session, p Problem, weights []float64, sigma float64,
) ([]float64, error) {
	sizes := s.Schema().Sizes()
	p = p.clone() // before it is checked
	if err := p.check(sizes); err != nil {
		return nil, err
	}
	if n := p.Cells(sizes) * p.Outputs(); len(weights) != n {
		return nil, fmt.Errorf("a logistic regression: %d weights, want %d", len(weights), n)
	}
	at, err := fixed(weights)
	if err != nil {
		return nil, err
	}
	g, err := noise.NewRoundedGaussian(math.Ldexp(sigma, gradientBits))
	if err != nil {
		return nil, fmt.Errorf("a logistic regression: sigma %v: %w", sigma, err)
	}
	m := access.Call{Length: len(at), Noise: g}
	m.What, m.Of = "gradient of a logistic regression",
		p.ask("logistic gradient").Floats(sigma).Ints(at...)
	m.Cost = access.Once(GradientEvent(s.Neighbours(), p, sigma))
	m.Exact = func(rows access.Rows) ([]int64, error) {
		sum := make([]int64, len(at))
		t := rows.Table()
		p.sumTo(sum, t, 0, t.Rows(), at, gradientBits)
		return sum, nil
	}
	sum, err := access.Numbers(s, m)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(sum))
	for i, x := range sum {
		out[i] = math.Ldexp(float64(x), -gradientBits)
	}
	return out, nil
}
