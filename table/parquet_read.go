package table

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	pqschema "github.com/apache/arrow/go/v15/parquet/schema"
)

// parquetFile is an open Parquet file of flat columns: booleans, integers of all widths,
// floating point of 16, 32 and 64 bits, decimals, dates, timestamps of any unit (naive ones are
// taken as UTC), UUIDs and strings, dictionary-coded or not, compressed by uncompressed, Snappy,
// Gzip, Brotli or Zstandard pages. A categorical column takes a value of any of these types as its
// text, a NaN counts as a null.
//
// Columns are found by name, as in ReadCSV. A column of another type is an error if the schema
// names it, and is ignored otherwise. Columns of a row group are decoded in parallel. The error is
// about the first bad cell of each column, in the order of the rows, which are counted from 1.
//
// A damaged file is an error, whatever the library makes of it. Memory holds the codes, the ids of
// the units and, for every worker, a page and its dictionary. Before room is made for them, the
// footer, the pages, the cells and the units are held to limits that are stated with maxFooter;
// they also bound the time.
//
// Under a lenient schema (s.Lenient) no value is an error: one that the column does not allow, of a
// wrong type, not UTF-8 or of more than a megabyte has a code, as in ReadCSV, and a row that names
// no unit is left out. Errors are about reading, damage, limits and the columns of the file only.
type parquetFile struct {
	*source
	reader *file.Reader
	fields []parquetField
	group  int // that is read, from 1
}

// parquetField is a top-level column.
type parquetField struct {
	name string
	leaf *leaf
	err  error // why it cannot be read, if so
}

// openParquet reads the footer of a file.
func openParquet(ctx context.Context, r parquet.ReaderAtSeeker) (*parquetFile, error) {
	src, err := newSource(ctx, r)
	if err != nil {
		return nil, readingError(err)
	}
	p := &parquetFile{source: src}
	footer, err := footerOf(src)
	if err == nil {
		err = checkFooter(footer)
	}
	if err != nil {
		return nil, p.failure(fmt.Errorf("table: %w", err))
	}
	err = catch(func() error {
		if p.reader, err = file.NewParquetReader(src); err != nil {
			return errDamaged
		}
		return p.readFields()
	})
	if err != nil {
		return nil, p.failure(fmt.Errorf("table: %w", err))
	}
	return p, nil
}

// readFields lists the top-level columns.
func (p *parquetFile) readFields() error {
	s := p.reader.MetaData().Schema
	root, leaves := s.Root(), 0
	for i := range root.NumFields() {
		node := root.Field(i)
		f := parquetField{name: node.Name()}
		if node.Type() == pqschema.Primitive && node.RepetitionType() != parquet.Repetitions.Repeated {
			f.leaf, f.err = newLeaf(leaves, s.Column(leaves))
		} else {
			f.err = errNested
		}
		p.fields = append(p.fields, f)
		leaves += countLeaves(node)
	}
	if leaves != s.NumColumns() || len(p.fields) > maxColumns {
		return errDamaged
	}
	return nil
}

// countLeaves counts the columns that a field is stored in.
func countLeaves(n pqschema.Node) int {
	group, ok := n.(*pqschema.GroupNode)
	if !ok {
		return 1
	}
	leaves := 0
	for i := range group.NumFields() {
		leaves += countLeaves(group.Field(i))
	}
	return leaves
}

func (p *parquetFile) names() []string {
	var names []string
	for _, f := range p.fields {
		names = append(names, f.name)
	}
	return names
}

func (p *parquetFile) unreadable(i int) error { return p.fields[i].err }

// next goes on to the next row group.
func (p *parquetFile) next() (rows int64, read float64, err error) {
	groups := p.reader.NumRowGroups()
	if p.group++; p.group > groups {
		return 0, 0, io.EOF
	}
	err = catch(func() error {
		rows = p.reader.RowGroup(p.group - 1).NumRows()
		return nil
	})
	return rows, float64(p.group) / float64(groups), err
}

// column decodes a column of the row group.
func (p *parquetFile) column(i int, rows int64, l *layout, out *part, maxCell int) error {
	leaf := p.fields[i].leaf
	pages, err := p.pages(rows, leaf)
	if err != nil {
		return err
	}
	defer pages.close()
	r := columnReader{leaf: leaf, rows: rows}
	var done func()
	r.consumer, done = p.consumerOf(leaf, l, l.columns[i], out, maxCell)
	err = r.read(p.ctx, pages)
	done()
	return err
}

// pages returns the pages of a column of the row group, of n rows, after a check of what its
// metadata say.
func (p *parquetFile) pages(n int64, l *leaf) (*pageReader, error) {
	chunk, err := p.reader.RowGroup(p.group - 1).MetaData().ColumnChunk(l.index)
	if err != nil || chunk.CryptoMetadata() != nil || chunk.FilePath() != "" ||
		chunk.NumValues() != n || chunk.Type() != l.physical {
		return nil, errDamaged
	}
	start, length := chunk.DataPageOffset(), chunk.TotalCompressedSize()
	if d := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && d > 0 && d < start {
		start = d
	}
	if start < 0 || length < 0 || start > p.size || length > p.size-start {
		return nil, errDamaged
	}
	return newPageReader(p.source, start, start+length, chunk.Compression())
}

// catch calls f and turns a panic into errDamaged: Arrow panics on what it
// does not expect in a file. What it says is dropped, as it may quote the file.
func catch(f func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errDamaged
		}
	}()
	return f()
}
