package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// madeKind is what a made column is made from.
type madeKind uint8

// The kinds of made columns.
const (
	madeID     madeKind = iota + 1 // the number of the row, in a pattern
	madeLookup                     // a public map of another column
	madeSum                        // of other columns
	madeMax                        // of other columns
)

var madeNames = names{"kind", 1, []string{"id", "lookup", "sum", "max"}}

// String gives the name of k in a schema file.
func (k madeKind) String() string { return madeNames.text(uint8(k)) }

// Made is a column of the files that no model has: its cells follow from others of their row, or
// mean nothing. It costs nothing.
type Made struct {
	At      int // position among all columns of the files, made ones too
	Name    string
	Kind    madeKind
	Pattern string   // ID: a text in which each # is a digit
	Of      []string // the columns: one of a list of texts (Lookup), or numbers or times (Sum, Max)
	// Lookup: the text for each category of the column
	Map map[string]string
	// Refuse or Clamp, of Lookup, Sum and Max; means nothing: what follows from others is never read
	OnInvalid Policy
}

// madeCodec is a made column ready for use.
type madeCodec struct {
	kind     madeKind
	of       []int
	values   []Value  // Lookup: by code of the column
	distinct []string // the texts that there are
	form     numberForm
	pattern  string
	digits   int
}

// maxOperands keeps a sum of whole numbers in an int64.
const maxOperands = 1000

// compileMade makes the codec of made column k.
func (r *RowCodec) compileMade(ps *problems, s *Schema, k int) madeCodec {
	m := &s.Made[k]
	c := madeCodec{kind: m.Kind, pattern: m.Pattern, digits: strings.Count(m.Pattern, "#")}
	why := badText(m.Name)
	twin := slices.IndexFunc(s.Made[:k], func(x Made) bool { return x.Name == m.Name })
	switch {
	case m.Name == "":
		why = "a column needs a name"
	case why != "":
		why = "the name " + why
	case s.Index(m.Name) >= 0 || twin >= 0:
		why = "there are two columns of this name"
	case m.Name == s.Unit && m.Kind != madeID:
		why = "the unit can only be made up, as kind id"
	case m.At < 0 || m.At >= len(s.Columns)+len(s.Made) || k > 0 && m.At <= s.Made[k-1].At:
		why = "made columns must be in the order of their places in the file"
	case m.OnInvalid > Clamp:
		why = "on_invalid must be refuse or clamp"
	case m.Kind == madeID:
		if why = badText(m.Pattern); why == "" && c.digits == 0 {
			why = "an id needs a pattern with a # for each digit, such as P######"
		} else if c.digits > 18 {
			why = "more than 18 digits"
		}
	case !madeNames.has(uint8(m.Kind)):
		why = madeNames.unknown(m.Kind.String())
	default:
		why = r.operands(s, m, &c)
	}
	if why != "" {
		ps.add(-1, "columns", m.At, "column %s: %s", yamlfile.Quote(m.Name), why)
	}
	return c
}

// operands finds the columns that a made column is made from.
func (r *RowCodec) operands(s *Schema, m *Made, c *madeCodec) string {
	for _, name := range m.Of {
		i := s.Index(name)
		if i < 0 {
			return fmt.Sprintf("there is no column %s for it to follow from", yamlfile.Quote(name))
		}
		c.of = append(c.of, i)
	}
	if n := len(c.of); n == 0 || n > maxOperands || m.Kind == madeLookup && n > 1 {
		return "of must name the columns that it follows from; a lookup, one"
	}
	if m.Kind == madeLookup {
		from := r.codecs[c.of[0]]
		if from.bins != nil {
			return "a lookup needs a column without an order"
		}
		seen := map[string]int64{}
		for _, category := range from.column.Categories {
			text, ok := m.Map[category]
			if !ok {
				return fmt.Sprintf("map has no text for %s", yamlfile.Quote(category))
			} else if why := badText(text); why != "" {
				return "a text of the map " + why
			}
			if _, ok := seen[text]; !ok {
				seen[text] = int64(len(c.distinct))
				c.distinct = append(c.distinct, text)
			}
			c.values = append(c.values, Value{Text: text, Int: seen[text]})
		}
		if len(m.Map) > len(from.column.Categories) {
			return fmt.Sprintf("map has texts for more than the categories of %s", yamlfile.Quote(m.Of[0]))
		}
		return ""
	}
	for k, i := range c.of {
		form := r.numbers[i]
		switch {
		case form.root == nil:
			return fmt.Sprintf("of names %s, whose values have no order", yamlfile.Quote(m.Of[k]))
		case k == 0:
			c.form = form
		case c.form.root.facts.format != form.root.facts.format:
			return "of must name columns that are all numbers, all dates or all timestamps"
		case form.root.facts.stored == StoredFloat && c.form.root.facts.stored == StoredFloat:
			if c.form.decimals = max(c.form.decimals, form.decimals); form.decimals < 0 {
				c.form.decimals = -1
			}
		case form.root.facts.stored == StoredFloat:
			c.form = form
		}
	}
	if m.Kind == madeSum && c.form.root.facts.format != "" {
		return "dates and times have no sum"
	}
	return ""
}

func (c *madeCodec) stored() Stored {
	if c.form.root != nil {
		return c.form.root.facts.stored
	}
	return StoredText
}

// value is the cell of a row with these values; an id has this number.
func (c *madeCodec) value(row []Value, number int) Value {
	switch {
	case c.kind == madeID:
		return Value{Text: c.id(number)}
	case c.kind == madeLookup:
		v := row[c.of[0]]
		if v.Missing {
			return v
		}
		return c.values[v.Int]
	}
	var out Value
	for k, i := range c.of {
		v := row[i]
		if v.Missing {
			return v
		}
		x := v.Float // of a whole number, 0
		if x == 0 {
			x = float64(v.Int)
		}
		switch {
		case k == 0:
			out = Value{Int: v.Int, Float: x}
		case c.kind == madeSum:
			out.Int, out.Float = out.Int+v.Int, out.Float+x
		default:
			out.Int, out.Float = max(out.Int, v.Int), max(out.Float, x)
		}
	}
	out.Float = c.form.round(out.Float)
	return out
}

// id writes a number into the pattern. The first # takes the digits that are too many, so that
// numbers stay apart.
func (c *madeCodec) id(number int) string {
	digits := fmt.Sprintf("%0*d", c.digits, number)
	more := len(digits) - c.digits
	var b strings.Builder
	for _, r := range c.pattern {
		if r != '#' {
			b.WriteRune(r)
			continue
		}
		b.WriteString(digits[:1+more])
		digits, more = digits[1+more:], 0
	}
	return b.String()
}

// write appends the CSV cell of a value.
func (c *madeCodec) write(dst []byte, v Value) []byte {
	switch {
	case v.Missing:
		return dst
	case c.form.root == nil:
		return append(dst, v.Text...)
	}
	return c.form.write(dst, v)
}
