package schema

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// Relations are what the cells of a row may keep: a column that has cells of its own is what a made
// column of its name would be or, of kind NotBefore, is not before another. They are asked of rows
// as the files have them. They are immutable.
type Relations struct {
	rows *RowCodec
	of   []relation
}

type relation struct {
	madeCodec
	column int
}

// NewRelations makes them ready for rows of these columns, none of which is after another. The
// error wraps [ErrInvalid].
func NewRelations(columns []Column, of []Made) (*Relations, error) {
	s := &Schema{Lenient: true, Columns: columns}
	rows, err := s.RowCodec()
	if err != nil {
		return nil, err
	}
	r := &Relations{rows: rows}
	for i := range of {
		one, why := relation{madeCodec{kind: of[i].Kind}, s.Index(of[i].Name)}, ""
		switch {
		case one.column < 0 || rows.numbers[one.column].root == nil:
			why = "has no values with an order"
		case of[i].Kind != NotBefore:
			why = rows.operands(s, &of[i], &one.madeCodec)
		case len(of[i].Of) != 1 || s.Index(of[i].Of[0]) < 0:
			why = "is not before one column"
		default:
			one.of = []int{s.Index(of[i].Of[0])}
			from := rows.codecs[one.of[0]].facts
			if from.stored < StoredInt || from != rows.codecs[one.column].facts {
				why = "is of another kind"
			}
		}
		if why != "" {
			return nil, fmt.Errorf("a relation of column %s: %s: %w", yamlfile.Quote(of[i].Name), why,
				ErrInvalid)
		}
		r.of = append(r.of, one)
	}
	return r, nil
}

// Columns are those that the relations are about, by number.
func (r *Relations) Columns() []bool {
	out := make([]bool, len(r.rows.codecs))
	for i := range r.of {
		out[r.of[i].column] = true
		for _, c := range r.of[i].of {
			out[c] = true
		}
	}
	return out
}

// Number is the value of a cell of column i, NaN if it has none.
func (r *Relations) Number(i int, cell []byte) float64 {
	_, x, _ := r.rows.Cell(i, cell) // lenient: no cell is an error
	return x
}

// held says whether a row keeps a relation.
type held uint8

// What a row says of a relation. It says nothing where the cells are missing or zeros, which agree
// whether they belong together or not, and nothing of an order where one of the two is missing.
const (
	Silent held = iota
	Holds
	Breaks
)

// Held says what a row, of a number by column, says of relation k.
func (r *Relations) Held(k int, x []float64) held {
	of := &r.of[k]
	cell := x[of.column]
	if of.kind == NotBefore {
		switch from := x[of.of[0]]; {
		case math.IsNaN(cell) || math.IsNaN(from):
			return Silent
		case cell >= from:
			return Holds
		}
		return Breaks
	}
	want := of.number(func(i int) float64 { return x[of.of[i]] })
	near := 1e-9 * math.Abs(cell) // of numbers that are written with all their digits
	if of.decimals != asManyDigits {
		digits := max(0, of.decimals, r.rows.numbers[of.column].decimals)
		near = .5 / pow10[digits] * (1 + 1e-6)
	}
	switch {
	case math.IsNaN(want) && math.IsNaN(cell), want == 0 && cell == 0:
		return Silent
	case math.Abs(want-cell) <= near:
		return Holds
	}
	return Breaks
}

// Gaps are the cells of by how much a date or timestamp is not before another, in the units of
// Column.After.
var Gaps = Magnitudes{Kind: Integer, PerPower: 2}

// Cell is the cell among some magnitudes of by how much a column is not before another, in a row of
// a number by column and in the units of Column.After; false if it has none.
func (r *Relations) Cell(k int, x []float64, m Magnitudes) (int, bool) {
	of := &r.of[k]
	return m.cell(r.rows.numbers[of.of[0]].difference(x[of.column], x[of.of[0]]))
}
