package table

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/schema"
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
	d, err := newDecoder(s, u)
	if err != nil {
		return nil, err
	}
	switch f.base() {
	case CSV:
		return newCSVWriter(w, f, d, o.Safe)
	case Parquet, Arrow:
		return newTypedWriter(w, f, d, o.Texts)
	}
	return nil, errors.New("table: unknown file format")
}

// newDecoder draws values with u.
func newDecoder(s *schema.Schema, u *rand.Rand) (decoder, error) {
	rows, err := s.RowCodec()
	if err != nil {
		return decoder{}, err
	}
	for _, c := range s.Columns {
		if u == nil && c.Kind.Ordered() {
			return decoder{}, fmt.Errorf("table: writing the %s column %q needs a source of random numbers",
				c.Kind, c.Name)
		}
	}
	return decoder{schema: s, codec: rows, columns: rows.Columns(), u: u,
		values: make([]schema.Value, len(s.Columns)+len(s.Made))}, nil
}

// decoder draws the values of tables.
type decoder struct {
	schema  *schema.Schema
	codec   *schema.RowCodec
	columns []schema.FileColumn
	u       *rand.Rand
	rows    int            // so far
	values  []schema.Value // of the row at hand: by schema column, then by made column
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

// value is that of a file column in the row at hand.
func (d *decoder) value(f *schema.FileColumn) *schema.Value {
	if f.Made >= 0 {
		return &d.values[len(d.schema.Columns)+f.Made]
	}
	return &d.values[f.Column]
}
