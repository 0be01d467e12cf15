package table

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

// thrift goes through a struct in Thrift's compact protocol without making anything of it: it
// allocates nothing, takes time linear in its bytes, and ends with an error where a length is more
// than what is left. After an error, which stays in err, all values are 0.
type thrift struct {
	varints
	depth int
	full  bool // there are more items
	items int  // structs and elements of lists that are left to be gone through
}

func newThrift(data []byte, items int) *thrift {
	return &thrift{varints: varints{data: data}, items: items}
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
	t.full = t.full || n > uint64(t.items)
	if t.full || t.depth > maxThriftDepth {
		t.fail()
		return
	}
	t.items -= int(n)
}

// structure goes through a struct. field is called for each field, and reports
// whether it has taken the value. A field that comes twice is an error.
func (t *thrift) structure(field func(id int64, kind byte) bool) {
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
		if id < 0 || id > 1<<15-1 || id < 64 && seen&(1<<id) != 0 {
			t.fail()
			break
		}
		if id < 64 {
			seen |= 1 << id
		}
		if !field(id, kind) {
			t.skip(kind)
		}
	}
	t.depth--
}

// list goes through a list: element is called for each of its elements, all of the given kind.
func (t *thrift) list(kind byte, element func()) (n int) {
	head := t.byte()
	count := uint64(head >> 4)
	if count == 15 {
		count = t.unsigned()
	}
	// an element takes a byte at least
	if count > uint64(len(t.data)) || count > 0 && head&15 != kind {
		t.fail()
		return 0
	}
	t.enter(count)
	for i := uint64(0); i < count && t.err == nil; i++ {
		element()
	}
	t.depth--
	return int(count)
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
		if len(t.data) > 0 {
			kind := t.data[0] & 15
			t.list(kind, func() { t.skipElement(kind) })
		} else {
			t.fail()
		}
	case thriftMap:
		t.skipMap()
	case thriftStruct:
		t.structure(func(int64, byte) bool { return false })
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

// natural gives the value of an integer of the given kind, 16 to 64 bits, that is
// not negative; an error if it is, or more than most.
func (t *thrift) natural(kind byte, most int64) int64 {
	if kind < thriftInt16 || kind > thriftInt64 {
		t.fail()
		return 0
	}
	v := t.signed()
	if v < 0 || v > most {
		t.fail()
		return 0
	}
	return v
}
