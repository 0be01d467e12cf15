package table

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
)

// Expr is a boolean expression over the codes of one row: a [Condition], [And], [Or] or [Not]. The
// set is sealed.
type Expr interface{ expression() }

// Condition allows some codes of one column.
type Condition struct {
	Column int
	Allow  []bool // Allow[code]; as long as the column has codes
}

// And holds where all its parts do; the empty And holds for every row.
type And []Expr

// Or holds where one of its parts does; the empty Or holds for no row.
type Or []Expr

// Not holds where its part does not.
type Not struct{ Of Expr }

func (Condition) expression() {}
func (And) expression()       {}
func (Or) expression()        {}
func (Not) expression()       {}

// maxExprDepth is how deep parts may be nested.
const maxExprDepth = 200

// errExpr is what [CompileExprs] says about a type from elsewhere.
var errExpr = errors.New("not a Condition, And, Or or Not")

// partsOf are the parts of an expression.
func partsOf(x Expr) []Expr {
	switch x := x.(type) {
	case And:
		return x
	case Or:
		return x
	case Not:
		return []Expr{x.Of}
	}
	return nil
}

// Columns adds the columns that x touches to cols, which is kept sorted and free of duplicates.
func Columns(x Expr, cols []int) []int {
	if c, is := x.(Condition); is {
		if i, found := slices.BinarySearch(cols, c.Column); !found {
			cols = slices.Insert(cols, i, c.Column)
		}
	}
	for _, part := range partsOf(x) {
		cols = Columns(part, cols)
	}
	return cols
}

// Holds reports whether x holds for a row, whose code of a column is code(column). x must be one
// that [CompileExprs] accepts.
func Holds(x Expr, code func(column int) uint16) bool {
	switch x := x.(type) {
	case Condition:
		return x.Allow[code(x.Column)]
	case And:
		return !slices.ContainsFunc(x, func(part Expr) bool { return !Holds(part, code) })
	case Or:
		return slices.ContainsFunc(x, func(part Expr) bool { return Holds(part, code) })
	case Not:
		return !Holds(x.Of, code)
	}
	panic("table: Holds: " + errExpr.Error())
}

// Exprs is a list of expressions made ready for counting. It is immutable and shares no memory with
// what it was made from.
type Exprs struct {
	sizes []int
	exprs []Expr
}

// CompileExprs checks expressions against the number of codes of each column. The error names the
// first expression, numbered from 0, that does not fit: a column out of range, an Allow list of
// another length, too many nested parts.
func CompileExprs(sizes []int, xs []Expr) (*Exprs, error) {
	e := &Exprs{sizes: slices.Clone(sizes)}
	for i, x := range xs {
		own, err := e.compile(x, 1)
		if err != nil {
			return nil, fmt.Errorf("table: expression %d: %w", i, err)
		}
		e.exprs = append(e.exprs, own)
	}
	return e, nil
}

// compile returns a copy of x.
func (e *Exprs) compile(x Expr, depth int) (Expr, error) {
	if depth > maxExprDepth {
		return nil, fmt.Errorf("more than %d nested parts", maxExprDepth)
	}
	var parts []Expr
	for _, part := range partsOf(x) {
		own, err := e.compile(part, depth+1)
		if err != nil {
			return nil, err
		}
		parts = append(parts, own)
	}
	switch x := x.(type) {
	case Condition:
		if x.Column < 0 || x.Column >= len(e.sizes) || len(x.Allow) != e.sizes[x.Column] {
			return nil, fmt.Errorf("a condition does not fit column %d", x.Column)
		}
		return Condition{x.Column, slices.Clone(x.Allow)}, nil
	case And:
		return And(parts), nil
	case Or:
		return Or(parts), nil
	case Not:
		return Not{parts[0]}, nil
	}
	return nil, errExpr
}

// Len is the number of expressions.
func (e *Exprs) Len() int { return len(e.exprs) }

// Key tells lists of expressions apart: on every table those with one key have the same counts.
func (e *Exprs) Key() string { return fmt.Sprintf("%#v", e.exprs) }

const exprRows = 4096 // rows of a block

// CountExprs returns for each expression the number of rows for which it holds. It panics if they
// were compiled for other columns.
//
// That is some nanoseconds a row and part of an expression, in blocks of rows that all processors
// share.
func (t *Table) CountExprs(e *Exprs) []int64 {
	if !slices.Equal(t.sizes, e.sizes) {
		panic("table: CountExprs: the expressions are for other columns")
	}
	blocks := (t.rows + exprRows - 1) / exprRows
	workers := max(1, min(runtime.GOMAXPROCS(0), blocks))
	counts := make([]int64, e.Len())
	shared(workers, counts, func(w int, part []int64) {
		for b := w; b < blocks; b += workers {
			lo := b * exprRows
			for i, x := range e.exprs {
				for _, holds := range t.hold(x, lo, min(t.rows, lo+exprRows)) {
					if holds {
						part[i]++
					}
				}
			}
		}
	})
	return counts
}

// hold reports for rows lo to hi-1 whether x holds.
func (t *Table) hold(x Expr, lo, hi int) []bool {
	out := make([]bool, hi-lo)
	if c, is := x.(Condition); is {
		col := t.cols[c.Column]
		for i := range out {
			out[i] = c.Allow[col.At(lo+i)]
		}
		return out
	}
	_, or := x.(Or)
	for _, part := range partsOf(x) {
		for i, holds := range t.hold(part, lo, hi) {
			out[i] = out[i] || holds == or // of And for now, as of Not, where a part does not hold
		}
	}
	if _, is := x.(And); is {
		for i := range out {
			out[i] = !out[i]
		}
	}
	return out
}
