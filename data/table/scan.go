package table

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/decoy-dp/decoy/data/schema"
)

// ScanOptions say how [ScanText] reads.
type ScanOptions struct {
	CSV     schema.CSV   // of a CSV file
	Lenient bool         // no row is an error: see ReadCSV; a cell that cannot be read is empty
	Columns int          // required with Lenient: how many the file has, or it is refused
	Begin   func() error // optional: as in ReadOptions

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
	f, err := open(path, o.CSV)
	if err != nil {
		return err
	}
	defer f.close()
	return f.scan(o, fn)
}

// scan is ScanText.
func (f *opened) scan(o ScanOptions, fn func(names, row []string) error) error {
	var names, row []string
	l := o.layout(-1, func(header []string) error {
		names, row = header, make([]string, len(header))
		return nil
	})
	read := ReadOptions{Begin: o.Begin, maxCell: o.maxCell}
	return f.read(context.Background(), l, read, func(p part) error {
		for r := range p.rows {
			size := 0
			for i, t := range p.texts {
				row[i] = t.Texts[t.Cells[r]]
				size += len(row[i])
			}
			if err := f.take(size); err != nil {
				return fmt.Errorf("table: %w", err)
			}
			if err := fn(names, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// Header gives the column names of the CSV, Parquet or Arrow file at path: those in the header of a
// CSV file, of which csv says what is known, and how it is written besides; the names of the
// columns in the schema of another. It looks at no row. Not for the standard input, which can be
// read once only.
func Header(path string, csv schema.CSV) (names []string, found schema.CSV, err error) {
	f, err := open(path, csv)
	if err != nil {
		return nil, csv, err
	}
	if f.file == os.Stdin {
		return nil, csv, errors.New("table: the standard input has no header of its own")
	}
	defer f.close()
	o := ScanOptions{CSV: csv}
	l := o.layout(-1, func(header []string) error {
		names = header
		return errHeader
	})
	if err = f.read(context.Background(), l, ReadOptions{}, nil); err == errHeader {
		err = nil
	}
	return names, l.csv, err
}

// errHeader ends a read behind the header.
var errHeader = errors.New("table: the header is known")

// layout is for a file whose columns all become texts, of which that at unitAt, if it is not
// negative, holds ids. bound is told their names.
func (o ScanOptions) layout(unitAt int, bound func(names []string) error) *layout {
	l := &layout{unit: unitAt, lenient: o.Lenient, header: !o.CSV.NoHeader, comma: o.CSV.Separator(),
		csv: o.CSV}
	l.bind = func(names []string) error {
		if !l.header {
			n := len(names) // of the cells of a first record, if it was read
			if o.Lenient {
				n = o.Columns
			}
			names = nil
			for i := range n {
				names = append(names, fmt.Sprintf("column_%d", i+1))
			}
		}
		l.columns = nil
		for i := range names {
			to := toText
			if i == unitAt {
				to = toUnit
			}
			l.columns = append(l.columns, destination{to: to, at: i})
		}
		if l.texts = len(names); o.Lenient && l.texts != o.Columns {
			return fmt.Errorf("table: the file has %d columns, not %d: %w", l.texts, o.Columns,
				schema.ErrSchema)
		}
		return bound(names)
	}
	return l
}
