package mechtest

import (
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/table"
)

// Toy has one hidden layer of LeakyReLU units and follows the model of arithmetic of package
// bounds to the letter.
type Toy struct {
	Sizes  []int  // codes of each column
	Scaled []bool // columns that enter as code/(codes−1), on the factor grid
	Hidden int
	Net    bounds.Network
	Calls  int
}

// ScaledThird scales the last of the test schema's columns.
var ScaledThird = []bool{false, false, true}

// NewToy is a critic of one-hot columns, of so many hidden units.
func NewToy(sizes []int, hidden int) *Toy {
	return NewScaledToy(sizes, make([]bool, len(sizes)), hidden)
}

// NewScaledToy is one of which some columns are scaled.
func NewScaledToy(sizes []int, scaled []bool, hidden int) *Toy {
	u := rand.New(rand.NewPCG(5, 6))
	draw := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(u.NormFloat64())
		}
		return out
	}
	cells := 0
	for k, n := range sizes {
		if scaled[k] {
			n = 1
		}
		cells += n
	}
	return &Toy{
		Sizes:  sizes,
		Scaled: scaled,
		Hidden: hidden,
		Net: bounds.Network{Slope: .2, Layers: []bounds.Layer{
			{Weights: draw(cells * hidden), Bias: draw(hidden)}, {Weights: draw(hidden), Bias: draw(1)},
		}},
	}
}

// Network shows the weights.
func (c *Toy) Network() bounds.Network { return c.Net }

// AddSumTo makes it a gradient.Critic.
func (c *Toy) AddSumTo(
	gradient, cells []int64, factor float64, columns []table.Codes, rows []int,
) {
	c.Calls++
	if rows == nil {
		for i := range columns[0].Len() {
			c.AddRow(gradient, cells, factor, columns, i)
		}
	}
	for _, i := range rows {
		c.AddRow(gradient, cells, factor, columns, i)
	}
}

// AddRow is AddSumTo of one row.
func (c *Toy) AddRow(gradient, cells []int64, factor float64, columns []table.Codes, row int) {
	h, w1, w2 := c.Hidden, c.Net.Layers[0], c.Net.Layers[1]
	inputs := len(w1.Weights) / h
	steps := func(x float32) int64 { return int64(math.RoundToEven(float64(x) / factor)) }
	one := int64(1 / factor)
	// at is the input that column k of the row moves, how far in steps of factor, and the column's
	// number of inputs.
	at := func(k, offset int) (input int, x int64, width int) {
		code := int(columns[k].At(row))
		if c.Scaled[k] {
			return offset, int64(math.Round(float64(one) * float64(code) / float64(c.Sizes[k]-1))), 1
		}
		return offset + code, one, c.Sizes[k]
	}
	for j := range h {
		s := w1.Bias[j]
		offset := 0
		for k := range c.Sizes {
			input, x, width := at(k, offset)
			s += float32(float64(x)*factor) * w1.Weights[input*h+j]
			offset += width
		}
		x, d := s, w2.Weights[j]
		if s <= 0 {
			x, d = s*c.Net.Slope, d*c.Net.Slope
		}
		offset = 0
		for k := range c.Sizes {
			input, x, width := at(k, offset)
			gradient[input*h+j] += x * steps(d)
			if cells != nil && j == 0 && c.Scaled[k] {
				cells[input] += x
			} else if cells != nil && j == 0 {
				cells[input]++
			}
			offset += width
		}
		gradient[inputs*h+j] += one * steps(d)
		gradient[inputs*h+h+j] += steps(x) * one
	}
	gradient[inputs*h+2*h] += one * one
}

// Encoded is the encoded gradient sum of a table, without noise.
func Encoded(c *bounds.Certificate, critic *Toy, tab *table.Table) []int64 {
	cols := ColumnsOf(tab)
	sum := bounds.Sum{Rows: int64(tab.Rows()), Gradient: make([]int64, c.Parameters())}
	if c.Inputs() > 0 {
		sum.Inputs = make([]int64, c.Inputs())
	}
	critic.AddSumTo(sum.Gradient, sum.Inputs, c.Factor(), cols, nil)
	inputs := 0
	for k, n := range critic.Sizes {
		if critic.Scaled[k] { // is in steps of the factor already
			inputs++
			continue
		}
		for range n {
			if sum.Inputs != nil {
				sum.Inputs[inputs] *= int64(1 / c.Factor())
			}
			inputs++
		}
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
