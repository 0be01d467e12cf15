package ellipsoid

import (
	"fmt"

	"github.com/decoy-dp/decoy/bounds"
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
	cert, err := bounds.Certify(critic.Network(), in, bounds.Config{Mode: mode,
		Adjacency: nb.Adjacency, UnitRows: max(1, nb.MaxRowsPerUnit), NoiseMultiplier: z})
	if err != nil {
		return Sum{}, nil, err
	}
	out := Sum{Scales: make([]float64, cert.Coordinates()), Grid: cert.Grid()}
	cert.ScalesTo(out.Scales, z)
	out.Of = func(columns []table.Codes, rows []int, n int) []int64 {
		sum := bounds.Sum{Rows: int64(n), Gradient: make([]int64, cert.Parameters())}
		if cert.Inputs() > 0 {
			sum.Inputs = make([]int64, cert.Inputs())
		}
		critic.AddSumTo(sum.Gradient, sum.Inputs, cert.Factor(), columns, rows)
		inSteps(sum.Inputs, cert)
		encoded := make([]int64, cert.Coordinates())
		cert.EncodeTo(encoded, sum)
		return encoded
	}
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
