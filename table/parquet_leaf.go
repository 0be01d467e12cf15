package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/apache/arrow/go/v15/parquet"
	pqschema "github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/decoy-dp/decoy/schema"
)

// form is what the stored values of a Parquet column stand for.
type form uint8

const (
	formText form = iota
	formBool
	formInt
	formUint
	formFloat32
	formFloat64
	formFloat16
	formDecimal
	formDate
	formMillis
	formMicros
	formNanos
	formUUID
)

// leaf is a flat column of a Parquet file.
type leaf struct {
	index    int // among the leaf columns of the file
	physical parquet.Type
	width    int // bytes of a stored value, 0 if they differ or are bits
	nullable bool
	form     form
	scale    int // of a decimal: digits after the point
}

var (
	errNested      = errors.New("a nested Parquet column, which is not supported")
	errUnsupported = errors.New(
		"a Parquet type that is not supported (a time of day, an interval or BSON)")
)

// plain is what a stored value is by its physical type alone, and its width.
var plain = map[parquet.Type]leaf{
	parquet.Types.Boolean:           {form: formBool},
	parquet.Types.Int32:             {form: formInt, width: 4},
	parquet.Types.Int64:             {form: formInt, width: 8},
	parquet.Types.Int96:             {form: formMicros, width: 12},
	parquet.Types.Float:             {form: formFloat32, width: 4},
	parquet.Types.Double:            {form: formFloat64, width: 8},
	parquet.Types.ByteArray:         {form: formText},
	parquet.Types.FixedLenByteArray: {form: formText},
}

// newLeaf finds out what a flat column holds.
func newLeaf(index int, c *pqschema.Column) (*leaf, error) {
	l, known := plain[c.PhysicalType()]
	if !known {
		return nil, errUnsupported
	}
	l.index, l.physical, l.nullable = index, c.PhysicalType(), c.MaxDefinitionLevel() > 0
	fixed := l.physical == parquet.Types.FixedLenByteArray
	if fixed {
		l.width = c.TypeLength()
	}
	whole := l.physical == parquet.Types.Int32 || l.physical == parquet.Types.Int64
	ok := !fixed || l.width > 0
	switch t := c.LogicalType().(type) { // Arrow has some of them by pointer, too
	case pqschema.TimeLogicalType, *pqschema.TimeLogicalType, pqschema.BSONLogicalType,
		pqschema.IntervalLogicalType:
		return nil, errUnsupported
	case interface{ IsSigned() bool }:
		ok = whole
		if !t.IsSigned() {
			l.form = formUint
		}
	case interface{ Scale() int32 }:
		l.form, l.scale = formDecimal, int(t.Scale())
		ok = ok && (whole || fixed || l.physical == parquet.Types.ByteArray) &&
			l.scale >= 0 && l.scale <= 76 // the digits of 256 bits
	case interface{ TimeUnit() pqschema.TimeUnitType }:
		l.form, ok = units[t.TimeUnit()]
		ok = ok && l.physical == parquet.Types.Int64
	case pqschema.DateLogicalType:
		l.form, ok = formDate, l.physical == parquet.Types.Int32
	case pqschema.Float16LogicalType:
		l.form, ok = formFloat16, fixed && l.width == 2
	case pqschema.UUIDLogicalType:
		l.form, ok = formUUID, fixed && l.width == 16
	}
	if !ok {
		return nil, errDamaged
	}
	return &l, nil
}

// units are the forms of timestamps.
var units = map[pqschema.TimeUnitType]form{
	pqschema.TimeUnitMillis: formMillis,
	pqschema.TimeUnitMicros: formMicros,
	pqschema.TimeUnitNanos:  formNanos,
}

// encode gives the code of value i of v. A categorical column takes a value of
// any type as its text.
func (l *leaf) encode(c *schema.Codec, v *vector, i int, scratch []byte) (uint16, error) {
	if l.form == formText {
		return c.EncodeText(v.texts[i])
	}
	text, as, value := l.value(c.Column().Kind.Stored(), v, i, scratch)
	if text != nil {
		return c.EncodeText(text)
	}
	return c.EncodeValue(as, value)
}

// value gives value i of v as a column of values of kind want takes it: as a text, appended to
// scratch, or else as a value.
func (l *leaf) value(
	want schema.Stored, v *vector, i int, scratch []byte,
) (text []byte, as schema.Stored, value schema.Value) {
	if want == schema.StoredText && !l.isNaN(v, i) {
		return l.appendText(scratch, v, i), 0, value
	}
	as = schema.StoredInt
	switch l.form {
	case formBool:
		as, value.Int = schema.StoredBool, v.ints[i]
	case formInt:
		value.Int = v.ints[i]
	case formFloat32, formFloat64:
		as, value.Float = schema.StoredFloat, v.floats[i]
	case formFloat16:
		as, value.Float = schema.StoredFloat, half(v.texts[i])
	case formDate:
		as, value.Int = schema.StoredDays, v.ints[i]
	case formMillis, formMicros, formNanos:
		as, value.Int = schema.StoredMicros, l.micros(v.ints[i])
	default:
		return l.appendText(scratch, v, i), 0, value
	}
	return nil, as, value
}

// isNaN reports whether value i of v is no number, which is taken as missing.
func (l *leaf) isNaN(v *vector, i int) bool {
	switch l.form {
	case formFloat32, formFloat64:
		return math.IsNaN(v.floats[i])
	case formFloat16:
		return math.IsNaN(half(v.texts[i]))
	}
	return false
}

// micros turns a timestamp in the leaf's unit into microseconds, rounded down;
// beyond 64 bits it stays at their end.
func (l *leaf) micros(x int64) int64 {
	switch l.form {
	case formMillis:
		switch {
		case x > math.MaxInt64/1000:
			return math.MaxInt64
		case x < math.MinInt64/1000:
			return math.MinInt64
		}
		return x * 1000
	case formNanos:
		if x < 0 {
			return -((-(x + 1))/1000 + 1)
		}
		return x / 1000
	}
	return x
}

// half reads a number of 16 bits.
func half(b []byte) float64 {
	return float64(float16.FromBits(binary.LittleEndian.Uint16(b)).Float32())
}

// appendText appends value i of v as the writers of this package would: a NaN
// is empty, a date 2006-01-02, a timestamp RFC 3339 in UTC.
func (l *leaf) appendText(dst []byte, v *vector, i int) []byte {
	switch l.form {
	case formBool:
		return strconv.AppendBool(dst, v.ints[i] != 0)
	case formInt:
		return strconv.AppendInt(dst, v.ints[i], 10)
	case formUint:
		x := uint64(v.ints[i])
		if l.physical == parquet.Types.Int32 {
			x = uint64(uint32(x))
		}
		return strconv.AppendUint(dst, x, 10)
	case formFloat32:
		return appendFloat(dst, v.floats[i], 32)
	case formFloat64:
		return appendFloat(dst, v.floats[i], 64)
	case formFloat16:
		return appendFloat(dst, half(v.texts[i]), 32)
	case formDecimal:
		return l.appendDecimal(dst, v, i)
	case formDate:
		return time.Unix(v.ints[i]*86400, 0).UTC().AppendFormat(dst, time.DateOnly)
	case formMillis, formMicros, formNanos:
		return time.UnixMicro(l.micros(v.ints[i])).UTC().AppendFormat(dst, time.RFC3339Nano)
	case formUUID:
		b := v.texts[i]
		return fmt.Appendf(dst, "%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	return append(dst, v.texts[i]...)
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

// appendDecimal appends a decimal with all its digits after the point.
func (l *leaf) appendDecimal(dst []byte, v *vector, i int) []byte {
	unscaled := new(big.Int)
	if v.texts != nil && len(v.ints) == 0 {
		b := v.texts[i] // two's complement, most significant byte first
		unscaled.SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			unscaled.Sub(unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	} else {
		unscaled.SetInt64(v.ints[i])
	}
	one := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(l.scale)), nil)
	return append(dst, new(big.Rat).SetFrac(unscaled, one).FloatString(l.scale)...)
}
