package table

import (
	"errors"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
)

// dataError is a constant text about the content of a file. It wraps schema.ErrSchema.
type dataError string

func (e dataError) Error() string { return string(e) }
func (e dataError) Unwrap() error { return schema.ErrSchema }

const (
	errNUL dataError = "a NUL byte (a CSV file is text; in UTF-16 it is read with --encoding " +
		"utf-16le, or encoding: utf-16le in a schema's csv:)"
	errUTF8 dataError = "not valid UTF-8 (a file in Latin-1, as of old spreadsheets, is read with " +
		"--encoding windows-1252, or encoding: windows-1252 in a schema's csv:)"
	errTitles dataError = "one name alone below blank lines or comments, or in a spreadsheet: is it " +
		"a title? --header-line N says in which line the names of the columns stand"
	errNoObjects dataError = "the first line is no JSON object, such as " +
		"{\"age\": 50, \"sex\": \"F\"}: " +
		"JSON lines have one on each line (of an array, jq -c '.[]' makes such lines)"
	errNoRow     dataError = "the line is no JSON object, or the row is too long"
	errNoCell    dataError = "neither a text in UTF-8 nor a number, a truth or null"
	errBlankLine dataError = "a blank line in place of the column names"
	errLoneCR    dataError = "a carriage return within the line (lines end with line feeds: " +
		"tr '\\r' '\\n' < OLD.csv > NEW.csv)"
	errOpenQuote dataError = "a name opens with a quote that the line does not close (names have no " +
		"line ends)"
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

// errLongLine is about a line of more bytes than lineCells says.
func errLongLine(maxCell int) error {
	return dataError(fmt.Sprintf("a line of more than %d bytes", lineCells*maxCell))
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
