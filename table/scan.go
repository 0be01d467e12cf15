package table

import (
	"context"
	"fmt"
	"io"

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
}

// ScanText calls fn with the text of every row of the CSV, Parquet or Arrow file at path, in order,
// and stops at the first error; for the standard input see [Standard]. It is for files that no
// schema describes. names are the column names; without a header they are column_1, column_2 and so
// on. row has one cell a name and is valid until fn returns. The values of typed columns are
// written as the writers of this package would, nulls as empty cells. The limits are those of
// ReadCSV and readParquet.
func ScanText(path string, o ScanOptions, fn func(names, row []string) error) error {
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.close()
	if f.format.IsCSV() {
		return scanCSV(f.text, f.size, o, ReadOptions{Begin: o.Begin}, fn)
	}
	typed, err := openTyped(context.Background(), f)
	if err != nil {
		return err
	}
	return scanTyped(typed, o, fn)
}

func (o ScanOptions) layout() *layout {
	return &layout{lenient: o.Lenient, header: !o.CSV.NoHeader, comma: o.CSV.Separator(),
		known: known(o.Schema)}
}

// bind lays out a file with these columns, unless others are expected.
func (o ScanOptions) bind(l *layout, names []string) error {
	if o.Lenient && len(names) != o.Columns {
		return fmt.Errorf("table: the file has %d columns, not %d: %w", len(names), o.Columns,
			schema.ErrSchema)
	}
	l.bindTexts(len(names))
	return nil
}

// scanCSV is ScanText for CSV.
func scanCSV(
	r io.Reader, size int64, o ScanOptions, read ReadOptions, fn func(names, row []string) error,
) error {
	l := o.layout()
	var names []string
	return l.readCSV(context.Background(), r, size, read, blockSize,
		func(first chunk, header []string) (err error) {
			names = header
			if !l.header {
				n := o.Columns
				if !o.Lenient {
					n, err = cellsOf(first, l.comma, read)
				}
				for i := range n {
					names = append(names, fmt.Sprintf("column_%d", i+1))
				}
			}
			if err != nil {
				return err
			}
			return o.bind(l, names)
		},
		func(p part) error { return p.rowsOf(names, func(int) error { return nil }, fn) })
}

// cellsOf is the number of cells of the first record of a strict file.
func cellsOf(first chunk, comma byte, o ReadOptions) (int, error) {
	if len(first.buf) == 0 {
		return 0, nil
	}
	cells, _, err := header(newTokenizer(comma, o.withDefaults().maxCell), first)
	return len(cells), err
}

// scanTyped is ScanText for a file of typed columns. It holds a row group at a time, and every text
// of a column in it once.
func scanTyped(f typedFile, o ScanOptions, fn func(names, row []string) error) error {
	l, names := o.layout(), f.names()
	if len(names) == 0 {
		return fmt.Errorf("table: %w", errEmptyFile)
	}
	if err := o.bind(l, names); err != nil {
		return err
	}
	return f.read(l, ReadOptions{Begin: o.Begin}, func(part part) error {
		return part.rowsOf(names, f.take, fn)
	})
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
