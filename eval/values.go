package eval

import (
	"fmt"
	"iter"
	"slices"

	"github.com/decoy-dp/decoy/schema"
)

// Values are the cells of a table as its file has them, before a schema moves any: to a bound, into
// another category, to missing. A [table.Table] cannot show what its schema loses; these can.
type Values struct {
	rows    int
	valid   int // rows all of whose cells the schema allows
	columns []cells
}

// cells are those of one column.
type cells struct {
	name         string
	codec        *schema.Codec // of the column without a policy: it allows or refuses
	at           int           // in the header; −1: the file lacks the column
	refused      int           // cells that the schema does not allow
	below, above int           // of them numbers outside the bounds
	numbers      []float64     // of an ordered column, sorted; cells that are none are left out
	count        []int         // of another column, by code, missing included
	foreign      map[string]int
}

// NewValues takes the cells from rows of text, as a file has them. header gives the names of the
// cells of a row; columns that the schema does not have are passed over. A row with another number
// of cells than the header counts as not allowed in all of them. It holds eight bytes for every
// number. No rows is an error that wraps [ErrTables].
func NewValues(s *schema.Schema, header []string, rows iter.Seq[[]string]) (*Values, error) {
	v := &Values{columns: make([]cells, len(s.Columns))}
	for i, c := range s.Columns {
		c.OnInvalid, c.Other = schema.Refuse, ""
		codec, err := schema.NewCodec(c)
		if err != nil {
			return nil, fmt.Errorf("eval: %w", err)
		}
		v.columns[i] = cells{name: c.Name, codec: codec, at: slices.Index(header, c.Name),
			count: make([]int, codec.Size()), foreign: map[string]int{}}
	}
	for row := range rows {
		v.rows++
		all := true
		for i := range v.columns {
			c := &v.columns[i]
			if len(row) != len(header) || c.at < 0 {
				c.refused++
				all = false
			} else if !c.add(row[c.at]) {
				all = false
			}
		}
		if all {
			v.valid++
		}
	}
	if v.rows == 0 {
		return nil, fmt.Errorf("eval: the values of no rows: %w", ErrTables)
	}
	for _, c := range v.columns {
		slices.Sort(c.numbers)
	}
	return v, nil
}

// add takes a cell and reports whether the schema allows it.
func (c *cells) add(cell string) bool {
	code, err := c.codec.EncodeText([]byte(cell))
	if err == nil {
		c.count[code]++
	} else {
		c.refused++
	}
	if !c.ordered() {
		if err != nil {
			c.foreign[cell]++
		}
		return err == nil
	}
	if missing, ok := c.codec.MissingCode(); err == nil && ok && code == missing {
		return true
	}
	x, ok := c.codec.ParseValue(cell)
	if !ok {
		return err == nil
	}
	c.numbers = append(c.numbers, x)
	switch lo, hi := c.bounds(); {
	case err == nil:
	case x < lo:
		c.below++
	case x > hi:
		c.above++
	}
	return err == nil
}

func (c *cells) ordered() bool { return c.codec.Column().Kind.Ordered() }

func (c *cells) bounds() (lo, hi float64) {
	return c.codec.Column().Min, c.codec.Column().Max
}

// Rows is how many there are.
func (v *Values) Rows() int { return v.rows }

func (v *Values) column(name string) (*cells, error) {
	for i := range v.columns {
		if v.columns[i].name == name {
			return &v.columns[i], nil
		}
	}
	return nil, fmt.Errorf("eval: the schema has no column %q: %w", name, ErrColumn)
}

// ColumnValidity is how many cells of a column the schema allows.
type ColumnValidity struct {
	Column string
	Absent bool    // the header does not name the column; Valid is then 0
	Valid  float64 // share of cells, 0 to 1
	// of the cells of numbers: shares that lie below and above the public bounds
	Below, Above float64
	Foreign      []string // texts that are no category, the most frequent first, at most three
}

// ValidityResult is how much of a table of text the schema allows.
type ValidityResult struct {
	Rows    int
	Valid   float64 // share of rows all of whose cells are valid
	Cells   float64 // share of cells that are, over the columns of the schema
	Columns []ColumnValidity
}

// Validity checks values, as any tool may have written them, against the public schema: a cell is
// valid if it is a declared category, a value within the declared bounds in the column's format, or
// a declared missing token, whatever the column's policy for invalid cells.
//
// Name Validity. Alias DataValidity, BoundaryAdherence and CategoryAdherence
// (SDMetrics), which take bounds and categories from the real rows: a table that
// keeps to the public ones would score below 1 there. Range 0 to 1; goal: 1.
// Source: SDMetrics documentation, Data Validity.
func Validity(v *Values) ValidityResult {
	n := float64(v.rows)
	out := ValidityResult{Rows: v.rows, Valid: float64(v.valid) / n}
	for _, c := range v.columns {
		x := ColumnValidity{Column: c.name, Absent: c.at < 0, Valid: 1 - float64(c.refused)/n,
			Below: float64(c.below) / n, Above: float64(c.above) / n, Foreign: frequent(c.foreign, 3)}
		out.Columns = append(out.Columns, x)
		out.Cells += x.Valid / float64(len(v.columns))
	}
	return out
}

// MovedShare is the share of the cells of a real column that the schema does not allow, and that
// reading with it therefore moves: numbers to a bound or to a whole number, categories to the one
// that stands for all others, texts to missing. No figure computed on codes can show it, because
// the real rows are moved by the same schema. See [Validity] for where they went.
//
// Name MovedShare. Alias none; 1 less BoundaryAdherence or CategoryAdherence (SDMetrics) of the
// real column. Range 0 to 1; goal: 0. Source: SDMetrics documentation, BoundaryAdherence.
func MovedShare(real *Values, name string) (float64, error) {
	c, err := real.column(name)
	if err != nil {
		return 0, err
	}
	return float64(c.refused) / float64(real.rows), nil
}

// frequent is the most frequent texts.
func frequent(count map[string]int, most int) []string {
	var out []string
	for text := range count {
		out = append(out, text)
	}
	slices.SortFunc(out, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return map[bool]int{true: -1, false: 1}[a < b]
	})
	return out[:min(len(out), most)]
}
