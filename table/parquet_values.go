package table

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v15/parquet"
)

// vector is a run of values without nulls. One of its fields is used: ints for
// booleans (0 and 1), integers of all widths and INT96 (as microseconds since
// 1970), floats for both widths, texts for byte arrays of all kinds.
type vector struct {
	ints   []int64
	floats []float64
	texts  [][]byte

	arena []byte // bytes of texts that are not in the page as they are
}

// reset empties v and keeps its memory.
func (v *vector) reset() {
	v.ints, v.floats, v.texts, v.arena = v.ints[:0], v.floats[:0], v.texts[:0], v.arena[:0]
}

// valueReader replaces the content of v by the next n values of a page. Texts
// are valid until the following call.
type valueReader func(v *vector, n int) error

// encodingByteStreamSplit is missing in Arrow's list of encodings.
const encodingByteStreamSplit = parquet.Encoding(9)

// newValueReader reads the values that data holds in the given encoding, of
// which there are at most limit. It does not know dictionary indices.
func newValueReader(
	l *leaf, encoding parquet.Encoding, data []byte, limit int,
) (valueReader, error) {
	switch {
	case encoding == parquet.Encodings.Plain && l.physical == parquet.Types.Boolean:
		return packedBooleans(data), nil
	case encoding == parquet.Encodings.Plain && l.physical == parquet.Types.ByteArray:
		return plainTexts(data), nil
	case encoding == parquet.Encodings.Plain:
		return plainFixed(l, data), nil
	case encoding == parquet.Encodings.RLE && l.physical == parquet.Types.Boolean:
		return runBooleans(data)
	case encoding == parquet.Encodings.DeltaBinaryPacked && (l.physical == parquet.Types.Int32 ||
		l.physical == parquet.Types.Int64):
		return deltaInts(l, data, limit)
	case encoding == parquet.Encodings.DeltaLengthByteArray && l.physical == parquet.Types.ByteArray:
		return deltaLengthTexts(data, limit)
	case encoding == parquet.Encodings.DeltaByteArray && (l.physical == parquet.Types.ByteArray ||
		l.physical == parquet.Types.FixedLenByteArray):
		return deltaTexts(l, data, limit)
	case encoding == encodingByteStreamSplit && l.width > 0:
		return splitBytes(l, data), nil
	}
	return nil, errDamaged
}

// packedBooleans reads one bit a value.
func packedBooleans(data []byte) valueReader {
	bit := 0
	return func(v *vector, n int) error {
		v.reset()
		if bit+n > len(data)*8 {
			return errDamaged
		}
		for range n {
			v.ints = append(v.ints, int64(data[bit/8]>>(bit%8)&1))
			bit++
		}
		return nil
	}
}

// runBooleans reads hybrid-coded bits behind their length in bytes.
func runBooleans(data []byte) (valueReader, error) {
	data, err := prefixed(data)
	if err != nil {
		return nil, err
	}
	h, err := newHybrid(data, 1)
	var buf [stride]uint32
	return func(v *vector, n int) error {
		v.reset()
		if err := h.read(buf[:n]); err != nil {
			return err
		}
		for _, x := range buf[:n] {
			v.ints = append(v.ints, int64(x))
		}
		return nil
	}, err
}

// prefixed returns as many bytes as the first four say.
func prefixed(data []byte) ([]byte, error) {
	if len(data) < 4 {
		return nil, errDamaged
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, errDamaged
	}
	return data[4 : 4+n], nil
}

// plainFixed reads values of a fixed width one after the other.
func plainFixed(l *leaf, data []byte) valueReader {
	return func(v *vector, n int) error {
		v.reset()
		if l.width <= 0 || n > len(data)/l.width {
			return errDamaged
		}
		for range n {
			l.appendFixed(v, data[:l.width:l.width])
			data = data[l.width:]
		}
		return nil
	}
}

// splitBytes reads values of a fixed width whose first bytes are stored one
// after the other, then all second bytes, and so on.
func splitBytes(l *leaf, data []byte) valueReader {
	total, at := len(data)/l.width, 0
	return func(v *vector, n int) error {
		v.reset()
		if n > total-at {
			return errDamaged
		}
		for range n {
			start := len(v.arena)
			for b := range l.width {
				v.arena = append(v.arena, data[b*total+at])
			}
			l.appendFixed(v, v.arena[start:len(v.arena):len(v.arena)])
			at++
		}
		return nil
	}
}

// appendFixed appends the value that b, of the leaf's width, holds. A text goes on sharing b.
func (l *leaf) appendFixed(v *vector, b []byte) {
	switch l.physical {
	case parquet.Types.Int32:
		v.ints = append(v.ints, int64(int32(binary.LittleEndian.Uint32(b))))
	case parquet.Types.Int64:
		v.ints = append(v.ints, int64(binary.LittleEndian.Uint64(b)))
	case parquet.Types.Int96:
		v.ints = append(v.ints, int96Micros(b))
	case parquet.Types.Float:
		v.floats = append(v.floats, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case parquet.Types.Double:
		v.floats = append(v.floats, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	default:
		v.texts = append(v.texts, b)
	}
}

// int96Micros turns nanoseconds of a day and a Julian day number into
// microseconds since 1970, or the nearest that 64 bits hold.
func int96Micros(b []byte) int64 {
	const (
		epoch        = 2_440_588 // Julian day number of 1970-01-01
		microsPerDay = 86_400_000_000
		maxDays      = math.MaxInt64/microsPerDay - 1
	)
	days := int64(binary.LittleEndian.Uint32(b[8:])) - epoch
	nanos := binary.LittleEndian.Uint64(b)
	if days > maxDays || nanos > 1<<62 {
		return math.MaxInt64
	}
	return days*microsPerDay + int64(nanos)/1000
}

// plainTexts reads byte arrays, each behind its length.
func plainTexts(data []byte) valueReader {
	return func(v *vector, n int) error {
		v.reset()
		for range n {
			text, err := prefixed(data)
			if err != nil {
				return err
			}
			v.texts = append(v.texts, text)
			data = data[4+len(text):]
		}
		return nil
	}
}

func deltaInts(l *leaf, data []byte, limit int) (valueReader, error) {
	values, _, err := deltas(data, limit)
	return func(v *vector, n int) error {
		v.reset()
		if n > len(values) {
			return errDamaged
		}
		for _, x := range values[:n] {
			if l.physical == parquet.Types.Int32 {
				x = int64(int32(x))
			}
			v.ints = append(v.ints, x)
		}
		values = values[n:]
		return nil
	}, err
}

// deltaLengthTexts reads all lengths, then all bytes.
func deltaLengthTexts(data []byte, limit int) (valueReader, error) {
	lengths, data, err := deltas(data, limit)
	return func(v *vector, n int) error {
		v.reset()
		if n > len(lengths) {
			return errDamaged
		}
		for _, length := range lengths[:n] {
			if length < 0 || length > int64(len(data)) {
				return errDamaged
			}
			v.texts = append(v.texts, data[:length])
			data = data[length:]
		}
		lengths = lengths[n:]
		return nil
	}, err
}

// deltaTexts reads texts that each share a prefix with the one before.
func deltaTexts(l *leaf, data []byte, limit int) (valueReader, error) {
	prefixes, data, err := deltas(data, limit)
	if err != nil {
		return nil, err
	}
	suffixes, err := deltaLengthTexts(data, limit)
	var last []byte
	var tail vector
	return func(v *vector, n int) error {
		v.reset()
		if n > len(prefixes) {
			return errDamaged
		}
		if err := suffixes(&tail, n); err != nil {
			return err
		}
		for i, suffix := range tail.texts {
			if p := prefixes[i]; p < 0 || p > int64(len(last)) {
				return errDamaged
			}
			start := len(v.arena)
			if int64(start)+prefixes[i]+int64(len(suffix)) > maxBatch {
				return errTooMuch
			}
			v.arena = append(v.arena, last[:prefixes[i]]...)
			v.arena = append(v.arena, suffix...)
			text := v.arena[start:len(v.arena):len(v.arena)]
			if l.width > 0 && len(text) != l.width {
				return errDamaged
			}
			v.texts = append(v.texts, text)
			last = text
		}
		last = append([]byte(nil), last...)
		prefixes = prefixes[n:]
		return nil
	}, err
}
