package schema

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Rule rules out combinations of cells: in a row for which all of When hold, all of Then do. A
// missing cell satisfies any Then and no When.
type Rule struct {
	When, Then []Cells // at least one each
}

// Cells are some cells of a column.
type Cells struct {
	Column string
	Values []string // of a column without an order: the categories
	// of one with an order, as texts: from ≤ value, and value ≤ to or value < below; "" sets no limit
	From, To, Below string
}

// CodeSet is some codes of a column.
type CodeSet struct {
	Column int
	Allow  []bool // by code
	first  uint16 // the first of the Values
}

// rule is a Rule about codes.
type rule struct{ when, then []CodeSet }

// then is a column that rules are about, in an order in which a column comes behind those that
// decide about it.
type then struct {
	column  int
	values  int  // its codes but for the missing one
	ordered bool // nearest is by distance
	rules   []int
	sets    []CodeSet // of these rules
}

// RuleCodes calls do with the codes of each rule.
func (r *RowCodec) RuleCodes(do func(when, then []CodeSet)) {
	for _, x := range r.rules {
		do(x.when, x.then)
	}
}

func holds(sets []CodeSet, code func(column int) uint16) bool {
	for i := range sets {
		if !sets[i].Allow[code(sets[i].Column)] {
			return false
		}
	}
	return true
}

// allowed are the codes that the rules leave to column t of a row; nil: all.
func (r *RowCodec) allowed(t *then, codes []uint16) []bool {
	return r.allowedBy(t, func(c int) uint16 { return codes[c] })
}

func (r *RowCodec) allowedBy(t *then, code func(column int) uint16) []bool {
	var allow []bool
	shared := true
	for k, i := range t.rules {
		if !holds(r.rules[i].when, code) {
			continue
		}
		if allow == nil {
			allow = t.sets[k].Allow
			continue
		}
		if shared {
			allow, shared = slices.Clone(allow), false
		}
		for c, ok := range t.sets[k].Allow {
			allow[c] = allow[c] && ok
		}
	}
	return allow
}

// nearest is the allowed code that a code is changed to: the nearest by position or, without an
// order, the first that the last rule names and all allow.
func (t *then) nearest(allow []bool, code uint16) uint16 {
	if t.ordered {
		for d := range t.values {
			if i := int(code) - d; i >= 0 && allow[i] {
				return uint16(i)
			}
			if i := int(code) + d; i < t.values && allow[i] {
				return uint16(i)
			}
		}
	}
	for k := len(t.sets) - 1; k >= 0; k-- {
		if f := t.sets[k].first; allow[f] {
			return f
		}
	}
	return uint16(slices.Index(allow, true))
}

// tries is how often a partner is looked for, for a row that breaks a rule.
const tries = 64

// Repair changes rows of codes, column by column, so that they keep the rules: the cell of a row
// that breaks one is exchanged with that of another row, drawn with u, which leaves the shares of
// every column as they are; if none is found for it in 64 draws, it takes the nearest allowed code.
// The rows are synthetic: this is post-processing.
func (r *RowCodec) Repair(codes [][]uint16, u *rand.Rand) {
	for k := range r.thens {
		t := &r.thens[k]
		cells := codes[t.column]
		at := func(row int) []bool {
			return r.allowedBy(t, func(c int) uint16 { return codes[c][row] })
		}
	rows:
		for row := range cells {
			allow := at(row)
			if allow == nil || allow[cells[row]] {
				continue
			}
			for range tries {
				j, _ := bits.Mul64(u.Uint64(), uint64(len(cells)))
				other := int(j)
				if !allow[cells[other]] {
					continue
				}
				if theirs := at(other); theirs == nil || theirs[cells[row]] {
					cells[row], cells[other] = cells[other], cells[row]
					continue rows
				}
			}
			cells[row] = t.nearest(allow, cells[row])
		}
	}
}

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
