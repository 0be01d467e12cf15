package eval

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/decoy-dp/decoy/data/table"
)

// encoder turns the codes of columns into what a metric computes with: features, bins, places.
type encoder[T any] struct {
	columns []column // those that are not left out
	at      []int    // their positions in the schema
	value   [][]T    // of every code of each
}

// newEncoder encodes all columns but those in drop; value gives what each code of column at is. It
// fails for an unknown column, if no column is left, and for a table without rows.
func newEncoder[T any](
	t *table.Table, drop []string, value func(at int, c column) []T,
) (encoder[T], error) {
	all, err := compatible(t)
	if err != nil {
		return encoder[T]{}, err
	}
	e := encoder[T]{}
	if e.at, err = without(t.Schema(), drop); err != nil {
		return encoder[T]{}, err
	}
	for _, at := range e.at {
		e.columns = append(e.columns, all[at])
		e.value = append(e.value, value(at, all[at]))
	}
	return e, nil
}

// encode gives what the rows of tables are, column by column, those of one table after another. The
// tables must have the columns of the encoder.
func (e encoder[T]) encode(tables ...*table.Table) ([][]T, error) {
	out := make([][]T, len(e.at))
	for _, t := range tables {
		all, err := compatible(t)
		if err != nil {
			return nil, err
		}
		for k, at := range e.at {
			if at >= len(all) || !all[at].equal(e.columns[k]) {
				return nil, fmt.Errorf("the table has no column %d %q as it is known: %w", at+1,
					e.columns[k].name, ErrTables)
			}
			out[k] = slices.Grow(out[k], t.Rows())
			forEachCode(t.Column(at), func(_, code int) { out[k] = append(out[k], e.value[k][code]) })
		}
	}
	return out, nil
}

// matrix is the design matrix of the rows of tables: a 0/1 feature for each code of a column, and
// last one that is 1 in every row. Of each row it has one feature of each column.
type matrix struct {
	width    int
	features [][]uint32 // of each column and row; the last column is the constant one
}

// newMatrix makes the design matrix of tables of the same columns, leaving out those in drop, and
// what makes that of other tables: fit on the one, predict on the other.
func newMatrix(
	drop []string, tables ...*table.Table,
) (m *matrix, like func(...*table.Table) (*matrix, error), err error) {
	width := 0
	e, err := newEncoder(tables[0], drop, func(_ int, c column) []uint32 {
		out := make([]uint32, c.size)
		for code := range out {
			out[code] = uint32(width)
			width++
		}
		return out
	})
	if err != nil {
		return nil, nil, err
	}
	like = func(tables ...*table.Table) (*matrix, error) {
		features, err := e.encode(tables...)
		if err != nil {
			return nil, err
		}
		constant := slices.Repeat([]uint32{uint32(width)}, len(features[0]))
		return &matrix{width + 1, append(features, constant)}, nil
	}
	m, err = like(tables...)
	return m, like, err
}

func (m *matrix) dims() (rows, features int) { return len(m.features[0]), m.width }

// mulTo stores the product of the matrix with w, one number a row, in dst. dst and w must not
// overlap.
func (m *matrix) mulTo(dst, w []float64) {
	clear(dst)
	for _, features := range m.features {
		for i, f := range features {
			dst[i] += w[f]
		}
	}
}

// tmulTo stores the product of the transposed matrix with r, one number a feature, in dst. dst and
// r must not overlap.
func (m *matrix) tmulTo(dst, r []float64) {
	clear(dst)
	for _, features := range m.features {
		for i, f := range features {
			dst[f] += r[i]
		}
	}
}

// diagonalTo stores the diagonal of Xᵀ·diag(d)·X in dst, which for features of 0 and 1 is Xᵀ·d.
func (m *matrix) diagonalTo(dst, d []float64) { m.tmulTo(dst, d) }

func forEachCode(c table.Codes, f func(i, code int)) {
	for i, code := range c.U8 {
		f(i, int(code))
	}
	for i, code := range c.U16 {
		f(i, int(code))
	}
}

// byCount is the codes, the commonest first.
func byCount(count []int64) []int {
	order := allColumns(len(count))
	slices.SortStableFunc(order, func(a, b int) int { return int(count[b] - count[a]) })
	return order
}

// Commonest gives each of so many of the commonest codes a group, and all others one in common.
func Commonest(count []int64, most int) (group []int, size int) {
	group = make([]int, len(count))
	for rank, code := range byCount(count) {
		group[code] = min(rank, most)
	}
	return group, min(len(count), most+1)
}

// Groups joins the codes of each column into at most so many groups: those of a number into bins of
// about equally many rows of t, and all but the commonest categories into one. It gives the group
// of each code, by column, and the number of groups of each. A table without rows is an error that
// wraps [ErrTables].
func Groups(t *table.Table, most int) (of [][]int, sizes []int, err error) {
	columns, err := compatible(t)
	of, sizes = make([][]int, len(columns)), make([]int, len(columns))
	for at, c := range columns {
		of[at], sizes[at] = c.joined(t.Counts(at), most)
	}
	return of, sizes, err
}

// joined is [Groups] of a column with these counts of its codes.
func (c column) joined(count []int64, most int) (group []int, size int) {
	if c.numeric() {
		return c.even(count, most-1)
	}
	return Commonest(count, most-1)
}

// PMSEResult is the propensity score mean squared error, beside what chance alone would make of it.
type PMSEResult struct {
	PMSE float64
	// (k−1)·(1−c)²·c/N, for synthetic rows drawn from the distribution of the real rows at hand; k
	// weights, the intercept included, that do not depend on others
	Expected float64
	// PMSE/Expected: about 1 for such rows, 1/(1−c), that is 2 at equal sizes, for a fresh sample
	// of the population, more if the tables differ
	Ratio float64
}

// PMSE tells how well a logistic regression of main effects, without penalty,
// separates synthetic rows from real ones: with p_i the fitted probability that
// row i of all N rows is synthetic and c the share that is, it is (1/N)·Σ(p_i − c)².
//
// Name PMSE. Alias pMSE, propensity score (synthpop's utility.gen, SDNist). Range
// 0 to c(1−c), at most .25; goal: 0, or a Ratio of 1 to 2. Source: Snoke, Raab,
// Nowok, Dibben & Slavkovic 2018, JRSS A 181(3), section 3.1 and theorem 1.
//
// A category that only one of the tables has pulls the propensity of its rows to
// 0 or 1, and the fit stops when it no longer gains. Errors wrap [ErrTables].
func PMSE(real, synthetic *table.Table) (PMSEResult, error) {
	x, _, err := newMatrix(nil, real, synthetic)
	if err != nil {
		return PMSEResult{}, err
	}
	out, _, err := pmse(x, real.Rows())
	if err != nil {
		return out, err
	}
	if weights := x.rank() - 1; weights > 0 {
		n, m := float64(real.Rows()), float64(synthetic.Rows())
		out.Expected = float64(weights) * n * n * m / math.Pow(n+m, 4)
		out.Ratio = out.PMSE / out.Expected
	}
	return out, nil
}

// widest is the most features of which the dependence is looked at.
const widest = 512

// rank is how many features do not depend on others: the constant one is the sum of those of each
// column. Of more than widest features it is what it would be if nothing else depended on anything.
func (m *matrix) rank() int {
	columns := m.features[:len(m.features)-1]
	n, at := 0, make([]int, m.width) // the features that occur, counted from 1 column by column
	for _, features := range columns {
		for _, f := range features {
			if at[f] == 0 {
				n++
				at[f] = n
			}
		}
	}
	if n > widest {
		return n - len(columns) + 1
	}
	both := make([]float64, n*n) // rows that have two features
	for j, second := range columns {
		for _, first := range columns[:j+1] {
			for i, f := range first {
				both[(at[f]-1)*n+at[second[i]]-1]++
			}
		}
	}
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, both[i*n+j]/math.Sqrt(both[i*n+i]*both[j*n+j]))
		}
	}
	var eigen mat.EigenSym
	rank := 0
	if eigen.Factorize(gram, false) {
		for _, v := range eigen.Values(nil) {
			rank += int(indicator(v > 1e-9))
		}
	}
	return rank
}

// pmse fits the regression (the first n rows are real, the others synthetic, the positive class)
// and sums up its propensities.
func pmse(x design, n int) (PMSEResult, logistic, error) {
	rows, _ := x.dims()
	y := make([]bool, rows)
	for i := n; i < rows; i++ {
		y[i] = true
	}
	fit, err := fitLogistic(x, y, math.Inf(1))
	if err != nil {
		return PMSEResult{}, nil, err
	}
	c := float64(rows-n) / float64(rows)
	var out PMSEResult
	for _, s := range fit.scores(x) {
		d := sigmoid(s) - c
		out.PMSE += d * d / float64(rows)
	}
	return out, fit, nil
}
