package bounds

import "fmt"

// Field is one part of the critic's input, from the public schema: a one-hot block.
type Field struct {
	cells  int // 0: a number in [0, 1], see boxed
	offset int // of its first input
}

// Block is a field of m ≥ 1 one-hot inputs, of which exactly one is 1 and the others 0.
func Block(m int) Field { return Field{cells: m} }

// width is the number of inputs of the field.
func (f Field) width() int { return max(f.cells, 1) }

// Input is the public domain of the critic's input: fields, one after the other. It is immutable.
type Input struct {
	fields []Field
	size   int
}

// NewInput returns the domain of the given fields in order. It returns an error if there are none,
// and for a block without cells.
func NewInput(fields ...Field) (*Input, error) {
	in := &Input{fields: append([]Field(nil), fields...)}
	for k := range in.fields {
		f := &in.fields[k]
		if f.cells < 1 {
			return nil, fmt.Errorf("field %d is a block of no cells", k)
		}
		f.offset = in.size
		in.size += f.cells
	}
	if in.size == 0 {
		return nil, fmt.Errorf("an input without fields")
	}
	return in, nil
}

// boxed is the domain with every cell a number of its own in [0, 1]: what one knows who does not
// know about blocks. It holds in.
func (in *Input) boxed() *Input {
	out := &Input{size: in.size}
	for i := range in.size {
		out.fields = append(out.fields, Field{offset: i})
	}
	return out
}
