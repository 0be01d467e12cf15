package table

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow/float16"

	"github.com/decoy-dp/decoy/data/schema"
)

// form is what the stored values of a column stand for.
type form uint8

const (
	formText form = iota
	formBool
	formInt
	formUint // of 64 bits, as a text
	formFloat
	formDecimal
	formDate
	formTime
	formUUID
	formNull // no row has a value
)

// leaf is a flat column of a file. A stored value is some bytes: of numbers the least significant
// first, of a boolean 0 or 1.
type leaf struct {
	form     form
	width    int // bytes of a stored value, 0 if they differ
	unsigned bool
	scale    int   // of a decimal: digits after the point
	little   bool  // a decimal whose least significant byte is first
	ticks    int64 // of a second or, of a date, of a day
	nullable bool  // this and what follows only of Parquet
	index    int   // among the leaf columns of the file
	physical int64
}

// varies reports whether stored values are texts, or of any bytes.
func (l *leaf) varies() bool {
	return l.form == formText || l.form == formUUID || l.form == formDecimal && !l.little
}

// int is a whole number.
func (l *leaf) int(b []byte) (x int64) {
	switch len(b) {
	case 12:
		return int96Micros(b)
	case 1:
		x = int64(int8(b[0]))
	case 2:
		x = int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		x = int64(int32(binary.LittleEndian.Uint32(b)))
	default:
		return int64(binary.LittleEndian.Uint64(b))
	}
	if l.unsigned {
		x &= 1<<(8*len(b)) - 1
	}
	return x
}

// float is a number of 16, 32 or 64 bits.
func (l *leaf) float(b []byte) float64 {
	switch len(b) {
	case 2:
		return float64(float16.FromBits(binary.LittleEndian.Uint16(b)).Float32())
	case 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// floorDiv is x/y, rounded down.
func floorDiv(x, y int64) int64 {
	if x < 0 {
		return -((-(x + 1))/y + 1)
	}
	return x / y
}

// micros turns a timestamp into microseconds, rounded down; beyond 64 bits it stays at their end.
func (l *leaf) micros(b []byte) int64 {
	x, by := l.int(b), int64(1)
	if l.ticks > 1_000_000 {
		return floorDiv(x, l.ticks/1_000_000)
	}
	by = 1_000_000 / l.ticks
	return min(max(x, math.MinInt64/by), math.MaxInt64/by) * by
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

// storedAs is what the values of a form are to a column; those of other forms are texts.
var storedAs = map[form]schema.Stored{formBool: schema.StoredBool, formInt: schema.StoredInt,
	formFloat: schema.StoredFloat, formDate: schema.StoredDays, formTime: schema.StoredMicros}

// value gives a stored value as a column of values of kind want takes it: as a text, appended to
// scratch if need be, or else as a value. A NaN is taken as missing.
func (l *leaf) value(
	want schema.Stored, b, scratch []byte,
) (text []byte, as schema.Stored, value schema.Value) {
	isNaN := l.form == formFloat && math.IsNaN(l.float(b))
	switch {
	case l.form == formText:
		return b, 0, value
	case want == schema.StoredText && !isNaN:
		return l.appendText(scratch, b), 0, value
	}
	switch as = storedAs[l.form]; as {
	case schema.StoredBool:
		value.Int = int64(b[0])
	case schema.StoredInt:
		value.Int = l.int(b)
	case schema.StoredFloat:
		value.Float = l.float(b)
	case schema.StoredDays:
		value.Int = floorDiv(l.int(b), l.ticks)
	case schema.StoredMicros:
		value.Int = l.micros(b)
	default:
		return l.appendText(scratch, b), 0, value
	}
	return nil, as, value
}

// appendText appends a stored value as the writers of this package would: a NaN
// is empty, a date 2006-01-02, a timestamp RFC 3339 in UTC.
func (l *leaf) appendText(dst, b []byte) []byte {
	switch l.form {
	case formBool:
		return strconv.AppendBool(dst, b[0] != 0)
	case formInt:
		return strconv.AppendInt(dst, l.int(b), 10)
	case formUint:
		return strconv.AppendUint(dst, uint64(l.int(b)), 10)
	case formFloat:
		return appendFloat(dst, l.float(b), max(32, 8*len(b)))
	case formDecimal:
		return l.appendDecimal(dst, b)
	case formDate:
		day := floorDiv(l.int(b), l.ticks)
		return time.Unix(day*86400, 0).UTC().AppendFormat(dst, time.DateOnly)
	case formTime:
		return time.UnixMicro(l.micros(b)).UTC().AppendFormat(dst, time.RFC3339Nano)
	case formNull:
		return dst
	case formUUID:
		return fmt.Appendf(dst, "%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	return append(dst, b...)
}

// appendFloat appends the shortest decimal that is x in the given bits.
func appendFloat(dst []byte, x float64, bits int) []byte {
	if math.IsNaN(x) {
		return dst
	}
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, x, 'e', -1, bits)
	}
	return strconv.AppendFloat(dst, x, 'f', -1, bits)
}

// appendDecimal appends a decimal, in two's complement, with all its digits after the point.
func (l *leaf) appendDecimal(dst, b []byte) []byte {
	if l.little {
		b = slices.Clone(b)
		slices.Reverse(b)
	}
	unscaled := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		unscaled.Sub(unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	one := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(l.scale)), nil)
	return append(dst, new(big.Rat).SetFrac(unscaled, one).FloatString(l.scale)...)
}
