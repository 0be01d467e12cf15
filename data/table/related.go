package table

import (
	"math"
	"slices"
)

// related is the row at hand of a file whose schema relates the cells of a row: what each cell is
// by itself, until all have been read. It is not for concurrent use.
type related struct {
	*layout
	codes []uint16 // by column of the schema
	x     []float64
}

// newRelated is nil if no cell has to do with others.
func newRelated(l *layout) *related {
	if l.rows == nil {
		return nil
	}
	n := len(l.sizes)
	return &related{layout: l, codes: make([]uint16, n), x: slices.Repeat([]float64{math.NaN()}, n)}
}

// cell reads a cell of column i by itself.
func (r *related) cell(i int, cell []byte) (err error) {
	r.codes[i], r.x[i], err = r.rows.Cell(i, cell)
	return err
}

// put sets the code of a cell that has no value.
func (r *related) put(i int, code uint16) { r.codes[i], r.x[i] = code, math.NaN() }

// settle settles the codes of the row, and stores them. An error is about a column of the file.
func (r *related) settle(codes []Codes, row int) (column int, err error) {
	for i, at := range r.place {
		if at < 0 { // a rule may have changed it in the row before, which has no say in this one
			r.codes[i] = r.absent[i]
		}
	}
	if i, err := r.rows.Row(r.codes, r.x); err != nil {
		return max(r.place[i], 0), err
	}
	for i, at := range r.place {
		if at >= 0 && r.rows.Related(i) {
			codes[i].Set(row, r.codes[i])
		}
	}
	return 0, nil
}

// value is a cell of a file of typed columns, before its row is settled.
type value struct {
	code uint16
	x    float64
}

// values are the cells of a related column of a run of rows, each different one once.
type values struct {
	of     []value
	number []uint32
}

// settleRows sets the codes of the related columns of rows of typed columns. An error is about a
// row, from 0, and a column of the file.
func (r *related) settleRows(out *part) (row, column int, err error) {
	for row := range out.rows {
		for i, v := range out.values {
			if v.number == nil {
				continue
			}
			cell := &v.of[v.number[row]]
			r.codes[i], r.x[i] = cell.code, cell.x
		}
		if column, err := r.settle(out.codes, row); err != nil {
			return row, column, err
		}
	}
	return 0, 0, nil
}
