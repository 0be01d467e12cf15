package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/internal/yamlfile"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// column turns comparisons with texts into sets of codes.
type column struct {
	index  int
	schema *schema.Schema
	codec  *schema.Codec
	// where conditions cut bins, by column, of which this is one; nil: that is an error
	cuts map[int][]float64
}

func (c column) name() string { return c.codec.Column().Name }

// values is the number of codes that are not "missing".
func (c column) values() int {
	if code, ok := c.codec.MissingCode(); ok {
		return int(code)
	}
	return c.codec.Size()
}

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
	code, ok := c.codec.MissingCode()
	if !ok {
		return table.Condition{}, fmt.Errorf("column %q has no missing values", c.name())
	}
	return c.run(int(code), int(code)), nil
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
	if op != "=" {
		return nil, fmt.Errorf("column %q is %v: its values have no order, use =, != or in", c.name(),
			c.codec.Column().Kind)
	}
	all := c.codec.Column().Categories
	if i := slices.Index(all, text); i >= 0 {
		return c.run(i, i).Allow, nil
	}
	const most = 10
	var shown []string
	for _, x := range all[:min(most, len(all))] {
		shown = append(shown, yamlfile.Quote(x))
	}
	more := ""
	if len(all) > most {
		more = fmt.Sprintf(" and %d more", len(all)-most)
	}
	return nil, fmt.Errorf("%q is not a category of column %q, which has %s%s", text, c.name(),
		strings.Join(shown, ", "), more)
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
	switch op {
	case "=":
		from, below = v, c.codec.Next(v)
	case "<":
		below = v
	case "<=":
		below = c.codec.Next(v)
	case ">":
		from = c.codec.Next(v)
	case ">=":
		from = v
	}
	allow, cut := c.codec.Between(from, below)
	switch label := c.codec.Label(uint16(max(cut, 0))); {
	case cut >= 0 && c.cuts != nil:
		c.cuts[c.index] = append(c.cuts[c.index], from, below)
	case cut >= 0 && op == "=":
		return nil, fmt.Errorf("column %q keeps %s in the bin %s with other values", c.name(), text,
			label)
	case cut >= 0:
		lo, hi, _ := strings.Cut(strings.Trim(label, "[)]"), ", ")
		would := fmt.Sprintf("%s %s %s", c.name(), side(op), lo)
		if cut < c.values()-1 {
			would += fmt.Sprintf(" or %s %s %s", c.name(), side(op), hi)
		}
		return nil, fmt.Errorf("%s %s %s cuts the bin %s: a bound must lie between two bins, as in %s",
			c.name(), op, text, label, would)
	case op == "=" && !slices.Contains(allow, true):
		return nil, fmt.Errorf("column %q has no value %s: it goes from %s to %s", c.name(), text, label,
			c.codec.Label(uint16(c.values()-1)))
	}
	return allow, nil
}

// side is a comparison like op that a bin does not stand in the way of.
func side(op string) string {
	if op[0] == '>' {
		return ">="
	}
	return "<"
}
