package table

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/decoy-dp/decoy/schema"
)

// ReadCSV reads a table from CSV: RFC 4180 in UTF-8, with LF or CRLF line ends, a byte-order mark
// or none, and blank lines at the end or none. size is its length in bytes, -1 if it is not known.
//
// Columns are found by the names in the first line; those that the schema does not name are left
// out and reported, and the schema decides about those that the file lacks. Without a header
// (s.CSV.NoHeader) columns go by position: the unit column first, if the schema has one, then the
// columns in the order of the schema, and nothing else.
//
// Under a lenient schema no row is an error: see csvParser. A line that cannot be read has the code
// of [schema.Codec.Unreadable] in every column; where there are units it is left out, as is one
// that names none. Errors are about reading and the header only. Otherwise they are about the first
// ten cells that are not allowed, a typo that comes again counted once, and the first mistake of
// another kind, whatever the number of processors. After an error a Read of r may be going on.
//
// A cell has at most a megabyte, a record at most 65,536 cells and 16 megabytes. Memory holds the
// codes, the ids of the units while they are being numbered, and for every processor and one more a
// block of a megabyte or a record, at most 32 megabytes. Time is linear in the length of the file.
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
		err = o.begin()
	}
	if err != nil || len(l.columns) == 0 {
		return err
	}
	length := size
	if u, ok := r.(*unpacked); ok {
		length = u.size
	}
	wrong, read := csvMistakes{layout: l}, 0
	for done := range l.chunks(split, length, o) {
		p := <-done
		if err == nil {
			err = wrong.add(p)
		}
		if err == nil && len(wrong.cells) == 0 {
			err = put(p.part)
		}
		if read += p.bytes; err == nil && size > 0 && o.Progress != nil {
			o.Progress(min(1, float64(read)/float64(size)))
		}
		if err != nil {
			cancel() // and what is on its way comes to its end
		}
	}
	return wrong.cells.err(err)
}

// openCSV binds the columns of a file. Of a lenient one no row is read, nor waited for.
func (l *layout) openCSV(split *splitter, maxCell int) (err error) {
	var first chunk
	switch {
	case split.strict:
		first, err = split.next(nil)
	case l.header:
		first, err = split.firstLine()
	}
	if err != nil && err != io.EOF {
		return readingError(err)
	}
	first.buf = bytes.TrimPrefix(first.buf, []byte(mark))
	if len(first.buf) == 0 && l.header {
		return fmt.Errorf("table: %w", errEmptyFile)
	}
	names, rest := []string(nil), first
	if err = nil; len(first.buf) > 0 && (l.header || l.schema == nil) {
		names, rest, err = l.headerOf(first, maxCell)
	}
	if split.strict {
		split.head = rest
	}
	if err != nil {
		return err
	}
	return l.bind(names)
}

// headerOf reads the first record as column names, and returns what is behind the header. If under
// the separator of the schema that has none of the columns that are known, and under another it
// has, that is taken which has most of them. A header is public, and no row has a say.
func (l *layout) headerOf(first chunk, maxCell int) (names []string, rest chunk, err error) {
	most := 0
	for i, comma := range []byte{l.comma, ',', ';', '\t', '|'} {
		other, behind, err2 := l.recordOf(newTokenizer(comma, maxCell, true), first)
		found := 0
		for _, name := range other {
			if _, known := l.known[name]; known {
				found++
			}
		}
		if i == 0 || found > most {
			names, rest, err, most, l.comma = other, behind, err2, found, comma
		}
		switch {
		case !l.header:
			return names, first, err
		case i == 0 && found > 0:
			return names, rest, nil
		}
	}
	return names, rest, err
}

// recordOf reads the first record of a chunk as column names, and returns the chunk without it.
func (l *layout) recordOf(z *tokenizer, c chunk) (names []string, rest chunk, err error) {
	record, behind := z.cut(c.buf)
	z.open(record)
	z.dirty = true
	if len(z.record) == 0 {
		return nil, chunk{}, l.wrap("line", 1, -1, errBlankLine)
	}
	for last := false; !last && err == nil; {
		var cell []byte
		if cell, last, err = z.next(); err == nil && len(names) == maxColumns {
			err = errTooMany
		}
		names = append(names, string(cell))
	}
	switch {
	case err == nil && len(record) > maxRecord(z.maxCell), err == errOpenQuote && !c.ended:
		return nil, chunk{}, l.wrap("line", 1, -1, errLongRecord(z.maxCell))
	case err != nil:
		line := 1 + bytes.Count(record[:min(z.pos, len(record))], []byte{'\n'})
		return nil, chunk{}, l.wrap("line", line, len(names)-1, err)
	}
	lines := 1 + bytes.Count(record, []byte{'\n'})
	return names, chunk{buf: behind, line: c.line + lines, lines: c.lines - lines, ended: c.ended}, nil
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
