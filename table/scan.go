package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/decoy-dp/decoy/schema"
)

// ScanOptions say how [ScanText] reads.
type ScanOptions struct {
	CSV     schema.CSV // of a CSV file
	Lenient bool       // no row is an error: see ReadCSV; a cell that cannot be read is empty
	Columns int        // required with Lenient: how many the file has, or it is refused
	// optional: the separator of a file with a header follows from its columns too, as in ReadCSV
	Schema *schema.Schema
	Begin  func() error // optional: as in ReadOptions

	maxCell int // as in ReadOptions
}

// ScanText calls fn with the text of every row of the CSV, Parquet or Arrow file at path, in order,
// and stops at the first error; for the standard input see [Standard]. It is for files that no
// schema describes. names are the column names; without a header they are column_1, column_2 and so
// on. row has one cell a name and is valid until fn returns. The values of typed columns are
// written as the writers of this package would, nulls as empty cells. The limits are those of
// ReadCSV and parquetFile. It holds a block or a row group at a time, and every text of a column in
// it once.
func ScanText(path string, o ScanOptions, fn func(names, row []string) error) error {
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.close()
	return f.scan(context.Background(), o, fn)
}

// Header gives the column names of the CSV, Parquet or Arrow file at path: the first line of a CSV
// file, the names of the columns in the schema of another. It looks at no row: the names of a CSV
// file are those of its first line alone. comma is for CSV only; where s is not nil, the separator
// follows from its columns too, as in ReadCSV. Not for the standard input, which can be read once
// only.
func Header(path string, comma byte, s *schema.Schema) (names []string, err error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	if f.file == os.Stdin {
		return nil, errors.New("table: the standard input has no header of its own")
	}
	defer f.close()
	o := ScanOptions{CSV: schema.CSV{Comma: comma}, Lenient: true, Schema: s}
	err = f.readTexts(context.Background(), o, func(header []string) error {
		names = header
		return errHeader
	}, nil)
	if err == errHeader {
		err = nil
	}
	return names, err
}

// errHeader ends a read behind the header.
var errHeader = errors.New("table: the header is known")

// scan is ScanText.
func (f *opened) scan(
	ctx context.Context, o ScanOptions, fn func(names, row []string) error,
) error {
	var names []string
	return f.readTexts(ctx, o, func(header []string) error {
		names = header
		if o.Lenient && len(names) != o.Columns {
			return fmt.Errorf("table: the file has %d columns, not %d: %w", len(names), o.Columns,
				schema.ErrSchema)
		}
		return nil
	}, func(p part, cost func(bytes int) error) error { return p.rowsOf(names, cost, fn) })
}

// readTexts reads a file whose columns all become texts: bind is told its column names, and put
// takes the parts in their order, with what counts the bytes that are copied of them.
func (f *opened) readTexts(
	ctx context.Context, o ScanOptions, bind func(names []string) error,
	put func(p part, cost func(bytes int) error) error,
) error {
	l := &layout{lenient: o.Lenient, header: !o.CSV.NoHeader, comma: o.CSV.Separator(),
		known: namesOf(o.Schema)}
	read := ReadOptions{Begin: o.Begin, maxCell: o.maxCell}
	bound := func(names []string) error {
		for range names {
			l.bind("", -1, false)
		}
		return bind(names)
	}
	if f.format.IsCSV() {
		free := func(int) error { return nil }
		return l.readCSV(ctx, f.text, f.size, read, blockSize,
			func(first chunk, names []string) (err error) {
				if !l.header {
					names, err = o.invented(first, read)
				}
				if err != nil {
					return err
				}
				return bound(names)
			}, func(p part) error { return put(p, free) })
	}
	typed, err := openTyped(ctx, f)
	if err != nil {
		return err
	}
	names := typed.names()
	if len(names) == 0 {
		return fmt.Errorf("table: %w", errEmptyFile)
	}
	if err := bound(names); err != nil {
		return err
	}
	return l.readTyped(typed, read, func(p part) error { return put(p, typed.take) })
}

// invented are the names of the columns of a CSV file without a header: of a strict one as many as
// its first record has cells.
func (o ScanOptions) invented(first chunk, read ReadOptions) (names []string, err error) {
	n := o.Columns
	if !o.Lenient && len(first.buf) == 0 {
		return nil, nil
	}
	if !o.Lenient {
		z := newTokenizer(o.CSV.Separator(), read.withDefaults().maxCell)
		names, _, err = header(z, first)
		n = len(names)
	}
	names = nil
	for i := range n {
		names = append(names, fmt.Sprintf("column_%d", i+1))
	}
	return names, err
}

// rowsOf calls fn for every row of texts. cost is told the length of each.
func (p *part) rowsOf(
	names []string, cost func(bytes int) error, fn func(names, row []string) error,
) error {
	row := make([]string, len(names))
	for r := range p.rows {
		size := 0
		for i, t := range p.texts {
			row[i] = t.words[t.number[r]]
			size += len(row[i])
		}
		if err := cost(size); err != nil {
			return fmt.Errorf("table: %w", err)
		}
		if err := fn(names, row); err != nil {
			return err
		}
	}
	return nil
}

// inBytes is the bytes of an Arrow stream or file, open.
func inBytes(data []byte) *opened {
	return &opened{format: Arrow, file: inMemory{bytes.NewReader(data)}}
}
