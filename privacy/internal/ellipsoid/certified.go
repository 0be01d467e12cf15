package ellipsoid

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/privacy"
)

// Critic computes the gradients of a network at rows of a schema, from a copy of its weights.
func Critic(s *schema.Schema, n bounds.Network) (*critic.Critic, error) {
	e, err := critic.NewEncoder(s)
	if err != nil {
		return nil, err
	}
	return critic.Of(e, n)
}

// Certify certifies the gradients of a critic over the domain of its rows.
func Certify(
	nb privacy.Neighbours, mode bounds.Mode, z float64, c *critic.Critic,
) (*bounds.Certificate, error) {
	var blocks []bounds.Field
	for _, m := range c.Encoder().Sizes() {
		blocks = append(blocks, bounds.Block(m))
	}
	in, err := bounds.NewInput(blocks...)
	if err != nil {
		return nil, err
	}
	return bounds.Certify(c.Network(), in, bounds.Config{Mode: mode, Adjacency: nb.Adjacency,
		UnitRows: max(1, nb.MaxRowsPerUnit), NoiseMultiplier: z})
}

// Certified certifies a critic whose rows are not clipped, and is its gradient sum with noise of
// multiplier z.
func Certified(
	nb privacy.Neighbours, mode bounds.Mode, z float64, c *critic.Critic,
) (Sum, *bounds.Certificate, error) {
	if mode.Clipped() {
		return Sum{}, nil, fmt.Errorf("mode %v holds for clipped rows only", mode)
	}
	cert, err := Certify(nb, mode, z, c)
	if err != nil {
		return Sum{}, nil, err
	}
	out := NewSum(cert, z)
	out.From = func(sums []int64, n int) []int64 {
		of := bounds.Sum{Rows: int64(n), Gradient: sums[:cert.Parameters()]}
		if cert.Inputs() > 0 {
			of.Inputs = slices.Clone(sums[cert.Parameters():]) // sums are the caller's
			for i := range of.Inputs {
				of.Inputs[i] *= int64(1 / cert.Factor())
			}
		}
		encoded := make([]int64, cert.Coordinates())
		cert.EncodeTo(encoded, of)
		return encoded
	}
	out.Of = func(columns []table.Codes, rows []int, n int) []int64 {
		sums := make([]int64, cert.Parameters()+cert.Inputs())
		var cells []int64
		if cert.Inputs() > 0 {
			cells = sums[cert.Parameters():]
		}
		c.AddSumTo(sums[:cert.Parameters()], cells, cert.Factor(), columns, rows)
		return out.From(sums, n)
	}
	out.Ask = engine.Gradient{Slope: c.Slope(), Units: c.Sizes()[1:], Parameters: c.Parameters(),
		Factor: cert.Factor(), Inputs: cert.Inputs()}.Question
	return out, cert, nil
}
