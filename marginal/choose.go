package marginal

import (
	"math"
	"math/rand/v2"
)

// Chooser chooses rows that are drawn one after the other, each from what those before it say,
// so that the pairs of some of their columns come close to given ones. Of some rows x the m-th
// is drawn with the chance
//
//	∝ q(x) · exp(−β · Σ_c w_c·(N_c − m·p_c)/(n·p_c + few)),
//
// where q is a chance that x has, c are the cells of these columns and of each with each other
// column, N_c how many of the rows so far have them, p_c their shares, and n how many rows there
// will be; w_c is 1 for two columns and chosenOne for one. Unlike steering it forgives what
// chance does to cells of few rows, which cannot be put right in rows that are past.
type Chooser struct {
	p          *Pairs
	m, n       float32
	ones, twos []float32 // N, the latter as in Pairs.Two
	sums       []float32
}

// Chosen on nlswork at ε = 1 and 10, where 32 and 512 did the same, and few = 1 harm.
const (
	chosenBeta = 16
	chosenOne  = 4
	few        = 128
)

// NewChooser is for n rows.
func NewChooser(p *Pairs, n int) *Chooser {
	return &Chooser{p: p, m: 1, n: float32(n), ones: make([]float32, len(p.Ones)),
		twos: make([]float32, len(p.Two.Data))}
}

// over is β times the sum of the code of column k in a row, of which it is no part yet.
func (c *Chooser) over(row []uint16, k int, code uint16) float32 {
	of := func(n, p float32) float32 { return (n - float32(c.m*p)) / (float32(c.n*p) + few) }
	cell, cells := c.p.Offsets[k]+int(code), len(c.ones)
	sum := float32(chosenOne * of(c.ones[cell], c.p.Ones[cell]))
	for l, other := range row {
		if l != k {
			at := cell*cells + c.p.Offsets[l] + int(other)
			sum += of(c.twos[at], c.p.Two.Data[at])
		}
	}
	return float32(chosenBeta * sum)
}

// Choose takes one of some rows, which have these chances, some above 0, for its codes in the
// columns cols. It changes the chances. For the same u it is the same on every platform.
func (c *Chooser) Choose(rows [][]uint16, cols []int, chance []float32, u *rand.Rand) int {
	least, total := float32(math.Inf(1)), float32(0)
	c.sums = c.sums[:0]
	for i, q := range chance {
		sum := float32(0)
		for _, k := range cols {
			sum += c.over(rows[i], k, rows[i][k])
		}
		if c.sums = append(c.sums, sum); q > 0 {
			least = min(least, sum)
		}
	}
	for i, q := range chance {
		if q > 0 {
			chance[i] = float32(q * exp(float64(least-c.sums[i])))
			total += chance[i]
		}
	}
	return Pick(chance, total, u)
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
