package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

// arrowMessages cuts an Arrow stream into messages. Arrow is given only messages whose lengths the
// file can hold, and makes room for what is in them within an allowance: a file says how much that
// is, and to run out of memory ends the process.
type arrowMessages struct {
	*source
	at, end int64 // what of the file is read, and where its messages end
	marked  bool  // by a mark
	err     error // why the file is refused, if not for damage
}

// arrowMagic is what a file begins with, before its stream; and what it ends with, behind a footer
// and its length, but for the zeros.
const arrowMagic = "ARROW1\x00\x00"

// findEnd goes past the magic of a file, whose footer is not needed. A stream has neither.
func (m *arrowMessages) findEnd() error {
	head, err := m.bytes(min(m.end, int64(len(arrowMagic))))
	if err != nil || string(head) != arrowMagic {
		m.at = 0
		return err
	}
	var tail [10]byte
	if m.end < int64(len(arrowMagic)+len(tail)) {
		return errDamaged
	}
	if err := m.fill(tail[:], m.end-int64(len(tail))); err != nil {
		return err
	}
	footer := int64(binary.LittleEndian.Uint32(tail[:]))
	if m.end -= int64(len(tail)) + footer; m.end < m.at || string(tail[4:]) != arrowMagic[:6] {
		return errDamaged
	}
	return nil
}

// bytes reads n bytes.
func (m *arrowMessages) bytes(n int64) ([]byte, error) {
	if n < 0 || n > m.end-m.at {
		return nil, errDamaged
	}
	b := make([]byte, n)
	m.at += n
	return b, m.fill(b, m.at-n)
}

// head reads what is before the body of the next message, and tells the length of that; io.EOF
// behind the last.
func (m *arrowMessages) head() (meta []byte, body int64, err error) {
	if m.at == m.end {
		return nil, 0, io.EOF
	}
	head, err := m.bytes(4)
	// before 2019 there was no such mark
	if err == nil && binary.LittleEndian.Uint32(head) == 0xFFFFFFFF {
		head, err = m.bytes(4)
	}
	if err != nil {
		return nil, 0, err
	}
	n := int64(int32(binary.LittleEndian.Uint32(head)))
	switch {
	case n == 0:
		m.marked = true
		return nil, 0, io.EOF
	case n > maxFooter:
		return nil, 0, errDamaged
	}
	if meta, err = m.bytes(n); err != nil {
		return nil, 0, err
	}
	zstd := false
	err = catch(func() error { body, zstd = messageOf(meta); return nil })
	if err == nil && zstd {
		m.err, err = errArrowZstd, errArrowZstd
	}
	return meta, body, err
}

// Message gives the next message; io.EOF behind the last.
func (m *arrowMessages) Message() (*ipc.Message, error) {
	meta, length, err := m.head()
	if err != nil {
		return nil, err
	}
	body, err := m.bytes(length)
	if err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

// streamLength is where the Arrow stream that b begins with ends, by its mark; all of b if it is a
// file, or has no end.
func streamLength(b []byte) (n int, whole bool) {
	m := arrowMessages{source: &source{ctx: context.Background(), file: bytes.NewReader(b)},
		end: int64(len(b))}
	for {
		_, body, err := m.head()
		switch {
		case m.marked:
			return int(m.at), true
		case err != nil && err != errArrowZstd || body < 0 || body > m.end-m.at:
			return len(b), false
		}
		m.at += body
	}
}

// fb is a table of a flatbuffer (https://flatbuffers.dev/internals), as Arrow reads it. Its methods
// panic outside of the buffer.
type fb struct{ flatbuffers.Table }

// slot is where the place of field k stands.
func slot(k int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*k) }

// follow is the table that a position refers to.
func (t fb) follow(at flatbuffers.UOffsetT) fb {
	return fb{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at)}}
}

// table is the table that field k refers to.
func (t fb) table(k int) (fb, bool) {
	at := flatbuffers.UOffsetT(t.Offset(slot(k)))
	if at == 0 {
		return fb{}, false
	}
	return t.follow(t.Pos + at), true
}

// tables are those of the vector of field k, which has no more elements than the buffer has room
// for.
func (t fb) tables(k int) (out []fb) {
	at := flatbuffers.UOffsetT(t.Offset(slot(k)))
	if at == 0 {
		return nil
	}
	n := t.VectorLen(at)
	if n > len(t.Bytes)/4 {
		panic(errDamaged)
	}
	for i := range n {
		out = append(out, t.follow(t.Vector(at)+flatbuffers.UOffsetT(4*i)))
	}
	return out
}

// The headers of messages, and a type of columns.
const (
	arrowSchema     = 1
	arrowDictionary = 2
	arrowRecord     = 3
	arrowUnion      = 14
)

// messageOf gives the length of the body of a message and whether it is compressed with Zstandard,
// whose decoder in Arrow would make as much room as a frame asks for. It panics where Arrow would
// make room for more columns or keys than there can be. See Message.fbs and Schema.fbs of Arrow.
func messageOf(meta []byte) (length int64, zstd bool) {
	root := fb{flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}}
	length = root.GetInt64Slot(slot(3), 0)
	body, ok := root.table(2)
	if !ok {
		panic(errDamaged)
	}
	root.tables(4) // keys and values
	switch root.GetByteSlot(slot(1), 0) {
	case arrowSchema:
		left := maxElements
		body.tables(2)
		checkFields(body.tables(1), &left, maxGroupDepth)
		return length, false
	case arrowDictionary:
		if body, ok = body.table(1); !ok {
			panic(errDamaged)
		}
	case arrowRecord:
	default:
		panic(errDamaged)
	}
	if compression, ok := body.table(3); ok {
		zstd = compression.GetByteSlot(slot(0), 0) != 0
	}
	return length, zstd
}

// checkFields panics if columns, with what is nested in them, are more than left or deeper than
// depth, or have a union, whose kinds Arrow believes to be as many as they say.
func checkFields(fields []fb, left *int, depth int) {
	if *left -= len(fields); *left < 0 || depth == 0 {
		panic(errDamaged)
	}
	for _, f := range fields {
		if f.GetByteSlot(slot(2), 0) == arrowUnion {
			panic(errDamaged)
		}
		f.tables(6)
		checkFields(f.tables(5), left, depth-1)
	}
}

// Release and Retain are for Arrow, which counts references; memory is Go's.
func (m *arrowMessages) Release() {}

// Retain does nothing: see Release.
func (m *arrowMessages) Retain() {}

// Allocate makes room for Arrow, and panics where a file asks for too much.
func (m *arrowMessages) Allocate(size int) []byte {
	if size < 0 || m.take(size) != nil {
		m.err = errTooMuch
		panic(errTooMuch)
	}
	return memory.DefaultAllocator.Allocate(size)
}

// Reallocate is Allocate for a buffer that grows.
func (m *arrowMessages) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) && size >= 0 {
		return b[:size]
	}
	out := m.Allocate(size)
	copy(out, b)
	return out
}

// Free leaves it to the garbage collector.
func (m *arrowMessages) Free([]byte) {}

// refusal is why a file cannot be read: its limits, or damage.
func (m *arrowMessages) refusal() error {
	if m.err != nil {
		return m.err
	}
	return errDamaged
}
