package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	pqschema "github.com/apache/arrow/go/v15/parquet/schema"
)

// read reads a file with this layout; put takes the row groups in their order.
func (p *parquetFile) read(l *layout, o ReadOptions, put func(part) error) error {
	o = o.withDefaults()
	for i, f := range p.fields {
		if l.columns[i].used() && f.err != nil {
			return l.about(i, f.err)
		}
	}
	if err := o.begin(); err != nil {
		return err
	}
	if err := p.checkCells(len(l.sizes) + max(1, l.texts)); err != nil {
		return err
	}
	rows, groups := 0, p.reader.NumRowGroups()
	for g := range groups {
		part, err := p.readGroup(g, rows, l, o)
		if err == nil {
			rows += part.rows
			err = put(part)
		}
		if err != nil {
			return p.failure(err)
		}
		if o.Progress != nil {
			o.Progress(float64(g+1) / float64(groups))
		}
	}
	return nil
}

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

// readGroup reads a row group that comes after rows other rows.
func (p *parquetFile) readGroup(group, rows int, l *layout, o ReadOptions) (part, error) {
	var (
		out  = l.newPart()
		errs = make([]error, len(p.fields))
		work = make(chan int, len(p.fields))
		wg   sync.WaitGroup
		n    int64
	)
	err := catch(func() error { n = p.reader.RowGroup(group).NumRows(); return nil })
	if err != nil {
		return part{}, fmt.Errorf("table: %w", err)
	}
	for i := range p.fields {
		if l.columns[i].used() {
			work <- i
		}
	}
	close(work)
	for range min(o.workers, len(work)) {
		wg.Go(func() {
			for i := range work {
				errs[i] = p.readColumn(group, n, p.fields[i].leaf, l, l.columns[i], &out, o.maxCell)
			}
		})
	}
	wg.Wait()
	return out, l.complete(&out, int(n), rows, errs)
}

// newPart is for the columns of a run of rows of a typed file.
func (l *layout) newPart() part {
	out := part{codes: make([]Codes, len(l.sizes)), texts: make([]texts, l.texts)}
	if l.rows != nil {
		out.values = make([]values, len(l.sizes)+len(l.schema.Made))
	}
	return out
}

// complete makes rows of the columns of a run of n rows that comes after rows other rows; errs are
// the errors by file column.
func (l *layout) complete(out *part, n, rows int, errs []error) error {
	if err := l.firstError(errs, rows); err != nil {
		return err
	}
	out.rows = n
	if out.values != nil {
		if row, column, err := newRelated(l).settleRows(out, l.sizes); err != nil {
			return l.at("row", rows+row+1, column).wrap(err)
		}
		out.values = nil
	}
	if l.lenient && l.schema != nil && l.schema.Unit != "" {
		out.dropNobody()
	}
	return nil
}

// firstError returns the error about the first bad cell of each column of a row group, or that
// about the first column that could not be read to its end.
func (l *layout) firstError(errs []error, rows int) error {
	var bad []*badCell
	column := map[*badCell]int{}
	for i, err := range errs {
		var one *badCell
		switch {
		case err == nil:
		case !errors.As(err, &one):
			return l.about(i, err)
		default:
			bad = append(bad, one)
			column[one] = i
		}
	}
	slices.SortStableFunc(bad, func(a, b *badCell) int { return cmp.Compare(a.row, b.row) })
	var out mistakes
	for _, one := range bad {
		i := column[one]
		out.add(mistake{l.at("row", rows+int(one.row)+1, i).wrap(one.err), strconv.Itoa(i)})
	}
	return out.err(nil)
}

// about is an error about file column i as a whole.
func (l *layout) about(i int, err error) error {
	if name := l.columns[i].name; name != "" {
		return fmt.Errorf("table: column %d (%q): %w", i+1, name, err)
	}
	return fmt.Errorf("table: column %d: %w", i+1, err)
}

// readColumn decodes a column of a row group of n rows into out.
func (p *parquetFile) readColumn(
	group int, n int64, leaf *leaf, l *layout, d destination, out *part, maxCell int,
) error {
	return catch(func() error {
		pages, err := p.pages(group, n, leaf)
		if err != nil {
			return err
		}
		defer pages.close()
		r := columnReader{leaf: leaf, rows: n}
		var done func()
		r.consumer, done = p.consumerOf(leaf, l, d, out, maxCell)
		err = r.read(p.ctx, pages)
		done()
		return err
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
