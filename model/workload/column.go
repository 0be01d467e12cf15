package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// Conditions are the counts of the given conditions, written as under the key where of a workload
// file, each named by its text. An error says which text it is about and wraps ErrInvalid.
// A bound may cut a bin: then the item has a [Fine].
func Conditions(s *schema.Schema, texts ...string) ([]Item, error) {
	p, err := newReading(s, true)
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, text := range texts {
		it, err := p.condition(text)
		if err != nil {
			return nil, &problem{0, yamlfile.Quote(text) + ": " + err.Error()}
		}
		out = append(out, it)
	}
	return out, nil
}

// condition is the count of a condition. One that may cut bins is read twice: to see where it does,
// and with columns whose bins begin there.
func (p *reading) condition(text string) (Item, error) {
	it := Item{Name: text, Weight: 1}
	var err error
	if p.finer = nil; p.fine {
		p.cuts = map[int][]float64{}
	}
	if it.Where, err = p.where(text); err == nil && len(p.cuts) > 0 {
		p.finer = map[int]Fine{}
		for c, at := range p.cuts {
			p.finer[c] = fineOf(p.codecs[c], at)
		}
		it.Fine, p.cuts = p.finer, nil
		it.Where, err = p.where(text)
	}
	return it, err
}

// column turns comparisons with texts into sets of codes.
type column struct {
	*reading
	index int
	codec *schema.Codec
}

// column finds a column by its name.
func (p *reading) column(name string) (column, error) {
	i := p.schema.Index(name)
	if i < 0 {
		return column{}, fmt.Errorf("there is no column %s%s", yamlfile.Quote(name), p.schema.Hint(name))
	}
	c := column{p, i, p.codecs[i]}
	if f, ok := p.finer[i]; ok {
		c.codec = f.Codec
	}
	return c, nil
}

func (c column) name() string { return c.schema.Columns[c.index].Name }

// run is the condition that the code is one of those from first to last.
func (c column) run(first, last int) table.Condition {
	out := table.Condition{Column: c.index, Allow: make([]bool, c.codec.Size())}
	for code := first; code <= last; code++ {
		out.Allow[code] = true
	}
	return out
}

// missing is the condition that the value is missing.
func (c column) missing() (table.Condition, error) {
	code := c.codec.Values()
	if code == c.codec.Size() {
		return table.Condition{}, fmt.Errorf("column %q has no missing values", c.name())
	}
	return c.run(code, code), nil
}

// compare is the condition value op text for one of the texts; op is =, <, <=, > or >=.
func (c column) compare(op string, texts ...string) (table.Condition, error) {
	out := c.run(0, -1)
	codes := c.category
	if c.codec.Column().Kind.Ordered() {
		codes = c.between
	}
	for _, text := range texts {
		allow, err := codes(op, text)
		if err != nil {
			return out, err
		}
		for code, ok := range allow {
			out.Allow[code] = out.Allow[code] || ok
		}
	}
	return out, nil
}

// category is compare for a column without an order.
func (c column) category(op, text string) ([]bool, error) {
	all := c.codec.Column().Categories
	i := slices.Index(all, text)
	switch {
	case op != "=":
		return nil, fmt.Errorf("column %q is %v: its values have no order, use =, != or in", c.name(),
			c.codec.Column().Kind)
	case i < 0:
		const most = 10
		more := ""
		if len(all) > most {
			more = fmt.Sprintf(" and %d more", len(all)-most)
		}
		return nil, fmt.Errorf("%q is not a category of column %q, which has %q%s", text, c.name(),
			all[:min(most, len(all))], more)
	}
	return c.run(i, i).Allow, nil
}

// between is compare for a column with an order: what it allows is the values from one on and below
// another.
func (c column) between(op, text string) ([]bool, error) {
	v, ok := c.codec.ParseValue(text)
	if !ok {
		what := c.codec.Column().Kind.String()
		if after := c.codec.Column().After; after != "" {
			list, _ := c.schema.Overview() // of columns that were compiled before
			what = strings.TrimSpace(list[c.index].Unit + " after " + yamlfile.Quote(after))
		}
		return nil, fmt.Errorf("%q is not a value for column %q (%s)", text, c.name(), what)
	}
	from, below := math.Inf(-1), math.Inf(1)
	if op[0] != '<' {
		from = v
	}
	if op == ">" {
		from = c.codec.Next(v)
	}
	if op == "<" {
		below = v
	} else if op[0] != '>' {
		below = c.codec.Next(v)
	}
	allow, cut := c.codec.Between(from, below)
	switch label := c.codec.Label(uint16(max(cut, 0))); {
	case cut >= 0 && c.cuts != nil:
		c.cuts[c.index] = append(c.cuts[c.index], from, below)
	case cut >= 0 && op == "=":
		return nil, fmt.Errorf("column %q keeps %s in the bin %s with other values", c.name(), text,
			label)
	case cut >= 0:
		return nil, fmt.Errorf("%s %s %s cuts the bin %s: a bound must lie between two bins",
			c.name(), op, text, label)
	case op == "=" && !slices.Contains(allow, true):
		return nil, fmt.Errorf("column %q has no value %s: it goes from %s to %s", c.name(), text, label,
			c.codec.Label(uint16(c.codec.Values()-1)))
	}
	return allow, nil
}
