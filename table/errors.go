package table

import (
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/schema"
)

// dataError is a constant text about the content of a file. It wraps schema.ErrSchema.
type dataError string

func (e dataError) Error() string { return string(e) }
func (e dataError) Unwrap() error { return schema.ErrSchema }

const (
	errBareQuote  dataError = "a quote inside a cell that does not start with one"
	errAfterQuote dataError = "a closing quote that neither a separator nor the end of the line " +
		"follows (quotes inside a quoted cell are doubled)"
	errOpenQuote  dataError = "a quoted cell opens here and never closes"
	errBareReturn dataError = "a carriage return that no line feed follows"
	errNUL        dataError = "a NUL byte (a CSV file is text in UTF-8, not UTF-16, Excel, Parquet " +
		"or compressed)"
	errNULInside dataError = "a NUL byte" // in a Parquet file
	errUTF8      dataError = "not valid UTF-8 (a file in Latin-1 is converted by: iconv -f latin1 " +
		"-t utf-8 OLD.csv > NEW.csv)"
	errBlankLine   dataError = "a blank line before the end of the file"
	errFewCells    dataError = "fewer cells than columns"
	errManyCells   dataError = "more cells than columns"
	errEmptyUnit   dataError = "the privacy unit is empty"
	errEmptyFile   dataError = "the file is empty"
	errNoneOfThese dataError = "the file has none of the schema's columns (in a CSV file: is its " +
		"first line a header, and its separator the schema's csv: {comma: ...}?); capitals count"
	errTooMany dataError = "more than 65536 columns"
)

// errLongCell is about a cell of more than limit bytes.
func errLongCell(limit int) error {
	return dataError(fmt.Sprintf("a cell of more than %d bytes", limit))
}

// errLongRecord is about a record of more than maxRecord bytes.
func errLongRecord(maxCell int) error {
	return dataError(fmt.Sprintf("a record of more than %d bytes", maxRecord(maxCell)))
}

// errLongQuoted is errLongCell for a cell that may just lack its closing quote.
func errLongQuoted(limit int) error {
	return dataError(fmt.Sprintf(
		"a quoted cell of more than %d bytes (or its closing quote is missing)", limit))
}

// readingError is about err, which reading the file ran into.
func readingError(err error) error { return fmt.Errorf("table: reading: %w", err) }

// maxMistakes is how many mistakes of a file an error tells of.
const maxMistakes = 10

// mistake is a cell that the schema does not allow.
type mistake struct {
	err error
	key string // of the column and the cell: a typo that comes again is told of once
}

// mistakes are the first of a file, in its order: whoever mends it need not look for them one by
// one.
type mistakes []mistake

// add takes one more, unless it is there already.
func (m *mistakes) add(one mistake) {
	for _, old := range *m {
		if old.key == one.key {
			return
		}
	}
	if !m.full() {
		*m = append(*m, one)
	}
}

func (m mistakes) full() bool { return len(m) == maxMistakes }

// err is one error about all of them, and about what ended the read after them: nil for nothing.
func (m mistakes) err(end error) error {
	var all []error
	for _, one := range m {
		all = append(all, one.err)
	}
	switch {
	case m.full():
		all = append(all, fmt.Errorf("table: these are the first %d; there may be more", maxMistakes))
	case end != nil:
		all = append(all, end)
	}
	if len(all) == 1 {
		return all[0]
	}
	return errors.Join(all...)
}
