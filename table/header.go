package table

import (
	"context"
	"errors"
	"os"
)

// Header gives the column names of the CSV or Parquet file at path: the first line of a CSV file,
// the names of the columns in the schema of a Parquet file. It looks at no row: the names of a CSV
// file are those of its first line alone. comma is for CSV only. Not for the standard input, which
// can be read once only.
func Header(path string, comma byte) ([]string, error) {
	if err := checkComma(comma); err != nil {
		return nil, err
	}
	format, f, _, err := open(path)
	if err != nil {
		return nil, err
	}
	if f == os.Stdin {
		return nil, errors.New("table: the standard input has no header of its own")
	}
	defer f.Close()
	if format == CSV {
		split := &splitter{
			r: f, block: blockSize, lenient: true,
			probe: newTokenizer(comma, ReadOptions{}.withDefaults().maxCell),
		}
		_, names, err := openCSV(split, true)
		return names, err
	}
	p, err := openParquet(context.Background(), f)
	if err != nil {
		return nil, err
	}
	return p.names(), nil
}
