package ellipsoid

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/table"
)

// Critic is what package gradient says of one.
type Critic interface {
	Network() bounds.Network
	AddSumTo(gradient, cells []int64, factor float64, columns []table.Codes, rows []int)
}

// Certified certifies a critic whose rows are not clipped over the domain in, and is its gradient
// sum with noise of multiplier z.
func Certified(
	nb privacy.Neighbours, in *bounds.Input, mode bounds.Mode, z float64, critic Critic,
) (Sum, *bounds.Certificate, error) {
	if mode.Clipped() {
		return Sum{}, nil, fmt.Errorf("mode %v holds for clipped rows only", mode)
	}
	network := critic.Network()
	cert, err := bounds.Certify(network, in, bounds.Config{Mode: mode,
		Adjacency: nb.Adjacency, UnitRows: max(1, nb.MaxRowsPerUnit), NoiseMultiplier: z})
	if err != nil {
		return Sum{}, nil, err
	}
	out := Sum{Scales: make([]float64, cert.Coordinates()), Grid: cert.Grid()}
	cert.ScalesTo(out.Scales, z)
	cut := func(sums []int64) (gradient, inputs []int64) {
		if gradient = sums[:cert.Parameters()]; cert.Inputs() > 0 {
			inputs = sums[cert.Parameters():]
		}
		return gradient, inputs
	}
	out.From = func(sums []int64, n int) []int64 {
		gradient, inputs := cut(slices.Clone(sums)) // sums are the caller's
		inSteps(inputs, cert)
		encoded := make([]int64, cert.Coordinates())
		cert.EncodeTo(encoded, bounds.Sum{Rows: int64(n), Inputs: inputs, Gradient: gradient})
		return encoded
	}
	out.Of = func(columns []table.Codes, rows []int, n int) []int64 {
		sums := make([]int64, cert.Parameters()+cert.Inputs())
		gradient, inputs := cut(sums)
		critic.AddSumTo(gradient, inputs, cert.Factor(), columns, rows)
		return out.From(sums, n)
	}
	asked := engine.Gradient{Slope: network.Slope, Factor: cert.Factor(), Inputs: cert.Inputs()}
	for _, l := range network.Layers {
		asked.Units = append(asked.Units, len(l.Bias))
		asked.Parameters = append(append(asked.Parameters, l.Weights...), l.Bias...)
	}
	for _, f := range cert.Fields() {
		asked.Scaled = append(asked.Scaled, f.Cells() == 0)
	}
	out.Ask = asked.Question
	return out, cert, nil
}

// inSteps turns the sums of inputs that a critic adds into steps of the factor, of which an active
// cell is 1/factor.
func inSteps(inputs []int64, cert *bounds.Certificate) {
	if inputs == nil {
		return
	}
	for _, f := range cert.Fields() {
		for i := range f.Cells() {
			inputs[i] *= int64(1 / cert.Factor())
		}
		inputs = inputs[max(f.Cells(), 1):]
	}
}
