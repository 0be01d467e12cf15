package schema

import (
	"cmp"
	"math"
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
// the nearest bin and any other cell takes the code of Unreadable. A value that is said to be more
// or less ([Censored]) is read as that.
//
// Numbers are decimal, with an optional sign, point and exponent (17, -4.0, +5, .5, 1e3) and no
// spaces; integers are those whose value is whole, so 4.0 and 1e3 are. Inf and NaN are not numbers.
// A boolean with the default texts also takes true, false, t, f, yes, no, 1 and 0 in any case.
// Missing tokens are compared as texts, and as numbers where they are numbers.
//
// It allocates nothing, except for numbers longer than 32 bytes and for dates
// that a column's own format refuses.
func (c *Codec) EncodeText(cell []byte) (uint16, error) {
	var x float64
	number := false
	if c.bins != nil {
		if x, number = c.parse(cell); number && c.bins.allows(x) {
			return uint16(c.bins.find(x)), nil
		}
	}
	if code, ok := c.words[string(cell)]; ok {
		return code, nil
	}
	if number {
		return c.EncodeNumber(x)
	}
	if c.aliases {
		if v := c.facts.alias(cell); v >= 0 {
			return uint16(v), nil
		}
	}
	if c.lenient && c.bins != nil {
		if x, number = c.parse(Censored(cell)); number {
			return c.EncodeNumber(x)
		}
	}
	return c.disallowed(c.facts.notOne)
}

// ParseValue reads a text as a value of an ordered column, in or out of bounds, as [Codec.Bin] has
// them: a number or, in the column's format, as 2006-01-02 or by RFC 3339, a date or a time. False
// for other texts, and for a column without an order.
func (c *Codec) ParseValue(text string) (float64, bool) { return c.column.parseValue(text) }

// parseValue is that of the column's codec.
func (c *Column) parseValue(text string) (float64, bool) {
	f := c.Kind.facts()
	if !c.Kind.Ordered() {
		return 0, false
	}
	own := cmp.Or(c.Format, f.format)
	for _, format := range []string{own, f.format, dateFormat, timestampFormat, spaceFormat} {
		if n := f.notation(format); n == nil {
			continue
		} else if x, ok := n.parse([]byte(text)); ok {
			return x, !math.IsInf(x, 0)
		}
	}
	return 0, false
}

// allows reports whether x is a value of the column: between the bounds, and
// whole where values are.
func (b *bins) allows(x float64) bool {
	return x >= b.min && x <= b.max && (!b.whole || x == math.Trunc(x))
}

// EncodeNumber gives the code of x, which is not NaN, in a column with an order, as [Codec.Bin] has
// values.
func (c *Codec) EncodeNumber(x float64) (uint16, error) {
	b := c.bins
	if b.allows(x) {
		return uint16(b.find(x)), nil
	}
	for _, v := range c.absent {
		if x == v {
			return uint16(c.values), nil
		}
	}
	switch {
	case c.column.OnInvalid == Clamp, c.lenient && c.values == c.size:
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

// mistyped is disallowed for a value whose type does not fit the kind, which no policy takes.
func (c *Codec) mistyped() (uint16, error) {
	if c.lenient {
		return c.Unreadable(), nil
	}
	return 0, errType
}

// Unreadable gives the code, under a lenient schema, of a cell in a row that
// cannot be read: the missing code if there is one, else the category that
// takes disallowed cells or the bin in the middle, else 0. It depends on the column alone.
func (c *Codec) Unreadable() uint16 {
	switch {
	case c.values < c.size:
		return uint16(c.values)
	case c.bins != nil:
		return uint16((c.bins.count() - 1) / 2) // of a flag 0, which is usual
	}
	return uint16(max(c.other, 0))
}

// byPolicy gives the code that the column's policy has for a cell without a nearest bin, else err.
func (c *Codec) byPolicy(err error) (uint16, error) {
	switch {
	case c.column.OnInvalid == Clamp && c.values < c.size:
		return uint16(c.values), nil
	case c.column.OnInvalid == Other:
		return uint16(c.other), nil
	}
	return 0, err
}

// EncodeMissing gives the code of a null. If the column declares no missing
// tokens, its policy applies.
func (c *Codec) EncodeMissing() (uint16, error) {
	if c.values < c.size {
		return uint16(c.values), nil
	}
	return c.disallowed(errMissing)
}

// Absent gives the code of every row when the file lacks the column: an error (Refuse), the missing
// code if there is one, else an error (Clamp), or the category for others (Other). A lenient schema
// changes nothing here: which columns a file has is not in its rows.
func (c *Codec) Absent() (uint16, error) { return c.byPolicy(errAbsent) }
