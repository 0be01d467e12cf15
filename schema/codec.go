package schema

import "math/rand/v2"

// Codec turns the cells of one column into codes and codes into values. It is
// immutable and safe for concurrent use.
type Codec struct{}

// Value is a decoded cell.
type Value struct {
	Missing bool
	Int     int64   // Integer; Date: days; Timestamp: microseconds; Boolean: 0 or 1
	Float   float64 // Real
	Text    string  // Categorical
}

// NewCodec makes the codec of one column.
func NewCodec(c Column) (*Codec, error) { panic("schema: not yet") }

// Column gives the column with its defaults filled in.
func (c *Codec) Column() Column { panic("schema: not yet") }

// Size is the number of codes, at most 65,536.
func (c *Codec) Size() int { panic("schema: not yet") }

// MissingCode is the code of a missing cell, if the column may be missing.
func (c *Codec) MissingCode() (uint16, bool) { panic("schema: not yet") }

// EncodeText gives the code of a text cell.
func (c *Codec) EncodeText(cell []byte) (uint16, error) { panic("schema: not yet") }

// EncodeInt gives the code of an integer.
func (c *Codec) EncodeInt(v int64) (uint16, error) { panic("schema: not yet") }

// EncodeFloat gives the code of a number.
func (c *Codec) EncodeFloat(v float64) (uint16, error) { panic("schema: not yet") }

// EncodeBool gives the code of a boolean.
func (c *Codec) EncodeBool(v bool) (uint16, error) { panic("schema: not yet") }

// EncodeDays gives the code of a day, counted from 1970-01-01.
func (c *Codec) EncodeDays(v int32) (uint16, error) { panic("schema: not yet") }

// EncodeMicros gives the code of an instant, in microseconds from 1970-01-01 UTC.
func (c *Codec) EncodeMicros(v int64) (uint16, error) { panic("schema: not yet") }

// EncodeMissing gives the code of a null.
func (c *Codec) EncodeMissing() (uint16, error) { panic("schema: not yet") }

// Absent gives the code of every row when the file lacks the column.
func (c *Codec) Absent() (uint16, error) { panic("schema: not yet") }

// Decode draws a value of the code.
func (c *Codec) Decode(code uint16, u *rand.Rand) Value { panic("schema: not yet") }

// AppendText appends the unquoted CSV cell of v.
func (c *Codec) AppendText(dst []byte, v Value) []byte { panic("schema: not yet") }

// Label names a code for people.
func (c *Codec) Label(code uint16) string { panic("schema: not yet") }

// Bin gives the smallest and the greatest value of a bin of a numeric column.
func (c *Codec) Bin(code uint16) (lo, hi float64) { panic("schema: not yet") }
