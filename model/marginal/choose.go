package marginal

import "math"

// Chooser weighs rows that are drawn one after the other, each from what those before it say, so
// that their pairs of columns come close to given ones. The chance of the m-th row x is multiplied
// by
//
//	exp(−β · Σ_c w_c·(N_c − m·p_c)/(n·p_c + few)),
//
// where c are the cells that x has of one and of two columns, N_c how many of the rows so far have
// them, p_c their shares, and n how many rows there will be. Unlike steering it forgives what
// chance does to cells of few rows, which cannot be put right in rows that are past.
type Chooser struct {
	p          *Pairs
	weights    [][]float32
	m, n       float32
	ones, twos []float32 // N, the latter as in Pairs.Two
	sums       []float32
}

// Chosen on nlswork and nafld at ε = 1; β from 2 to 16 did the same, and few = 1 harm.
const (
	chosenBeta = 5
	chosenOne  = 4
	few        = 128
)

// NewChooser is for n rows. w of two columns k < l is weights[k][l], and chosenOne times
// weights[k][k] that of one.
func NewChooser(p *Pairs, n int, weights [][]float32) *Chooser {
	return &Chooser{p: p, weights: weights, m: 1, n: float32(n), ones: make([]float32, len(p.Ones)),
		twos: make([]float32, len(p.Two.Data))}
}

// over is β times the sum of a row, of which it is no part yet.
func (c *Chooser) over(row []uint16) float32 {
	of := func(n, p float32) float32 { return (n - float32(c.m*p)) / (float32(c.n*p) + few) }
	cells, sum := len(c.ones), float32(0)
	for k, weights := range c.weights {
		cell := c.p.Offsets[k] + int(row[k])
		for l, w := range weights {
			if at := cell*cells + c.p.Offsets[l] + int(row[l]); l == k {
				sum += float32(chosenOne * w * of(c.ones[cell], c.p.Ones[cell]))
			} else if w > 0 {
				sum += float32(w * of(c.twos[at], c.p.Two.Data[at]))
			}
		}
	}
	return float32(chosenBeta * sum)
}

// Weigh multiplies the chances of some rows, some above 0, up to a factor. It is the same on every
// platform.
func (c *Chooser) Weigh(rows [][]uint16, chance []float32) {
	least := float32(math.Inf(1))
	c.sums = c.sums[:0]
	for i, q := range chance {
		if c.sums = append(c.sums, c.over(rows[i])); q > 0 {
			least = min(least, c.sums[i])
		}
	}
	for i, q := range chance {
		if q > 0 {
			chance[i] = float32(q * exp(float64(least-c.sums[i])))
		}
	}
}

// Count counts a row: it is the next.
func (c *Chooser) Count(row []uint16) {
	c.m++
	for k, code := range row {
		cell := c.p.Offsets[k] + int(code)
		c.ones[cell]++
		for l, other := range row {
			if l != k {
				c.twos[cell*len(c.ones)+c.p.Offsets[l]+int(other)]++
			}
		}
	}
}
