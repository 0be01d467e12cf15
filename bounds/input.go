package bounds

import (
	"fmt"
	"math"
	"slices"
)

// Field is one part of the critic's input, from the public schema: a one-hot block or a number.
type Field struct {
	cells  int // 0: a number in box
	box    interval
	offset int // of its first input
}

// Block is a field of m ≥ 1 one-hot inputs, of which exactly one is 1 and the others 0.
func Block(m int) Field { return Field{cells: m} }

// scalar is a field of one input, any number in [lo, hi], both finite.
func scalar(lo, hi float64) Field { return Field{box: interval{lo, hi}} }

// width is the number of inputs of the field.
func (f Field) width() int { return max(f.cells, 1) }

// Input is the public domain of the critic's input: fields, one after the other. It is immutable.
type Input struct {
	fields []Field
	size   int
}

// NewInput returns the domain of the given fields in order. It returns an error if there are none,
// for a block without cells and for a scalar whose bounds are not finite or out of order.
func NewInput(fields ...Field) (*Input, error) {
	in := &Input{fields: append([]Field(nil), fields...)}
	for k := range in.fields {
		f := &in.fields[k]
		if f.cells < 0 || f.cells == 0 && f.box == (interval{}) {
			return nil,
				fmt.Errorf("bounds: field %d is a block of no cells, or a scalar that can only be 0", k)
		}
		if !(f.box.lo <= f.box.hi) || math.IsInf(f.box.lo, 0) || math.IsInf(f.box.hi, 0) {
			return nil, fmt.Errorf(
				"bounds: field %d has bounds [%v, %v], not finite or out of order", k, f.box.lo,
				f.box.hi)
		}
		f.offset = in.size
		in.size += f.width()
	}
	if in.size == 0 {
		return nil, fmt.Errorf("bounds: an input without fields")
	}
	return in, nil
}

// scalars reports whether a field is a number.
func (in *Input) scalars() bool {
	return slices.ContainsFunc(in.fields, func(f Field) bool { return f.cells == 0 })
}

// boxed is the domain with every cell a number of its own in [0, 1]: what one knows who does not
// know about blocks. It holds in.
func (in *Input) boxed() *Input {
	out := &Input{size: in.size}
	for _, f := range in.fields {
		if f.cells == 0 {
			out.fields = append(out.fields, f)
			continue
		}
		for r := range f.cells {
			out.fields = append(out.fields, Field{box: interval{0, 1}, offset: f.offset + r})
		}
	}
	return out
}
