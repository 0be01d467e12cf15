package critic

import (
	"fmt"
	"math"

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
		return nil, fmt.Errorf("critic: no columns")
	}
	e := &Encoder{offsets: make([]int, len(sizes)+1)}
	for k, m := range sizes {
		if m < 1 || m > maxSize {
			return nil, fmt.Errorf("critic: column %d has %d codes, not 1 to %d", k+1, m, maxSize)
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

// Input is the first input of column k.
func (e *Encoder) Input(k int) int { return e.inputs[k] }

// Sizes gives the number of codes of every column.
func (e *Encoder) Sizes() []int {
	sizes := make([]int, e.Columns())
	for k := range sizes {
		sizes[k] = e.offsets[k+1] - e.offsets[k]
	}
	return sizes
}

// Scaled returns an encoder of the same cells whose critics see each of the given columns as one
// number in [0, 1], code c of m at c/(m − 1) rounded to a multiple of 2⁻¹⁶, in place of m one-hot
// cells. Generators draw the cells as before, so that their rows are valid; [Encoder.FoldTo] is
// what a critic sees of them. Such a column needs 2 codes or more. It returns an error for one that
// has fewer, and panics unless scaled has one element a column.
func (e *Encoder) Scaled(scaled []bool) (*Encoder, error) {
	if len(scaled) != e.Columns() {
		panic(fmt.Sprintf("critic: %d columns scaled or not, of %d", len(scaled), e.Columns()))
	}
	out := &Encoder{offsets: e.offsets, scaled: append([]bool(nil), scaled...),
		inputs: make([]int, len(e.offsets))}
	for k, one := range scaled {
		width := e.offsets[k+1] - e.offsets[k]
		if one {
			if width < 2 {
				return nil, fmt.Errorf("critic: column %d has one code and cannot be scaled", k+1)
			}
			width = 1
		}
		out.inputs[k+1] = out.inputs[k] + width
	}
	return out, nil
}

// Inputs is the number of inputs of a critic: Cells, but one for each scaled column.
func (e *Encoder) Inputs() int { return e.inputs[len(e.inputs)-1] }

// ScaledColumns says of each column whether critics see it as one number; nil if they see none so.
func (e *Encoder) ScaledColumns() []bool { return append([]bool(nil), e.scaled...) }

// IsScaled reports whether critics see column k as one number.
func (e *Encoder) IsScaled(k int) bool { return e.scaled != nil && e.scaled[k] }

// valueStep is the grid of scaled inputs.
const valueStep = 0x1p-16

// Value is the input of scaled column k at a code. At code 0 it is 0 and at the last one 1.
func (e *Encoder) Value(k, code int) float32 {
	m := e.offsets[k+1] - e.offsets[k]
	return float32(math.Round(float64(code)/float64(m-1)/valueStep) * valueStep)
}
