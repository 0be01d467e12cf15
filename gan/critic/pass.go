package critic

import (
	"fmt"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/kernels"
)

// chunk is the most rows that are treated at a time.
const chunk = 256

// pass is what the critic computes of some rows of the table, one after the other: slices have so
// many numbers a row, row after row. It ends with the call that made it.
type pass struct {
	c    *Critic
	rows int
	one  int64 // 1/factor

	cells [][]int32   // of a row, the active cell of each column
	s     [][]float32 // s^l of the hidden layers
	// the activations x^l of the hidden layers and ∇_{s^l} D, before they are rounded
	x, delta [][]float32
	// the activations that each layer sees, and ∇_{s^l} D, in whole steps of the factor. inputs[0] is
	// empty: see cells
	inputs, deltas [][]int64
	back           [][]float32 // W of each layer transposed; nil for the first
}

// newPass has room for so many rows at a time.
func newPass(c *Critic, factor float64, rows int) *pass {
	p := &pass{c: c, one: steps(factor), cells: make([][]int32, rows),
		back: make([][]float32, len(c.layers))}
	for i := range p.cells {
		p.cells[i] = make([]int32, c.encoder.Columns())
	}
	for l, units := range c.sizes[1:] {
		p.delta = append(p.delta, make([]float32, rows*units))
		p.deltas = append(p.deltas, make([]int64, rows*units))
		if l == 0 {
			p.inputs = append(p.inputs, nil)
		} else {
			p.inputs = append(p.inputs, make([]int64, rows*c.sizes[l]))
			p.back[l] = make([]float32, units*c.sizes[l])
			transpose(p.back[l], c.layers[l].Weights, units)
		}
		if l < len(c.layers)-1 {
			p.s = append(p.s, make([]float32, rows*units))
			p.x = append(p.x, make([]float32, rows*units))
		}
	}
	return p
}

// each runs the critic on the selected rows (nil: all), some at a time, and calls use with each
// pass. move, if it is not nil, may change s of the first layer first. factor is a power of two in
// [2⁻²⁶, 1].
func (c *Critic) each(
	factor float64, columns []table.Codes, rows []int, move, use func(p *pass),
) {
	total := c.selected(columns, rows)
	p := newPass(c, factor, min(chunk, total))
	for first := 0; first < total; first += chunk {
		p.rows = min(chunk, total-first)
		p.read(columns, rows, first)
		p.first()
		if move != nil {
			move(p)
		}
		p.forward()
		p.backward()
		for l, d := range p.delta {
			p.round(p.deltas[l], d[:p.rows*c.sizes[l+1]])
			if l > 0 {
				p.round(p.inputs[l], p.x[l-1][:p.rows*c.sizes[l]])
			}
		}
		use(p)
	}
}

// round sets dst to x in whole steps of the factor, to the nearest, ties to even.
func (p *pass) round(dst []int64, x []float32) {
	kernels.RoundTo(dst[:len(x)], x, float64(p.one))
}

// read fills in the active cells of rows first, first+1, ... of the selection. It panics on a code
// that its column does not have.
func (p *pass) read(columns []table.Codes, rows []int, first int) {
	e := p.c.encoder
	for k, column := range columns {
		offset, size := e.offsets[k], e.offsets[k+1]-e.offsets[k]
		for i := range p.rows {
			at := first + i
			if rows != nil {
				at = rows[at]
			}
			code := int(column.At(at))
			if code >= size {
				panic(fmt.Sprintf("critic: a code outside column %d of %d codes", k, size))
			}
			p.cells[i][k] = int32(offset + code)
		}
	}
}

// first sets s of the first layer, if that is hidden: it gathers one row of weights a column, and
// each sum runs over the columns in order.
func (p *pass) first() {
	if len(p.s) == 0 {
		return
	}
	w, b := p.c.layers[0].Weights, p.c.layers[0].Bias
	for i := range p.rows {
		s := row(p.s[0], i, len(b))
		copy(s, b)
		for _, cell := range p.cells[i] {
			kernels.AddTo(s, row(w, int(cell), len(b)))
		}
	}
}

// forward goes on from s of the first layer to the last hidden one.
func (p *pass) forward() {
	for l := range p.s {
		b := p.c.layers[l].Bias
		for i := 0; i < p.rows && l > 0; i++ {
			s := row(p.s[l], i, len(b))
			copy(s, b)
			kernels.AddProductTo(s, row(p.x[l-1], i, p.c.sizes[l]), p.c.layers[l].Weights)
		}
		n := p.rows * len(b)
		kernels.LeakyReLUTo(p.x[l][:n], p.s[l][:n], p.c.slope)
	}
}

// backward sets delta^l = ∇_{s^l} D.
func (p *pass) backward() {
	last := len(p.delta) - 1
	for i := range p.rows {
		p.delta[last][i] = 1
	}
	for l := last - 1; l >= 0; l-- {
		units := p.c.sizes[l+1]
		d := p.delta[l][:p.rows*units]
		clear(d)
		for i := range p.rows {
			kernels.AddProductTo(row(d, i, units), row(p.delta[l+1], i, p.c.sizes[l+2]), p.back[l+1])
		}
		kernels.DescendTo(d, p.s[l][:len(d)], p.c.slope)
	}
}

// row is row i of numbers so many to a row.
func row[T any](x []T, i, width int) []T { return x[i*width:][:width] }

// transpose sets dst, cols × rows, to the transpose of w, rows × cols.
func transpose(dst, w []float32, cols int) {
	rows := len(dst) / cols
	for i := range rows {
		for j, v := range row(w, i, cols) {
			dst[j*rows+i] = v
		}
	}
}
