package critic

import (
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
)

// maxSize is the largest number of codes of a column: a code is a uint16.
const maxSize = 1 << 16

// Encoder maps the codes of a row to one-hot cells: code c of column k is cell Offset(k)+c. It is
// immutable.
type Encoder struct {
	offsets []int // one more than columns
}

// NewEncoder returns the encoder of the columns of s, which must be valid.
func NewEncoder(s *schema.Schema) (*Encoder, error) { return NewEncoderOf(s.Sizes()) }

// NewEncoderOf returns the encoder of columns with the given numbers of codes, each from 1 to
// 65536, at least one.
func NewEncoderOf(sizes []int) (*Encoder, error) {
	if len(sizes) == 0 {
		return nil, fmt.Errorf("no columns")
	}
	e := &Encoder{offsets: make([]int, len(sizes)+1)}
	for k, m := range sizes {
		if m < 1 || m > maxSize {
			return nil, fmt.Errorf("column %d has %d codes, not 1 to %d", k+1, m, maxSize)
		}
		e.offsets[k+1] = e.offsets[k] + m
	}
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
