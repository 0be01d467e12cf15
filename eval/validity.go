package eval

import (
	"fmt"
	"iter"

	"github.com/decoy-dp/decoy/schema"
)

// ColumnValidity is how many cells of a column the schema allows.
type ColumnValidity struct {
	Column string
	Absent bool    // the header does not name the column; Valid is then 0
	Valid  float64 // share of cells, 0 to 1
}

// ValidityResult is how much of a table of text the schema allows.
type ValidityResult struct {
	Rows    int
	Valid   float64 // share of rows all of whose cells are valid
	Cells   float64 // share of cells that are, over the columns of the schema
	Columns []ColumnValidity
}

// Validity checks rows of text, as another tool may have written them, against
// the public schema: a cell is valid if it is a declared category, a value within
// the declared bounds in the column's format, or a declared missing token,
// whatever the column's policy for invalid cells. (A table.Table cannot hold
// others: reading applied the policy.)
//
// Name Validity. Alias DataValidity, BoundaryAdherence and CategoryAdherence
// (SDMetrics), which take bounds and categories from the real rows: a table that
// keeps to the public ones would score below 1 there. Range 0 to 1; goal: 1.
// Source: SDMetrics documentation, Data Validity.
//
// header gives the names of the cells; columns that the schema does not have are
// passed over, and one that the header lacks makes every row invalid. A row with
// another number of cells than the header is invalid in all of them. No rows is
// an error that wraps [ErrTables].
func Validity(s *schema.Schema, header []string, rows iter.Seq[[]string]) (ValidityResult, error) {
	codecs := make([]*schema.Codec, len(s.Columns))
	at := make([]int, len(s.Columns))
	out := ValidityResult{Columns: make([]ColumnValidity, len(s.Columns))}
	for i, c := range s.Columns {
		c.OnInvalid, c.Other = schema.Refuse, ""
		var err error
		if codecs[i], err = schema.NewCodec(c); err != nil {
			return ValidityResult{}, fmt.Errorf("eval: %w", err)
		}
		at[i] = -1
		for k, name := range header {
			if name == c.Name {
				at[i] = k
			}
		}
		out.Columns[i] = ColumnValidity{Column: c.Name, Absent: at[i] < 0}
	}
	good, valid := 0, make([]int, len(codecs))
	for row := range rows {
		out.Rows++
		all := true
		for i, codec := range codecs {
			ok := len(row) == len(header) && at[i] >= 0
			if ok {
				_, err := codec.EncodeText([]byte(row[at[i]]))
				ok = err == nil
			}
			if ok {
				valid[i]++
			}
			all = all && ok
		}
		if all {
			good++
		}
	}
	if out.Rows == 0 {
		return ValidityResult{}, fmt.Errorf("eval: validity of no rows: %w", ErrTables)
	}
	out.Valid = float64(good) / float64(out.Rows)
	for i, n := range valid {
		out.Columns[i].Valid = float64(n) / float64(out.Rows)
		out.Cells += out.Columns[i].Valid / float64(len(valid))
	}
	return out, nil
}
