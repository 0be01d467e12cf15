package critic

import (
	"fmt"

	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/table"
)

// chunk is how many rows of codes are treated at a time.
const chunk = 256

// pass holds the forward and backward values of a chunk of rows given by codes.
type pass struct {
	// of a row in the chunk, the active cell of each column as a critic's input, or its number
	cells  [][]int32
	values [][]float32 // of a row, the inputs of scaled columns; nil if there are none
	s, x   []kernels.Matrix
	delta  []kernels.Matrix

	x64, delta64 [][]int64 // of x and delta, in whole steps; x64[0] is empty
}

// newPass returns a pass of zeros, about a thousand numbers a hidden unit: sums take theirs
// from c.passes.
func (c *Critic) newPass() *pass {
	p := &pass{cells: make([][]int32, chunk)}
	for i := range p.cells {
		p.cells[i] = make([]int32, c.encoder.Columns())
	}
	if c.encoder.scaled != nil {
		p.values = make([][]float32, chunk)
		for i := range p.values {
			p.values[i] = make([]float32, c.encoder.Columns())
		}
	}
	for _, units := range c.sizes[1:] {
		p.s = append(p.s, kernels.New(chunk, units))
		p.x = append(p.x, kernels.New(chunk, units))
		p.delta = append(p.delta, kernels.New(chunk, units))
	}
	for l, units := range c.sizes[1:] {
		p.x64 = append(p.x64, nil)
		if l > 0 {
			p.x64[l] = make([]int64, chunk*c.sizes[l])
		}
		p.delta64 = append(p.delta64, make([]int64, chunk*units))
	}
	return p
}

// clear wipes the first n rows of the chunk, so that nothing of a private row outlives the call
// that saw it. Results do not depend on it: a call writes what it reads.
func (p *pass) clear(n int) {
	for i := range n {
		clear(p.cells[i])
		if p.values != nil {
			clear(p.values[i])
		}
	}
	for l := range p.s {
		for _, m := range []kernels.Matrix{p.s[l], p.x[l], p.delta[l]} {
			clear(m.Head(n).Data)
		}
	}
	for l := range p.delta64 {
		clear(p.x64[l][:len(p.x64[l])/chunk*n])
		clear(p.delta64[l][:len(p.delta64[l])/chunk*n])
	}
}

// read fills in the active cells of rows first, first+1, ... of the selection and returns their
// number. It panics on a code that its column does not have.
func (p *pass) read(e *Encoder, columns []table.Codes, rows []int, first, total int) int {
	n := min(chunk, total-first)
	for k, column := range columns {
		offset, size := e.inputs[k], e.offsets[k+1]-e.offsets[k]
		for i := range n {
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
	return n
}
