package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// exprTable has n random rows of columns of 3, 300 and 2 codes.
func exprTable(t testing.TB, n int, u *rand.Rand) *Table {
	t.Helper()
	s := &schema.Schema{}
	for i, size := range []int{3, 300, 2} {
		c := schema.Column{Name: fmt.Sprint("c", i), Kind: schema.Categorical}
		for k := range size {
			c.Categories = append(c.Categories, fmt.Sprint(k))
		}
		s.Columns = append(s.Columns, c)
	}
	cols := make([]Codes, 3)
	for i, size := range s.Sizes() {
		cols[i] = NewCodes(size, n)
		for r := range n {
			cols[i].Set(r, uint16(u.IntN(size)))
		}
	}
	tab := stattest.Must(FromColumns(s, cols, nil))
	return tab
}

// randomExpr draws an expression of limited depth.
func randomExpr(sizes []int, depth int, u *rand.Rand) Expr {
	switch k := u.IntN(5); {
	case depth == 0 || k < 2:
		c := Condition{Column: u.IntN(len(sizes))}
		c.Allow = make([]bool, sizes[c.Column])
		for i := range c.Allow {
			c.Allow[i] = u.IntN(2) == 0
		}
		return c
	case k == 2:
		return Not{randomExpr(sizes, depth-1, u)}
	default:
		parts := make([]Expr, u.IntN(4))
		for i := range parts {
			parts[i] = randomExpr(sizes, depth-1, u)
		}
		if k == 3 {
			return And(parts)
		}
		return Or(parts)
	}
}

// TestCountExprs compares the counts with the definition, on numbers of rows around the size of a
// block.
func TestCountExprs(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 63, 64, 65, 4095, 4096, 4097, 9000} {
		tab := exprTable(t, n, u)
		xs := []Expr{And{}, Or{}, Not{And{}}, And{Or{}, And{}}}
		for range 60 {
			xs = append(xs, randomExpr(tab.sizes, 5, u))
		}
		e := stattest.Must(CompileExprs(tab.sizes, xs))
		got := tab.CountExprs(e)
		for i, x := range xs {
			want := int64(0)
			for r := range n {
				if Holds(x, func(c int) uint16 { return tab.cols[c].At(r) }) {
					want++
				}
			}
			if got[i] != want {
				t.Errorf("%d rows, expression %d: %d, want %d", n, i, got[i], want)
			}
		}
	}
}

func TestColumnsOfExpr(t *testing.T) {
	x := And{Condition{Column: 2}, Or{Condition{Column: 0}, Not{Condition{Column: 2}}}}
	if got := Columns(x, nil); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("columns %v", got)
	}
}

// stranger is an expression of another package's making: embedding satisfies the interface, not the
// compiler of expressions.
type stranger struct{ And }

func TestCompileExprsRefuses(t *testing.T) {
	deep := Expr(And{})
	for range maxExprDepth + 1 {
		deep = Not{deep}
	}
	for name, x := range map[string]Expr{
		"column":   Condition{Column: 2, Allow: make([]bool, 3)},
		"negative": Condition{Column: -1},
		"length":   And{Condition{Column: 0, Allow: make([]bool, 2)}},
		"nil":      Or{nil},
		"stranger": stranger{},
		"deep":     deep,
	} {
		stattest.Fails(t, stattest.Err(CompileExprs([]int{3, 2}, []Expr{And{}, x})), "%s: accepted", name)
	}
	e, err := CompileExprs([]int{3, 2}, nil)
	if err != nil || e.Len() != 0 {
		t.Fatal(e, err)
	}
	stattest.Panics(t, func() { exprTable(t, 3, rand.New(rand.NewPCG(1, 2))).CountExprs(e) },
		"expressions for other columns")
}

// TestExprsAreCopies: changing a condition after compilation changes nothing.
func TestExprsAreCopies(t *testing.T) {
	tab := exprTable(t, 100, rand.New(rand.NewPCG(1, 2)))
	c := Condition{Column: 0, Allow: []bool{true, false, true}}
	e := stattest.Must(CompileExprs(tab.sizes, []Expr{c}))
	before := tab.CountExprs(e)[0]
	c.Allow[0] = false
	if got := tab.CountExprs(e)[0]; got != before {
		t.Errorf("the count changed from %d to %d", before, got)
	}
}
