package schema

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// Decode draws a value of the code: the category itself, or each value of the
// bin with the same probability (for a real column, each value that is written
// with the column's decimals). Encoding the value, or its text, gives the code
// again. u may be nil for categorical and boolean columns. It panics for a code
// that is not less than Size. The draws depend on u alone, on every platform.
func (c *Codec) Decode(code uint16, u *rand.Rand) Value {
	c.check(code)
	switch {
	case int(code) == c.missing:
		return Value{Missing: true}
	case c.column.Kind == Categorical:
		return Value{Text: c.column.Categories[code]}
	case c.column.Kind == Boolean:
		return Value{Int: int64(code)}
	}
	x := c.bins.draw(int(code), u)
	if c.column.Kind == Real {
		return Value{Float: x}
	}
	return Value{Int: int64(x)}
}

// AppendText appends the CSV cell of v, unquoted: the first missing token, the
// category, the boolean's text, a number, or a date in the column's format. A
// real number has the column's decimals, or as many as it takes to read it back.
// A boolean other than 0 or 1 panics.
func (c *Codec) AppendText(dst []byte, v Value) []byte {
	if v.Missing {
		if len(c.column.Missing) == 0 {
			return dst
		}
		return append(dst, c.column.Missing[0]...)
	}
	switch c.column.Kind {
	case Categorical:
		return append(dst, v.Text...)
	case Boolean:
		return append(dst, c.column.Categories[v.Int]...)
	case Integer:
		return strconv.AppendInt(dst, v.Int, 10)
	case Real:
		return c.bins.ticks.appendReal(dst, v.Float)
	}
	return appendMoment(dst, c.column.Kind, c.column.Format, v.Int)
}

// appendReal writes x with the decimals of the ticks.
func (g *ticks) appendReal(dst []byte, x float64) []byte {
	if g.scale == 0 {
		return strconv.AppendFloat(dst, x, 'g', -1, 64)
	}
	t := math.Round(x * g.scale)
	if math.Abs(t) > 1<<53 || t/g.scale != x { // not one of our own values
		return strconv.AppendFloat(dst, x, 'f', g.decimals, 64)
	}
	if t < 0 {
		dst = append(dst, '-')
		t = -t
	}
	if g.decimals == 0 {
		return strconv.AppendUint(dst, uint64(t), 10)
	}
	unit := uint64(g.scale)
	dst = strconv.AppendUint(dst, uint64(t)/unit, 10)
	dst = append(dst, '.')
	fraction := uint64(t) % unit
	for unit /= 10; unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+fraction/unit%10))
	}
	return dst
}
