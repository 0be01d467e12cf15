package schema

import "slices"

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

func holds(sets []CodeSet, code func(column int) uint16) bool {
	for i := range sets {
		if !sets[i].Allow[code(sets[i].Column)] {
			return false
		}
	}
	return true
}

// allowed are the codes that the rules leave to column t of a row; nil: all. A rule that leaves no
// value beside earlier ones says nothing of the row.
func (r *RowCodec) allowed(t *then, code func(column int) uint16) []bool {
	var allow []bool
	for k, i := range t.rules {
		one := t.sets[k].Allow
		if !holds(r.rules[i].when, code) {
			continue
		}
		if allow != nil {
			both := make([]bool, len(one))
			for c, ok := range one {
				both[c] = allow[c] && ok
			}
			if one = both; !slices.Contains(one[:t.values], true) {
				continue
			}
		}
		allow = one
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
