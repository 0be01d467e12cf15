package table

import (
	"math"

	"github.com/decoy-dp/decoy/schema"
)

// related is the row at hand of a file whose schema relates the cells of a row: what each cell is
// by itself, until all have been read. It is not for concurrent use.
type related struct {
	rows   *schema.RowCodec
	codes  []uint16 // by column of the schema
	absent []uint16 // the codes of columns that the file lacks, in all its rows
	x      []float64
	made   [][]byte // cells of the made columns that are checked
	column []int    // of the file, by column of the schema; −1: none
	check  []int    // likewise by made column
}

func newRelated(l *layout) *related {
	n := len(l.codecs)
	r := &related{rows: l.rows, codes: make([]uint16, n), absent: l.absent, x: make([]float64, n),
		made: make([][]byte, len(l.schema.Made)), column: make([]int, n),
		check: make([]int, len(l.schema.Made))}
	for i := range r.x {
		r.x[i], r.column[i] = math.NaN(), -1
	}
	for k := range r.check {
		r.check[k] = -1
	}
	for at, d := range l.columns {
		if d.codec != nil {
			r.column[d.code] = at
		} else if d.check >= 0 {
			r.check[d.check] = at
		}
	}
	return r
}

// cell reads a cell of column i by itself.
func (r *related) cell(i int, cell []byte) (err error) {
	r.codes[i], r.x[i], err = r.rows.Cell(i, cell)
	return err
}

// put sets the code of a cell that has no value.
func (r *related) put(i int, code uint16) { r.codes[i], r.x[i] = code, math.NaN() }

// keep keeps a cell of made column k until the others are known.
func (r *related) keep(k int, cell []byte) { r.made[k] = append(r.made[k][:0], cell...) }

// settle settles the codes of the row. An error is about a column of the file.
func (r *related) settle() (column int, err error) {
	for i, at := range r.column {
		if at < 0 { // a rule may have changed it in the row before, which has no say in this one
			r.codes[i] = r.absent[i]
		}
	}
	if i, err := r.rows.Row(r.codes, r.x); err != nil {
		return max(r.column[i], 0), err
	}
	for k, at := range r.check {
		if at < 0 {
			continue
		}
		if err := r.rows.Check(k, r.made[k], r.codes, r.x); err != nil {
			return at, err
		}
	}
	return 0, nil
}

// value is a cell of a file of typed columns, before its row is settled.
type value struct {
	code uint16
	x    float64
	made string // of a made column
}

// values are the cells of a related column of a run of rows, each different one once.
type values struct {
	of     []value
	number []uint32
}

// settleRows sets the codes of the related columns of rows of typed columns. An error is about a
// row, from 0, and a column of the file.
func (r *related) settleRows(out *part, sizes []int) (row, column int, err error) {
	for i, v := range out.values {
		if v.number != nil && i < len(sizes) {
			out.codes[i] = NewCodes(sizes[i], out.rows)
		}
	}
	for row := range out.rows {
		for i, v := range out.values {
			if v.number == nil {
				continue
			}
			cell := &v.of[v.number[row]]
			if i < len(sizes) {
				r.codes[i], r.x[i] = cell.code, cell.x
			} else {
				r.keep(i-len(sizes), []byte(cell.made))
			}
		}
		if column, err := r.settle(); err != nil {
			return row, column, err
		}
		for i := range sizes {
			if out.values[i].number != nil {
				out.codes[i].Set(row, r.codes[i])
			}
		}
	}
	return 0, 0, nil
}
