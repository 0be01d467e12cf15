package schema

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// Codec turns the cells of one column into codes and codes into values. The codes count up from 0
// through the categories or bins; the last is "missing" where the column declares missing tokens. A
// Codec is immutable and safe for concurrent use.
type Codec struct {
	column  Column // filled
	facts   *facts
	size    int
	values  int               // the codes of values; a missing cell has the next one, if there is one
	other   int               // the code that takes disallowed cells; -1: none
	words   map[string]uint16 // categories or boolean texts, and missing tokens
	aliases bool              // the further texts of facts.alias are taken
	lenient bool              // every cell has a code
	bins    *bins             // ordered kinds
	absent  []float64         // missing tokens of an ordered kind that are values, such as -9
}

// A fault is why a codec cannot be built, and the field that makes it so.
type fault struct {
	key  string
	item int
	text string
}

func faultf(key, format string, args ...any) *fault {
	return &fault{key, -1, fmt.Sprintf(format, args...)}
}

// newCodec makes the codec of a filled column whose fields are right one by one.
func newCodec(c Column) (*Codec, *fault) {
	c.Categories, c.Edges, c.Missing = slices.Clone(c.Categories), slices.Clone(c.Edges),
		slices.Clone(c.Missing)
	codec := &Codec{column: c, facts: c.Kind.facts(), size: c.size(), other: -1}
	codec.words = make(map[string]uint16, len(c.Categories)+len(c.Missing))
	for i, text := range c.Categories {
		codec.words[text] = uint16(i)
		if c.OnInvalid == Other && text == c.Other {
			codec.other = i
		}
	}
	codec.aliases = codec.facts.alias != nil && slices.Equal(c.Categories, codec.facts.pair)
	if c.Kind.Ordered() {
		b, fault := newBins(&c)
		if fault != nil {
			return nil, fault
		}
		if c.BuyBins >= b.count() {
			return nil, faultf("bins", "dp: %d bins out of %d cells leave nothing to buy: the grid must "+
				"be finer, or bins: %d will do", c.BuyBins, b.count(), b.count())
		}
		codec.bins = b
	}
	codec.values = codec.size - min(1, len(c.Missing))
	for i, token := range c.Missing {
		if codec.aliases && codec.facts.alias([]byte(token)) >= 0 {
			return nil, &fault{"missing", i, fmt.Sprintf("missing token %s is also a text of true or false",
				yamlfile.Quote(token))}
		}
		if codec.bins != nil && c.After == "" { // whose cells are no numbers of the column
			if x, ok := codec.facts.parse(c.Format, []byte(token)); ok {
				if codec.bins.allows(x) {
					return nil, &fault{"missing", i,
						fmt.Sprintf("missing token %s is a value between min and max", yamlfile.Quote(token))}
				}
				codec.absent = append(codec.absent, x)
			}
		}
	}
	for _, token := range c.Missing {
		codec.words[token] = uint16(codec.values)
	}
	return codec, nil
}

// Column gives the column with its defaults filled in. Its slices are the
// codec's own: do not change them.
func (c *Codec) Column() Column { return c.column }

// Size is the number of codes, at most 65,536.
func (c *Codec) Size() int { return c.size }

// Values is how many of the codes, from 0 on, stand for values. Behind them is at most one more, of
// a missing cell, if the column declares missing tokens.
func (c *Codec) Values() int { return c.values }

// Bin gives the smallest and the greatest value of a bin of a numeric column: integers, days,
// microseconds or real numbers. For a real bin other than the last, hi is the upper edge, which
// itself is in the next bin. For the other kinds both are in the bin, and equal for a bin of one
// value. In every kind a decoded value has the mean (lo+hi)/2, up to the rounding of what is
// written, but for tails ([Codec.WithTails]). It panics for a code that is no bin.
func (c *Codec) Bin(code uint16) (lo, hi float64) {
	if c.bins == nil || int(code) >= c.bins.count() {
		panic(fmt.Sprintf("schema: code %d is not a bin", code))
	}
	return c.bins.bounds(int(code))
}

// Next is the least value above x that a column with an order can have.
func (c *Codec) Next(x float64) float64 {
	if c.bins.whole {
		return math.Floor(x) + 1
	}
	return math.Nextafter(x, math.Inf(1))
}

// Between says which bins of a column with an order hold no values but those x with from ≤ x <
// below; cut is the first of those that hold such and others, or −1.
func (c *Codec) Between(from, below float64) (allow []bool, cut int) {
	if c.bins.whole {
		from, below = math.Ceil(from), math.Ceil(below)
	}
	allow, cut = make([]bool, c.size), -1
	for i, lo := range c.bins.lower {
		_, hi := c.bins.bounds(i)
		if c.bins.whole || i == c.bins.count()-1 {
			hi = c.Next(hi)
		}
		allow[i] = lo >= from && hi <= below
		if cut < 0 && from < below && !allow[i] && lo < below && hi > from {
			cut = i
		}
	}
	return allow, cut
}

// Label names a code for people: a category, a bin such as "[17, 19)", a single
// value, or "(missing)". It panics for a code that is not less than Size.
func (c *Codec) Label(code uint16) string {
	c.check(code)
	switch {
	case int(code) == c.values:
		return "(missing)"
	case c.bins == nil:
		return c.column.Categories[code]
	}
	lo, hi := c.bins.bounds(int(code))
	switch {
	case lo == hi:
		return c.column.show(lo)
	case int(code) == c.bins.count()-1:
		return fmt.Sprintf("[%s, %s]", c.column.show(lo), c.column.show(hi))
	case c.bins.whole:
		hi++
	}
	return fmt.Sprintf("[%s, %s)", c.column.show(lo), c.column.show(hi))
}

func (c *Codec) check(code uint16) {
	if int(code) >= c.size {
		panic(fmt.Sprintf("schema: code %d of a column of %d codes", code, c.size))
	}
}

// show writes a value of an ordered column as the schema file does.
func (c *Column) show(x float64) string {
	f := c.Kind.facts()
	return f.write(cmp.Or(c.Format, f.format), x)
}

// Show writes a value of an ordered column, or a mean of values, for people: a date or a time in
// the column's format, another number as number does.
func (c *Codec) Show(x float64, number func(float64) string) string {
	if !c.facts.quoted() {
		return number(x)
	}
	return c.column.show(math.Round(x))
}

// ShowDifference is Show for a difference of two values: of dates and times, in days.
func (c *Codec) ShowDifference(x float64, number func(float64) string) string {
	switch c.facts.stored {
	case StoredDays:
		return number(x) + " days"
	case StoredMicros:
		return number(x/microsPerDay) + " days"
	}
	return number(x)
}

// ColumnOverview is a column of a schema for people and for JSON.
type ColumnOverview struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Unit    string `json:"unit,omitempty"`   // what a difference to a date or timestamp counts
	Format  string `json:"format,omitempty"` // layout of a date or timestamp, if it is named
	Codes   int    `json:"codes"`
	Missing bool   `json:"missing"` // whether a cell may be
	From    string `json:"from"`    // labels of the first code and of the last
	To      string `json:"to"`
}

// KindAndUnit is such as "integer" or "integer, seconds".
func (c ColumnOverview) KindAndUnit() string {
	return strings.TrimSuffix(c.Kind+", "+c.Unit, ", ")
}

// Overview describes the columns. Its error is that of [Schema.Codecs].
func (s *Schema) Overview() ([]ColumnOverview, error) {
	codecs, rows, err := s.compile()
	var out []ColumnOverview
	for i, c := range codecs {
		unit := ""
		if c.column.After != "" {
			unit = rows.numbers[i].unitName()
		}
		last := c.size - 1
		missing := c.values == last
		if missing {
			last--
		}
		out = append(out, ColumnOverview{c.column.Name, c.column.Kind.String(), unit, c.column.Format,
			c.size, missing, c.Label(0), c.Label(uint16(last))})
	}
	return out, err
}
