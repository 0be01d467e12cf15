package table

import (
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
