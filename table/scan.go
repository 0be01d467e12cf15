package table

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/decoy-dp/decoy/schema"
)

// ScanOptions say how [ScanText] reads.
type ScanOptions struct {
	CSV     schema.CSV // of a CSV file
	Lenient bool       // no row is an error: see ReadCSV; a cell that cannot be read is empty
	Columns int        // required with Lenient: how many the file has, or it is refused
}

// ScanText calls fn with the text of every row of the CSV or Parquet file at
// path, in order, and stops at the first error; "-" is CSV on the standard
// input. It is for public files: a schema can be drafted from them. names are
// the column names; without a header they are column_1, column_2 and so on.
// row has one cell a name and is valid until fn returns. The values of Parquet
// columns are written as the writers of this package would, nulls as empty
// cells.
func ScanText(path string, o ScanOptions, fn func(names, row []string) error) error {
	format, err := FormatOf(path)
	if err != nil {
		return err
	}
	if path == "-" {
		return scanCSV(os.Stdin, o, fn)
	}
	f, _, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if format == CSV {
		return scanCSV(f, o, fn)
	}
	p, err := openParquet(context.Background(), f)
	if err != nil {
		return err
	}
	return p.scan(o, fn)
}

// checkColumns refuses a file of n columns where others are expected.
func (o ScanOptions) checkColumns(n int) error {
	if o.Lenient && n != o.Columns {
		return fmt.Errorf("table: the file has %d columns, not %d: %w", n, o.Columns, schema.ErrSchema)
	}
	return nil
}

// scanCSV is ScanText for CSV.
func scanCSV(r io.Reader, o ScanOptions, fn func(names, row []string) error) error {
	return scanCSVOf(r, o, ReadOptions{}.withDefaults().MaxCell, fn)
}

// scanCSVOf is scanCSV for cells of at most maxCell bytes.
func scanCSVOf(r io.Reader, o ScanOptions, maxCell int, fn func(names, row []string) error) error {
	comma := o.CSV.Separator()
	if err := checkComma(comma); err != nil {
		return err
	}
	split := &splitter{r: r, block: blockSize, lenient: o.Lenient, probe: newTokenizer(comma, maxCell)}
	c, names, err := openCSV(split, !o.CSV.NoHeader)
	if err != nil {
		return err
	}
	s := textScan{z: newTokenizer(comma, maxCell), names: names, fn: fn}
	scan := s.chunk
	if o.Lenient {
		if o.CSV.NoHeader {
			s.number(o.Columns)
		}
		if err := o.checkColumns(len(s.names)); err != nil {
			return err
		}
		s.lines = lenientLines{comma: comma, columns: len(s.names), maxCell: maxCell,
			headed: !o.CSV.NoHeader}
		scan = s.lenientChunk
	}
	for err == nil {
		split.cells = len(s.names)
		if err = scan(c); err != nil {
			return err
		}
		c, err = split.next(c.buf)
	}
	if err != io.EOF {
		return readingError(err)
	}
	return nil
}

// textScan passes on the rows of a CSV file.
type textScan struct {
	z     *tokenizer
	lines lenientLines // instead of z in a lenient file
	names []string     // nil before the first row of a file without a header
	row   []string
	fn    func(names, row []string) error
	blank int // the line of the first of the blank lines just seen
}

// number gives n columns names.
func (s *textScan) number(n int) {
	for i := range n {
		s.names = append(s.names, fmt.Sprintf("column_%d", i+1))
	}
}

// lenientChunk is chunk for a lenient file.
func (s *textScan) lenientChunk(c chunk) (err error) {
	s.lines.each(c, func(line []byte) {
		if err == nil {
			s.lenientRow(line)
			err = s.fn(s.names, s.row)
		}
	})
	return err
}

// lenientRow takes apart a line, nil if it is too long.
func (s *textScan) lenientRow(line []byte) {
	s.row = s.row[:0]
	for last := line == nil; !last && len(s.row) <= len(s.names); {
		var cell []byte
		if cell, line, last = s.lines.next(line); len(cell) > s.lines.maxCell || !isText(cell) {
			cell = nil
		}
		s.row = append(s.row, string(cell))
	}
	if len(s.row) != len(s.names) {
		s.row = append(s.row[:0], make([]string, len(s.names))...)
	}
}

func (s *textScan) chunk(c chunk) error {
	s.z.reset(c.buf, c.final, c.line)
	for s.z.more() {
		at := place{unit: "line", number: s.z.line}
		if len(s.names) != 1 && s.z.blank() {
			if s.blank == 0 {
				s.blank = at.number
			}
			continue
		}
		if s.blank != 0 {
			return place{unit: "line", number: s.blank}.wrap(errBlankLine)
		}
		if err := s.record(at); err != nil {
			return err
		}
	}
	return nil
}

// record passes on the record at the tokenizer.
func (s *textScan) record(at place) error {
	s.row = s.row[:0]
	for last := false; !last; {
		cell, end, err := s.z.next()
		if err == errShort {
			return at.wrap(errLongRecord(s.z.maxCell))
		}
		if err != nil {
			if err == errOpenQuote {
				at.number = s.z.line
			}
			at.column = len(s.row) + 1
			return at.wrap(err)
		}
		if s.names != nil && len(s.row) == len(s.names) {
			return at.wrap(errManyCells)
		}
		s.row, last = append(s.row, string(cell)), end
	}
	if s.names == nil {
		s.number(len(s.row))
	}
	if len(s.row) < len(s.names) {
		return at.wrap(errFewCells)
	}
	return s.fn(s.names, s.row)
}

// scan is ScanText for Parquet. It holds a row group at a time, and every text
// of a column in it once.
func (p *parquetFile) scan(o ScanOptions, fn func(names, row []string) error) error {
	if len(p.fields) == 0 {
		return fmt.Errorf("table: %w", errEmptyFile)
	}
	if err := o.checkColumns(len(p.fields)); err != nil {
		return err
	}
	if err := p.checkCells(len(p.fields)); err != nil {
		return err
	}
	for i, f := range p.fields {
		if f.err != nil {
			return fmt.Errorf("table: column %d: %w", i+1, f.err)
		}
	}
	names, row := p.names(), make([]string, len(p.fields))
	for g := range p.groups() {
		texts, cells, rows, err := p.texts(g, o.Lenient)
		if err != nil {
			return err
		}
		for r := range rows {
			size := 0
			for i := range row {
				row[i] = texts[i][cells[i][r]]
				size += len(row[i])
			}
			if err := p.take(size); err != nil {
				return fmt.Errorf("table: %w", err)
			}
			if err := fn(names, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// texts reads a row group: for every column its texts, and for every row of it
// the position of its text among them.
func (p *parquetFile) texts(group int, lenient bool) (texts [][]string, cells [][]uint32, rows int,
	err error) {
	var n int64
	err = catch(func() error { n = p.reader.RowGroup(group).NumRows(); return nil })
	maxCell := ReadOptions{}.withDefaults().MaxCell
	texts, cells = make([][]string, len(p.fields)), make([][]uint32, len(p.fields))
	for i, f := range p.fields {
		var (
			u       units
			scratch []byte
		)
		if err == nil {
			err = p.readColumn(p.ctx, group, n, f.leaf, consumer{
				cell: func(v *vector, j int) (uint32, error) {
					scratch = f.leaf.appendText(scratch[:0], v, j)
					err := checkText(scratch)
					if lenient && (err != nil || len(scratch) > maxCell) {
						return p.number(&u, nil)
					}
					if err != nil {
						return 0, err
					}
					return p.number(&u, scratch)
				},
				null: func() (uint32, error) { return u.of(nil), nil },
				put:  func(c []uint32) { cells[i] = append(cells[i], c...) },
			})
		}
		if err != nil {
			return nil, nil, 0, p.failure(fmt.Errorf("table: column %d: %w", i+1, err))
		}
		texts[i] = u.take()
	}
	return texts, cells, int(n), nil
}
