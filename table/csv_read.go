package table

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/decoy-dp/decoy/schema"
)

// ReadCSV reads a table from CSV: RFC 4180 in UTF-8, with LF or CRLF line
// ends, a byte-order mark or none, and blank lines at the end or none. size is
// the length of the stream in bytes for Progress, -1 if it is not known.
//
// Columns are found by the names in the first line; columns that the schema does not name are left
// out and reported, and the schema decides about those that the file lacks. Without a header
// (s.CSV.NoHeader) columns go by position: the unit column first, if the schema has one, then the
// columns in the order of the schema, and nothing else.
//
// Where the file has one column, which may be empty, a blank line is an empty cell of it.
//
// Under a lenient schema (s.Lenient) every physical line is a row of its own: a quoted cell ends on
// its line, and no row is an error. See parseLenient for the rule. A line that cannot be read has
// the code of [schema.Codec.Unreadable] in every column; one that names no unit, or cannot be read
// where there are units, is left out. Errors are about reading and the header only.
//
// A cell has at most a megabyte, a record at most 65,536 cells and 16 megabytes. Memory holds the
// codes, the ids of the units while they are being numbered, and for every processor and one more a
// block of a megabyte of text or a record and its like, at most 32 megabytes. Time is linear in the
// length of the file. The error is about the first ten cells that are not allowed, a typo that
// comes again counted once, and the first mistake of another kind, whatever the number of
// processors. After an error a Read of r may still be going on.
func ReadCSV(
	ctx context.Context, r io.Reader, size int64, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	return readCSV(ctx, r, size, s, o, blockSize)
}

// readCSV is ReadCSV with a given size of blocks.
func readCSV(
	ctx context.Context, r io.Reader, size int64, s *schema.Schema, o ReadOptions, block int,
) (*Table, Report, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, Report{}, err
	}
	var report Report
	a := assembly{layout: l}
	err = l.readCSV(ctx, r, size, o, block, func(_ chunk, names []string) (err error) {
		if l.header {
			report.Ignored, err = l.bindNames(names)
			return err
		}
		l.bindPositions()
		return nil
	}, a.add)
	if err != nil {
		return nil, Report{}, err
	}
	return a.table(), report, nil
}

// readCSV reads a file: bind completes the layout, from the first chunk and the
// names in the header, if there is one; put takes the parts in their order.
func (l *layout) readCSV(
	ctx context.Context, r io.Reader, size int64, o ReadOptions, block int,
	bind func(first chunk, names []string) error, put func(part) error,
) error {
	o = o.withDefaults()
	if err := checkComma(l.comma); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	split := &splitter{
		r: contextReader{ctx, r}, block: block, lenient: l.lenient,
		probe: newTokenizer(l.comma, o.maxCell), known: l.known,
	}
	length := size // of the file
	if u, ok := r.(*unpacked); ok {
		length = u.size
	}
	first, names, err := openCSV(split, l.header)
	l.comma = split.probe.comma
	if err == nil {
		err = bind(first, names)
	}
	if err == nil {
		err = o.begin()
	}
	if err != nil || len(l.columns) == 0 {
		return err
	}
	c := &csvMerge{size: size, progress: o.Progress, put: put}
	for done := range l.chunks(split, first, &rowRoom{l, length, 0, 0}, o) {
		part := <-done
		if err == nil {
			err = c.add(part)
		}
		if err != nil {
			cancel() // and what is on its way comes to its end
		}
	}
	if err != nil {
		return err
	}
	return c.wrong.err(nil)
}

// openCSV returns the header of a file and, if that is strict, the first chunk behind it. Of a
// lenient file no row is read, nor waited for.
func openCSV(split *splitter, withHeader bool) (first chunk, names []string, err error) {
	if withHeader || !split.lenient { // there the mark is that of a line
		err = split.skipMark()
	}
	switch {
	case err != nil:
	case !split.lenient:
		first, err = split.next(nil)
	case withHeader:
		first, err = split.firstLine()
	}
	switch {
	case err == io.EOF && !withHeader:
		return chunk{final: true}, nil, nil // no rows
	case err == io.EOF:
		return chunk{}, nil, fmt.Errorf("table: %w", errEmptyFile)
	case err != nil:
		return chunk{}, nil, readingError(err)
	case withHeader:
		split.chooseSeparator(first)
		names, first, err = header(split.probe, first)
	}
	return first, names, err
}

// namesOf are the names that a header may have under a schema; nil without one.
func namesOf(s *schema.Schema) map[string]bool {
	if s == nil {
		return nil
	}
	names := map[string]bool{s.Unit: s.Unit != ""}
	for _, c := range s.Columns {
		names[c.Name] = true
	}
	for _, m := range s.Made {
		names[m.Name] = true
	}
	return names
}

// chooseSeparator goes over to another separator if under the present one the header, the first
// line, has none of the columns that are known, and under the other it has: to the one that has
// most of them. A header is public, and no row has a say.
func (s *splitter) chooseSeparator(first chunk) {
	if s.known == nil {
		return
	}
	most := 0
	for i, comma := range []byte{s.probe.comma, ',', ';', '\t', '|'} {
		z := newTokenizer(comma, s.probe.maxCell)
		names, _, err := header(z, first)
		if err != nil {
			continue
		}
		found := 0
		for _, name := range names {
			if s.known[name] {
				found++
			}
		}
		if found > most {
			most, s.probe = found, z
		}
		if i == 0 && found > 0 {
			return
		}
	}
}

// chunks parses first, unless the file is lenient, and all chunks that follow it, several at once;
// the results come in the order of the file. The reading of it is in the goroutine of split alone.
func (l *layout) chunks(
	split *splitter, first chunk, room *rowRoom, o ReadOptions,
) <-chan chan csvPart {
	order := make(chan chan csvPart, o.workers)
	idle := make(chan *csvParser, o.workers+1)
	for range cap(idle) {
		idle <- newCSVParser(l, o)
	}
	go func() {
		defer close(order)
		for begun := split.lenient; ; begun = true {
			p, c := <-idle, first
			var err error
			if begun {
				c, err = split.next(p.buf)
			}
			if err == io.EOF {
				return
			}
			if err == nil {
				err = room.take(c)
			}
			done := make(chan csvPart, 1)
			order <- done
			if err != nil {
				done <- csvPart{err: readingError(err)}
				return
			}
			if p.buf = c.buf; cap(p.buf) > 4*split.block {
				p.buf = nil // the rare long record need not stay in memory
			}
			go func() {
				done <- p.parse(c)
				idle <- p
			}()
		}
	}()
	return order
}

// rowRoom holds a file to as many cells as its length lets expect: a schema of many columns makes
// a code for each of them out of every line, however short.
type rowRoom struct {
	*layout
	length     int64 // of the file; -1 if it is not known: what was read of it
	rows, read int64
}

// take refuses a chunk with which the rows are too many, before there are codes for them.
func (a *rowRoom) take(c chunk) error {
	rows := c.lines
	if !a.lenient {
		rows = min(rows, len(c.buf)/len(a.columns))
	}
	a.rows, a.read = a.rows+int64(rows), a.read+int64(len(c.buf))
	length := a.length
	if length < 0 {
		length = a.read
	}
	if a.rows > atLeast(maxCells, length)/int64(len(a.sizes)+max(1, a.texts)) {
		return errTooMuch
	}
	return nil
}

// csvMerge puts the results of chunks together in their order.
type csvMerge struct {
	size     int64 // of the file; not positive if it is not known
	read     int64
	progress func(float64)
	put      func(part) error
	blank    int // line of the first of the blank lines just seen
	wrong    mistakes
}

// add adds the next part.
func (c *csvMerge) add(p csvPart) error {
	if c.blank != 0 && (p.rows > 0 || p.err != nil || len(p.wrong) > 0) {
		return c.wrong.err(place{unit: "line", number: c.blank}.wrap(errBlankLine))
	}
	for _, one := range p.wrong {
		c.wrong.add(one)
	}
	if p.err != nil || c.wrong.full() {
		return c.wrong.err(p.err)
	}
	if c.blank == 0 {
		c.blank = p.blank
	}
	if len(c.wrong) == 0 {
		if err := c.put(p.part); err != nil {
			return err
		}
	}
	if c.read += int64(p.bytes); c.size > 0 && c.progress != nil {
		c.progress(min(1, float64(c.read)/float64(c.size)))
	}
	return nil
}

// readingError is about err, which reading the file ran into.
func readingError(err error) error { return fmt.Errorf("table: reading: %w", err) }

// checkComma refuses separators that CSV cannot have.
func checkComma(comma byte) error {
	if comma == 0 || comma == '"' || comma == '\r' || comma == '\n' || comma >= 0x80 {
		return errors.New("table: the separator must be one ASCII character and neither a quote nor a " +
			"line end")
	}
	return nil
}

// contextReader stops reading when its context is done, even while a Read of
// r blocks. That Read may go on, and writes into the buffer it was given.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := c.r.Read(p)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-c.ctx.Done():
		return 0, c.ctx.Err()
	}
}
