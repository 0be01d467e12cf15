package eval

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/table"
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
				return nil, fmt.Errorf("eval: the table has no column %d %q as it is known: %w", at+1,
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

// commonest gives each of so many of the commonest codes a group, and all others one in common.
func commonest(count []int64, most int) (group []int, size int) {
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
	return commonest(count, most-1)
}
