package privacy

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Limits of one query.
const (
	MaxCells      = 1 << 27 // of a [Marginal] or [Cells]
	MaxUnitRanges = 1 << 16 // of a [ContributionHistogram]
)

// Query is a question that counting answers: [Total], [Marginal], [Where], [Cells] or
// [ContributionHistogram]. It is a value and all of it is public. A mechanism copies it, checks the
// copy, derives its sensitivity from its kind and the session's relation, and counts it on the
// rows.
type Query interface{ query() }

// Total is the number of rows.
type Total struct{}

// Marginal is the contingency table over some columns of the schema: row-major, the last column
// fastest. The codes of a column may be merged into groups, which the caller chose from public or
// already noised knowledge; a row is still in exactly one cell.
type Marginal struct {
	Cols []int // distinct columns, in any order
	// Groups is nil, or has one entry a column: nil, or the group of each code, numbered from 0
	// without gaps.
	Groups [][]uint16
}

// Where is the number of rows for which an expression holds.
type Where struct{ Expr table.Expr }

// Cells counts rows in the cells of a rule.
type Cells struct{ Rule Rule }

// ContributionHistogram is how many units have how many rows in the file, before the gate bounds
// them to MaxRowsPerUnit: entry i counts the units with more than UpTo[i−1] (0 for i = 0) and at
// most UpTo[i] rows, the last of len(UpTo)+1 entries those with more. It needs an id column.
type ContributionHistogram struct {
	UpTo []int // increasing, from 1 or more; 1 to MaxUnitRanges of them
}

func (Total) query()                 {}
func (Marginal) query()              {}
func (Where) query()                 {}
func (Cells) query()                 {}
func (ContributionHistogram) query() {}

// sensitivity is how far one unit moves the counts of a query: each of them, and all of them in
// the norms L1 and L2, the last rounded up. It follows from the kind of the query (see
// [Neighbours]) and is infinite for a type of another package.
func (nb Neighbours) sensitivity(q Query) (each, l1, l2 float64) {
	k := nb.k()
	switch q.(type) {
	case Total, Where:
		return k, k, k
	case Marginal, Cells:
	case ContributionHistogram:
		k = 1 // a unit is counted once, however many rows it has
	default:
		return math.Inf(1), math.Inf(1), math.Inf(1)
	}
	if nb.Adjacency == accountant.ReplaceOne {
		return k, 2 * k, math.Nextafter(math.Sqrt2*k, math.Inf(1))
	}
	return k, k, k
}

// compiled is a query that fits the schema. It shares no memory with the caller.
type compiled struct {
	kind  Query  // of the same kind, for sensitivities
	key   string // all that the caller chose, but the inside of code
	what  string // in a few public words, for the ledger
	cells int
	code  bool       // the caller's code counts: its counts are not remembered
	where table.Expr // of a Where, which are counted together; else nil
	count func(s *session, t *table.Table) []int64
}

// compile copies a query and then checks the copy, without reading a row. The type switch is what
// seals Query: a type of another package that embeds one has the method too.
func (s *session) compile(q Query) (compiled, error) {
	switch q := q.(type) {
	case Total:
		return compiled{kind: q, key: "total", what: "number of rows", cells: 1,
			count: func(_ *session, t *table.Table) []int64 { return []int64{int64(t.Rows())} }}, nil
	case Marginal:
		return compileMarginal(s.schema.Sizes(), q.clone())
	case Where:
		sizes, nodes := s.schema.Sizes(), 0
		x, key, err := copyExpr(q.Expr, sizes, []byte("where"), 1, &nodes)
		return compiled{kind: Where{}, key: string(key), what: "a count", cells: 1, where: x}, err
	case Cells:
		return compileCells(q.Rule)
	case ContributionHistogram:
		return s.compileContributions(slices.Clone(q.UpTo))
	}
	return compiled{}, fmt.Errorf("%T is none of this package's queries", q)
}

// compileAll compiles queries, of which there is at least one.
func (s *session) compileAll(qs []Query) ([]compiled, error) {
	if len(qs) == 0 {
		return nil, fmt.Errorf("there is no query")
	}
	out := make([]compiled, len(qs))
	for i, q := range qs {
		var err error
		if out[i], err = s.compile(q); err != nil {
			return nil, fmt.Errorf("query %d: %w", i, err)
		}
	}
	return out, nil
}

// clone shares no memory with m.
func (m Marginal) clone() Marginal {
	m.Cols, m.Groups = slices.Clone(m.Cols), slices.Clone(m.Groups)
	for i, g := range m.Groups {
		m.Groups[i] = slices.Clone(g)
	}
	return m
}

// describe is the marginal in a few words.
func (m Marginal) describe() string {
	const most = 8
	text := "counts of columns"
	if len(m.Cols) == 1 {
		text = "counts of column"
	}
	for i, c := range m.Cols {
		if i == most {
			return fmt.Sprintf("%s and %d more", text, len(m.Cols)-most)
		}
		text += fmt.Sprintf(" %d", c+1)
	}
	return text
}

// compileMarginal checks m against the numbers of codes of the columns.
func compileMarginal(sizes []int, m Marginal) (compiled, error) {
	fail := func(format string, args ...any) (compiled, error) {
		return compiled{}, fmt.Errorf("a marginal: "+format, args...)
	}
	if m.Groups != nil && len(m.Groups) != len(m.Cols) {
		return fail("groups for %d of %d columns", len(m.Groups), len(m.Cols))
	}
	c := compiled{kind: m, what: m.describe(), cells: 1}
	key := binary.LittleEndian.AppendUint32([]byte("marginal"), uint32(len(m.Cols)))
	before, grouped := 1, false
	of := make([]int, len(m.Cols)) // groups of each column
	for i, col := range m.Cols {
		if col < 0 || col >= len(sizes) || slices.Contains(m.Cols[:i], col) {
			return fail("column %d is not in the schema or is named twice", col)
		}
		if before > MaxCells/sizes[col] {
			return fail("columns %v have more than %d cells", m.Cols, MaxCells)
		}
		before *= sizes[col]
		of[i] = sizes[col]
		key = binary.LittleEndian.AppendUint32(key, uint32(col))
		if m.Groups == nil || m.Groups[i] == nil {
			key = append(key, 0)
		} else {
			var err error
			if of[i], err = groupCount(m.Groups[i], sizes[col]); err != nil {
				return fail("column %d: %w", col, err)
			}
			key, grouped = append(key, 1), true
			for _, g := range m.Groups[i] { // as many as the column has codes
				key = binary.LittleEndian.AppendUint16(key, g)
			}
		}
		c.cells *= of[i]
	}
	c.key = string(key)
	var offsets [][]int32
	if grouped {
		offsets = m.offsets(sizes, of)
	}
	c.count = func(_ *session, t *table.Table) []int64 {
		counts := make([]int64, c.cells)
		if offsets == nil {
			t.CountTo(counts, m.Cols)
		} else {
			countOffsets(counts, t, m.Cols, offsets)
		}
		return counts
	}
	return c, nil
}

// groupCount is the number of groups of a map from size codes.
func groupCount(of []uint16, size int) (int, error) {
	if len(of) != size {
		return 0, fmt.Errorf("%d codes in the groups, %d in the schema", len(of), size)
	}
	used := make([]bool, size)
	n := 0
	for _, g := range of {
		if int(g) >= size {
			return 0, fmt.Errorf("group %d of %d codes", g, size)
		}
		if !used[g] {
			used[g] = true
			n++
		}
	}
	for g := range n {
		if !used[g] {
			return 0, fmt.Errorf("group numbers have gaps")
		}
	}
	return n, nil
}

// offsets is what each code of each column adds to the number of the merged cell.
func (m Marginal) offsets(sizes, groups []int) [][]int32 {
	out := make([][]int32, len(m.Cols))
	stride := int32(1)
	for i := len(m.Cols) - 1; i >= 0; i-- {
		out[i] = make([]int32, sizes[m.Cols[i]])
		for code := range out[i] {
			g := int32(code)
			if m.Groups[i] != nil {
				g = int32(m.Groups[i][code])
			}
			out[i][code] = g * stride
		}
		stride *= int32(groups[i])
	}
	return out
}

// countOffsets counts rows by the sum of their codes' offsets.
func countOffsets(counts []int64, t *table.Table, cols []int, offsets [][]int32) {
	var cell [4096]int32
	for lo := 0; lo < t.Rows(); lo += len(cell) {
		n := min(len(cell), t.Rows()-lo)
		clear(cell[:n])
		for i, col := range cols {
			codes := t.Column(col)
			if codes.U8 != nil {
				addOffsets(cell[:n], offsets[i], codes.U8[lo:])
			} else {
				addOffsets(cell[:n], offsets[i], codes.U16[lo:])
			}
		}
		for _, k := range cell[:n] {
			counts[k]++
		}
	}
}

func addOffsets[C uint8 | uint16](cell, offset []int32, codes []C) {
	codes = codes[:len(cell)]
	for r, code := range codes {
		cell[r] += offset[code]
	}
}

// compileContributions checks the ranges of a contribution histogram.
func (s *session) compileContributions(upTo []int) (compiled, error) {
	var none compiled
	if s.schema.Unit == "" {
		return none, fmt.Errorf("the schema names no unit, so each is one row: %w", schema.ErrInvalid)
	}
	if len(upTo) < 1 || len(upTo) > MaxUnitRanges {
		return none, fmt.Errorf("%d ranges of rows per unit, 1 to %d are possible",
			len(upTo), MaxUnitRanges)
	}
	last, key := 0, []byte("contributions")
	for _, n := range upTo {
		if n <= last {
			return none, fmt.Errorf("the ranges of rows per unit must increase from 1 or more")
		}
		last = n
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	return compiled{kind: ContributionHistogram{}, key: string(key), what: "rows per unit",
		cells: len(upTo) + 1,
		count: func(s *session, _ *table.Table) []int64 { return countUnits(s.units(), upTo) }}, nil
}

// countUnits counts the units by their number of rows.
func countUnits(units []uint32, upTo []int) []int64 {
	rows := map[uint32]int{}
	for _, u := range units {
		rows[u]++
	}
	counts := make([]int64, len(upTo)+1)
	for _, n := range rows {
		at, _ := slices.BinarySearch(upTo, n)
		counts[at]++
	}
	return counts
}

// Limits of one expression.
const (
	maxExprDepth = 200
	maxExprNodes = 1 << 20
)

// copyExpr copies an expression, checks the copy against the numbers of codes of the columns, and
// appends all of it to key.
func copyExpr(
	x table.Expr, sizes []int, key []byte, depth int, nodes *int,
) (table.Expr, []byte, error) {
	if *nodes++; depth > maxExprDepth || *nodes > maxExprNodes {
		return nil, nil, fmt.Errorf("an expression has more than %d nested parts, or %d in all",
			maxExprDepth, maxExprNodes)
	}
	parts := func(kind byte, xs []table.Expr) ([]table.Expr, error) {
		key = binary.LittleEndian.AppendUint32(append(key, kind), uint32(len(xs)))
		out := make([]table.Expr, len(xs))
		var err error
		for i := range out {
			if out[i], key, err = copyExpr(xs[i], sizes, key, depth+1, nodes); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	switch x := x.(type) {
	case table.Condition:
		x.Allow = slices.Clone(x.Allow)
		if x.Column < 0 || x.Column >= len(sizes) || len(x.Allow) != sizes[x.Column] {
			return nil, nil, fmt.Errorf("a condition does not fit column %d of the schema", x.Column)
		}
		key = binary.LittleEndian.AppendUint32(append(key, 'c'), uint32(x.Column))
		for _, ok := range x.Allow {
			if ok {
				key = append(key, 1)
			} else {
				key = append(key, 0)
			}
		}
		return x, key, nil
	case table.And:
		xs, err := parts('a', x)
		return table.And(xs), key, err
	case table.Or:
		xs, err := parts('o', x)
		return table.Or(xs), key, err
	case table.Not:
		xs, err := parts('n', []table.Expr{x.Of})
		if err != nil {
			return nil, nil, err
		}
		return table.Not{Of: xs[0]}, key, nil
	}
	return nil, nil, fmt.Errorf("%T is not a Condition, And, Or or Not", x)
}
