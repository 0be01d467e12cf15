package gan

import (
	"fmt"

	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/schema"
)

// maxSize is the largest number of codes of a column: a code is a uint16.
const maxSize = 1 << 16

// Encoder maps the codes of a row to one-hot cells: code c of column k is cell Offset(k)+c. It is
// immutable.
type Encoder struct {
	offsets []int  // one more than columns
	scaled  []bool // of each column; nil for none
	// first input of each column, one more than columns; offsets unless a column is scaled
	inputs []int
}

// NewEncoder returns the encoder of the columns of s, which must be valid.
func NewEncoder(s *schema.Schema) (*Encoder, error) { return NewEncoderOf(s.Sizes()) }

// NewEncoderOf returns the encoder of columns with the given numbers of codes, each from 1 to
// 65536, at least one.
func NewEncoderOf(sizes []int) (*Encoder, error) {
	if len(sizes) == 0 {
		return nil, fmt.Errorf("gan: no columns")
	}
	e := &Encoder{offsets: make([]int, len(sizes)+1)}
	for k, m := range sizes {
		if m < 1 || m > maxSize {
			return nil, fmt.Errorf("gan: column %d has %d codes, not 1 to %d", k+1, m, maxSize)
		}
		e.offsets[k+1] = e.offsets[k] + m
	}
	e.inputs = e.offsets
	return e, nil
}

// Columns is the number of columns.
func (e *Encoder) Columns() int { return len(e.offsets) - 1 }

// Cells is the number of cells of a row.
func (e *Encoder) Cells() int { return e.offsets[len(e.offsets)-1] }

// Offset is the first cell of column k; Offset(Columns()) is Cells().
func (e *Encoder) Offset(k int) int { return e.offsets[k] }

// Sizes gives the number of codes of every column.
func (e *Encoder) Sizes() []int {
	sizes := make([]int, e.Columns())
	for k := range sizes {
		sizes[k] = e.offsets[k+1] - e.offsets[k]
	}
	return sizes
}

// OneHotTo writes the cells of len(dst.Rows) rows, from row first of the codes on; codes is
// column-major. It panics if a code is not one of its column, or the shapes do not fit.
func (e *Encoder) OneHotTo(dst kernels.Matrix, codes [][]uint16, first int) {
	e.check(dst, len(codes))
	clear(dst.Data)
	for k, column := range codes {
		size := e.offsets[k+1] - e.offsets[k]
		for i, c := range column[first : first+dst.Rows] {
			if int(c) >= size {
				panic(fmt.Sprintf("gan: code %d in column %d of %d codes", c, k, size))
			}
			dst.Row(i)[e.offsets[k]+int(c)] = 1
		}
	}
}

// LargestTo writes the code of the largest cell in every block of x, the first of equals, to codes
// (column-major) from row first on.
func (e *Encoder) LargestTo(codes [][]uint16, first int, x kernels.Matrix) {
	e.check(x, len(codes))
	for i := range x.Rows {
		row := x.Row(i)
		for k := range codes {
			block, best := row[e.offsets[k]:e.offsets[k+1]], 0
			for c, v := range block {
				if v > block[best] {
					best = c
				}
			}
			codes[k][first+i] = uint16(best)
		}
	}
}

func (e *Encoder) check(x kernels.Matrix, columns int) {
	if x.Cols != e.Cells() || columns != e.Columns() {
		panic(fmt.Sprintf("gan: %d columns, %d cells for an encoder of %d and %d", columns, x.Cols,
			e.Columns(), e.Cells()))
	}
}
