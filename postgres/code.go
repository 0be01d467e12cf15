package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/schema"
)

// column is a column of the schema, as the server sees it.
type column struct {
	codec *schema.Codec // of a lenient schema
	kind  string        // type of the server
}

// numbers are the types of the server whose values an ordered column takes, as expressions of a
// float64. A conversion gives the nearest one, as decoy's own does.
var numbers = map[string]string{
	"int2": "%s::float8", "int4": "%s::float8", "int8": "%s::float8",
	"float4": "%s::float8", "float8": "%s",
	// what is beyond float64 would end the query
	"numeric": "(CASE WHEN %[1]s IN ('NaN', 'Infinity', '-Infinity', 0) OR " +
		"abs(%[1]s) BETWEEN 1e-300 AND 1e308 THEN %[1]s WHEN abs(%[1]s) > 1 THEN sign(%[1]s) * 1e308 " +
		"ELSE sign(%[1]s) * 1e-300 END)::float8",
	"date": "CASE WHEN isfinite(%[1]s) THEN (%[1]s - DATE '1970-01-01')::float8 " +
		"WHEN %[1]s IS NOT NULL THEN 'Infinity' END",
	"timestamp":   micros,
	"timestamptz": micros,
}

// micros since 1970, exactly.
const micros = "CASE WHEN isfinite(%[1]s) THEN (extract(epoch FROM %[1]s) * 1000000)::float8 " +
	"WHEN %[1]s IS NOT NULL THEN 'Infinity' END"

// dated are the types of the server that are not numbers, and the kinds that take them.
var dated = map[string]schema.Kind{"date": schema.Date, "timestamp": schema.Timestamp,
	"timestamptz": schema.Timestamp}

func (c *column) isText() bool { return c.kind == "text" || c.kind == "varchar" }
func (c *column) isInt() bool  { return strings.HasPrefix(c.kind, "int") }

// value is the expression of a column's values, or the reason why there is none.
func (c *column) value(name string) (string, error) {
	kind := c.codec.Column().Kind
	ordered := numbers[c.kind]
	switch {
	case kind.Ordered() && ordered != "" && (dated[c.kind] == kind ||
		dated[c.kind] == 0 && (kind == schema.Integer || kind == schema.Real)):
		return fmt.Sprintf(ordered, name), nil
	case !kind.Ordered() && c.isText():
		return name + `::text COLLATE "C"`, nil
	case !kind.Ordered() && (c.isInt() || c.kind == "bool"):
		return name, nil
	}
	return "", fmt.Errorf("postgres: column %q is of type %s, which is not read for kind %s: make a "+
		"view of another type, or a file: %w", c.codec.Column().Name, c.kind, kind, schema.ErrSchema)
}

// result is the code in SQL.
func (c *column) result(code uint16, err error) string {
	if err != nil {
		panic("postgres: a lenient schema refuses a cell")
	}
	return strconv.Itoa(int(code))
}

// code is the expression of a column's codes, of its values v. Every constant in it is what the
// codec gives for one value; between these are decoy's own edges, compared as float64.
func (c *column) code(v string) string {
	if c.codec.Column().Kind.Ordered() {
		return c.bin(v)
	}
	return c.category(v)
}

func (c *column) category(v string) string {
	col := c.codec.Column()
	texts := append(slices.Clone(col.Categories), col.Missing...)
	longest := 5 // of the texts that a boolean may have
	var b strings.Builder
	fmt.Fprintf(&b, "CASE WHEN %s IS NULL THEN %s", v, c.result(c.codec.EncodeMissing()))
	when := func(v, literal string, code uint16, err error) {
		fmt.Fprintf(&b, " WHEN %s = %s THEN %s", v, literal, c.result(code, err))
	}
	for _, t := range texts {
		longest = max(longest, len(t))
		code, err := c.codec.EncodeText([]byte(t))
		if n, no := strconv.ParseInt(t, 10, 64); c.isText() {
			when(v, text(t), code, err)
		} else if c.isInt() && no == nil {
			code, err = c.codec.EncodeValue(schema.StoredInt, schema.Value{Int: n})
			when(v, strconv.FormatInt(n, 10), code, err)
		}
	}
	for i, literal := range []string{"false", "true"} {
		value := schema.Value{Int: int64(i)}
		if code, err := c.codec.EncodeValue(schema.StoredBool, value); c.kind == "bool" {
			when(v, literal, code, err)
		} else if code, err = c.codec.EncodeValue(schema.StoredInt, value); c.isInt() {
			when(v, strconv.Itoa(i), code, err)
		}
	}
	if col.Kind == schema.Boolean && c.isText() &&
		slices.Equal(col.Categories, []string{"false", "true"}) { // which are taken in any case
		for _, t := range []string{"true", "t", "yes", "1", "false", "f", "no", "0"} {
			code, err := c.codec.EncodeText([]byte(t))
			when("lower("+v+")", text(t), code, err)
		}
	}
	other := []byte(strings.Repeat("x", longest+1)) // which is none of them
	return b.String() + " ELSE " + c.result(c.codec.EncodeText(other)) + " END"
}

// bin is the code of a number.
func (c *column) bin(v string) string {
	col, codes := c.codec.Column(), c.codec.Size()
	_, missing := c.codec.MissingCode()
	if missing {
		codes--
	}
	edges := make([]string, codes)
	for i := range edges {
		lo, _ := c.codec.Bin(uint16(i))
		edges[i] = float(lo)
	}
	find := func(x string) string {
		return fmt.Sprintf("width_bucket(%s, '{%s}'::float8[]) - 1", x, strings.Join(edges, ","))
	}
	at := func(x float64) string { return c.result(c.encode(x)) }
	whole := ""
	if col.Kind == schema.Integer {
		whole = fmt.Sprintf(" AND %[1]s = trunc(%[1]s)", v)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CASE WHEN %[1]s IS NULL OR %[1]s = 'NaN' THEN %[2]s WHEN %[1]s BETWEEN %[3]s "+
		"AND %[4]s%[5]s THEN %[6]s", v, c.result(c.codec.EncodeMissing()), constant(col.Min),
		constant(col.Max), whole, find(v))
	special := map[float64]bool{}
	for _, token := range col.Missing {
		if x, ok := c.codec.ParseValue(token); ok && !special[x] {
			special[x] = true
			fmt.Fprintf(&b, " WHEN %s = %s THEN %s", v, constant(x), at(x))
		}
	}
	// beyond is a value without a meaning of its own.
	beyond := func(from, by float64) float64 {
		for from += by; special[from]; from += by {
		}
		return from
	}
	step := max(1, col.Max-col.Min, -col.Min, col.Max)
	fmt.Fprintf(&b, " WHEN %[1]s IN ('Infinity', '-Infinity') THEN %[2]s WHEN %[1]s < %[3]s THEN "+
		"%[4]s WHEN %[1]s > %[5]s THEN %[6]s", v, c.result(c.codec.EncodeText([]byte("no number"))),
		constant(col.Min), at(beyond(col.Min, -step)), constant(col.Max), at(beyond(col.Max, step)))
	switch fraction := min(max(0, col.Min), col.Max) + 0.5; {
	case col.Kind != schema.Integer:
	case c.nearest(): // half away from zero
		b.WriteString(" ELSE " + find(fmt.Sprintf("least(%[2]s, greatest(%[3]s, trunc(%[1]s) + CASE "+
			"WHEN abs(%[1]s - trunc(%[1]s)) >= 0.5 THEN sign(%[1]s) ELSE 0 END))", v, constant(col.Max),
			constant(col.Min))))
	case fraction > col.Max:
		b.WriteString(" ELSE " + at(fraction-1))
	default:
		b.WriteString(" ELSE " + at(fraction))
	}
	return b.String() + " END"
}

// nearest reports whether a number that is no value of the column goes to the nearest bin.
func (c *column) nearest() bool {
	_, missing := c.codec.MissingCode()
	return c.codec.Column().OnInvalid == schema.Clamp || !missing
}

// encode is the code of a number of an ordered column.
func (c *column) encode(x float64) (uint16, error) {
	if kind := c.codec.Column().Kind; kind != schema.Integer && kind != schema.Real {
		return c.codec.EncodeValue(kind.Stored(), schema.Value{Int: int64(x)})
	}
	return c.codec.EncodeValue(schema.StoredFloat, schema.Value{Float: x})
}

// float is a number that is read back as x, here and there.
func float(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func constant(x float64) string { return "'" + float(x) + "'::float8" }
