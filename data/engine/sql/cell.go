package sql

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
)

// column is a column of the schema, as the engine sees it.
type column struct {
	*dialect
	codec *schema.Codec // of a lenient schema: each cell has a code
	kind  string        // type of the engine, and
	class class         // that of its values
}

// value is the expression of a column's values: float64 of an ordered column (int64 of an integral
// one), else as the codes of the class are compared. cell is its text where numbers or days are
// read from texts, else "".
func (c *column) value(name string) (value, cell string, err error) {
	col := c.codec.Column()
	ordered := col.Kind.Ordered()
	switch {
	case ordered && slices.Contains(valuesOf[col.Kind.Stored()], c.class):
		number := cmp.Or(c.numbers[class(strings.ToLower(c.kind))], c.numbers[c.class])
		if c.integral() {
			number = "CAST(%s AS " + c.whole + ")"
		}
		return fmt.Sprintf(cmp.Or(number, "CAST(%s AS "+c.real+")"), name), "", nil
	case !ordered && (c.class == text || c.class == whole):
		return c.bytes(name), "", nil
	case !ordered && c.class == truth:
		return name, "", nil
	case ordered && c.class == text:
		cell = c.bytes(name)
		value, err = c.codec.ReadSQL(c.dialect, cell)
		if err == nil {
			return value, cell, nil
		}
	}
	return "", "", fmt.Errorf("sql: column %q is of type %s, which is not read for kind %s: make a "+
		"view in which it is of another type, or a file: %w", col.Name, c.kind, col.Kind,
		cmp.Or(err, schema.ErrSchema))
}

// valuesOf are the classes of types whose values are those of an ordered column.
var valuesOf = map[schema.Stored][]class{schema.StoredInt: {whole, real},
	schema.StoredFloat: {whole, real}, schema.StoredDays: {date}, schema.StoredMicros: {moment}}

// integral reports whether a column is of integers that are compared as such: 2^53 and more, which
// is beyond its bounds and what means missing, would be rounded as float64.
func (c *column) integral() bool {
	for _, token := range c.codec.Column().Missing {
		if x, ok := c.codec.ParseValue(token); ok && (x != math.Trunc(x) || math.Abs(x) >= 1<<53) {
			return false
		}
	}
	return c.class == whole && c.codec.Column().Kind.Whole()
}

// number is a number as the values are.
func (c *column) number(x float64) string {
	if c.integral() {
		return strconv.FormatFloat(x+0, 'f', -1, 64)
	}
	return c.Number(x)
}

// bytes is a text that is compared by its bytes.
func (d *dialect) bytes(name string) string { return fmt.Sprintf(d.binary, name) }

// short is whether a text is no longer than cells of files are: schema does not read longer ones.
func (d *dialect) short(cell string) string { return d.octets + "(" + cell + ") <= 1048576" }

// code is the expression of a column's codes, of its values v and their texts. Every constant in it
// is what the codec gives for one value; between these are decoy's own edges, compared as float64.
func (c *column) code(v, cell string) string {
	missing := c.result(c.codec.EncodeMissing())
	switch {
	case !c.codec.Column().Kind.Ordered():
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN %s%s END", v, missing, c.category(v))
	case cell == "":
		from, to := -math.MaxFloat64, math.MaxFloat64
		if c.class == date || c.class == moment { // years of four digits, as a file has them
			by := map[class]float64{date: 1, moment: 86_400_000_000}[c.class]
			from, to = -719_162*by, 2_932_897*by-1
		}
		if c.class == whole {
			return fmt.Sprintf("CASE WHEN %s IS NULL THEN %s%s END", v, missing, c.bin(v, ""))
		}
		infinite := fmt.Sprintf(" WHEN %s NOT BETWEEN %s AND %s THEN %s", v, c.number(from),
			c.number(to), c.result(c.codec.EncodeText([]byte("no number"))))
		return fmt.Sprintf("CASE WHEN %s IS NULL OR %s THEN %s%s END", v, fmt.Sprintf(c.nan, v), missing,
			c.bin(v, infinite))
	}
	words, none := "", c.result(c.codec.EncodeText([]byte("no number")))
	for _, token := range c.codec.Column().Missing {
		if x, ok := c.codec.ParseValue(token); !ok || math.IsInf(x, 0) {
			words += fmt.Sprintf(" WHEN %s = %s THEN %s", cell, c.literal(token),
				c.result(c.codec.EncodeText([]byte(token))))
		}
	}
	return fmt.Sprintf("CASE WHEN %s IS NULL THEN %s%s WHEN %s IS NULL THEN %s%s END", cell, missing,
		words, v, none, c.bin(v, ""))
}

// result is a code in SQL.
func (c *column) result(code uint16, err error) string {
	if err != nil {
		panic("sql: a lenient schema refuses a cell")
	}
	return strconv.Itoa(int(code))
}

// category is the rest of the CASE of a value that is a text or a truth value.
func (c *column) category(v string) string {
	col := c.codec.Column()
	codes := map[string]string{} // of literals
	var b strings.Builder
	when := func(v, literal, code string) {
		fmt.Fprintf(&b, " WHEN %s = %s THEN %s", v, literal, code)
	}
	if c.class == truth {
		is := func(x int64) string {
			return c.result(c.codec.EncodeValue(schema.StoredBool, schema.Value{Int: x}))
		}
		return fmt.Sprintf(" WHEN %s THEN %s ELSE %s", v, is(1), is(0))
	}
	longest := 5 // of the texts that a boolean may have
	for _, t := range append(slices.Clone(col.Categories), col.Missing...) {
		longest = max(longest, len(t))
		codes[t] = c.result(c.codec.EncodeText([]byte(t)))
	}
	other := c.result(c.codec.EncodeText([]byte(strings.Repeat("x", longest+1)))) // none of them
	if long := strconv.Itoa(int(c.codec.Unreadable())); long != other {
		fmt.Fprintf(&b, " WHEN NOT %s THEN %s", c.short(v), long)
	}
	if col.Kind.Stored() == schema.StoredBool &&
		slices.Equal(col.Categories, []string{"false", "true"}) {
		for _, t := range slices.Sorted(maps.Keys(codes)) {
			when(v, c.literal(t), codes[t])
		}
		for _, t := range []string{"true", "t", "yes", "1", "false", "f", "no", "0"} { // in any case
			when("LOWER("+v+")", c.literal(t), c.result(c.codec.EncodeText([]byte(t))))
		}
		return b.String() + " ELSE " + other
	}
	sorted := slices.Sorted(maps.Keys(codes)) // by bytes
	return b.String() + " ELSE " + tree(0, len(sorted), func(i int) string {
		return v + " < " + c.literal(sorted[i])
	}, func(i int) string {
		return fmt.Sprintf("CASE WHEN %s = %s THEN %s ELSE %s END", v, c.literal(sorted[i]),
			codes[sorted[i]], other)
	})
}

// tree finds which of some outcomes holds by halving: before(i) is whether that is one before i.
func tree(from, to int, before, outcome func(i int) string) string {
	if to-from == 1 {
		return outcome(from)
	}
	mid := (from + to) / 2
	return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", before(mid),
		tree(from, mid, before, outcome), tree(mid, to, before, outcome))
}

// bin is the rest of the CASE of a number. beyond is a part of it that comes behind the values in
// bounds, and numbers that mean missing.
func (c *column) bin(v, beyond string) string {
	col, codes := c.codec.Column(), c.codec.Values()
	width := c.width(codes)
	find := func(x string) string {
		switch code := fmt.Sprintf("CAST(%s - %s AS %s)", x, c.number(col.Min), c.whole); width {
		case 0:
			return tree(0, codes, func(i int) string {
				lo, _ := c.codec.Bin(uint16(i))
				return x + " < " + c.number(lo)
			}, strconv.Itoa)
		case 1:
			return code
		default:
			return fmt.Sprintf(c.divide, code, strconv.FormatFloat(width, 'f', -1, 64))
		}
	}
	least, most, whole := c.number(col.Min), c.number(col.Max), ""
	if col.Kind.Whole() && !c.integral() {
		whole = fmt.Sprintf(" AND %[1]s = FLOOR(%[1]s)", v)
	}
	var b strings.Builder
	fmt.Fprintf(&b, " WHEN %s BETWEEN %s AND %s%s THEN %s", v, least, most, whole, find(v))
	special := map[float64]bool{}
	for _, token := range col.Missing {
		if x, ok := c.codec.ParseValue(token); ok && !special[x] {
			special[x] = true
			fmt.Fprintf(&b, " WHEN %s = %s THEN %s", v, c.number(x), c.encode(x))
		}
	}
	outside := func(x, by float64) string { // of a value without a meaning of its own
		for x += by; special[x]; x += by {
		}
		return c.encode(x)
	}
	step := max(1, col.Max-col.Min, -col.Min, col.Max)
	fmt.Fprintf(&b, "%s WHEN %s < %s THEN %s", beyond, v, least, outside(col.Min, -step))
	above := outside(col.Max, step)
	if whole == "" {
		return b.String() + " ELSE " + above
	}
	fmt.Fprintf(&b, " WHEN %s > %s THEN %s", v, most, above)
	switch fraction := min(max(0, col.Min), col.Max) + 0.5; {
	case col.OnInvalid == schema.Clamp || codes == c.codec.Size(): // the nearest, half away from zero
		return b.String() + " ELSE " + find(fmt.Sprintf("(FLOOR(%[1]s) + CASE WHEN %[1]s - FLOOR(%[1]s) "+
			"> 0.5 OR %[1]s - FLOOR(%[1]s) = 0.5 AND %[1]s > 0 THEN 1 ELSE 0 END)", v))
	case fraction > col.Max:
		return b.String() + " ELSE " + c.encode(fraction-1)
	default:
		return b.String() + " ELSE " + c.encode(fraction)
	}
}

// width is how many values each bin of a column of whole numbers, days or microseconds has, the
// last one at most; 0 if that is not so, or differences of values are not exact.
func (c *column) width(bins int) float64 {
	col := c.codec.Column()
	end := col.Max + 1
	if bins > 1 {
		end, _ = c.codec.Bin(1)
	}
	width, all := end-col.Min, col.Max-col.Min
	for i := range bins {
		if lo, _ := c.codec.Bin(uint16(i)); lo != col.Min+float64(i)*width {
			return 0
		}
	}
	if col.Kind.Stored() == schema.StoredFloat || all >= 1<<53 || all >= width*float64(bins) {
		return 0
	}
	return width
}

// encode is the code of a value of an ordered column.
func (c *column) encode(x float64) string { return c.result(c.codec.EncodeNumber(x)) }
