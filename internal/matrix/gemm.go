package matrix

import (
	"fmt"
	"runtime"
	"sync"
)

// Matrix is a view of Rows × Cols numbers in Data, row-major, or of their transpose: see
// [Matrix.T].
type Matrix struct {
	Rows, Cols int
	Data       []float32
	rs, cs     int // distance in Data between rows, columns
}

// Dense views data, which must hold rows·cols numbers, row after row.
func Dense(rows, cols int, data []float32) Matrix {
	if rows < 0 || cols < 0 || len(data) != rows*cols {
		panic(fmt.Sprintf("matrix: %d numbers for a matrix of %d × %d", len(data), rows, cols))
	}
	return Matrix{Rows: rows, Cols: cols, Data: data, rs: cols, cs: 1}
}

// New returns a matrix of zeros.
func New(rows, cols int) Matrix { return Dense(rows, cols, make([]float32, rows*cols)) }

// T is the transpose of m, on the same data.
func (m Matrix) T() Matrix {
	m.Rows, m.Cols, m.rs, m.cs = m.Cols, m.Rows, m.cs, m.rs
	return m
}

// Row is row i of m, which must not be a transpose.
func (m Matrix) Row(i int) []float32 {
	if m.cs != 1 {
		panic("matrix: Row of a transpose")
	}
	return m.Data[i*m.rs : i*m.rs+m.Cols]
}

// depth is how many steps of k one pass of the kernels takes: so much of B is packed at a time.
const depth = 256

// MulTo sets c to alpha·a·b + beta·c. With beta = 0 what c held is not read. c must not be a
// transpose nor share memory with a or b. Each element is Σ_k a_ik·b_kj over ascending k, in sums
// of 256 terms that are then added; see the package comment for rounding.
//
// It panics if the shapes do not fit.
func MulTo(c Matrix, alpha float32, a, b Matrix, beta float32) {
	if a.Rows != c.Rows || b.Cols != c.Cols || a.Cols != b.Rows {
		panic(fmt.Sprintf("matrix: %d × %d is not the shape of %d × %d times %d × %d", c.Rows,
			c.Cols, a.Rows, a.Cols, b.Rows, b.Cols))
	}
	if c.cs != 1 {
		panic("matrix: product into a transpose")
	}
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	if beta == 0 {
		clear(c.Data[:c.Rows*c.rs])
	} else if beta != 1 {
		for i, x := range c.Data {
			c.Data[i] = beta * x
		}
	}
	if a.Cols == 0 || alpha == 0 {
		return
	}
	parts := min(runtime.GOMAXPROCS(0), c.Rows*c.Cols*a.Cols/share)
	if parts < 2 {
		mul(c, alpha, a, b)
		return
	}
	var all sync.WaitGroup
	rows := (c.Rows/parts/wholeRows + 1) * wholeRows
	for from := 0; from < c.Rows; from += rows {
		n := min(rows, c.Rows-from)
		all.Go(func() { mul(c.rows(from, n), alpha, a.rows(from, n), b) })
	}
	all.Wait()
}

// A product is split by rows among as many goroutines as there are processors, each with at least
// share multiplications; wholeRows is a multiple of the tiles' rows. Elements do not depend on the
// split.
const (
	share     = 1 << 22
	wholeRows = 2 * mr
)

// mul adds alpha·a·b to c.
func mul(c Matrix, alpha float32, a, b Matrix) {
	if vectors {
		mulTiles(c, alpha, a, b)
	} else {
		mulPlain(c, alpha, a, b)
	}
}

// rows views n rows of m, or of the transpose that it is, from the given one.
func (m Matrix) rows(from, n int) Matrix {
	m.Rows, m.Data = n, m.Data[from*m.rs:]
	return m
}

// mulPlain adds alpha·a·b to c. The inner loops run along rows of c, so that every row is treated
// alike.
func mulPlain(c Matrix, alpha float32, a, b Matrix) {
	if b.cs != 1 {
		packed := New(b.Rows, b.Cols)
		for k := range b.Rows {
			row := packed.Row(k)
			for j := range row {
				row[j] = b.Data[k*b.rs+j*b.cs]
			}
		}
		b = packed
	}
	for i := range c.Rows {
		row := c.Row(i)
		at := func(k int) float32 { return alpha * a.Data[i*a.rs+k*a.cs] }
		k := 0
		for ; k+4 <= a.Cols; k += 4 {
			x0, x1, x2, x3 := at(k), at(k+1), at(k+2), at(k+3)
			b0, b1, b2, b3 := b.Row(k)[:len(row)], b.Row(k + 1)[:len(row)], b.Row(k + 2)[:len(row)],
				b.Row(k + 3)[:len(row)]
			for j, y := range row {
				y += x0 * b0[j]
				y += x1 * b1[j]
				y += x2 * b2[j]
				row[j] = y + x3*b3[j]
			}
		}
		for ; k < a.Cols; k++ {
			x := at(k)
			for j, y := range b.Row(k) {
				row[j] += x * y
			}
		}
	}
}

// buffers holds packed pieces of B, and the rows of A below the last whole tile.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

type buffer struct {
	b, a []float32
	tile [mr * nr]float32
}

// mr and nr are the numbers of rows and columns of a tile.
const mr, nr = 6, 16

// mulTiles adds alpha·a·b to c, tile by tile.
func mulTiles(c Matrix, alpha float32, a, b Matrix) {
	buf := buffers.Get().(*buffer)
	defer buffers.Put(buf)
	panels := (c.Cols + nr - 1) / nr
	whole := c.Rows - c.Rows%mr
	for from := 0; from < a.Cols; from += depth {
		k := min(depth, a.Cols-from)
		buf.b = grow(buf.b, panels*nr*k)
		pack(buf.b, b, from, k)
		for i := 0; i < c.Rows; i += mr {
			rows, rs, cs := mr, a.rs, a.cs
			var at *float32
			switch {
			case i < whole && rs == 1: // columns far apart in memory fall on few cache lines
				buf.a = grow(buf.a, mr*k)
				gather(buf.a, a.Data[i+from*cs:], k, cs)
				at, cs = &buf.a[0], mr
			case i < whole:
				at = &a.Data[i*rs+from*cs]
			default: // fewer rows than the kernel reads
				rows = c.Rows - i
				buf.a = grow(buf.a, mr*k)
				clear(buf.a)
				for r := range rows {
					for kk := range k {
						buf.a[r*k+kk] = a.Data[(i+r)*rs+(from+kk)*cs]
					}
				}
				at, rs, cs = &buf.a[0], k, 1
			}
			for p := range panels {
				cols := min(nr, c.Cols-p*nr)
				panel := &buf.b[p*nr*k]
				if rows == mr && cols == nr {
					tileAVX2(k, at, 4*rs, 4*cs, panel, &c.Data[i*c.rs+p*nr], 4*c.rs, alpha, 1)
					continue
				}
				tileAVX2(k, at, 4*rs, 4*cs, panel, &buf.tile[0], 4*nr, alpha, 0)
				for r := range rows {
					dst := c.Data[(i+r)*c.rs+p*nr:][:cols]
					for j, x := range buf.tile[r*nr:][:cols] {
						dst[j] += x
					}
				}
			}
		}
	}
}

// pack lays out k rows of b from the given one in panels of nr columns, each row after row, the
// last filled with zeros.
func pack(dst []float32, b Matrix, from, k int) {
	for j := 0; j < b.Cols; j += nr {
		cols := min(nr, b.Cols-j)
		panel := dst[j*k:][:nr*k]
		if cols < nr {
			clear(panel)
		}
		if b.cs == 1 {
			for kk := range k {
				src := b.Data[(from+kk)*b.rs+j:]
				if cols == nr {
					piece := *(*[nr]float32)(src)
					*(*[nr]float32)(panel[kk*nr:]) = piece
				} else {
					copy(panel[kk*nr:][:cols], src)
				}
			}
			continue
		}
		for c := range cols {
			column := b.Data[from*b.rs+(j+c)*b.cs:]
			for kk := range k {
				panel[kk*nr+c] = column[kk*b.rs]
			}
		}
	}
}

// gather copies k pieces of mr numbers, stride apart in src, side by side. Through a variable a
// copy of known length is moves, and no call, as the compiler knows that nothing overlaps.
func gather(dst, src []float32, k, stride int) {
	for kk := range k {
		piece := *(*[mr]float32)(src[kk*stride:])
		*(*[mr]float32)(dst[kk*mr:]) = piece
	}
}

func grow(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

// Affine is the map xW + b, W in × out.
type Affine struct {
	W Matrix
	B []float32
}

// To sets dst to xW + b.
func (a Affine) To(dst, x Matrix) {
	for i := range dst.Rows {
		copy(dst.Row(i), a.B)
	}
	MulTo(dst, 1, x, a.W, 1)
}
