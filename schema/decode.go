package schema

import "math/rand/v2"

// Decode draws a value of the code: the category itself, or each value of the bin with the same
// probability (for a real column, each value that is written with the column's decimals), but for
// the tails of [Codec.WithTails]. A bin
// between edges that is narrower than a 50,000th of the range, and begins at zero or lies between
// wider ones, stands for one value, the roundest in it: such bins are bought for values that many
// rows have. Encoding the value, or its text, gives the code again. u may be nil for categorical
// and boolean columns. It panics for a code that is not less than Size. The draws depend on u
// alone, on every platform.
func (c *Codec) Decode(code uint16, u *rand.Rand) Value {
	c.check(code)
	switch {
	case int(code) == c.missing:
		return Value{Missing: true}
	case c.traits.stored == StoredText:
		return Value{Text: c.column.Categories[code]}
	case c.order == nil:
		return Value{Int: int64(code)}
	}
	x := c.bins.draw(int(code), u)
	if c.traits.stored == StoredFloat {
		return Value{Float: x}
	}
	return Value{Int: int64(x)}
}

// AppendText appends the CSV cell of v, unquoted: the first missing token, the category, the
// boolean's text, a number, or a date in the column's format. A real number has the column's
// decimals, or as many as it takes to read it back. A boolean other than 0 or 1 panics.
func (c *Codec) AppendText(dst []byte, v Value) []byte {
	if v.Missing {
		if len(c.column.Missing) == 0 {
			return dst
		}
		return append(dst, c.column.Missing[0]...)
	}
	return c.rules.write(dst, c, v)
}
