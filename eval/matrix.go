package eval

import "github.com/decoy-dp/decoy/table"

// matrix is the one-hot design matrix of tables, the rows of one below those of another: a 0/1
// feature for each code of a column. It is never stored as such: because the features of one column
// depend on that column's code alone, a product with it is a look-up in a table of codes. It is
// immutable and safe for concurrent use.
type matrix struct {
	rows, width int
	blocks      []block
	first       *table.Table
	drop        []string
}

// block is the features of one table column.
type block struct {
	position int // of the column in the schema
	column   column
	codes    []uint16 // of every row
	first    int      // feature of code 0
}

// newMatrix makes the design matrix of tables of the same columns, leaving out those in drop. It
// fails for an unknown column, if no column is left, and for a table without rows.
func newMatrix(drop []string, tables ...*table.Table) (*matrix, error) {
	columns, err := compatible(tables...)
	if err != nil {
		return nil, err
	}
	take, err := without(tables[0].Schema(), drop)
	if err != nil {
		return nil, err
	}
	m := &matrix{first: tables[0], drop: drop}
	for _, t := range tables {
		m.rows += t.Rows()
	}
	for _, i := range take {
		b := block{position: i, column: columns[i], first: m.width}
		for _, t := range tables {
			forEachCode(t.Column(i), func(_, code int) { b.codes = append(b.codes, uint16(code)) })
		}
		m.blocks = append(m.blocks, b)
		m.width += columns[i].size
	}
	return m, nil
}

// like makes the design matrix of another table with the features of m: fit on m, predict on
// m.like(test). The tables must have the same columns.
func (m *matrix) like(t *table.Table) (*matrix, error) {
	if _, err := compatible(m.first, t); err != nil {
		return nil, err
	}
	return newMatrix(m.drop, t)
}

func (m *matrix) dims() (rows, features int) { return m.rows, m.width }

// features is the part of a vector of one number a feature that belongs to b.
func (b *block) features(x []float64) []float64 { return x[b.first : b.first+b.column.size] }

// mulTo stores the product of the matrix with w, one number a row, in dst. dst
// and w must not overlap.
func (m *matrix) mulTo(dst, w []float64) {
	clear(dst)
	for _, b := range m.blocks {
		weights := b.features(w)
		for i, code := range b.codes {
			dst[i] += weights[code]
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
		sums := b.features(dst)
		for i, code := range b.codes {
			sums[code] += d[i]
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
