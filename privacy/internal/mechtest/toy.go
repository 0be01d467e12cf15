package mechtest

import (
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// NewCritic has one hidden layer of so many LeakyReLU units, and standard normal weights.
func NewCritic(hidden int, sizes ...int) *critic.Critic {
	c := stattest.Must(critic.New(stattest.Must(critic.NewEncoderOf(sizes)),
		critic.Options{Hidden: []int{hidden}, Slope: .2}, rand.New(rand.NewPCG(1, 1))))
	u := rand.New(rand.NewPCG(5, 6))
	for i := range c.Parameters() {
		c.Parameters()[i] = float32(u.NormFloat64())
	}
	return c
}

// Blocks is the domain of a critic's rows.
func Blocks(c *critic.Critic) *bounds.Input {
	var fields []bounds.Field
	for _, m := range c.Encoder().Sizes() {
		fields = append(fields, bounds.Block(m))
	}
	return stattest.Must(bounds.NewInput(fields...))
}

// Encoded is the encoded gradient sum of a table, without noise.
func Encoded(c *bounds.Certificate, critic *critic.Critic, tab *table.Table) []int64 {
	sum := bounds.Sum{Rows: int64(tab.Rows()), Gradient: make([]int64, c.Parameters())}
	if c.Inputs() > 0 {
		sum.Inputs = make([]int64, c.Inputs())
	}
	critic.AddSumTo(sum.Gradient, sum.Inputs, c.Factor(), ColumnsOf(tab), nil)
	for i := range sum.Inputs {
		sum.Inputs[i] *= int64(1 / c.Factor())
	}
	out := make([]int64, c.Coordinates())
	c.EncodeTo(out, sum)
	return out
}

// Farthest is how far apart sums of pairs of tables are at most, in the norm of the scales.
func Farthest(cert *bounds.Certificate, pairs int, sums func() (a, b []int64)) (worst float64) {
	scales := cert.Scales()
	for range pairs {
		a, b := sums()
		norm := 0.0
		for k := range a {
			d := float64(a[k]-b[k]) * cert.Grid() / scales[k]
			norm += d * d
		}
		worst = max(worst, math.Sqrt(norm))
	}
	return worst
}

// InUnits is an encoded sum in units of the ellipsoid: of radius 1, by the certificate.
func InUnits(sum []int64, cert interface {
	ScalesTo(dst []float64, multiplier float64)
	Grid() float64
}) Value {
	out := make([]float64, len(sum))
	cert.ScalesTo(out, 1)
	for k, c := range out {
		out[k] = float64(sum[k]) * cert.Grid() / c
	}
	return Value{out}
}
