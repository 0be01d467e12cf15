package table

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	pqschema "github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/decoy-dp/decoy/schema"
)

// ReadParquet reads a table from a Parquet file of flat columns: booleans,
// integers of all widths, floating point of 16, 32 and 64 bits, decimals,
// dates, timestamps of any unit (naive ones are taken as UTC), UUIDs and
// strings, dictionary-coded or not, compressed by uncompressed, Snappy, Gzip,
// Brotli or Zstandard pages. A categorical column takes a value of any of
// these types as its text, a NaN counts as a null.
//
// Columns are found by name, as in ReadCSV. A column of another type is an
// error if the schema names it, and is ignored otherwise. Columns of a row
// group are decoded by o.Workers goroutines. Of several bad cells, the error
// is about the first in the order of the rows; rows are counted from 1.
//
// A damaged file is an error, whatever the library makes of it. Memory holds
// the codes, the ids of the units and, for every worker, a page and its
// dictionary. Before room is made for them, the footer, the pages, the cells and
// the units are held to limits that are stated with maxFooter; they also bound
// the time.
//
// Under a lenient schema (s.Lenient) no value is an error: one that the column
// does not allow, of a wrong type, not UTF-8 or of more than o.MaxCell bytes has
// a code, as in ReadCSV, and a row that names no unit is left out. Errors are
// about reading, damage, limits and the columns of the file only.
func ReadParquet(
	ctx context.Context, r parquet.ReaderAtSeeker, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	o = o.withDefaults()
	l, err := newLayout(s)
	if err != nil {
		return nil, Report{}, err
	}
	p, err := openParquet(ctx, r)
	if err != nil {
		return nil, Report{}, err
	}
	var report Report
	if report.Ignored, err = l.bindNames(p.names()); err != nil {
		return nil, Report{}, err
	}
	if err := p.checkCells(len(l.sizes) + 1); err != nil {
		return nil, Report{}, err
	}
	for i, f := range p.fields {
		if l.target[i] != toNothing && f.err != nil {
			return nil, Report{}, fmt.Errorf("table: column %d (%q): %w", i+1, l.name(i), f.err)
		}
	}
	a := assembly{layout: l}
	for g := range p.groups() {
		part, err := p.readGroup(ctx, g, a.rows, l, o)
		if err != nil {
			return nil, Report{}, p.failure(err)
		}
		a.add(part)
		if o.Progress != nil {
			o.Progress(float64(g+1) / float64(p.groups()))
		}
	}
	return a.table(), report, nil
}

// parquetFile is an open Parquet file.
type parquetFile struct {
	*source
	rows   int64 // by the footer
	reader *file.Reader
	fields []parquetField
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
		p.rows, err = checkFooter(footer)
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

// checkCells refuses a file of more cells, columns a row, than its length lets
// expect: a run of equal values takes a few bytes, whatever its length.
func (p *parquetFile) checkCells(columns int) error {
	if p.rows > atLeast(maxCells, p.size)/int64(columns) {
		return fmt.Errorf("table: %w", errTooMuch)
	}
	return nil
}

func (p *parquetFile) names() []string {
	var names []string
	for _, f := range p.fields {
		names = append(names, f.name)
	}
	return names
}

func (p *parquetFile) groups() int { return p.reader.NumRowGroups() }

// readGroup reads a row group that comes after rows other rows.
func (p *parquetFile) readGroup(
	ctx context.Context, group, rows int, l *layout, o ReadOptions,
) (part, error) {
	var (
		out   = part{cols: make([]Codes, len(l.sizes))}
		names units
		errs  = make([]error, len(p.fields))
		work  = make(chan int, len(p.fields))
		wg    sync.WaitGroup
		n     int64
	)
	if err := catch(func() error { n = p.reader.RowGroup(group).NumRows(); return nil }); err != nil {
		return part{}, fmt.Errorf("table: %w", err)
	}
	for i := range p.fields {
		if l.target[i] != toNothing {
			work <- i
		}
	}
	close(work)
	for range min(o.Workers, len(work)) {
		wg.Go(func() {
			for i := range work {
				var c consumer
				if t := l.target[i]; t == toUnit {
					c = p.unitsConsumer(p.fields[i].leaf, &names, &out.units, l.schema.Lenient, o.MaxCell)
				} else {
					c = codesConsumer(p.fields[i].leaf, l.codecs[t], &out.cols[t], l.schema.Lenient, o.MaxCell)
				}
				errs[i] = p.readColumn(ctx, group, n, p.fields[i].leaf, c)
			}
		})
	}
	wg.Wait()
	if err := firstError(errs, rows, l); err != nil {
		return part{}, err
	}
	out.rows = int(n)
	out.ids = names.take()
	if l.schema.Lenient {
		out.dropNobody()
	}
	return out, nil
}

// firstError returns the error about the first bad cell of a row group, or
// that about the first column that could not be read to its end.
func firstError(errs []error, rows int, l *layout) error {
	var first *badCell
	column := 0
	for i, err := range errs {
		var bad *badCell
		switch {
		case err == nil:
		case !errors.As(err, &bad):
			return fmt.Errorf("table: column %d (%q): %w", i+1, l.name(i), err)
		case first == nil || bad.row < first.row:
			first, column = bad, i
		}
	}
	if first == nil {
		return nil
	}
	return place{"row", rows + int(first.row) + 1, column + 1, l.name(column)}.wrap(first.err)
}

// readColumn decodes a column of a row group of n rows.
func (p *parquetFile) readColumn(ctx context.Context, group int, n int64, l *leaf,
	c consumer) error {
	return catch(func() error {
		pages, err := p.pages(group, n, l)
		if err != nil {
			return err
		}
		defer pages.close()
		r := columnReader{leaf: l, consumer: c, rows: n}
		return r.read(ctx, pages)
	})
}

// pages returns the pages of a column of a row group of n rows, after a check
// of what its metadata say.
func (p *parquetFile) pages(group int, n int64, l *leaf) (*pageReader, error) {
	chunk, err := p.reader.RowGroup(group).MetaData().ColumnChunk(l.index)
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
