package schema

import (
	"math"
	"strconv"
)

// cellError is an error about one cell. Its few values are constant, so that
// it can say nothing of the cell, and wrap ErrSchema.
type cellError string

func (e cellError) Error() string { return string(e) }
func (e cellError) Unwrap() error { return ErrSchema }

var (
	errCategory  error = cellError("not one of the declared categories")
	errBoolean   error = cellError("not one of the two declared texts")
	errInteger   error = cellError("not an integer")
	errNumber    error = cellError("not a number")
	errDate      error = cellError("not a date in the declared format")
	errTimestamp error = cellError("not a timestamp in the declared format")
	errBounds    error = cellError("outside the declared min and max")
	errMissing   error = cellError("missing, and the column declares no missing tokens")
	errAbsent    error = cellError("the column is absent")
	errType      error = cellError("of a type that does not fit the column's kind")
)

// EncodeText gives the code of a text cell. It trims nothing. What is not
// allowed follows the column's policy:
//
//   - Refuse: a constant error that wraps ErrSchema;
//   - Clamp: a number outside the bounds goes to the nearest bin and a fraction
//     in an integer column to the nearest integer; any other cell becomes missing
//     or, if the column declares no missing tokens, is refused;
//   - Other: the declared category.
//
// Under a lenient schema ([Schema.Lenient]) no cell is refused: one that would be
// becomes missing or, if the column declares no missing tokens, a number goes to
// the nearest bin and any other cell takes the code of Unreadable.
//
// Numbers are decimal, with an optional sign, point and exponent (17, -4.0, +5,
// .5, 1e3) and no spaces; integers are those whose value is whole, so 4.0 and
// 1e3 are. Inf and NaN are not numbers. A boolean with the default texts also
// takes true, false, t, f, yes, no, 1 and 0 in any case. Missing tokens are
// compared as texts, and as numbers where they are numbers.
//
// It allocates nothing, except for numbers longer than 32 bytes and for dates
// that a column's own format refuses.
func (c *Codec) EncodeText(cell []byte) (uint16, error) {
	switch c.column.Kind {
	case Integer:
		if v, ok := parseWhole(cell); ok && c.bins.contains(float64(v)) {
			return uint16(c.bins.find(float64(v))), nil
		}
	case Real:
		if v, ok := parseNumber(cell); ok && c.bins.contains(v) {
			return uint16(c.bins.find(v)), nil
		}
	case Date, Timestamp:
		if v, ok := parseMoment(c.column.Kind, c.column.Format, cell); ok && c.bins.contains(float64(v)) {
			return uint16(c.bins.find(float64(v))), nil
		}
	}
	if code, ok := c.words[string(cell)]; ok {
		return code, nil
	}
	if c.aliases {
		if v := booleanAlias(cell); v >= 0 {
			return uint16(v), nil
		}
	}
	if c.bins != nil {
		if x, ok := c.parse(cell); ok {
			return c.encodeNumber(x)
		}
	}
	return c.disallowed(c.notOne())
}

// parse reads a cell of a numeric kind as a number, whole or not.
func (c *Codec) parse(cell []byte) (x float64, ok bool) {
	if c.column.Kind.moment() {
		v, ok := parseMoment(c.column.Kind, c.column.Format, cell)
		return float64(v), ok
	}
	return parseNumber(cell)
}

// notOne is the error for a cell that is none of the column's kind.
func (c *Codec) notOne() error {
	switch c.column.Kind {
	case Integer:
		return errInteger
	case Real:
		return errNumber
	case Boolean:
		return errBoolean
	case Date:
		return errDate
	case Timestamp:
		return errTimestamp
	}
	return errCategory
}

// allows reports whether x is a value of the column: between the bounds, and
// whole where values are.
func (b *bins) allows(x float64) bool {
	return b.contains(x) && (!b.whole || x == math.Trunc(x))
}

// encodeNumber gives the code of x, which is not NaN, in a numeric column.
func (c *Codec) encodeNumber(x float64) (uint16, error) {
	b := c.bins
	if b.allows(x) {
		return uint16(b.find(x)), nil
	}
	for _, v := range c.absent {
		if x == v {
			return uint16(c.missing), nil
		}
	}
	switch {
	case c.column.OnInvalid == Clamp, c.lenient && c.missing < 0:
		if b.whole {
			x = math.Round(x)
		}
		return uint16(b.find(min(max(x, b.min), b.max))), nil
	case b.contains(x):
		return c.disallowed(errInteger)
	}
	return c.disallowed(errBounds)
}

// disallowed applies the policy to a cell that has no nearest bin.
func (c *Codec) disallowed(err error) (uint16, error) {
	code, err := c.byPolicy(err)
	if err != nil && c.lenient {
		return c.Unreadable(), nil
	}
	return code, err
}

// mistyped is disallowed for a value whose type does not fit the kind, which
// no policy takes.
func (c *Codec) mistyped() (uint16, error) {
	if c.lenient {
		return c.Unreadable(), nil
	}
	return 0, errType
}

// Unreadable gives the code, under a lenient schema, of a cell in a row that
// cannot be read: the missing code if there is one, else the category that
// takes disallowed cells, else 0. It depends on the column alone.
func (c *Codec) Unreadable() uint16 {
	if c.missing >= 0 {
		return uint16(c.missing)
	}
	return uint16(max(c.other, 0))
}

// byPolicy gives the code that the column's policy has for a cell without a
// nearest bin, else err.
func (c *Codec) byPolicy(err error) (uint16, error) {
	switch {
	case c.column.OnInvalid == Clamp && c.missing >= 0:
		return uint16(c.missing), nil
	case c.column.OnInvalid == Other:
		return uint16(c.other), nil
	}
	return 0, err
}

// booleanAlias reads a common text of true (1) or false (0); -1 is neither.
func booleanAlias(cell []byte) int {
	if len(cell) == 0 || len(cell) > 5 {
		return -1
	}
	var lower [5]byte
	for i, b := range cell {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	switch string(lower[:len(cell)]) {
	case "true", "t", "yes", "1":
		return 1
	case "false", "f", "no", "0":
		return 0
	}
	return -1
}

// EncodeInt gives the code of an integer. A categorical or boolean column takes
// the text of its decimal digits; a date or timestamp column refuses it,
// whatever its policy, as does every Encode method a value whose type does not
// fit the kind.
func (c *Codec) EncodeInt(v int64) (uint16, error) {
	switch c.column.Kind {
	case Integer, Real:
		return c.encodeNumber(float64(v)) // beyond ±2^53 it is rounded, and out of bounds or real
	case Categorical, Boolean:
		var text [20]byte
		return c.EncodeText(strconv.AppendInt(text[:0], v, 10))
	}
	return c.mistyped()
}

// EncodeFloat gives the code of a number. NaN is taken as missing. A categorical
// or boolean column takes the text of the shortest decimal that is v, so 1 for 1.0.
func (c *Codec) EncodeFloat(v float64) (uint16, error) {
	switch c.column.Kind {
	case Integer, Real, Categorical, Boolean:
		if math.IsNaN(v) {
			return c.EncodeMissing()
		}
	}
	switch c.column.Kind {
	case Integer, Real:
		if math.IsInf(v, 0) {
			return c.disallowed(c.notOne())
		}
		return c.encodeNumber(v)
	case Categorical, Boolean:
		var text [32]byte
		return c.EncodeText(strconv.AppendFloat(text[:0], v, 'f', -1, 64))
	}
	return c.mistyped()
}

// EncodeBool gives the code of a boolean. A categorical column takes the texts
// true and false.
func (c *Codec) EncodeBool(v bool) (uint16, error) {
	switch c.column.Kind {
	case Boolean:
		if v {
			return 1, nil
		}
		return 0, nil
	case Categorical:
		return c.EncodeText(strconv.AppendBool(make([]byte, 0, 5), v))
	}
	return c.mistyped()
}

// EncodeDays gives the code of a day, counted from 1970-01-01. A timestamp
// column takes its midnight, UTC.
func (c *Codec) EncodeDays(v int32) (uint16, error) {
	switch c.column.Kind {
	case Date:
		return c.encodeNumber(float64(v))
	case Timestamp:
		return c.encodeNumber(float64(v) * microsPerDay)
	}
	return c.mistyped()
}

// EncodeMicros gives the code of an instant, in microseconds from 1970-01-01
// UTC. A date column takes its day, UTC.
func (c *Codec) EncodeMicros(v int64) (uint16, error) {
	switch c.column.Kind {
	case Date:
		return c.encodeNumber(float64((v - mod(v, microsPerDay)) / microsPerDay))
	case Timestamp:
		return c.encodeNumber(float64(v))
	}
	return c.mistyped()
}

// EncodeMissing gives the code of a null. If the column declares no missing
// tokens, its policy applies.
func (c *Codec) EncodeMissing() (uint16, error) {
	if c.missing >= 0 {
		return uint16(c.missing), nil
	}
	return c.disallowed(errMissing)
}

// Absent gives the code of every row when the file lacks the column: an error
// (Refuse), the missing code if there is one, else an error (Clamp), or the
// category for others (Other). A lenient schema changes nothing here: which
// columns a file has is not in its rows.
func (c *Codec) Absent() (uint16, error) { return c.byPolicy(errAbsent) }
