package workload

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/marginal"
)

// maxTerms is the most products that a condition is turned into.
const maxTerms = 4096

// expected is the expected number of rows of a model that satisfy the condition of a count.
func (it Item) expected(m *marginal.Model, g *marginal.Grouping) (float64, error) {
	sum := 0.0
	err := it.products(g.CodeSizes(), func(_ map[int][]bool, shares map[int][]float64) {
		weights := make(map[int][]float64, len(shares))
		for c, x := range shares {
			weights[c] = g.Weights(c, x)
		}
		sum += m.Expect(weights)
	})
	return sum, err
}

// Cells is how many cells of the table over its columns one number of the item adds up, +Inf where
// the condition has too many products. sizes are the codes of each column.
func (it Item) Cells(sizes []int) float64 {
	if !it.IsCount() {
		return 1
	}
	sum := 0.0
	err := it.products(sizes, func(_ map[int][]bool, shares map[int][]float64) {
		cells := 1.0
		for _, c := range it.Columns() {
			n := sizes[c]
			for _, share := range shares[c] { // none if the product does not restrict the column
				if share == 0 {
					n--
				}
			}
			cells *= float64(n)
		}
		sum += cells
	})
	if err != nil {
		return math.Inf(1)
	}
	return sum
}

// Impossible reports whether an item counts rows that the schema allows none of, such as those
// above the greatest value of a column.
func (it Item) Impossible() bool {
	if !it.IsCount() {
		return false
	}
	value, open := decide(it.Where, nil)
	return open < 0 && !value
}

// decide is the value of x in rows whose codes of some columns are known. If that leaves it open,
// open is a column that it hangs on; else open is -1. A condition that allows all codes of its
// column, or none, hangs on nothing.
func decide(x table.Expr, known map[int]uint16) (value bool, open int) {
	list := func(parts []table.Expr, neutral bool) (bool, int) {
		open := -1
		for _, p := range parts {
			switch v, o := decide(p, known); {
			case o >= 0 && open < 0:
				open = o
			case o < 0 && v != neutral:
				return v, -1
			}
		}
		return neutral, open
	}
	switch x := x.(type) {
	case table.Condition:
		if code, ok := known[x.Column]; ok {
			return x.Allow[code], -1
		}
		some, all := slices.Contains(x.Allow, true), !slices.Contains(x.Allow, false)
		if some && !all {
			return false, x.Column
		}
		return some, -1
	case table.And:
		return list(x, true)
	case table.Or:
		return list(x, false)
	case table.Not:
		v, o := decide(x.Of, known)
		return !v, o
	}
	panic(fmt.Sprintf("workload: a condition of type %T", x))
}

// signature tells which conditions of x on a column allow a code: codes with the same one can be
// told apart by nothing in x.
func signature(x table.Expr, column int, code uint16) (out string) {
	var parts []table.Expr
	switch x := x.(type) {
	case table.Condition:
		if x.Column == column {
			return strconv.FormatBool(x.Allow[code])
		}
	case table.And:
		parts = x
	case table.Or:
		parts = x
	case table.Not:
		parts = []table.Expr{x.Of}
	}
	for _, p := range parts {
		out += signature(p, column, code)
	}
	return out
}

// products writes a condition as disjoint products and calls do with each: the codes that it
// allows, one entry a code, of each column that it restricts; do may keep the map. sizes are the
// codes of each column.
//
// It is Shannon expansion: fix a column that the condition hangs on; codes that decide it go
// together, and so do codes that the condition does not tell apart; repeat. A conjunction is one
// product, a disjunction of d columns d. More than 4096 products are refused (ErrTooLarge).
func products(x table.Expr, sizes []int, do func(allow map[int][]bool)) error {
	known, fixed, terms := map[int]uint16{}, map[int][]bool{}, 0
	var expand func() error
	expand = func() error {
		value, c := decide(x, known)
		if c < 0 && !value {
			return nil
		}
		if c < 0 {
			if terms++; terms > maxTerms {
				return fmt.Errorf("%w products: the condition is not a sum of %d or fewer",
					ErrTooLarge, maxTerms)
			}
			do(maps.Clone(fixed))
			return nil
		}
		defer delete(known, c)
		defer delete(fixed, c)
		var order []string // of classes, by their first code
		classes := map[string][]bool{}
		for code := range sizes[c] {
			known[c] = uint16(code)
			key := ""
			if value, open := decide(x, known); open >= 0 {
				key = signature(x, c, uint16(code))
			} else if !value {
				continue
			}
			if classes[key] == nil {
				classes[key] = make([]bool, sizes[c])
				order = append(order, key)
			}
			classes[key][code] = true
		}
		for _, key := range order {
			fixed[c] = classes[key]
			known[c] = uint16(slices.Index(fixed[c], true))
			if err := expand(); err != nil {
				return err
			}
		}
		return nil
	}
	return expand()
}

// Run is the cells from Lo to Hi−1 of a table.
type Run struct{ Lo, Hi int32 }

// Runs lists the cells of a table over cols (row-major, last fastest; sizes[c] codes of column c;
// fewer than 2³¹ cells) for which x holds, as increasing runs with gaps between them. x must touch
// only columns in cols.
func Runs(x table.Expr, sizes, cols []int) (out []Run) {
	cells := 1
	for _, c := range cols {
		cells *= sizes[c]
	}
	known := map[int]uint16{}
	var visit func(at, lo, cells int)
	visit = func(at, lo, cells int) {
		value, open := decide(x, known)
		switch last := len(out) - 1; {
		case open >= 0:
			c := cols[at]
			inner := cells / sizes[c]
			for code := range sizes[c] {
				known[c] = uint16(code)
				visit(at+1, lo+code*inner, inner)
			}
			delete(known, c)
		case !value || cells == 0:
		case last >= 0 && out[last].Hi == int32(lo):
			out[last].Hi = int32(lo + cells)
		default:
			out = append(out, Run{int32(lo), int32(lo + cells)})
		}
	}
	visit(0, 0, cells)
	return out
}
