package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/table"
)

// maxTerms is the most products that a condition is turned into.
const maxTerms = 4096

// expected is the expected number of rows of a model that satisfy the condition of a count.
func (it Item) expected(m *marginal.Model, g *marginal.Grouping) (float64, error) {
	sum := 0.0
	err := it.Products(g.CodeSizes(), func(_ map[int][]bool, shares map[int][]float64) {
		weights := make(map[int][]float64, len(shares))
		for c, x := range shares {
			weights[c] = g.Weights(c, x)
		}
		sum += m.Expect(weights)
	})
	return sum, err
}

// products writes a condition as disjoint products and calls do with each: the codes that it
// allows, one entry a code, of each column that it restricts; do may keep the map. sizes are the
// codes of each column.
//
// It is Shannon expansion: fix a column that the condition touches; codes that leave the same
// condition on the other columns go together; repeat. A conjunction is one product, a disjunction
// of d columns d. More than 4096 products are refused (ErrTooLarge).
func products(x table.Expr, sizes []int, do func(allow map[int][]bool)) error {
	e := expander{sizes: sizes, fixed: map[int][]bool{}, do: do}
	return e.expand(simplify(x))
}

type expander struct {
	sizes []int
	fixed map[int][]bool // codes, per column fixed so far
	terms int
	do    func(allow map[int][]bool)
}

func (e *expander) expand(x table.Expr) error {
	if constant, value := constantOf(x); constant {
		if value {
			if e.terms++; e.terms > maxTerms {
				return fmt.Errorf("%w products: the condition is not a sum of %d or fewer",
					ErrTooLarge, maxTerms)
			}
			e.do(maps.Clone(e.fixed))
		}
		return nil
	}
	c := table.Columns(x, nil)[0]
	// Codes by what they leave of x.
	type class struct {
		rest  table.Expr
		codes []bool
	}
	var classes []*class
	bySignature, byRest := map[string]*class{}, map[string]*class{}
	conditions := conditionsOn(x, c, nil)
	for code := range e.sizes[c] {
		sig := make([]byte, len(conditions))
		for k, cond := range conditions {
			if cond.Allow[code] {
				sig[k] = 1
			}
		}
		cl := bySignature[string(sig)]
		if cl == nil {
			rest := simplify(fix(x, c, code))
			key := keyOf(rest)
			if cl = byRest[key]; cl == nil {
				cl = &class{rest, make([]bool, e.sizes[c])}
				byRest[key] = cl
				classes = append(classes, cl)
			}
			bySignature[string(sig)] = cl
		}
		cl.codes[code] = true
	}
	for _, cl := range classes {
		e.fixed[c] = cl.codes
		if err := e.expand(cl.rest); err != nil {
			return err
		}
	}
	delete(e.fixed, c)
	return nil
}

// conditionsOn lists the conditions of x on column c.
func conditionsOn(x table.Expr, c int, out []table.Condition) []table.Condition {
	switch x := x.(type) {
	case table.Condition:
		if x.Column == c {
			out = append(out, x)
		}
	case table.And:
		for _, p := range x {
			out = conditionsOn(p, c, out)
		}
	case table.Or:
		for _, p := range x {
			out = conditionsOn(p, c, out)
		}
	case table.Not:
		out = conditionsOn(x.Of, c, out)
	}
	return out
}

var always, never table.Expr = table.And{}, table.Or{}

func constantOf(x table.Expr) (constant, value bool) {
	switch x := x.(type) {
	case table.And:
		return len(x) == 0, true
	case table.Or:
		return len(x) == 0, false
	}
	return false, false
}

// Impossible reports whether an item counts rows that the schema allows none of, such as those
// above the greatest value of a column.
func (it Item) Impossible() bool {
	constant, value := constantOf(simplify(it.Where))
	return it.IsCount() && constant && !value
}

// fix replaces the conditions on column c by what they say of a code.
func fix(x table.Expr, c, code int) table.Expr {
	parts := func(xs []table.Expr) []table.Expr {
		out := make([]table.Expr, len(xs))
		for i, p := range xs {
			out[i] = fix(p, c, code)
		}
		return out
	}
	switch x := x.(type) {
	case table.Condition:
		switch {
		case x.Column != c:
			return x
		case x.Allow[code]:
			return always
		}
		return never
	case table.And:
		return table.And(parts(x))
	case table.Or:
		return table.Or(parts(x))
	case table.Not:
		return table.Not{Of: fix(x.Of, c, code)}
	}
	return x
}

// simplify removes constants: what is left is constant, or has none inside.
func simplify(x table.Expr) table.Expr {
	// neutral parts vanish, a part of the other value decides
	list := func(parts []table.Expr, neutral bool) (kept []table.Expr, decided bool) {
		for _, p := range parts {
			p = simplify(p)
			switch constant, value := constantOf(p); {
			case !constant:
				kept = append(kept, p)
			case value != neutral:
				return nil, true
			}
		}
		return kept, false
	}
	switch x := x.(type) {
	case table.Condition:
		if !slices.Contains(x.Allow, true) {
			return never
		}
		if !slices.Contains(x.Allow, false) {
			return always
		}
	case table.And:
		kept, decided := list(x, true)
		switch {
		case decided:
			return never
		case len(kept) == 1:
			return kept[0]
		}
		return table.And(kept)
	case table.Or:
		kept, decided := list(x, false)
		switch {
		case decided:
			return always
		case len(kept) == 1:
			return kept[0]
		}
		return table.Or(kept)
	case table.Not:
		of := simplify(x.Of)
		if constant, value := constantOf(of); constant {
			if value {
				return never
			}
			return always
		}
		return table.Not{Of: of}
	}
	return x
}

// keyOf tells expressions apart by their text.
func keyOf(x table.Expr) string {
	var b strings.Builder
	writeKey(&b, x)
	return b.String()
}

func writeKey(b *strings.Builder, x table.Expr) {
	list := func(sign string, parts []table.Expr) {
		b.WriteString(sign + "(")
		for _, p := range parts {
			writeKey(b, p)
		}
		b.WriteString(")")
	}
	switch x := x.(type) {
	case table.Condition:
		fmt.Fprintf(b, "%d:", x.Column)
		for _, ok := range x.Allow {
			if ok {
				b.WriteByte('1')
			} else {
				b.WriteByte('0')
			}
		}
		b.WriteByte(';')
	case table.And:
		list("&", x)
	case table.Or:
		list("|", x)
	case table.Not:
		list("!", []table.Expr{x.Of})
	}
}
