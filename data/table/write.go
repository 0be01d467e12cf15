package table

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
)

// Writer writes tables of one schema to one stream, one after the other, as a single file. After an
// error it is of no more use.
type Writer interface {
	// Write appends the rows of t.
	Write(t *Table) error
	// Close completes the file. It does not close the stream.
	Close() error
}

// WriterOptions say how cells are written. The zero value is ready to use.
type WriterOptions struct {
	// in CSV, for a spreadsheet: an apostrophe goes before each cell, and each name, that is a
	// [Formula]. Such cells are then not those of the schema
	Safe bool
	// in Parquet and Arrow: the columns that hold the texts that they have in CSV, with nulls for
	// missing cells
	Texts []string
}

// NewWriter returns a writer of tables of schema s to w. Codes are turned into values with u, row
// by row and in the order of the columns, so that a source in the same state gives the same values
// in every format and however the rows are split into tables. u may be nil if all columns are
// categorical or boolean. The unit column of s is not written unless it is made ([schema.Schema]).
//
// CSV is RFC 4180 with LF line ends and a header unless s.CSV.NoHeader. Parquet and Arrow have
// dictionary-coded strings, 64-bit integers, doubles, booleans, dates and timestamps in
// microseconds, with nulls for missing cells; timestamps are in UTC, or of no zone where the format
// of the column has none.
func NewWriter(
	w io.Writer, f Format, s *schema.Schema, u *rand.Rand, o WriterOptions,
) (Writer, error) {
	rows, err := s.RowCodec()
	if err != nil {
		return nil, err
	}
	for _, c := range s.Columns {
		if u == nil && c.Kind.Ordered() {
			return nil, fmt.Errorf("table: writing the %s column %q needs a source of random numbers",
				c.Kind, c.Name)
		}
	}
	d := decoder{schema: s, codec: rows, columns: rows.Columns(), u: u,
		values: make([]schema.Value, len(s.Columns)+len(s.Made))}
	switch f.base() {
	case CSV:
		return newCSVWriter(w, f, d, o.Safe)
	case Parquet, Arrow:
		return newTypedWriter(w, f, d, o.Texts)
	}
	return nil, errors.New("table: unknown file format")
}

// decoder draws the values of tables.
type decoder struct {
	schema  *schema.Schema
	codec   *schema.RowCodec
	columns []schema.FileColumn
	u       *rand.Rand
	rows    int            // so far
	values  []schema.Value // of the row at hand, as Decode has them
}

// check reports whether the codes of t mean what they mean in d's schema.
func (d *decoder) check(t *Table) error {
	if t.codec != nil {
		d.codec = t.codec // refined, as all tables of this writer are
	}
	if t.schema == d.schema {
		return nil
	}
	if t.codec == nil && !slices.Equal(t.sizes, d.schema.Sizes()) ||
		t.schema.Fingerprint() != d.schema.Fingerprint() {
		return errors.New("table: the table has another schema than its writer")
	}
	return nil
}

// draw draws the values of a row of t.
func (d *decoder) draw(t *Table, row int) {
	at := schema.Place{Row: d.rows, Known: -1}
	if t.ids != nil {
		at.IDs = slices.Repeat([]int{d.rows}, len(d.schema.Made))
		for made, of := range t.ids {
			at.IDs[made] = int(of[row])
		}
	}
	if t.known != nil {
		at.Known = t.order
		d.values[at.Known] = t.known[row]
	}
	d.codec.Decode(d.values, func(i int) uint16 { return t.cols[i].At(row) }, at, d.u)
	d.rows++
}

// Refined is FromColumns for codes of the codec of s or of one that draws other values
// ([schema.RowCodec.Refined]), to be written: a [Writer] of schema s takes it.
func Refined(s *schema.Schema, codec *schema.RowCodec, cols []Codes) (*Table, error) {
	sizes := make([]int, len(s.Columns))
	for i, c := range codec.Codecs() {
		sizes[i] = c.Size()
	}
	return fromColumns(&Table{schema: s, sizes: sizes, cols: cols, codec: codec})
}

// InOrder is a table to be written of which the rows have units of these numbers, some made columns
// these ids and, unless values is nil, these values in a column, in which codes are not looked at.
func (t *Table) InOrder(
	units []uint32, ids map[int][]uint32, column int, values []schema.Value,
) *Table {
	out := *t
	out.units, out.ids, out.order, out.known = units, ids, column, values
	return &out
}
