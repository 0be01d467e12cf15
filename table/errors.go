package table

import (
	"errors"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/schema"
)

// dataError is a constant text about the content of a file. It wraps schema.ErrSchema.
type dataError string

func (e dataError) Error() string { return string(e) }
func (e dataError) Unwrap() error { return schema.ErrSchema }

const (
	errNUL dataError = "a NUL byte (a CSV file is in UTF-8, not UTF-16, Excel, Parquet " +
		"or compressed)"
	errUTF8 dataError = "not valid UTF-8 (a file in Latin-1 is converted by: iconv -f latin1 " +
		"-t utf-8 OLD.csv > NEW.csv)"
	errBlankLine dataError = "a blank line in place of the column names"
	errLoneCR    dataError = "a carriage return within the line (lines end with line feeds: " +
		"tr '\\r' '\\n' < OLD.csv > NEW.csv)"
	errOpenQuote dataError = "a cell opens with a quote that the line does not close (a row is a " +
		"line: no cell has line ends)"
	errFewCells dataError = "fewer cells than columns (a row is a line: a file with line ends in " +
		"its cells is read as Parquet or Arrow)"
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

// errLongLine is about a line of more than maxRecord bytes.
func errLongLine(maxCell int) error {
	return dataError(fmt.Sprintf("a line of more than %d bytes", maxRecord(maxCell)))
}

// readingError is about err, which reading the file ran into.
func readingError(err error) error { return fmt.Errorf("table: reading: %w", err) }

// mostBad is how many bad cells of a strict file are named: the first of a line, or of a column of
// a run of typed rows.
const mostBad = 10

// firstOf joins the first errors of a list, in which nil is none.
func firstOf(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	return errors.Join(errs[:min(len(errs), mostBad)]...)
}
