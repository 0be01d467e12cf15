package eval

import (
	"fmt"

	"github.com/decoy-dp/decoy/table"
)

// matrix is the one-hot design matrix of a table: one row for each table row, one
// 0/1 feature for each code of a column. It is never stored as such: because the
// features of one column depend on that column's code alone, a product with it is
// a look-up in a table of codes. It is immutable and safe for concurrent use.
type matrix struct {
	rows, width int
	blocks      []block
}

// block is the features of one table column.
type block struct {
	position int // of the column in the schema
	column   column
	codes    table.Codes
	first    int // feature of code 0
}

// newMatrix makes the design matrix of t, leaving out the columns in drop. It
// fails for an unknown column, if no column is left, and for a table without rows.
func newMatrix(t *table.Table, drop ...string) (*matrix, error) {
	columns, err := compatible(t)
	if err != nil {
		return nil, err
	}
	take, err := without(t.Schema(), drop)
	if err != nil {
		return nil, err
	}
	m := &matrix{rows: t.Rows()}
	for _, i := range take {
		m.blocks = append(m.blocks,
			block{position: i, column: columns[i], codes: t.Column(i), first: m.width})
		m.width += columns[i].size
	}
	return m, nil
}

// like makes the design matrix of another table with the features of m: fit on m,
// predict on m.like(test). The tables must have the same columns.
func (m *matrix) like(t *table.Table) (*matrix, error) {
	columns, err := compatible(t)
	if err != nil {
		return nil, err
	}
	out := &matrix{rows: t.Rows(), width: m.width}
	for _, b := range m.blocks {
		if b.position >= len(columns) || !columns[b.position].equal(b.column) {
			return nil, fmt.Errorf("eval: the table has no column %d %q as the matrix has it: %w",
				b.position+1, b.column.name, ErrTables)
		}
		b.codes = t.Column(b.position)
		out.blocks = append(out.blocks, b)
	}
	return out, nil
}

func (m *matrix) dims() (rows, features int) { return m.rows, m.width }

// features is the part of a vector of one number a feature that belongs to b.
func (b *block) features(x []float64) []float64 { return x[b.first : b.first+b.column.size] }

// mulTo stores the product of the matrix with w, one number a row, in dst. dst
// and w must not overlap.
func (m *matrix) mulTo(dst, w []float64) {
	clear(dst)
	for _, b := range m.blocks {
		if b.codes.U16 != nil {
			addLookup(dst, b.features(w), b.codes.U16)
		} else {
			addLookup(dst, b.features(w), b.codes.U8)
		}
	}
}

// tmulTo stores the product of the transposed matrix with r, one number a
// feature, in dst. dst and r must not overlap.
func (m *matrix) tmulTo(dst, r []float64) {
	clear(dst)
	m.diagonalTo(dst, r)
}

// diagonalTo adds the diagonal of Xᵀ·diag(d)·X to dst, which for features of 0 and 1 is Xᵀ·d.
func (m *matrix) diagonalTo(dst, d []float64) {
	for _, b := range m.blocks {
		if b.codes.U16 != nil {
			sumByCode(b.features(dst), d, b.codes.U16)
		} else {
			sumByCode(b.features(dst), d, b.codes.U8)
		}
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// addScaled adds s·x to dst.
func addScaled(dst []float64, s float64, x []float64) {
	for i, v := range x {
		dst[i] += s * v
	}
}

func forEachCode(c table.Codes, f func(i, code int)) {
	for i, code := range c.U8 {
		f(i, int(code))
	}
	for i, code := range c.U16 {
		f(i, int(code))
	}
}

func addLookup[T uint8 | uint16](dst, lut []float64, codes []T) {
	for i, code := range codes {
		dst[i] += lut[code]
	}
}

func sumByCode[T uint8 | uint16](sum, r []float64, codes []T) {
	for i, code := range codes {
		sum[code] += r[i]
	}
}
