package release

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/model/marginal"
)

// fields are those of parameters.bin, little-endian. One description of them, in functions of
// pointers, writes and reads them. Reading takes no more memory than a small multiple of the data.
type fields struct {
	*marginal.Reader // nil: they are written
	out              []byte
}

// fixed is a number of as many bytes as its type has.
func (f *fields) fixed(x any) {
	if f.Reader == nil {
		f.out, _ = binary.Append(f.out, binary.LittleEndian, x)
	} else if b := f.Take(uint64(binary.Size(x))); b != nil {
		binary.Decode(b, binary.LittleEndian, x)
	}
}

func (f *fields) number(x *int) {
	short := uint32(*x)
	f.fixed(&short)
	*x = int(short)
}

// count is a whole number, as a varint.
func (f *fields) count(x *float64) {
	if f.Reader == nil {
		f.out = binary.AppendVarint(f.out, int64(*x))
		return
	}
	whole, n := binary.Varint(f.Data)
	if n <= 0 {
		f.Fail("a count")
	}
	f.Take(uint64(max(0, n)))
	*x = float64(whole)
}

// list is the number of items, and each.
func list[T any](f *fields, items *[]T, item func(*T)) {
	n := len(*items)
	f.number(&n)
	for i := 0; i < n && (f.Reader == nil || f.Err == nil); i++ {
		if f.Reader != nil {
			*items = append(*items, *new(T))
		}
		item(&(*items)[i])
	}
}

// bytes are what has an encoding of its own: as many as have been read, or else all that are left.
func (f *fields) bytes(b *[]byte, n uint64) {
	if f.Reader == nil {
		f.out = append(f.out, *b...)
	} else {
		*b = f.Take(n)
	}
}

// marginal is the length of the grouping (uint32), the grouping, the length of the model (uint64),
// the model and the noisy marginals.
func (f *fields) marginal(p *Marginal) {
	var grouping, model []byte
	if f.Reader == nil { // neither fails
		grouping, _ = p.Grouping.MarshalBinary()
		model, _ = p.Model.MarshalBinary()
	}
	short, long := uint32(len(grouping)), uint64(len(model))
	f.fixed(&short)
	f.bytes(&grouping, uint64(short))
	f.fixed(&long)
	f.bytes(&model, long)
	if f.Reader != nil {
		f.Err = cmp.Or(f.Err, p.Grouping.UnmarshalBinary(grouping), p.Model.UnmarshalBinary(model))
	}
	list(f, &p.Measured, func(m *marginal.Measurement) {
		if f.measurement(m); f.Reader != nil && f.Err == nil {
			f.Err = m.Check(p.Sizes())
		}
	})
}

// measurement is the number of columns, of each its number, and 0 or the number of codes that have
// groups, and these (uint16); then σ, the number of cells, and the counts.
func (f *fields) measurement(m *marginal.Measurement) {
	groups, at := m.Groups, 0
	if groups == nil {
		groups = make([][]uint16, len(m.Cols))
	}
	list(f, &m.Cols, func(column *int) {
		f.number(column)
		if f.Reader != nil {
			groups = append(groups, nil)
		}
		list(f, &groups[at], func(g *uint16) { f.fixed(g) })
		at++
	})
	if f.Reader != nil {
		m.Groups = groups
	}
	f.fixed(&m.Sigma)
	list(f, &m.Counts, f.count)
}

// generator is the number of rows and the network; of a steered one the length of the network
// (uint64) comes before it, and the [Marginal] after it.
func (f *fields) generator(p *Generator) {
	f.fixed(&p.Rows)
	var net []byte
	if f.Reader == nil {
		net, _ = p.Net.MarshalBinary()
	}
	n := uint64(len(net))
	if p.Toward != nil {
		f.fixed(&n)
	} else if f.Reader != nil {
		n = uint64(len(f.Data))
	}
	if f.bytes(&net, n); p.Toward != nil {
		f.marginal(p.Toward)
	}
	if f.Reader != nil && f.Err == nil {
		p.Net, f.Err = gan.DecodeGenerator(net)
	}
}

// linked is the number of views, and of each its length (uint64) and its [Marginal].
func (f *fields) linked(p *Linked) {
	list(f, &p.Views, func(v **Marginal) {
		var raw []byte
		if f.Reader == nil {
			raw, _ = (*v).MarshalBinary() // which does not fail
		}
		n := uint64(len(raw))
		f.fixed(&n)
		if f.bytes(&raw, n); f.Reader != nil && f.Err == nil {
			one, err := decodeParams(kindMarginal, raw)
			if f.Err = err; err == nil {
				*v = one.(*Marginal)
			}
		}
	})
}

// decodeParams reads parameters.bin.
func decodeParams(kind string, raw []byte) (Params, error) {
	f := &fields{Reader: &marginal.Reader{Data: raw}}
	p := &Marginal{Model: &marginal.Model{}, Grouping: &marginal.Grouping{}}
	g := &Generator{}
	switch kind {
	case kindLinked:
		l := &Linked{}
		if f.linked(l); f.Err != nil || len(l.Views) == 0 || len(f.Data) > 0 {
			return nil, fmt.Errorf("the parameters are damaged: %w", cmp.Or(f.Err, ErrFormat))
		}
		return l, nil
	case kindMarginal:
		f.marginal(p)
	case kindGenerator:
		f.generator(g)
	case kindSteered:
		g.Toward = p
		f.generator(g)
	default:
		return nil, fmt.Errorf("parameters of kind %q: %w", kind, ErrFormat)
	}
	switch {
	case f.Err != nil:
		return nil, fmt.Errorf("the parameters are damaged: %w: %w", f.Err, ErrFormat)
	case len(f.Data) > 0:
		return nil, fmt.Errorf("the parameters are longer than they say: %w", ErrFormat)
	case kind != kindGenerator && !slices.Equal(p.Grouping.Sizes(), p.Model.Sizes()):
		return nil, fmt.Errorf("grouping, model and noisy marginals disagree: %w", ErrFormat)
	case g.Net == nil:
		return p, nil
	case !validRows(g.Rows):
		return nil, fmt.Errorf("a number of rows that is out of range: %w", ErrFormat)
	case g.Toward != nil && !slices.Equal(p.Sizes(), g.Sizes()):
		return nil, fmt.Errorf("the generator and its marginals disagree: %w", ErrFormat)
	}
	return g, nil
}
