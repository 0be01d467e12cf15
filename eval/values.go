package eval

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
)

// Values are the cells of a table as its file has them, before a schema moves any: to a bound, into
// another category, to missing. A [table.Table] cannot show what its schema loses; these can.
type Values struct {
	rows      int
	effective float64 // rows that would tell as much if no two were of one unit
	valid     int     // rows all of whose cells the schema allows
	columns   []cells
	left      []string
	// numbers of each column in rows that are drawn from a public seed; NaN where a cell is none
	sampled [][]float64
	// of the same rows, those of the columns of the files that have an order
	forms   []schema.Known
	at      []int // of these in the header; −1: the file lacks the column
	written [][]float64
	related []schema.Made // that the schema keeps
}

// cells are those of one column.
type cells struct {
	name         string
	codec        *schema.Codec // of the column without a policy: it allows or refuses
	at           int           // in the header; −1: the file lacks the column
	refused      int           // cells that the schema does not allow
	below, above int           // of them numbers outside the bounds
	numbers      []float64     // of an ordered column, sorted; cells that are none are left out
	count        []int64       // of another column, by code, missing included
	foreign      map[string]int
	missing      int    // cells that mean missing, whether the schema says so or not
	blank        int    // of them those that it refuses
	readAs       string // what reading takes these for; "" if it refuses them
	other        string // the category that foreign cells are read as; "" without one
	padded       int    // cells that begin with a zero and another digit
}

// NewValues takes the cells from rows of text, as a file has them. header gives the names of the
// cells of a row; columns that the schema does not have are passed over. A row with another number
// of cells than the header counts as not allowed in all of them. It holds eight bytes for every
// number, and for every cell of 20,000 rows. No rows is an error that wraps [ErrTables].
//
// What of a cell depends on the others of its row is settled as reading does: the number of a
// column that is after another is its difference, and a cell that a rule changes is not allowed.
func NewValues(s *schema.Schema, header []string, rows iter.Seq[[]string]) (*Values, error) {
	reading, err := s.RowCodec()
	if err != nil {
		return nil, err
	}
	v := &Values{columns: make([]cells, len(s.Columns))}
	related := relatedCells{reading, make([]uint16, len(s.Columns)),
		make([]float64, len(s.Columns)), make([]bool, len(s.Columns))}
	for _, name := range header {
		known := func(c schema.FileColumn) bool { return c.Name == name } // also of what is made
		if name != s.Unit && !slices.ContainsFunc(reading.Columns(), known) {
			v.left = append(v.left, name)
		}
	}
	for i, c := range s.Columns {
		other := c.Other
		c.OnInvalid, c.Other = schema.Refuse, ""
		codec, err := schema.NewCodec(c)
		if err != nil {
			return nil, err
		}
		v.columns[i] = cells{name: c.Name, codec: codec, other: other, at: slices.Index(header, c.Name),
			count: make([]int64, codec.Size()), foreign: map[string]int{}}
	}
	v.forms, v.related = reading.Forms(), s.Relations()
	for _, c := range v.forms {
		v.at = append(v.at, slices.Index(header, c.Name))
	}
	u := rand.New(rand.NewPCG(1, 52))
	for row := range rows {
		v.rows++
		v.draw(row, len(header), reading, u)
		for i := range v.columns {
			c := &v.columns[i]
			ok := false
			related.x[i] = math.NaN()
			if len(row) == len(header) && c.at >= 0 {
				ok = c.add(row[c.at], reading, i, &related)
			}
			related.allowed[i] = ok
		}
		if len(row) == len(header) && reading.Relates() {
			related.settle(v.columns)
		}
		all := true
		for i, ok := range related.allowed {
			if !ok {
				v.columns[i].refused++
				all = false
			}
		}
		if all {
			v.valid++
		}
	}
	if v.effective = float64(v.rows); v.rows == 0 {
		return nil, fmt.Errorf("the values of no rows: %w", ErrTables)
	}
	for _, c := range v.columns {
		slices.Sort(c.numbers)
	}
	return v, nil
}

// draw keeps a row if it is drawn.
func (v *Values) draw(row []string, width int, reading *schema.RowCodec, u *rand.Rand) {
	k := u.IntN(v.rows)
	if len(v.sampled) < mostSampled {
		k = len(v.sampled)
		v.sampled, v.written = append(v.sampled, nil), append(v.written, nil)
	}
	if k >= mostSampled {
		return
	}
	v.sampled[k] = v.numbersOf(row, width)
	v.written[k] = slices.Repeat([]float64{math.NaN()}, len(v.forms))
	if len(row) == width {
		reading.NumbersTo(v.written[k], row, v.at)
	}
}

// relatedCells are those of one row, for what follows from several of them.
type relatedCells struct {
	reading *schema.RowCodec
	codes   []uint16
	x       []float64
	allowed []bool
}

// settle takes the numbers of columns that are after another, and finds what the rules move.
func (r *relatedCells) settle(columns []cells) {
	before := slices.Clone(r.codes)
	at, err := r.reading.Row(r.codes, r.x)
	if err != nil {
		r.allowed[at] = false
	}
	for i := range columns {
		c := &columns[i]
		switch {
		case !r.reading.Related(i):
		case c.codec.Column().After == "":
			r.allowed[i] = r.allowed[i] && r.codes[i] == before[i]
		case !math.IsNaN(r.x[i]):
			d := r.reading.Difference(i, r.x)
			if r.allowed[i] = !math.IsNaN(d); !r.allowed[i] {
				continue // what it is after is missing
			}
			r.allowed[i] = c.number(d)
			codec := r.reading.Codecs()[i]
			if r.allowed[i] && err == nil && int(r.codes[i]) < codec.Values() {
				lo, hi := codec.Bin(r.codes[i])
				r.allowed[i] = lo <= d && d <= hi
			}
		}
	}
}

// add takes a cell of column i and reports whether the schema allows it by itself.
func (c *cells) add(cell string, reading *schema.RowCodec, i int, r *relatedCells) bool {
	if reading.Related(i) {
		r.codes[i], r.x[i], _ = reading.Cell(i, []byte(cell))
	}
	code, err := c.codec.EncodeText([]byte(cell))
	isMissing := err == nil && int(code) == c.codec.Values()
	after := c.codec.Column().After != ""
	if after && !isMissing {
		if !math.IsNaN(r.x[i]) {
			return true // settled with its row
		}
		err = errForeign
	}
	switch {
	case isMissing:
		c.missing++
	case err != nil && schema.MeansMissing(cell):
		c.missing++
		c.blank++
		if code, err := reading.Codecs()[i].EncodeText([]byte(cell)); err == nil {
			c.readAs = reading.Codecs()[i].Label(code)
		}
	case err != nil && !c.ordered():
		c.foreign[cell]++
	}
	if err == nil {
		c.count[code]++
	}
	if padded(cell) {
		c.padded++
	}
	if !c.ordered() || isMissing || after {
		return err == nil
	}
	if x, ok := c.codec.ParseValue(cell); ok {
		// a number within the bounds may still be none of the column's, such as a fraction
		return c.number(x) && err == nil
	}
	return err == nil
}

// padded reports whether a cell begins with a zero and another digit.
func padded(cell string) bool {
	return len(cell) > 1 && cell[0] == '0' && '0' <= cell[1] && cell[1] <= '9'
}

var errForeign = errors.New("not a value of the column")

// number takes a number and reports whether it is within the bounds.
func (c *cells) number(x float64) bool {
	c.numbers = append(c.numbers, x)
	lo, hi := c.bounds()
	if x < lo {
		c.below++
	} else if x > hi {
		c.above++
	}
	return lo <= x && x <= hi
}

func (c *cells) ordered() bool { return c.codec.Column().Kind.Ordered() }

func (c *cells) bounds() (lo, hi float64) { return c.codec.Column().Min, c.codec.Column().Max }

// LeftOut lists the columns of the file that the schema does not have, but for the unit.
func (v *Values) LeftOut() []string { return v.left }

// SetUnits says of which units the rows are; nil: no two are of one. Synthetic units, of which a
// few may lack the largest, are at least as large as real ones, if these are given.
func (v *Values) SetUnits(units []uint32, real *Values) {
	if v.effective = effectiveRows(units, v.rows); units != nil && real != nil {
		v.effective = min(v.effective, float64(v.rows)/real.designEffect())
	}
}

// designEffect is how many rows tell as much as one whose unit has no other.
func (v *Values) designEffect() float64 { return float64(v.rows) / v.effective }

// Rows is how many there are.
func (v *Values) Rows() int { return v.rows }

// Moved is the cells of a column that the schema does not allow.
type Moved struct {
	// MovedShare: of the cells, 0 to 1; 1 if the header does not name the column
	Share Number `json:"moved"`
	// of the cells of numbers: shares that lie below and above the public bounds
	Below float64 `json:"-"`
	Above float64 `json:"-"`
	// of the cells: share of those that mean missing (an empty text, NA and the like) where the
	// schema does not say so, and what they are read as; "" if they are refused
	Blank   float64  `json:"-"`
	ReadAs  string   `json:"-"`
	Foreign []string `json:"-"` // texts that are no category, the most frequent first, at most three
}

// Validity is the share of rows, as any tool may have written them, all of whose cells the public
// schema allows: a declared category, a value within the declared bounds in the column's format, or
// a declared missing token, whatever the column's policy for invalid cells.
//
// Name Validity. Alias DataValidity, BoundaryAdherence and CategoryAdherence (SDMetrics), which
// take bounds and categories from the real rows: a table that keeps to the public ones would score
// below 1 there. Range 0 to 1; goal: 1. Source: SDMetrics documentation, Data Validity.
func Validity(v *Values) float64 { return float64(v.valid) / float64(v.rows) }

// moved is the cells of a real column, which has so many, that the schema does not allow, and that
// reading with it therefore moves: numbers to a bound or to a whole number, categories to the one
// that stands for all others, texts to missing. No figure computed on codes can show it, because
// the real rows are moved by the same schema.
func (c *cells) moved(rows int) Moved {
	n := float64(rows)
	texts := slices.SortedFunc(maps.Keys(c.foreign), func(a, b string) int {
		return cmp.Or(c.foreign[b]-c.foreign[a], cmp.Compare(a, b))
	})
	return Moved{Number(float64(c.refused) / n), float64(c.below) / n, float64(c.above) / n,
		float64(c.blank) / n, c.readAs, texts[:min(len(texts), 3)]}
}
