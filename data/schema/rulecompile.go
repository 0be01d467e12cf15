package schema

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// The bounds of rules: of the time that a row takes, and of the memory of their sets of codes.
const (
	maxRules     = 1000
	maxRuleCodes = 1 << 23 // of the columns that all of them name
)

// compileRules turns the rules into sets of codes, and orders the columns that they are about.
func (r *RowCodec) compileRules(ps *problems, s *Schema) {
	before := len(ps.found)
	if len(s.Rules) > maxRules {
		ps.add(-1, "rules", -1, "%d rules; %d are the most", len(s.Rules), maxRules)
		return
	}
	byColumn := map[int]*then{}
	for j, x := range s.Rules {
		fail := func(format string, args ...any) {
			ps.add(-1, "rules", j, "rule number %d: "+format, append([]any{j + 1}, args...)...)
		}
		if len(x.When) == 0 || len(x.Then) == 0 {
			fail("a rule needs when and then")
			continue
		}
		var y rule
		for i, cells := range append(slices.Clone(x.When), x.Then...) {
			set, why := r.codeSet(s, cells)
			switch {
			case why != "":
				fail("column %s: %s", yamlfile.Quote(cells.Column), why)
			case i < len(x.When):
				y.when = append(y.when, set)
			default:
				if c := r.codecs[set.Column]; c.values < c.size {
					set.Allow[c.values] = true
				}
				y.then = append(y.then, set)
			}
		}
		r.rules = append(r.rules, y)
		if len(ps.found) > before {
			continue
		}
		for _, set := range y.then {
			t := byColumn[set.Column]
			if t == nil {
				c := r.codecs[set.Column]
				t = &then{column: set.Column, values: c.size - min(len(c.column.Missing), 1),
					ordered: c.bins != nil}
				byColumn[set.Column] = t
			}
			if slices.Contains(t.rules, j) {
				fail("then names column %s twice", yamlfile.Quote(s.Columns[set.Column].Name))
			}
			t.rules, t.sets = append(t.rules, j), append(t.sets, set)
		}
	}
	if len(ps.found) == before {
		r.orderRules(ps, byColumn)
	}
}

// orderRules puts the columns that rules are about in their order.
func (r *RowCodec) orderRules(ps *problems, byColumn map[int]*then) {
	order, circle := rounds(len(r.codecs), func(i int, placed []bool) bool {
		if byColumn[i] == nil {
			return true
		}
		for _, j := range byColumn[i].rules {
			for _, w := range r.rules[j].when {
				if byColumn[w.Column] != nil && !placed[w.Column] {
					return false
				}
			}
		}
		return true
	})
	if circle >= 0 {
		ps.add(-1, "rules", -1, "rules go round in a circle: a column decides about another, which "+
			"decides about it")
	}
	for _, i := range order {
		if t := byColumn[i]; t != nil {
			r.thens = append(r.thens, *t)
		}
	}
}

// rounds lists the numbers below n, over and over, as they are ready behind others that are placed.
// If they go round in a circle it gives one that never is, else −1.
func rounds(n int, ready func(i int, placed []bool) bool) (order []int, circle int) {
	placed := make([]bool, n)
	for before := -1; before < len(order); {
		before, circle = len(order), -1
		for i := range n {
			switch {
			case placed[i]:
			case ready(i, placed):
				placed[i], order = true, append(order, i)
			default:
				circle = i
			}
		}
	}
	return order, circle
}

// codeSet gives the codes of cells, or why there are none.
func (r *RowCodec) codeSet(s *Schema, x Cells) (set CodeSet, why string) {
	i := s.Index(x.Column)
	if i < 0 {
		return set, "not a column that a model has"
	}
	c := r.codecs[i]
	if r.ruled += c.size; r.ruled > maxRuleCodes {
		return set, fmt.Sprintf("the columns that when and then name have more than %d codes (bins or "+
			"categories), of all rules together: this one has %d; name fewer, or give them fewer bins",
			maxRuleCodes, c.size)
	}
	set = CodeSet{Column: i, Allow: make([]bool, c.size)}
	ranged := x.From != "" || x.To != "" || x.Below != ""
	switch {
	case c.bins == nil && ranged:
		return set, "its values have no order: list them"
	case (c.bins == nil) != (len(x.Values) > 0):
		return set, "give the values of a column without an order, and from, to or below for one with"
	case s.Columns[i].BuyBins > 0:
		return set, "its bins are bought, so where they begin is not known"
	case c.bins != nil && (!ranged || x.To != "" && x.Below != ""):
		return set, "give from, and to or below"
	case c.bins != nil:
		if set.Allow, why = c.rangeOf(x); why != "" {
			return set, why
		}
		set.first = uint16(max(slices.Index(set.Allow, true), 0))
	}
	for k, text := range x.Values {
		code := slices.Index(c.column.Categories, text)
		if code < 0 {
			return set, fmt.Sprintf("%s is not one of its categories", yamlfile.Quote(text))
		}
		set.Allow[code] = true
		if k == 0 {
			set.first = uint16(code)
		}
	}
	return set, ""
}

// rangeOf is codeSet for a column with an order: bins are in the range or out of it.
func (c *Codec) rangeOf(x Cells) (allow []bool, why string) {
	from, below := math.Inf(-1), math.Inf(1)
	for _, f := range x.limits() {
		text := *f.at.(*string)
		v, ok := c.ParseValue(text)
		switch {
		case text == "":
		case !ok:
			return nil, fmt.Sprintf("%s is not a value of kind %s", yamlfile.Quote(text), c.column.Kind)
		case f.key == "from":
			from = v
		case f.key == "to":
			below = c.Next(v)
		default:
			below = v
		}
	}
	allow, cut := c.Between(from, below)
	switch {
	case cut >= 0:
		return nil, fmt.Sprintf("the range cuts the bin %s: it must begin and end between two bins",
			c.Label(uint16(cut)))
	case !slices.Contains(allow, true):
		return nil, "the range has none of its values"
	}
	return allow, ""
}
