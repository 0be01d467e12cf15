package table

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
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
	sizes  []int
	leaves []exprLeaf // each distinct condition once
	exprs  []exprNode
}

type exprLeaf struct {
	column int
	weight []uint8 // Allow as numbers
}

// exprNode is an expression without its conditions.
type exprNode struct {
	op    byte // 'c': the leaf; '&', '|', '!': what its parts make
	leaf  int
	parts []exprNode
}

// CompileExprs checks expressions against the number of codes of each column. The error names the
// first expression, numbered from 0, that does not fit: a column out of range, an Allow list of
// another length, too many nested parts.
func CompileExprs(sizes []int, xs []Expr) (*Exprs, error) {
	e := &Exprs{sizes: slices.Clone(sizes)}
	known := map[string]int{}
	for i, x := range xs {
		node, err := e.compile(x, 1, known)
		if err != nil {
			return nil, fmt.Errorf("table: expression %d: %w", i, err)
		}
		e.exprs = append(e.exprs, node)
	}
	return e, nil
}

func (e *Exprs) compile(x Expr, depth int, known map[string]int) (out exprNode, err error) {
	if depth > maxExprDepth {
		return out, fmt.Errorf("more than %d nested parts", maxExprDepth)
	}
	switch x := x.(type) {
	case Condition:
		out.op = 'c'
		out.leaf, err = e.leaf(x, known)
	case And:
		out.op = '&'
	case Or:
		out.op = '|'
	case Not:
		out.op = '!'
	default:
		err = errExpr
	}
	for _, part := range partsOf(x) {
		node, bad := e.compile(part, depth+1, known)
		out.parts, err = append(out.parts, node), cmp.Or(err, bad)
	}
	return out, err
}

// leaf is the number of a condition among the leaves.
func (e *Exprs) leaf(x Condition, known map[string]int) (int, error) {
	if x.Column < 0 || x.Column >= len(e.sizes) || len(x.Allow) != e.sizes[x.Column] {
		return 0, fmt.Errorf("a condition does not fit column %d", x.Column)
	}
	weight := make([]uint8, len(x.Allow))
	for code, ok := range x.Allow {
		if ok {
			weight[code] = 1
		}
	}
	key := fmt.Sprint(x.Column, ":", string(weight))
	i, ok := known[key]
	if !ok {
		i = len(e.leaves)
		known[key] = i
		e.leaves = append(e.leaves, exprLeaf{x.Column, weight})
	}
	return i, nil
}

// Len is the number of expressions.
func (e *Exprs) Len() int { return len(e.exprs) }

// Key tells lists of expressions apart: on every table those with one key have the same counts.
func (e *Exprs) Key() string { return fmt.Sprint(e.exprs, e.leaves) }

const exprWords = 64 // 64-bit words of a block: 4096 rows

// exprBlock has a bit for each row of a block.
type exprBlock [exprWords]uint64

// CountExprs returns for each expression the number of rows for which it holds. It panics if they
// were compiled for other columns.
//
// Rows go through in blocks: each distinct condition becomes a bitmap of the block, the expressions
// combine bitmaps. That is about a nanosecond a row and condition and a sixteenth of one a row and
// operation, shared by all processors.
func (t *Table) CountExprs(e *Exprs) []int64 {
	if !slices.Equal(t.sizes, e.sizes) {
		panic("table: CountExprs: the expressions are for other columns")
	}
	const blockRows = 64 * exprWords
	blocks := (t.rows + blockRows - 1) / blockRows
	workers := max(1, min(runtime.GOMAXPROCS(0), blocks))
	counts := make([]int64, e.Len())
	shared(workers, counts, func(w int, part []int64) {
		maps := make([]exprBlock, len(e.leaves))
		for b := w; b < blocks; b += workers {
			t.countBlock(part, e, maps, b*blockRows, min(t.rows, (b+1)*blockRows))
		}
	})
	return counts
}

// countBlock adds the counts of rows lo to hi-1.
func (t *Table) countBlock(dst []int64, e *Exprs, maps []exprBlock, lo, hi int) {
	for i, leaf := range e.leaves {
		if col := t.cols[leaf.column]; col.U16 != nil {
			fillBits(&maps[i], col.U16[lo:hi], leaf.weight)
		} else {
			fillBits(&maps[i], col.U8[lo:hi], leaf.weight)
		}
	}
	var all exprBlock
	for i := range hi - lo {
		all[i/64] |= 1 << (i % 64)
	}
	for i := range e.exprs {
		x := e.exprs[i].bits(maps)
		for w := range x {
			dst[i] += int64(bits.OnesCount64(x[w] & all[w]))
		}
	}
}

// bits is where n holds, and anything behind the last row.
func (n *exprNode) bits(maps []exprBlock) (x exprBlock) {
	if n.op == 'c' {
		return maps[n.leaf]
	}
	for i := range n.parts {
		part := n.parts[i].bits(maps)
		for w, word := range part {
			if n.op == '&' {
				x[w] |= ^word // for now where it does not hold
			} else {
				x[w] |= word
			}
		}
	}
	if n.op != '|' {
		for w := range x {
			x[w] = ^x[w]
		}
	}
	return x
}

// fillBits sets bit i of the bitmap to weight[codes[i]].
func fillBits[C uint8 | uint16](dst *exprBlock, codes []C, weight []uint8) {
	for w := range dst {
		n := min(64, len(codes))
		word := uint64(0)
		for i, c := range codes[:n] {
			word |= uint64(weight[c]) << (i & 63)
		}
		dst[w], codes = word, codes[n:]
	}
}
