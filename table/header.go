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
