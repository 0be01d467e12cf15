package schema

import (
	"fmt"
	"math"
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
	// of the first column less the others, or of two dates or times, in a unit
	Difference
	madeProduct // of other columns
	madeRatio   // of the first column to the other
	madeCopy    // of another column
	// of [Relations] alone: another column, which it is not before or below. A schema says so of a
	// column that a model has (Column.After)
	NotBefore
)

var madeNames = names{"kind", 1, []string{"id", "lookup", "sum", "max", "difference", "product",
	"ratio", "copy"}}

// String gives the name of k in a schema file, and order for NotBefore.
func (k madeKind) String() string {
	if k == NotBefore {
		return "order"
	}
	return madeNames.text(uint8(k))
}

// Made is a column of the files that no model has: its cells follow from others of their row, or
// mean nothing. It costs nothing.
type Made struct {
	At      int // position among all columns of the files, made ones too
	Name    string
	Kind    madeKind
	Pattern string // ID: a text in which each # is a digit
	// the columns, made ones too: one of a list of texts (Lookup, Copy), or numbers, dates or times
	Of   []string
	Less []string // Sum: columns that are taken off
	// Lookup: the text for each category of the column
	Map map[string]string
	In  timeSpan // Difference of two dates or times: what is counted
	// of what numbers give, to so many Decimals; the zero one rounds to the nearest, to as many as the
	// columns have if Decimals is 0
	Round    rounding
	Decimals int // 0 to 15
	// of numbers: the marks that they are written with, those of a column's format; "": as those of
	// the column that they follow from
	Format string
	// Refuse or Clamp, but of an id; means nothing: what follows from others is never read
	OnInvalid Policy
}

// Operands are the columns that it follows from.
func (m *Made) Operands() []string { return slices.Concat(m.Of, m.Less) }

// madeCodec is a made column ready for use.
type madeCodec struct {
	kind     madeKind
	of       []int       // among the values of a row: the columns of the schema, then the made ones
	codes    [][]float64 // the numbers of one with categories, by code; nil of another
	values   []Value     // Lookup, and Copy of texts: by code of the column
	distinct []string    // the texts that there are
	form     numberForm
	formula
	pattern string
	digits  int
}

// maxOperands keeps a sum of whole numbers in an int64.
const maxOperands = 1000

// compileMade makes the codecs of the made columns, each behind those that it follows from.
func (r *RowCodec) compileMade(ps *problems, s *Schema) {
	at := func(name string) int {
		return slices.IndexFunc(s.Made, func(m Made) bool { return m.Name == name })
	}
	order, circle := rounds(len(s.Made), func(k int, placed []bool) bool {
		return !slices.ContainsFunc(s.Made[k].Operands(), func(name string) bool {
			j := at(name)
			return j >= 0 && s.Index(name) < 0 && !placed[j]
		})
	})
	if circle >= 0 {
		ps.add(-1, "columns", s.Made[circle].At, "column %s: made columns go round in a circle",
			yamlfile.Quote(s.Made[circle].Name))
	}
	r.made, r.makes = make([]madeCodec, len(s.Made)), order
	for _, k := range order {
		var why string
		if r.made[k], why = r.madeCodec(s, k); why != "" {
			ps.add(-1, "columns", s.Made[k].At, "column %s: %s", yamlfile.Quote(s.Made[k].Name), why)
		}
	}
}

// madeCodec makes the codec of made column k, or says why there is none.
func (r *RowCodec) madeCodec(s *Schema, k int) (c madeCodec, why string) {
	m := &s.Made[k]
	c = madeCodec{kind: m.Kind, pattern: m.Pattern, digits: strings.Count(m.Pattern, "#")}
	twin := slices.IndexFunc(s.Made[:k], func(x Made) bool { return x.Name == m.Name })
	switch why = badText(m.Name); {
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
	return c, why
}

// operands finds the columns that a made column is made from.
func (r *RowCodec) operands(s *Schema, m *Made, c *madeCodec) string {
	var forms []numberForm
	names := m.Operands()
	for _, name := range names {
		i := s.Index(name)
		if i >= 0 {
			forms = append(forms, r.numbers[i])
		} else if k := slices.IndexFunc(s.Made, func(x Made) bool { return x.Name == name }); k >= 0 {
			i, forms = len(r.codecs)+k, append(forms, r.made[k].form)
		} else {
			return fmt.Sprintf("there is no column %s for it to follow from", yamlfile.Quote(name))
		}
		c.of = append(c.of, i)
	}
	n := len(c.of)
	switch {
	case len(m.Of) == 0 || n > maxOperands || (m.Kind == madeLookup || m.Kind == madeCopy) && n > 1:
		return "of must name the columns that it follows from; a lookup or a copy, one"
	case len(m.Less) > 0 && m.Kind != madeSum:
		return "less is for the columns that a sum takes off"
	case m.Kind == madeLookup:
		return r.lookup(c, m)
	case m.Kind == madeCopy && forms[0].root == nil:
		return r.sameTexts(c, m)
	}
	c.codes = make([][]float64, n)
	for k := range forms {
		if i := c.of[k]; forms[k].root == nil && i < len(r.codecs) {
			forms[k], c.codes[k] = r.factor(i)
		}
		if forms[k].root == nil {
			return fmt.Sprintf("of names %s, whose values have no order", yamlfile.Quote(names[k]))
		}
	}
	why := ""
	c.formula, c.form, why = newFormula(m, forms)
	return why
}

// factor is how a column whose categories are numbers is written, and what they are.
func (r *RowCodec) factor(i int) (numberForm, []float64) {
	k, values, ok := r.codecs[i].column.factor()
	if !ok {
		return numberForm{}, nil
	}
	codec, err := NewCodec(k.Column)
	if err != nil {
		panic("schema: a column of numbers that is none") // factor has made its codec
	}
	return numberForm{codec, codec.bins.ticks.digits}, values
}

// lookup takes the map of another column.
func (r *RowCodec) lookup(c *madeCodec, m *Made) string {
	if c.of[0] >= len(r.codecs) || r.codecs[c.of[0]].bins != nil {
		return "a lookup needs a column without an order"
	}
	from := r.codecs[c.of[0]]
	for _, category := range from.column.Categories {
		text, ok := m.Map[category]
		if !ok {
			return fmt.Sprintf("map has no text for %s", yamlfile.Quote(category))
		} else if why := badText(text); why != "" {
			return "a text of the map " + why
		}
		c.addText(text)
	}
	if len(m.Map) > len(from.column.Categories) {
		return fmt.Sprintf("map has texts for more than the categories of %s", yamlfile.Quote(m.Of[0]))
	}
	return ""
}

// sameTexts takes the categories of another column.
func (r *RowCodec) sameTexts(c *madeCodec, m *Made) string {
	switch {
	case c.of[0] >= len(r.codecs):
		return fmt.Sprintf("of names %s, which is made of texts itself", yamlfile.Quote(m.Of[0]))
	case m.Decimals > 0 || m.Round > 0 || m.Format != "":
		return "texts have no decimals and no format"
	}
	for _, text := range r.codecs[c.of[0]].column.Categories {
		c.addText(text)
	}
	return ""
}

// addText adds the text of the next code.
func (c *madeCodec) addText(text string) {
	at := slices.Index(c.distinct, text)
	if at < 0 {
		at, c.distinct = len(c.distinct), append(c.distinct, text)
	}
	c.values = append(c.values, Value{Text: text, Int: int64(at)})
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
	case c.values != nil:
		v := row[c.of[0]]
		if v.Missing {
			return v
		}
		return c.values[v.Int]
	}
	x := c.number(func(k int) float64 {
		v := row[c.of[k]]
		switch {
		case v.Missing:
			return math.NaN()
		case c.codes[k] != nil:
			return c.codes[k][v.Int]
		case v.Float != 0: // of a whole number, 0
			return v.Float
		}
		return float64(v.Int)
	})
	if math.IsNaN(x) || math.Abs(x) > maxReal || c.stored() != StoredFloat && math.Abs(x) > maxWhole {
		return Value{Missing: true}
	}
	if c.stored() == StoredFloat {
		return Value{Float: x}
	}
	return Value{Int: int64(x)}
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

// Solved is a sum, or a difference of numbers, solved for one of the columns that it follows from.
// of gives the column of a name. It is false for another column, and for what cannot be solved.
func (m *Made) Solved(name string, of func(name string) Column) (out Made, ok bool) {
	plus, minus := m.Of, m.Less // m.Name and minus together are as much as plus
	if m.Kind == Difference && m.In == 0 {
		plus, minus = m.Of[:1], m.Of[1:]
	} else if m.Kind != madeSum {
		return out, false
	}
	minus = append([]string{m.Name}, minus...)
	if slices.Contains(minus[1:], name) {
		plus, minus = minus, plus
	}
	at := slices.Index(plus, name)
	if at < 0 {
		return out, false
	}
	out = Made{Name: name, Kind: madeSum, Of: slices.Clone(minus),
		Less: slices.Delete(slices.Clone(plus), at, at+1)}
	if len(out.Of) == 1 && len(out.Less) > 0 {
		out.Kind, out.Of, out.Less = Difference, append(out.Of, out.Less...), nil
	}
	var parts []*standing
	for _, x := range out.Operands() {
		parts = append(parts, &standing{Known: &Known{Column: of(x)}})
	}
	c := standing{Known: &Known{Column: of(name)}}
	return c.written(out, parts...), true
}
