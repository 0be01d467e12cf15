package report

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
)

// Read reads a table for a report, as codes of the schema and, unless the file can be read once
// only, its cells as they are. It returns the columns, by number, that the schema does not name. It
// has no protection.
func Read(
	ctx context.Context, path string, s *schema.Schema, once bool,
) (out Table, ignored []int, err error) {
	out.Name = filepath.Base(path)
	rows, info, err := table.Read(ctx, path, s, table.ReadOptions{})
	if out.Rows = rows; err != nil || once || rows.Rows() == 0 {
		return out, info.Ignored, err
	}
	if out.Garbled, err = garbled(path, s); err == nil {
		out.Values, err = readValues(path, s)
	}
	return out, info.Ignored, err
}

// garbled reports whether a CSV file is in another encoding than UTF-8, and none is said.
func garbled(path string, s *schema.Schema) (bool, error) {
	format, _ := table.FormatOf(path)
	if format != table.CSV && format != table.CSV|table.Tabs || s.CSV.Encoding != "" {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, transform.NewReader(f, encoding.UTF8Validator))
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		return true, nil
	}
	return false, err
}

// readValues reads the cells of a table as the file has them.
func readValues(path string, s *schema.Schema) (*eval.Values, error) {
	rows, err := s.RowCodec()
	if err != nil {
		return nil, err
	}
	var header []string
	csv := s.CSV
	if s.Unit != "" {
		header = append(header, s.Unit)
	}
	for _, c := range rows.Columns() {
		header = append(header, c.Name)
	}
	if !s.CSV.NoHeader {
		if header, csv, err = headerOf(path, s); err != nil {
			return nil, err
		}
	}
	enough := errors.New("enough")
	var scanned error
	v, err := eval.NewValues(s, header, func(yield func([]string) bool) {
		o := table.ScanOptions{CSV: csv, Lenient: s.Lenient, Columns: len(header)}
		scanned = table.ScanText(path, o, func(_, row []string) error {
			if !yield(row) {
				return enough
			}
			return nil
		})
	})
	return v, cmp.Or(scanned, err)
}

// headerOf is the header that the schema finds: in the first line that has one of its names, of
// those in which it may stand.
func headerOf(path string, s *schema.Schema) (names []string, csv schema.CSV, err error) {
	for at := min(1, s.CSV.HeaderLine); at <= s.CSV.HeaderLine; at++ {
		csv = s.CSV
		csv.HeaderLine = at
		names, _, err = table.Header(path, csv)
		if err == nil && slices.ContainsFunc(names, func(n string) bool { return s.Index(n) >= 0 }) {
			break
		}
	}
	return names, csv, err
}
