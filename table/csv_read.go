package table

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/decoy-dp/decoy/schema"
)

// ReadCSV reads a table from CSV in UTF-8: a row is a line, with LF or CRLF at its end, whose cells
// are as RFC 4180 has them. A byte-order mark and blank lines are passed over. size is its length
// in bytes, -1 if it is not known.
//
// Columns are found by the names in the first line; those that the schema does not name are left
// out and reported, and the schema decides about those that the file lacks. Without a header
// (s.CSV.NoHeader) columns go by position: the unit column first, if the schema has one, then the
// columns in the order of the schema, and nothing else.
//
// Under a lenient schema no row is an error: see csvParser. A line that cannot be read has the code
// of [schema.Codec.Unreadable] in every column; where there are units it is left out, as is one
// that names none. Errors are about reading and the header only. Otherwise they are about the first
// ten lines that are not allowed, whatever the number of processors. After an error a Read of r may
// be going on.
//
// A cell has at most a megabyte, a line at most 65,536 cells and 16 megabytes. Memory holds the
// codes, the ids of the units while they are being numbered, and for every processor and one more a
// block of a megabyte or a line, at most 32 megabytes. Time is linear in the length of the file.
func ReadCSV(
	ctx context.Context, r io.Reader, size int64, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	return (&opened{format: CSV, text: r, size: size}).table(ctx, s, o)
}

// readCSV hands the parts of a file to put, in their order.
func (l *layout) readCSV(
	ctx context.Context, r io.Reader, size int64, o ReadOptions, put func(part) error,
) error {
	if err := checkComma(l.comma); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	split := &splitter{r: contextReader{ctx, r}, block: o.block, most: maxRecord(o.maxCell),
		strict: !l.lenient}
	err := l.openCSV(split, o.maxCell)
	if err == nil {
		err = o.Begin()
	}
	if err != nil || len(l.columns) == 0 {
		return err
	}
	length := size
	if u, ok := r.(*unpacked); ok {
		length = u.size
	}
	var bad []error
	for done := range l.chunks(split, length, o) {
		p := <-done
		bad = append(bad, p.bad...)
		switch {
		case err != nil: // what is on its way comes to its end
		case p.err != nil:
			err = p.err
		case len(bad) == 0:
			err = put(p.part)
		case len(bad) >= mostBad:
			err = firstOf(bad)
		}
		if err != nil {
			cancel()
		}
	}
	return cmp.Or(err, firstOf(bad))
}

// openCSV binds the columns of a file. No row is read, nor waited for, but the first of a file that
// has neither a header nor a known number of columns.
func (l *layout) openCSV(split *splitter, maxCell int) error {
	if !l.header && (l.schema != nil || l.lenient) {
		return l.bind(nil)
	}
	line, err := split.firstLine()
	if err != nil && err != io.EOF {
		return readingError(err)
	}
	text := bytes.TrimPrefix(line, []byte(mark))
	if len(text) == 0 && l.header {
		return fmt.Errorf("table: %w", errEmptyFile)
	}
	names := []string(nil)
	if len(text) > 0 {
		if names, err = l.namesOf(bytes.TrimSuffix(text, []byte{'\n'}), maxCell); err != nil {
			return err
		}
	}
	if !l.header {
		split.carry, split.line = line, 0
	}
	return l.bind(names)
}

// namesOf reads the first line as column names.
func (l *layout) namesOf(line []byte, maxCell int) (names []string, err error) {
	z := tokenizer{comma: l.comma}
	z.open(line)
	switch {
	case len(z.line) == 0:
		return nil, l.wrap("line", 1, -1, errBlankLine)
	case len(line) > maxRecord(maxCell):
		return nil, l.wrap("line", 1, -1, errLongLine(maxCell))
	}
	for last := false; !last; {
		var cell []byte
		start := z.pos
		cell, last = z.next()
		err := checkText(cell)
		switch {
		case len(cell) > maxCell:
			err = errLongCell(maxCell)
		case len(names) == maxColumns:
			err = errTooMany
		case z.pos > start+len(cell)+1: // in quotes
		case bytes.IndexByte(cell, '\r') >= 0: // all rows may be on this line, and are no names
			err = errLoneCR
		case bytes.HasPrefix(cell, []byte{'"'}):
			err = errOpenQuote
		}
		if err != nil {
			return nil, l.wrap("line", 1, len(names), err)
		}
		names = append(names, string(cell))
	}
	return names, nil
}

// chunks parses the chunks of a file, several at once; the results come in the order of the file.
// The reading of it is in the goroutine of split alone. A file has at most as many cells as its
// length, or if that is not known what was read of it, lets expect: a schema of many columns makes
// a code for each of them out of every line, however short.
func (l *layout) chunks(split *splitter, length int64, o ReadOptions) <-chan chan csvPart {
	order := make(chan chan csvPart, o.workers)
	idle := make(chan *csvParser, o.workers+1)
	for range cap(idle) {
		idle <- newCSVParser(l, o)
	}
	go func() {
		defer close(order)
		for rows, read := int64(0), int64(0); ; {
			p := <-idle
			c, err := split.next(p.buf)
			if err == io.EOF {
				return
			}
			rows, read = rows+int64(c.lines), read+int64(len(c.buf))
			expected := length
			if length < 0 {
				expected = read
			}
			if err == nil && rows > l.maxRows(expected) {
				err = errTooMuch
			}
			done := make(chan csvPart, 1)
			order <- done
			if err != nil {
				done <- csvPart{err: readingError(err)}
				return
			}
			p.buf = c.buf
			go func() {
				done <- p.parse(c)
				idle <- p
			}()
		}
	}()
	return order
}
