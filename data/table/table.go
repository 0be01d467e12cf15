// Package table holds a table of rows as codes, one small integer a cell, and
// moves it in and out of CSV, Parquet and Arrow files.
//
// A column of codes is a []uint8 when its schema column has at most 256 codes and a []uint16
// otherwise; what a code means is the business of package schema. Nothing here adds noise or keeps
// secrets: rows read from a private file are handled behind the gate in package privacy, and no
// error message of this package contains text of the file, neither a cell nor a header, but line
// numbers, column positions and names that the schema already makes public.
//
// # What a guarantee takes for granted
//
// The guarantees of package privacy are about rows of codes, those of users
// about rows of their file. What stands between the two is this package and the
// codecs of package schema, which no proof covers. A reader has to believe:
//
//   - A row of the file becomes at most one row of codes, by a rule of that row,
//     the schema and the names of the columns alone. Taking a row out of the file
//     takes its row out of the table, and changes no other.
//   - Where cells of a row have to do with each other (schema.RowCodec), only those
//     of one row do: what a reader keeps from the row before decides nothing.
//   - Two rows are of one privacy unit exactly if their ids are the same bytes, or in a Parquet
//     or Arrow file the same value, the blanks at both ends of a text (schema.IDBlanks) left out.
//   - Under a lenient schema, as which private files are always read, no error depends
//     on what is in a row: errors are about reading, the header, the columns, and of
//     Parquet, Arrow and compressed files damage and the limits stated with maxFooter
//     and unpacked.
//   - The separator of a CSV file is that of the schema, or a tab where its name says so.
//
// A row is a line or a record of a CSV file (see csvParser), and a row of a row group in a Parquet
// file or of a record batch in an Arrow file. These tests hold the premise: FuzzRecords,
// TestLenientNeighbours and FuzzLenientNeighbours (a bad row of any bytes changes no other, in
// blocks of any size), TestLenientPackedNeighbours, TestLenientHeader, TestSeparator,
// TestLenientScan, TestLenientParquetNeighbours, TestLenientParquetTypes,
// TestLenientArrowNeighbours, TestLenientArrowTypes, TestRelatedAbsent, FuzzRelatedNeighbours,
// TestLenientReadsWhatStrictDoes and FuzzCSV here; TestLenient, TestLenientNeverFails,
// FuzzEncodeText and TestDecodeEncode in package schema; and the replays of whole programs in
// internal/replay.
package table

import (
	"errors"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
)

// Codes is one column of codes. Exactly one field is set: U8 when the column
// has at most 256 codes, U16 otherwise. In an empty column both may be nil.
type Codes struct {
	U8  []uint8
	U16 []uint16
}

// NewCodes returns n zero codes for a column of size codes.
func NewCodes(size, n int) Codes {
	if size <= 256 {
		return Codes{U8: make([]uint8, n)}
	}
	return Codes{U16: make([]uint16, n)}
}

// At returns the code of row i.
func (c Codes) At(i int) uint16 {
	if c.U16 != nil {
		return c.U16[i]
	}
	return uint16(c.U8[i])
}

// Set stores the code of row i. A code above 255 must not be stored in U8.
func (c Codes) Set(i int, code uint16) {
	if c.U16 != nil {
		c.U16[i] = code
		return
	}
	c.U8[i] = uint8(code)
}

// Len returns the number of rows.
func (c Codes) Len() int { return len(c.U8) + len(c.U16) }

// slice returns rows lo to hi-1, sharing memory with c.
func (c Codes) slice(lo, hi int) Codes {
	if c.U16 != nil {
		return Codes{U16: c.U16[lo:hi]}
	}
	return Codes{U8: c.U8[lo:hi]}
}

// fill sets all codes to code.
func (c Codes) fill(code uint16) {
	for i := range c.U8 {
		c.U8[i] = uint8(code)
	}
	for i := range c.U16 {
		c.U16[i] = code
	}
}

// Table is an immutable table of codes. Its methods may be called from several goroutines at once.
type Table struct {
	schema *schema.Schema
	sizes  []int
	rows   int
	cols   []Codes
	units  []uint32
	keys   []TextColumn     // of linked tables, until they are numbered
	ids    map[int][]uint32 // by made column, to be written; none: the number of the row
	codec  *schema.RowCodec // what codes stand for; nil: as schema has it
	known  []schema.Value   // of column order, to be written; nil: they are drawn
	order  int
}

// Schema returns the schema that gives the codes their meaning. It must not be changed.
func (t *Table) Schema() *schema.Schema { return t.schema }

// Rows returns the number of rows.
func (t *Table) Rows() int { return t.rows }

// Column returns the codes of schema column i. They must not be changed.
func (t *Table) Column(i int) Codes { return t.cols[i] }

// Columns are the codes of all columns. They must not be changed; the slice is the caller's.
func (t *Table) Columns() []Codes { return slices.Clone(t.cols) }

// Units returns the number of every row's privacy unit, or nil when the table has none: its schema
// names no unit column, or its rows are synthetic. Units are numbered from 0 in the order in which
// the file first names them. The slice must not be changed.
func (t *Table) Units() []uint32 { return t.units }

// Select returns a table of the given rows, in the given order; a row may
// occur more than once. Unit numbers are kept as they are, so some may no
// longer occur. It panics if a row is out of range.
func (t *Table) Select(rows []int) *Table {
	out := &Table{schema: t.schema, sizes: t.sizes, rows: len(rows), codec: t.codec,
		cols: make([]Codes, len(t.cols))}
	for i, c := range t.cols {
		out.cols[i] = NewCodes(t.sizes[i], len(rows))
		if c.U16 != nil {
			gather(out.cols[i].U16, c.U16, rows)
		} else {
			gather(out.cols[i].U8, c.U8, rows)
		}
	}
	if t.units != nil {
		out.units = make([]uint32, len(rows))
		gather(out.units, t.units, rows)
	}
	return out
}

// gather sets dst[i] = src[rows[i]].
func gather[T any](dst, src []T, rows []int) {
	for i, r := range rows {
		dst[i] = src[r]
	}
}

// FromColumns makes a table of columns of codes, one for each column of the schema and all of one
// length. units is nil or holds one unit number a row; it must be nil when the schema names no unit
// column. The table keeps the slices: the caller must not change them afterwards. A code outside
// its column's range is an error.
func FromColumns(s *schema.Schema, cols []Codes, units []uint32) (*Table, error) {
	return fromColumns(&Table{schema: s, sizes: s.Sizes(), cols: cols, units: units,
		rows: len(units)})
}

// fromColumns counts the rows of t, and reports what is wrong with it.
func fromColumns(t *Table) (*Table, error) {
	s, sizes, cols, units := t.schema, t.sizes, t.cols, t.units
	if len(cols) != len(sizes) {
		return nil, fmt.Errorf("table: %d columns of codes for a schema of %d", len(cols), len(sizes))
	}
	if len(cols) > 0 {
		t.rows = cols[0].Len()
	}
	for i, c := range cols {
		if err := checkCodes(c, sizes[i], t.rows); err != nil {
			return nil, fmt.Errorf("table: column %d (%q): %w", i+1, s.Columns[i].Name, err)
		}
	}
	switch {
	case units == nil:
	case s.Unit == "":
		return nil, errors.New("table: unit numbers for a schema that names no unit column")
	case len(units) != t.rows:
		return nil, fmt.Errorf("table: %d unit numbers for %d rows", len(units), t.rows)
	}
	return t, nil
}

// checkCodes reports whether c is a column of rows codes below size, in the
// representation that the size calls for.
func checkCodes(c Codes, size, rows int) error {
	switch {
	case c.Len() != rows:
		return fmt.Errorf("%d codes for %d rows", c.Len(), rows)
	case len(c.U8) > 0 && len(c.U16) > 0:
		return errors.New("both U8 and U16 are set")
	case len(c.U16) > 0 && size <= 256:
		return fmt.Errorf("%d codes need U8, not U16", size)
	case len(c.U8) > 0 && size > 256:
		return fmt.Errorf("%d codes need U16, not U8", size)
	case len(c.U8) > 0 && int(slices.Max(c.U8)) >= size,
		len(c.U16) > 0 && int(slices.Max(c.U16)) >= size:
		return fmt.Errorf("a code is not below %d", size)
	}
	return nil
}
