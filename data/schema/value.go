package schema

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Value is a decoded cell. Its kind says which field holds it: see [Stored].
type Value struct {
	Missing bool
	Int     int64 // Integer; Date: days; Timestamp: microseconds; Boolean: 0 or 1; of a Text: where
	// it is among the categories of its column, if it has some
	Float float64 // Real
	Text  string  // Categorical
}

// number is a value as a number of the kind: the day of an instant and the midnight of a day, both
// UTC; false if its type does not fit. Integers beyond ±2^53 are rounded.
func (f *facts) number(as Stored, v Value) (x float64, ok bool) {
	moment := as == StoredDays || as == StoredMicros
	switch {
	case as == StoredText, as == StoredBool, moment != (f.unit > 0):
		return 0, false
	case as == StoredFloat:
		return v.Float, true
	case as == StoredDays && f.stored == StoredMicros:
		return float64(v.Int) * microsPerDay, true
	case as == StoredMicros && f.stored == StoredDays:
		return float64((v.Int - mod(v.Int, microsPerDay)) / microsPerDay), true
	}
	return float64(v.Int), true
}

// Fits is an error if no cell of a type can be one of the column: a date is no number, and true is
// neither yes nor no. A text can be anything, and so can what is after another column. The error
// wraps [ErrSchema].
func (c *Codec) Fits(as Stored) error {
	ok := as == StoredText || as == c.facts.stored || c.column.After != "" ||
		c.aliases && as <= StoredFloat
	if c.bins != nil && !ok {
		_, ok = c.facts.number(as, Value{})
	}
	for _, f := range kinds {
		ok = ok || f.stored == as && slices.ContainsFunc(c.column.Categories, f.reads)
	}
	if ok {
		return nil
	}
	of := kinds[slices.IndexFunc(kinds, func(f *facts) bool { return f.stored == as })]
	return fmt.Errorf("no cell of the schema's column can be what the file has (kind: %s): change "+
		"its kind or its categories, or the type in the file: %w", of.name, ErrSchema)
}

// reads reports whether a text is one of the kind's, in its default layout.
func (f *facts) reads(text string) bool {
	if f.stored < StoredInt {
		return slices.Contains(f.pair, text)
	}
	_, ok := f.notation(f.format).parse([]byte(text))
	return ok
}

// EncodeValue gives the code of a value that is not a text. One whose type does not fit the kind is
// refused, whatever the column's policy. NaN is taken as missing. A categorical or boolean column
// takes the text of a number (of a float64 the shortest decimal, 1 for 1.0), a date column the day
// of an instant and a timestamp column the midnight of a day, both UTC.
func (c *Codec) EncodeValue(as Stored, v Value) (uint16, error) {
	x, ok := v.Float, as != StoredText
	if c.bins != nil {
		x, ok = c.facts.number(as, v)
	}
	var text [32]byte
	switch {
	case v.Missing:
		return c.EncodeMissing()
	case !ok:
		return c.mistyped()
	case as == StoredFloat && math.IsNaN(x):
		return c.EncodeMissing()
	case c.bins != nil && math.IsInf(x, 0):
		return c.disallowed(c.facts.notOne)
	case c.bins != nil:
		return c.EncodeNumber(x)
	}
	switch as {
	case StoredBool:
		if c.facts.stored == StoredBool {
			return uint16(min(max(v.Int, -v.Int), 1)), nil
		}
		return c.EncodeText(strconv.AppendBool(text[:0], v.Int != 0))
	case StoredInt:
		return c.EncodeText(strconv.AppendInt(text[:0], v.Int, 10))
	case StoredFloat:
		return c.EncodeText(strconv.AppendFloat(text[:0], x, 'f', -1, 64))
	}
	return c.mistyped()
}

// Decode draws a value of the code: the category itself, or each value of the bin with the same
// probability (for a real column, each value that is written with the column's decimals), but for
// the tails of [Codec.WithTails]. A bin
// between edges that is narrower than a 50,000th of the range, and begins at zero or lies between
// wider ones, stands for one value, the roundest in it: such bins are bought for values that many
// rows have. Encoding the value, or its text, gives the code again. u may be nil for categorical
// and boolean columns. It panics for a code that is not less than Size. The draws depend on u
// alone, on every platform.
func (c *Codec) Decode(code uint16, u *rand.Rand) Value {
	switch {
	case int(code) >= c.size:
		panic(fmt.Sprintf("schema: code %d of a column of %d codes", code, c.size))
	case int(code) == c.values:
		return Value{Missing: true}
	case c.facts.stored == StoredText:
		return Value{Text: c.column.Categories[code], Int: int64(code)}
	case c.bins == nil:
		return Value{Int: int64(code)}
	}
	x := c.bins.draw(int(code), u)
	if c.facts.stored == StoredFloat {
		return Value{Float: x}
	}
	return Value{Int: int64(x)}
}

// AppendText appends the CSV cell of v, unquoted: the first missing token, the category, the
// boolean's text, a number, or a date in the column's format. A real number has the column's
// decimals, or as many as it takes to read it back. A boolean other than 0 or 1 panics.
func (c *Codec) AppendText(dst []byte, v Value) []byte {
	switch {
	case v.Missing && len(c.column.Missing) > 0:
		return append(dst, c.column.Missing[0]...)
	case v.Missing:
		return dst
	case c.bins != nil:
		return c.print(dst, v, c.bins.ticks.digits)
	case c.facts.stored == StoredBool:
		return append(dst, c.column.Categories[v.Int]...)
	}
	return append(dst, v.Text...)
}

// write gives a value as a schema file does.
func (f *facts) write(format string, x float64) string {
	if f.layout == nil || f.wrong(x) != "" {
		return formatNumber(x)
	}
	return string(f.notation(format).print(nil, Value{Int: int64(x)}, wholeDigits))
}

// FileColumn is a column of the files of a table.
type FileColumn struct {
	Name       string
	Column     int      // position in Schema.Columns; −1 for a made column
	Made       int      // position in Schema.Made; −1 for the others
	At         int      // position of its value among those that RowCodec.Decode draws
	Stored     Stored   // what its values are
	Zoned      bool     // StoredMicros: instants; else times as a clock on the wall shows them
	Nullable   bool     // some may be missing
	Categories []string // StoredText: all that there are; nil for ids
}

// Columns are the columns of the files, in their order.
func (r *RowCodec) Columns() []FileColumn { return r.file }

// zoned reports whether timestamps are written with their zone.
func (f numberForm) zoned() bool {
	return f.root != nil && f.root.facts.stored == StoredMicros && zoned(f.root.column.Format)
}

// zoned reports whether a layout writes the zone of a time.
func zoned(format string) bool {
	return strings.Contains(format, "Z07") || strings.Contains(format, "-07") ||
		strings.Contains(format, "MST")
}
