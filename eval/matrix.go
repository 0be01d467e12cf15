package eval

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/table"
)

// Numeric says how the codes of a numeric column become features.
type Numeric uint8

// The forms. The zero value is OneHot.
const (
	OneHot Numeric = iota // one 0/1 feature for each code, as for a category
	// the middle of the bin, less its mean, over its standard deviation; a missing cell counts as
	// the mean and sets a 0/1 feature of its own
	Standardised
)

// Features says which columns of a table become features of a [Matrix], and how.
// The zero value takes all columns, one feature a code.
type Features struct {
	Drop    []string // columns to leave out: the label, identifiers, leaks
	Numeric Numeric  // default OneHot
}

// Matrix is the design matrix of a table: one row for each table row, one
// feature for each code of a column, or one for a standardised numeric column.
// It is never stored as such: because the features of one column depend on that
// column's code alone, a product with it is a look-up in a table of codes.
// A Matrix of plain numbers is made by [NumberMatrix]. A Matrix is immutable and
// safe for concurrent use.
type Matrix struct {
	rows, width int
	blocks      []block
	numbers     []float64 // instead of blocks: row-major
}

// block is the part of a Matrix that comes from one table column.
type block struct {
	position int // of the column in the schema
	column   column
	codes    table.Codes
	first    int       // first feature
	value    []float64 // value of the first feature for each code; nil: one-hot
	flag     int       // Standardised: feature that is 1 for a missing cell, or -1
}

// NewMatrix makes the design matrix of t. Standardised features use the means
// and standard deviations of t itself; a column without spread becomes 0.
// It fails for an unknown column, if no column is left, and for a table without rows.
func NewMatrix(t *table.Table, f Features) (*Matrix, error) {
	columns, err := compatible(t)
	if err != nil {
		return nil, err
	}
	take, err := without(t.Schema(), f.Drop)
	if err != nil {
		return nil, err
	}
	m := &Matrix{rows: t.Rows()}
	for _, i := range take {
		b := block{position: i, column: columns[i], codes: t.Column(i), first: m.width, flag: -1}
		if f.Numeric == Standardised && b.column.numeric() {
			b.value = standardise(b.column, b.codes)
			m.width++
			if b.column.missing >= 0 {
				b.flag = m.width
				m.width++
			}
		} else {
			m.width += b.column.size
		}
		m.blocks = append(m.blocks, b)
	}
	return m, nil
}

// NumberMatrix is a design matrix of numbers, row-major with the given number of
// features in a row. The Matrix keeps x: it must not be changed afterwards. It
// fails unless x is one or more whole rows of finite numbers.
func NumberMatrix(x []float64, features int) (*Matrix, error) {
	if features < 1 || len(x) == 0 || len(x)%features != 0 {
		return nil, fmt.Errorf("eval: %d numbers are not rows of %d features: %w", len(x), features,
			ErrTables)
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("eval: feature %d of row %d is not a finite number: %w",
				i%features, i/features, ErrTables)
		}
	}
	return &Matrix{rows: len(x) / features, width: features, numbers: x}, nil
}

// Like makes the design matrix of another table with the features of m, its
// means and standard deviations included: fit on m, predict on m.Like(test).
// The tables must have the same columns.
func (m *Matrix) Like(t *table.Table) (*Matrix, error) {
	columns, err := compatible(t)
	if err != nil {
		return nil, err
	}
	if m.numbers != nil {
		return nil, fmt.Errorf("eval: a matrix of numbers has no columns of a table: %w", ErrTables)
	}
	out := &Matrix{rows: t.Rows(), width: m.width}
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

// Dims returns the number of rows and of features.
func (m *Matrix) Dims() (rows, features int) { return m.rows, m.width }

// Row stores row i in dst, whose length must be the number of features.
func (m *Matrix) Row(dst []float64, i int) {
	if len(dst) != m.width {
		panic(fmt.Sprintf("eval: Matrix.Row: dst has %d of %d features", len(dst), m.width))
	}
	clear(dst)
	copy(dst, m.number(i))
	for _, b := range m.blocks {
		b.each(int(b.codes.At(i)), func(feature int, x float64) { dst[feature] = x })
	}
}

// MulTo stores the product of the matrix with w, one number a row, in dst. It
// panics unless dst has one element a row and w one a feature. dst and w must
// not overlap.
func (m *Matrix) MulTo(dst, w []float64) {
	m.check("MulTo", dst, w)
	clear(dst)
	if m.numbers != nil {
		for i := range dst {
			dst[i] = dot(m.number(i), w)
		}
	}
	for _, b := range m.blocks {
		lut := make([]float64, b.column.size)
		for code := range lut {
			b.each(code, func(feature int, x float64) { lut[code] += x * w[feature] })
		}
		if b.codes.U16 != nil {
			addLookup(dst, lut, b.codes.U16)
		} else {
			addLookup(dst, lut, b.codes.U8)
		}
	}
}

// TMulTo stores the product of the transposed matrix with r, one number a
// feature, in dst. It panics unless dst has one element a feature and r one a
// row. dst and r must not overlap.
func (m *Matrix) TMulTo(dst, r []float64) {
	m.check("TMulTo", r, dst)
	clear(dst)
	if m.numbers != nil {
		for i, s := range r {
			addScaled(dst, s, m.number(i))
		}
	}
	for _, b := range m.blocks {
		sum := make([]float64, b.column.size)
		if b.codes.U16 != nil {
			sumByCode(sum, r, b.codes.U16)
		} else {
			sumByCode(sum, r, b.codes.U8)
		}
		for code, s := range sum {
			b.each(code, func(feature int, x float64) { dst[feature] += x * s })
		}
	}
}

// gramTo adds the upper triangle of Xᵀ·diag(d)·X to dst, row-major with stride
// features. Because the features of a row are functions of its codes, it is a
// weighted two-way marginal for each pair of columns.
func (m *Matrix) gramTo(dst, d []float64) {
	if m.numbers != nil {
		for i, s := range d {
			row := m.number(i)
			for f, x := range row {
				addScaled(dst[f*m.width+f:(f+1)*m.width], x*s, row[f:])
			}
		}
	}
	for p := range m.blocks {
		for q := p; q < len(m.blocks); q++ {
			a, b := &m.blocks[p], &m.blocks[q]
			if p == q {
				sum := make([]float64, a.column.size)
				forEachCode(a.codes, func(i int, code int) { sum[code] += d[i] })
				for code, s := range sum {
					a.each(code, func(f int, x float64) {
						a.each(code, func(g int, y float64) {
							if f <= g {
								dst[f*m.width+g] += x * y * s
							}
						})
					})
				}
				continue
			}
			cells := make([]float64, a.column.size*b.column.size)
			sumPairs(cells, d, a.codes, b.codes, b.column.size)
			for ca := range a.column.size {
				for cb, s := range cells[ca*b.column.size : (ca+1)*b.column.size] {
					if s == 0 {
						continue
					}
					a.each(ca, func(f int, x float64) {
						b.each(cb, func(g int, y float64) { dst[f*m.width+g] += x * y * s })
					})
				}
			}
		}
	}
}

// diagonalTo adds the diagonal of Xᵀ·diag(d)·X to dst.
func (m *Matrix) diagonalTo(dst, d []float64) {
	for i, s := range d {
		for f, x := range m.number(i) {
			dst[f] += s * x * x
		}
	}
	for _, b := range m.blocks {
		sum := make([]float64, b.column.size)
		forEachCode(b.codes, func(i, code int) { sum[code] += d[i] })
		for code, s := range sum {
			b.each(code, func(f int, x float64) { dst[f] += s * x * x })
		}
	}
}

// number returns row i of a matrix of numbers, nil if it is of another sort.
func (m *Matrix) number(i int) []float64 {
	if m.numbers == nil {
		return nil
	}
	return m.numbers[i*m.width : (i+1)*m.width]
}

// pairCells returns the number of cells of the largest two-way table that gramTo needs.
func (m *Matrix) pairCells() int {
	first, second := 0, 0
	for _, b := range m.blocks {
		if b.column.size > first {
			first, second = b.column.size, first
		} else {
			second = max(second, b.column.size)
		}
	}
	return first * second
}

// each calls f with the features that are not 0 for a code, and their values.
func (b *block) each(code int, f func(feature int, x float64)) {
	switch {
	case b.value == nil:
		f(b.first+code, 1)
	case code == b.column.missing:
		f(b.flag, 1)
	default:
		f(b.first, b.value[code])
	}
}

func (m *Matrix) check(method string, byRow, byFeature []float64) {
	if len(byRow) != m.rows || len(byFeature) != m.width {
		panic(fmt.Sprintf("eval: Matrix.%s: vectors of %d and %d for %d rows and %d features",
			method, len(byRow), len(byFeature), m.rows, m.width))
	}
}

// standardise returns the standardised middle of every bin.
func standardise(c column, codes table.Codes) []float64 {
	count := make([]float64, c.size)
	forEachCode(codes, func(_, code int) { count[code]++ })
	n, mean := 0.0, 0.0
	for code, x := range c.mid {
		n += count[code]
		mean += count[code] * x
	}
	mean /= max(n, 1)
	variance := 0.0
	for code, x := range c.mid {
		variance += count[code] * (x - mean) * (x - mean)
	}
	sd := math.Sqrt(variance / max(n, 1))
	out := make([]float64, len(c.mid))
	if sd == 0 {
		return out
	}
	for code, x := range c.mid {
		out[code] = (x - mean) / sd
	}
	return out
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

// sumPairs adds d[i] to the cell of the codes of row i.
func sumPairs(cells, d []float64, a, b table.Codes, stride int) {
	if a.U16 == nil && b.U16 == nil {
		bs := b.U8[:len(a.U8)]
		ds := d[:len(a.U8)]
		for i, ca := range a.U8 {
			cells[int(ca)*stride+int(bs[i])] += ds[i]
		}
		return
	}
	forEachCode(a, func(i, ca int) { cells[ca*stride+int(b.At(i))] += d[i] })
}
