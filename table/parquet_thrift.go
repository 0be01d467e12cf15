package table

import (
	"math"
	"slices"
)

// The kinds of values of Thrift's compact protocol
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt16  = 4
	thriftInt32  = 5
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxThriftDepth is the most structs and lists inside each other.
const maxThriftDepth = 32

// thrift reads structs in Thrift's compact protocol: in time linear in its bytes, and with an error
// where a length is more than what is left. After an error, which stays in err, all values are 0.
type thrift struct {
	varints
	depth int
	items int // structs and elements of lists that are left to be gone through
}

// field is what becomes of a field of a struct: a number that is not negative, a truth or some
// bytes are stored; a func is called, which goes through the struct that the field is; and an each.
type field struct {
	id int64
	to any // *int64, *bool, *[]byte, func(), each
}

// each goes through element i of a list of n structs.
type each func(i, n int)

func newThrift(data []byte) *thrift {
	return &thrift{varints: varints{data: data}, items: maxItems}
}

func (t *thrift) fail() { t.data, t.err = nil, errDamaged }

// take skips n bytes and returns them.
func (t *thrift) take(n uint64) []byte {
	if n > uint64(len(t.data)) {
		t.fail()
		return nil
	}
	taken := t.data[:n]
	t.data = t.data[n:]
	return taken
}

func (t *thrift) byte() byte {
	if b := t.take(1); b != nil {
		return b[0]
	}
	return 0
}

// enter counts n items and a level of nesting, which the caller leaves by t.depth--.
func (t *thrift) enter(n uint64) {
	t.depth++
	switch {
	case n > uint64(t.items):
		t.data, t.err = nil, errLargeFooter
	case t.depth > maxThriftDepth:
		t.fail()
	default:
		t.items -= int(n)
	}
}

// structure goes through a struct. A field that comes twice is an error, and one that is not listed
// is passed over.
func (t *thrift) structure(fields ...field) {
	t.enter(1)
	var seen uint64
	for id := int64(0); t.err == nil; {
		head := t.byte()
		kind := head & 15
		if kind == 0 {
			break
		}
		if delta := int64(head >> 4); delta > 0 {
			id += delta
		} else {
			id = t.signed()
		}
		if id < 0 || id > math.MaxInt16 || id < 64 && seen&(1<<id) != 0 {
			t.fail()
			break
		}
		if id < 64 {
			seen |= 1 << id
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.id == id })
		if i < 0 {
			t.skip(kind)
		} else {
			t.read(kind, fields[i].to)
		}
	}
	t.depth--
}

// read reads the value of a field.
func (t *thrift) read(kind byte, to any) {
	switch to := to.(type) {
	case *int64:
		if *to = t.signed(); *to < 0 || kind < thriftInt16 || kind > thriftInt64 {
			t.fail()
		}
	case *bool:
		if *to = kind == thriftTrue; kind > thriftFalse {
			t.fail()
		}
	case *[]byte:
		if *to = t.take(t.unsigned()); kind != thriftBinary {
			t.fail()
		}
	case func():
		if to(); kind != thriftStruct {
			t.fail()
		}
	case each:
		if t.list(thriftStruct, to); kind != thriftList {
			t.fail()
		}
	}
}

// list goes through a list of elements of a kind.
func (t *thrift) list(kind byte, element each) {
	head := t.byte()
	count := uint64(head >> 4)
	if count == 15 {
		count = t.unsigned()
	}
	// an element takes a byte at least
	if count > uint64(len(t.data)) || count > 0 && head&15 != kind {
		t.fail()
		return
	}
	t.enter(count)
	for i := 0; i < int(count) && t.err == nil; i++ {
		element(i, int(count))
	}
	t.depth--
}

// skip goes past a value of a field.
func (t *thrift) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse: // the kind is the value
	case thriftByte:
		t.take(1)
	case thriftInt16, thriftInt32, thriftInt64:
		t.unsigned()
	case thriftDouble:
		t.take(8)
	case thriftBinary:
		t.take(t.unsigned())
	case thriftList, thriftSet:
		if len(t.data) == 0 {
			t.fail()
			return
		}
		kind := t.data[0] & 15
		t.list(kind, func(int, int) { t.skipElement(kind) })
	case thriftMap:
		t.skipMap()
	case thriftStruct:
		t.structure()
	default:
		t.fail()
	}
}

// skipElement goes past an element of a list or a map, where booleans take a byte.
func (t *thrift) skipElement(kind byte) {
	if kind == thriftTrue || kind == thriftFalse {
		kind = thriftByte
	}
	t.skip(kind)
}

func (t *thrift) skipMap() {
	count := t.unsigned()
	if count == 0 {
		return
	}
	kinds := t.byte()
	if count > uint64(len(t.data)) {
		t.fail()
		return
	}
	t.enter(2 * count)
	for i := uint64(0); i < count && t.err == nil; i++ {
		t.skipElement(kinds >> 4)
		t.skipElement(kinds & 15)
	}
	t.depth--
}
