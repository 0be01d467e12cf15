package schema

import (
	"fmt"
	"math"
	"slices"
)

// maxRules bounds the time that a row takes.
const maxRules = 1000

// compileRules turns the rules into sets of codes, and orders the columns that they are about.
func (r *RowCodec) compileRules(ps *problems, s *Schema) {
	before := len(ps.found)
	if len(s.Rules) > maxRules {
		ps.add(place{-1, keyRules, -1}, "", "%d rules; %d are the most", len(s.Rules), maxRules)
		return
	}
	byColumn := map[int]*then{}
	for j, x := range s.Rules {
		fail := func(format string, args ...any) {
			ps.add(place{-1, keyRules, j}, "", "rule number %d: "+format, append([]any{j + 1}, args...)...)
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
				fail("column %s: %s", quote(cells.Column), why)
			case i < len(x.When):
				y.when = append(y.when, set)
			default:
				if m := r.codecs[set.Column].missing; m >= 0 {
					set.Allow[m] = true
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
					ordered: c.order != nil}
				byColumn[set.Column] = t
			}
			for k, i := range t.rules {
				if i == j {
					fail("then names column %s twice", quote(s.Columns[set.Column].Name))
				} else if !disjoint(r.rules[i].when, y.when) && !t.agree(t.sets[k], set) {
					fail("it and rule number %d may both hold, and leave column %s nothing in common", i+1,
						quote(s.Columns[set.Column].Name))
				}
			}
			t.rules, t.sets = append(t.rules, j), append(t.sets, set)
		}
	}
	if len(ps.found) == before {
		r.orderRules(ps, byColumn)
	}
}

// agree reports whether rules that allow these codes can be kept together: ranges that meet have a
// code in common however many they are, lists have if the first value of the later is in both.
func (t *then) agree(a, b CodeSet) bool {
	if !t.ordered {
		return a.Allow[b.first]
	}
	for c := range t.values {
		if a.Allow[c] && b.Allow[c] {
			return true
		}
	}
	return false
}

// disjoint reports whether no row satisfies both.
func disjoint(a, b []CodeSet) bool {
	for _, x := range a {
		for _, y := range b {
			both := x.Column == y.Column
			for c := 0; both && c < len(x.Allow); c++ {
				both = !(x.Allow[c] && y.Allow[c])
			}
			if both {
				return true
			}
		}
	}
	return false
}

// orderRules puts the columns that rules are about in their order.
func (r *RowCodec) orderRules(ps *problems, byColumn map[int]*then) {
	for placed := map[int]bool{}; len(placed) < len(byColumn); {
		before := len(placed)
		for c := range r.codecs {
			t := byColumn[c]
			ready := t != nil && !placed[c]
			for k := 0; ready && k < len(t.rules); k++ {
				for _, w := range r.rules[t.rules[k]].when {
					ready = ready && (byColumn[w.Column] == nil || placed[w.Column])
				}
			}
			if ready {
				placed[c], r.thens = true, append(r.thens, *t)
			}
		}
		if len(placed) == before {
			ps.add(place{-1, keyRules, -1}, "", "rules go round in a circle: a column decides about "+
				"another, which decides about it")
			return
		}
	}
}

// codeSet gives the codes of cells, or why there are none.
func (r *RowCodec) codeSet(s *Schema, x Cells) (set CodeSet, why string) {
	i := s.Index(x.Column)
	if i < 0 {
		return set, "not a column that a model has"
	}
	c := r.codecs[i]
	set = CodeSet{Column: i, Allow: make([]bool, c.size)}
	switch {
	case c.order == nil && (x.From != "" || x.To != "" || x.Below != ""):
		return set, "its values have no order: list them"
	case c.order == nil && len(x.Values) == 0, c.order != nil && len(x.Values) > 0:
		return set, "give the values of a column without an order, and from, to or below for one with"
	case s.Columns[i].BuyBins > 0:
		return set, "its bins are bought, so where they begin is not known"
	case c.order != nil:
		return c.rangeSet(set, x)
	}
	for k, text := range x.Values {
		code := slices.Index(c.column.Categories, text)
		if code < 0 {
			return set, fmt.Sprintf("%s is not one of its categories", quote(text))
		}
		set.Allow[code] = true
		if k == 0 {
			set.first = uint16(code)
		}
	}
	return set, ""
}

// rangeSet is codeSet for a column with an order: bins are in the range or out of it.
func (c *Codec) rangeSet(set CodeSet, x Cells) (_ CodeSet, why string) {
	limit := func(text string, none float64) float64 {
		v, ok := c.ParseValue(text)
		if text != "" && !ok {
			why = fmt.Sprintf("%s is not a value of kind %s", quote(text), c.column.Kind)
		}
		if text == "" {
			return none
		}
		return v
	}
	from, to, below := limit(x.From, math.Inf(-1)), limit(x.To, math.Inf(1)),
		limit(x.Below, math.Inf(1))
	switch {
	case why != "":
		return set, why
	case x.From == "" && x.To == "" && x.Below == "", x.To != "" && x.Below != "":
		return set, "give from, and to or below"
	}
	found := false
	for b := range c.bins.count() {
		lo, hi := c.bins.bounds(b)
		open := !c.bins.whole && b < c.bins.count()-1 // hi is not in the bin
		ends := func(limit float64) bool { return hi < limit || open && hi == limit }
		before, behind := ends(from), lo > to || lo >= below
		in := lo >= from && hi <= to && ends(below)
		if !before && !behind && !in {
			return set, fmt.Sprintf("the range cuts the bin %s: it must begin and end between two bins",
				c.Label(uint16(b)))
		}
		if set.Allow[b] = in; in && !found {
			set.first, found = uint16(b), true
		}
	}
	if !found {
		return set, "the range has none of its values"
	}
	return set, ""
}
