package table

import (
	"bytes"
	"context"
	"slices"

	proto "github.com/apache/thrift/lib/go/thrift"
)

// thrift reads structs in Thrift's compact protocol: in time linear in its bytes, and with an error
// where a length is more than what is left. After an error, which stays in err, all values are 0.
type thrift struct {
	ctx  context.Context
	from *proto.TMemoryBuffer
	p    *proto.TCompactProtocol
	err  error
}

// field is what becomes of a field of a struct: a number that is not negative, a truth or some
// bytes are stored; a func is called, which goes through the struct that the field is; and an each.
type field struct {
	id int16
	to any // *int64, *bool, *[]byte, func(), each, numbers
}

// each goes through element i of a list of n structs.
type each func(i, n int)

// numbers takes the elements of a list of numbers.
type numbers func(x int32)

func newThrift(data []byte) *thrift {
	from := &proto.TMemoryBuffer{Buffer: bytes.NewBuffer(data)}
	return &thrift{context.Background(), from, proto.NewTCompactProtocolConf(from, nil), nil}
}

// fail ends the reading, for the first reason that is given.
func (t *thrift) fail(err error) {
	if t.err == nil {
		t.err = err
	}
	t.from.Reset()
}

// structure goes through a struct. A field that comes twice is an error, and one that is not listed
// is passed over.
func (t *thrift) structure(fields ...field) {
	_, err := t.p.ReadStructBegin(t.ctx)
	for seen := 0; t.err == nil && err == nil; {
		var kind proto.TType
		var id int16
		if _, kind, id, err = t.p.ReadFieldBegin(t.ctx); err != nil || kind == proto.STOP {
			break
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.id == id })
		switch {
		case i < 0:
			err = t.p.Skip(t.ctx, kind)
		case seen&(1<<i) != 0:
			err = errDamaged
		default:
			seen |= 1 << i
			err = t.read(kind, fields[i].to)
		}
	}
	if err != nil {
		t.fail(errDamaged)
	}
	t.p.ReadStructEnd(t.ctx)
}

// read reads the value of a field.
func (t *thrift) read(kind proto.TType, to any) (err error) {
	ok := false
	switch to := to.(type) {
	case *int64:
		*to, err = t.p.ReadI64(t.ctx) // of any width
		ok = *to >= 0 && (kind == proto.I16 || kind == proto.I32 || kind == proto.I64)
	case *bool:
		*to, err = t.p.ReadBool(t.ctx)
		ok = kind == proto.BOOL
	case *[]byte:
		*to, err = t.p.ReadBinary(t.ctx)
		ok = kind == proto.STRING
	case func():
		if ok = kind == proto.STRUCT; ok {
			to()
		}
	case each:
		return t.list(kind, proto.STRUCT, func(i, n int) error {
			to(i, n)
			return t.err
		})
	case numbers:
		return t.list(kind, proto.I32, func(int, int) error {
			x, err := t.p.ReadI32(t.ctx)
			to(x)
			return err
		})
	}
	if !ok {
		return errDamaged
	}
	return err
}

// list reads the elements of a list of that type.
func (t *thrift) list(kind, want proto.TType, read func(i, n int) error) error {
	element, n, err := t.p.ReadListBegin(t.ctx)
	// an element takes a byte at least
	if err != nil || kind != proto.LIST || n > t.from.Len() || n > 0 && element != want {
		return errDamaged
	}
	for i := 0; i < n && err == nil; i++ {
		err = read(i, n)
	}
	return err
}
