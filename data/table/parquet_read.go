package table

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// parquetFile is an open Parquet file of flat columns: booleans, integers of all widths,
// floating point of 16, 32 and 64 bits, decimals, dates, timestamps of any unit (naive ones are
// taken as UTC), UUIDs and strings, dictionary-coded or not, compressed by uncompressed, Snappy,
// Gzip, Brotli or Zstandard pages. A categorical column takes a value of any of these types as its
// text, a NaN counts as a null.
//
// Columns are found by name, as in ReadCSV. A column of another type, or whose footer says a
// compression or an encoding that is not read, is an error if the schema names it, and is ignored
// otherwise. Nested columns are refused. Columns of a row group are decoded in parallel. The error
// is about the first bad cell of each column, in the order of the rows, which are counted from 1.
//
// A damaged file is an error. Memory holds the codes, the ids of the units and, for every worker, a
// page and its dictionary. Before room is made for them, the footer, the pages, the cells and the
// units are held to limits that are stated with maxFooter; they also bound the time.
//
// Under a lenient schema (s.Lenient) no value is an error: one that the column does not allow, of a
// wrong type, not UTF-8 or of more than a megabyte has a code, as in ReadCSV, and a row that names
// no unit is left out. Errors are about reading, damage, limits and the columns of the file only.
type parquetFile struct {
	*typedFile
	groups []rowGroup
	at     int // of them, from 1
}

// rowGroup is a run of rows of a file.
type rowGroup struct {
	rows   int64
	chunks []columnChunk // by leaf
}

// columnChunk is where the values of a leaf are.
type columnChunk struct {
	physical, codec, values int64
	length                  int64 // in the file
	data, dictionary        int64 // where the pages begin; 0: there is none
	path                    []byte
	secret                  bool
	refused                 error // by what the footer says
}

var (
	errNested = errors.New("a nested Parquet column is not supported: write the file without it")
	errCodec  = errors.New("compressed by a codec that is not supported (LZ4 and LZO are none): " +
		"write the file again with zstd or snappy")
	errEncoding = errors.New("pages of an encoding that is not supported (by differences, or by " +
		"split bytes): write the file again with plain or dictionary pages")
	errUnsupported = errors.New(
		"a Parquet type that is not supported (a time of day, an interval or BSON)")
)

// openParquet reads the footer of a file.
func (f *typedFile) openParquet() error {
	footer, err := f.footer()
	if err != nil {
		return err
	}
	p := &parquetFile{typedFile: f}
	f.runs = p
	return p.parse(footer)
}

// footer is the bytes before its length and the mark at the end of the file.
func (s *source) footer() ([]byte, error) {
	const tail = 8
	if s.size < tail+4 {
		return nil, errDamaged
	}
	end := make([]byte, tail)
	if err := s.fill(end, s.size-tail); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if string(end[4:]) != "PAR1" || length > s.size-tail {
		return nil, errDamaged
	}
	if length > maxFooter {
		return nil, errLargeFooter
	}
	footer := make([]byte, length)
	return footer, s.fill(footer, s.size-tail-length)
}

// parse reads FileMetaData of
// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
func (p *parquetFile) parse(footer []byte) error {
	t, children := newThrift(footer), int64(-1)
	t.structure(field{2, each(func(i, n int) {
		if n > maxColumns+1 {
			t.fail(errDamaged)
			return
		}
		e := t.element()
		switch {
		case i == 0:
			children = e.children
		case e.children > 0 || e.repetition == repeated:
			t.fail(fmt.Errorf("column %d: %w", len(p.columns)+1, errNested))
		default:
			c := typedColumn{name: string(e.name)}
			c.leaf, c.err = e.leaf(i - 1)
			p.columns = append(p.columns, c)
		}
	})}, field{4, each(func(i, n int) {
		if n*max(len(p.columns), 1) > maxChunks {
			t.fail(errLargeFooter)
			return
		}
		p.groups = append(p.groups, t.rowGroup(len(p.columns)))
	})})
	switch {
	case t.err != nil:
		return t.err
	case children != int64(len(p.columns)):
		return errDamaged
	}
	for _, g := range p.groups {
		if len(g.chunks) != len(p.columns) {
			return errDamaged
		}
		for i, c := range g.chunks {
			p.columns[i].err = cmp.Or(p.columns[i].err, c.refused)
		}
	}
	return nil
}

// rowGroup reads RowGroup.
func (t *thrift) rowGroup(leaves int) (g rowGroup) {
	t.structure(field{3, &g.rows}, field{1, each(func(_, n int) {
		if n != leaves {
			t.fail(errDamaged)
			return
		}
		var c columnChunk
		t.structure(
			field{1, &c.path},
			field{3, func() {
				t.structure(field{1, &c.physical}, field{4, &c.codec}, field{5, &c.values},
					field{7, &c.length}, field{9, &c.data}, field{11, &c.dictionary})
			}},
			field{8, func() {
				c.secret = true
				t.structure()
			}})
		if c.codec == 3 || c.codec == 5 || c.codec > codecZstd {
			c.refused = errCodec
		}
		g.chunks = append(g.chunks, c)
	})})
	return g
}

// schemaElement is what is used of SchemaElement.
type schemaElement struct {
	physical, length, repetition, children, converted, scale int64
	name                                                     []byte
	logical                                                  logical
}

// logical is what the values of a leaf stand for, if it is more than the physical type says.
type logical struct {
	form     form  // formText: no more
	ticks    int64 // of a second
	unsigned bool  // formInt
	no       bool  // it is not supported
}

// convertedType is the logical type that has one of the older numbers.
func convertedType(n int64) logical {
	switch n {
	case 5:
		return logical{form: formDecimal}
	case 6:
		return logical{form: formDate}
	case 9:
		return logical{form: formTime, ticks: 1e3}
	case 10:
		return logical{form: formTime, ticks: 1e6}
	case 11, 12, 13, 14, 15, 16, 17, 18:
		return logical{form: formInt, unsigned: n < 15}
	}
	return logical{no: n == 7 || n == 8 || n == 20 || n == 21}
}

// element reads SchemaElement.
func (t *thrift) element() schemaElement {
	e := schemaElement{physical: -1, converted: -1}
	named := false
	t.structure(field{1, &e.physical}, field{2, &e.length}, field{3, &e.repetition},
		field{4, &e.name}, field{5, &e.children}, field{6, &e.converted}, field{7, &e.scale},
		field{10, func() {
			named = true
			e.logical = t.logical(&e.scale)
		}})
	if !named {
		e.logical = convertedType(e.converted)
	}
	return e
}

// logical reads LogicalType.
func (t *thrift) logical(scale *int64) (out logical) {
	is := func(x logical) func() {
		return func() {
			out = x
			t.structure()
		}
	}
	unit := func(ticks int64) func() { return is(logical{form: formTime, ticks: ticks}) }
	signed := true
	t.structure(
		field{5, func() {
			out = logical{form: formDecimal}
			t.structure(field{1, scale})
		}},
		field{6, is(logical{form: formDate})},
		field{7, is(logical{no: true})},
		field{8, func() {
			t.structure(field{2, func() {
				t.structure(field{1, unit(1e3)}, field{2, unit(1e6)}, field{3, unit(1e9)})
			}})
		}},
		field{10, func() {
			t.structure(field{2, &signed})
			out = logical{form: formInt, unsigned: !signed}
		}},
		field{11, is(logical{form: formNull})},
		field{13, is(logical{no: true})},
		field{14, is(logical{form: formUUID})},
		field{15, is(logical{form: formFloat})})
	return out
}

// repeated is the repetition of a field that is a list; 1 is that of one with nulls.
const repeated = 2

// The physical types.
const (
	physicalBool  = 0
	physicalInt32 = 1
	physicalInt64 = 2
	physicalBytes = 6
	physicalFixed = 7
)

// physicals are what a stored value is by its physical type alone, and its width.
var physicals = []leaf{{form: formBool}, {form: formInt, width: 4}, {form: formInt, width: 8},
	{form: formTime, width: 12, ticks: 1e6}, {form: formFloat, width: 4}, {form: formFloat, width: 8},
	{form: formText}, {form: formText}}

// leaf finds out what a flat column holds.
func (e *schemaElement) leaf(index int) (*leaf, error) {
	if e.physical < 0 || e.physical >= int64(len(physicals)) || e.logical.no {
		return nil, errUnsupported
	}
	l := physicals[e.physical]
	l.index, l.physical, l.nullable = index, e.physical, e.repetition == 1
	whole := l.physical == physicalInt32 || l.physical == physicalInt64
	if l.physical == physicalFixed {
		if l.width = int(e.length); l.width <= 0 {
			return nil, errDamaged
		}
	}
	x := e.logical
	if x.form != formText {
		l.form, l.ticks, l.unsigned = x.form, max(x.ticks, 1), x.unsigned
	}
	switch {
	case !l.stores(x.form):
		return nil, errDamaged
	case x.form == formInt && l.unsigned && l.width == 8:
		l.form = formUint
	case x.form == formDecimal:
		l.scale, l.little = int(e.scale), whole
		if l.scale > 76 { // the digits of 256 bits
			return nil, errDamaged
		}
	}
	return &l, nil
}

// stores reports whether values of the physical type can be of a logical one.
func (l *leaf) stores(as form) bool {
	whole := l.physical == physicalInt32 || l.physical == physicalInt64
	fixed := l.physical == physicalFixed
	switch as {
	case formInt:
		return whole
	case formDecimal:
		return whole || fixed || l.physical == physicalBytes
	case formTime:
		return l.physical == physicalInt64
	case formDate:
		return l.physical == physicalInt32
	case formFloat:
		return fixed && l.width == 2
	case formUUID:
		return fixed && l.width == 16
	}
	return true
}

// next goes on to the next row group.
func (p *parquetFile) next() (rows int64, err error) {
	if p.at++; p.at > len(p.groups) {
		return 0, io.EOF
	}
	return p.groups[p.at-1].rows, nil
}

// column decodes a column of the row group.
func (p *parquetFile) column(i int, s *sink) error {
	pages, err := p.pages(p.columns[i].leaf)
	if err != nil {
		return err
	}
	defer pages.close()
	return (&columnReader{sink: s}).read(pages)
}

// pages returns the pages of a column of the row group, after a check of what its metadata say.
func (p *parquetFile) pages(l *leaf) (*pageReader, error) {
	g := p.groups[p.at-1]
	c := g.chunks[l.index]
	start := c.data
	if c.dictionary > 0 && c.dictionary < start {
		start = c.dictionary
	}
	if c.secret || len(c.path) > 0 || c.values != g.rows || c.physical != l.physical ||
		start > p.size || c.length > p.size-start {
		return nil, errDamaged
	}
	return newPageReader(p.source, start, start+c.length, c.codec)
}
