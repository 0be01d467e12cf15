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
	cuts   cuts // where conditions cut its bins; nil: that is an error
}

func (c column) name() string { return c.codec.Column().Name }

// binned reports whether the column's codes are bins of numbers.
func (c column) binned() bool { return c.codec.Column().Kind.Ordered() }

// whole reports whether the values of a column with an order are whole numbers.
func (c column) whole() bool { return c.codec.Column().Kind.Stored() != schema.StoredFloat }

// bins is the number of codes that are not "missing".
func (c column) bins() int {
	if _, ok := c.codec.MissingCode(); ok {
		return c.codec.Size() - 1
	}
	return c.codec.Size()
}

func (c column) condition(allow func(code int) bool) table.Condition {
	out := table.Condition{Column: c.index, Allow: make([]bool, c.codec.Size())}
	for code := range c.bins() {
		out.Allow[code] = allow(code)
	}
	return out
}

// missing is the condition that the value is missing.
func (c column) missing() (table.Condition, error) {
	code, ok := c.codec.MissingCode()
	if !ok {
		return table.Condition{}, fmt.Errorf("column %q has no missing values", c.name())
	}
	out := table.Condition{Column: c.index, Allow: make([]bool, c.codec.Size())}
	out.Allow[code] = true
	return out, nil
}

// equals is the condition that the value is one of the texts.
func (c column) equals(texts []string) (table.Condition, error) {
	out := c.condition(func(int) bool { return false })
	for _, text := range texts {
		code, err := c.codeOf(text)
		if err != nil {
			return out, err
		}
		out.Allow[code] = true
	}
	return out, nil
}

// codeOf is the code that stands for exactly this value.
func (c column) codeOf(text string) (int, error) {
	if !c.binned() {
		if i := slices.Index(c.codec.Column().Categories, text); i >= 0 {
			return i, nil
		}
		const most = 10
		all := c.codec.Column().Categories
		shown := yamlfile.Quote(all[0])
		for _, x := range all[1:min(most, len(all))] {
			shown += ", " + yamlfile.Quote(x)
		}
		if len(all) > most {
			shown += fmt.Sprintf(" and %d more", len(all)-most)
		}
		return 0, fmt.Errorf("%q is not a category of column %q, which has %s", text, c.name(), shown)
	}
	v, err := c.value(text)
	if err != nil {
		return 0, err
	}
	for code := range c.bins() {
		lo, hi := c.codec.Bin(uint16(code))
		if c.whole() && v != math.Floor(v) {
			break
		}
		if !c.whole() && hi == v && code < c.bins()-1 {
			continue // v is in the next bin
		}
		if lo == v && (hi == v || !c.whole() && hi == next(v, false)) {
			return code, nil
		}
		if lo <= v && v <= hi && c.cuts != nil {
			c.cuts.add(c.index, v)
			c.cuts.add(c.index, next(v, c.whole()))
			return code, nil
		}
		if lo <= v && v <= hi {
			return 0, fmt.Errorf("column %q keeps %s in the bin %s with other values", c.name(),
				text, c.codec.Label(uint16(code)))
		}
	}
	return 0, fmt.Errorf("column %q has no value %s: it goes from %s to %s", c.name(), text,
		c.codec.Label(0), c.codec.Label(uint16(c.bins()-1)))
}

// compare is the condition value op text for an order comparison: <, <=, > or >=.
func (c column) compare(op, text string) (table.Condition, error) {
	var none table.Condition
	if !c.binned() {
		return none, fmt.Errorf("column %q is %v: its values have no order, use =, != or in",
			c.name(), c.codec.Column().Kind)
	}
	v, err := c.value(text)
	if err != nil {
		return none, err
	}
	upper := op == ">" || op == ">="
	cut, below := c.threshold(op, v)
	cond := c.condition(func(code int) bool {
		lo, hi := c.codec.Bin(uint16(code))
		if (lo >= cut) == below(code, hi) { // neither: both is impossible
			if c.cuts != nil {
				c.cuts.add(c.index, cut)
			} else {
				err = c.cutError(op, text, code)
			}
		}
		return (lo >= cut) == upper
	})
	return cond, err
}

// threshold says which bins lie above an order comparison (their lower end is at least cut) and
// which below it.
func (c column) threshold(
	op string, v float64,
) (cut float64, below func(code int, hi float64) bool) {
	last := c.bins() - 1
	strict := op == ">" || op == "<=" // x > v and its complement x ≤ v
	if c.whole() {
		// Whole numbers: hi is in the bin.
		cut = math.Ceil(v)
		if strict {
			cut = math.Floor(v) + 1
		}
		return cut, func(_ int, hi float64) bool { return hi < cut }
	}
	if strict {
		// A bin holds its lower end, so x > v cuts the bin that v is in, even at its edge.
		cut = next(v, false)
		return cut, func(code int, hi float64) bool {
			return hi <= v || hi <= cut && code < last
		}
	}
	return v, func(code int, hi float64) bool { return hi < v || hi == v && code < last }
}

func (c column) cutError(op, text string, code int) error {
	label, side := c.codec.Label(uint16(code)), "<"
	if strings.HasPrefix(op, ">") {
		side = ">="
	}
	lo, hi, _ := strings.Cut(strings.Trim(label, "[)]"), ", ")
	would := fmt.Sprintf("%s %s %s", c.name(), side, lo)
	if code < c.bins()-1 {
		would += fmt.Sprintf(" or %s %s %s", c.name(), side, hi)
	}
	return fmt.Errorf("%s %s %s cuts the bin %s: a bound must lie between two bins, as in %s",
		c.name(), op, text, label, would)
}

// value reads a number, date or time.
func (c column) value(text string) (float64, error) {
	v, ok := c.codec.ParseValue(text)
	if !ok {
		what := c.codec.Column().Kind.String()
		if after := c.codec.Column().After; after != "" {
			list, _ := c.schema.Overview() // of columns that were compiled before
			what = strings.TrimSpace(list[c.index].Unit + " after " + yamlfile.Quote(after))
		}
		return 0, fmt.Errorf("%q is not a value for column %q (%s)", text, c.name(), what)
	}
	return v, nil
}
