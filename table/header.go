package table

import (
	"context"
	"errors"
	"os"

	"github.com/decoy-dp/decoy/schema"
)

// Header gives the column names of the CSV, Parquet or Arrow file at path: the first line of a CSV
// file, the names of the columns in the schema of another. It looks at no row: the names of a CSV
// file are those of its first line alone. comma is for CSV only; where s is not nil, the separator
// follows from its columns too, as in ReadCSV. Not for the standard input, which can be read once
// only.
func Header(path string, comma byte, s *schema.Schema) ([]string, error) {
	if err := checkComma(comma); err != nil {
		return nil, err
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	if f.file == os.Stdin {
		return nil, errors.New("table: the standard input has no header of its own")
	}
	defer f.close()
	if f.format.IsCSV() {
		split := &splitter{
			r: f.text, block: blockSize, lenient: true,
			probe: newTokenizer(comma, ReadOptions{}.withDefaults().maxCell), known: known(s),
		}
		_, names, err := openCSV(split, true)
		return names, err
	}
	p, err := openTyped(context.Background(), f)
	if err != nil {
		return nil, err
	}
	return p.names(), nil
}

// CheckHeader reports whether the first line of the CSV file at path has the columns that a schema
// needs; it looks at no row. It is nil for the standard input, for a file without a header, and for
// one of another format.
func CheckHeader(path string, s *schema.Schema) error {
	format, err := FormatOf(path)
	if err != nil || path == "-" || !format.IsCSV() || s.CSV.NoHeader {
		return err
	}
	names, err := Header(path, s.CSV.Separator(), s)
	if err != nil {
		return err
	}
	l, err := newLayout(s)
	if err != nil {
		return err
	}
	_, err = l.bindNames(names)
	return err
}
