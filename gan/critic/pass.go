package critic

import (
	"fmt"

	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/table"
)

// chunk is the most rows that are treated at a time.
const chunk = 256

// Pass is what the critic computes of some rows of the table, one after the other: slices have so
// many numbers a row, row after row. It is valid during the call that is given it.
type Pass struct {
	N int // rows
	// S are s^l of the hidden layers.
	S [][]float32
	// X are the activations x^l that each layer sees, and Delta ∇_{s^l} D, in whole steps of the
	// factor. X[0] is empty: see Cells.
	X, Delta [][]int64

	c        *Critic
	cells    [][]int32   // of a row, the active cell of each column as an input, or its number
	values   [][]float32 // of a row, the inputs of scaled columns; nil if there are none
	x, delta [][]float32 // before they are rounded
	back     [][]float32 // W of each layer transposed; nil for the first
	one      int64       // 1/factor
}

// newPass returns a pass of zeros, about a thousand numbers a hidden unit: sums take theirs from
// c.passes.
func newPass(c *Critic) *Pass {
	p := &Pass{cells: make([][]int32, chunk), back: make([][]float32, len(c.layers))}
	for i := range p.cells {
		p.cells[i] = make([]int32, c.encoder.Columns())
	}
	if c.encoder.scaled != nil {
		p.values = make([][]float32, chunk)
		for i := range p.values {
			p.values[i] = make([]float32, c.encoder.Columns())
		}
	}
	for l, units := range c.sizes[1:] {
		p.delta = append(p.delta, make([]float32, chunk*units))
		p.Delta = append(p.Delta, make([]int64, chunk*units))
		if l == 0 {
			p.X = append(p.X, nil)
		} else {
			p.X = append(p.X, make([]int64, chunk*c.sizes[l]))
			p.back[l] = make([]float32, units*c.sizes[l])
		}
		if l < len(c.layers)-1 {
			p.S = append(p.S, make([]float32, chunk*units))
			p.x = append(p.x, make([]float32, chunk*units))
		}
	}
	return p
}

// Each runs the critic on the selected rows (nil: all), some at a time, and calls use with each
// pass. move, if it is not nil, may change S[0] first. factor is a power of two in [2⁻²⁶, 1].
func (c *Critic) Each(
	factor float64, columns []table.Codes, rows []int, move, use func(p *Pass),
) {
	total := c.selected(columns, rows)
	p := c.passes.Get().(*Pass)
	p.c, p.one = c, steps(factor)
	for l := range p.back {
		transpose(p.back[l], c.layers[l].Weights, c.sizes[l+1])
	}
	for first := 0; first < total; first += chunk {
		p.N = min(chunk, total-first)
		p.read(columns, rows, first)
		p.first()
		if move != nil {
			move(p)
		}
		p.forward()
		p.backward()
		p.round()
		use(p)
	}
	p.wipe(min(total, chunk))
	c.passes.Put(p)
}

// Cells is, of row i, the active cell of each column as an input, or the number of its input.
func (p *Pass) Cells(i int) []int32 { return p.cells[i] }

// Delta1 is ∇_{s^1} D of row i before it is rounded.
func (p *Pass) Delta1(i int) []float32 { return row(p.delta[0], i, p.c.sizes[1]) }

// Round sets dst to x in whole steps of the factor, to the nearest, ties to even.
func (p *Pass) Round(dst []int64, x []float32) {
	kernels.RoundTo(dst[:len(x)], x, float64(p.one))
}

// read fills in the active cells of rows first, first+1, ... of the selection. It panics on a code
// that its column does not have.
func (p *Pass) read(columns []table.Codes, rows []int, first int) {
	e := p.c.encoder
	for k, column := range columns {
		offset, size := e.inputs[k], e.offsets[k+1]-e.offsets[k]
		for i := range p.N {
			at := first + i
			if rows != nil {
				at = rows[at]
			}
			code := int(column.At(at))
			if code >= size {
				panic(fmt.Sprintf("critic: a code outside column %d of %d codes", k, size))
			}
			if e.IsScaled(k) {
				p.cells[i][k], p.values[i][k] = int32(offset), e.Value(k, code)
				continue
			}
			p.cells[i][k] = int32(offset + code)
		}
	}
}

// first sets s of the first layer: it gathers one row of weights a column, and each sum runs over
// the columns in order.
func (p *Pass) first() {
	w, b := p.c.layers[0].Weights, p.c.layers[0].Bias
	for i := range p.N {
		s := row(p.S[0], i, len(b))
		copy(s, b)
		for k, cell := range p.cells[i] {
			weights := row(w, int(cell), len(b))
			if p.c.encoder.IsScaled(k) {
				kernels.AddProductTo(s, p.values[i][k:k+1], weights)
			} else {
				kernels.AddTo(s, weights)
			}
		}
	}
}

// forward goes on from s of the first layer to the last hidden one.
func (p *Pass) forward() {
	for l := range p.S {
		b := p.c.layers[l].Bias
		for i := 0; i < p.N && l > 0; i++ {
			s := row(p.S[l], i, len(b))
			copy(s, b)
			kernels.AddProductTo(s, row(p.x[l-1], i, p.c.sizes[l]), p.c.layers[l].Weights)
		}
		n := p.N * len(b)
		kernels.LeakyReLUTo(p.x[l][:n], p.S[l][:n], p.c.slope)
	}
}

// backward sets delta^l = ∇_{s^l} D.
func (p *Pass) backward() {
	last := len(p.delta) - 1
	for i := range p.N {
		p.delta[last][i] = 1
	}
	for l := last - 1; l >= 0; l-- {
		units := p.c.sizes[l+1]
		d := p.delta[l][:p.N*units]
		clear(d)
		for i := range p.N {
			kernels.AddProductTo(row(d, i, units), row(p.delta[l+1], i, p.c.sizes[l+2]), p.back[l+1])
		}
		kernels.DescendTo(d, p.S[l][:len(d)], p.c.slope)
	}
}

// round sets the rounded factors.
func (p *Pass) round() {
	for l, d := range p.delta {
		p.Round(p.Delta[l], d[:p.N*p.c.sizes[l+1]])
		if l > 0 {
			p.Round(p.X[l], p.x[l-1][:p.N*p.c.sizes[l]])
		}
	}
}

// wipe clears the first n rows, so that nothing of a private row outlives the call that saw it.
// Results do not depend on it: a call writes what it reads.
func (p *Pass) wipe(n int) {
	for i := range n {
		clear(p.cells[i])
		if p.values != nil {
			clear(p.values[i])
		}
	}
	for _, layers := range [][][]float32{p.S, p.x, p.delta} {
		for _, x := range layers {
			clear(x[:len(x)/chunk*n])
		}
	}
	for _, layers := range [][][]int64{p.X, p.Delta} {
		for _, x := range layers {
			clear(x[:len(x)/chunk*n])
		}
	}
}

// row is row i of numbers so many to a row.
func row(x []float32, i, width int) []float32 { return x[i*width:][:width] }

// transpose sets dst, cols × rows, to the transpose of w, rows × cols.
func transpose(dst, w []float32, cols int) {
	rows := len(dst) / cols
	for i := range rows {
		for j, v := range row(w, i, cols) {
			dst[j*rows+i] = v
		}
	}
}
