package table

import (
	"cmp"
	"context"
	"io"

	"github.com/decoy-dp/decoy/data/schema"
)

// ReadCSV reads a table from CSV: a row is a line, with LF or CRLF at its end, whose cells
// are as RFC 4180 has them, or several lines where quotes hold the line ends between them
// (recordRule). A byte-order mark and blank lines are passed over. size is its length in bytes, -1
// if it is not known.
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
// A cell has at most a megabyte, a row at most 65,536 cells, 1,000 lines and 16 megabytes. Memory
// holds the codes, the ids of the units while they are being numbered, and for every processor and
// one more a block of a megabyte or a row, at most 64 megabytes. Time is linear in the length of
// the file; where lines leave quotes open, by a factor of their columns more.
func ReadCSV(
	ctx context.Context, r io.Reader, size int64, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	return (&opened{format: CSV, text: r, size: size}).table(ctx, s, o)
}

// readCSV hands the parts of a file to put, in their order.
func (l *layout) readCSV(
	ctx context.Context, r io.Reader, size int64, o ReadOptions, put func(part) error,
) error {
	if err := checkComma(l.comma); err != nil && !l.framed {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	text, err := l.decoded(contextReader{ctx, r})
	if err != nil {
		return err
	}
	if l.objects {
		text = newObjects(text, lineCells*o.maxCell)
	}
	split := &splitter{r: text, block: o.block, most: lineCells * o.maxCell, strict: !l.lenient}
	err = l.openCSV(split, o.maxCell)
	if l.objects { // the first object is on the first line
		split.line = 0
	}
	if err == nil {
		err = o.Begin()
	}
	if err != nil || len(l.columns) == 0 {
		return err
	}
	split.rule = l.recordRule(o.maxCell)
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

// chunks parses the chunks of a file, several at once; the results come in the order of the file.
// The reading of it is in the goroutine of split alone. A file has at most as many cells as its
// length, or if that is not known what was read of it, lets expect: a schema of many columns makes
// a code for each of them out of every line, however short.
func (l *layout) chunks(split *splitter, length int64, o ReadOptions) <-chan chan csvPart {
	order := make(chan chan csvPart, o.workers)
	idle := make(chan *csvParser, o.workers+1)
	for range cap(idle) {
		z := tokenizer{comma: l.comma, spaced: l.spaced, framed: l.framed}
		idle <- &csvParser{layout: l, z: z, maxCell: o.maxCell, rule: split.rule,
			words: make([]numbering, l.texts), related: newRelated(l)}
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
