package table

import (
	"context"
	"fmt"
	"io"
	"os"
)

// ScanText calls fn with the text of every row of the CSV or Parquet file at
// path, in order, and stops at the first error; "-" is CSV on the standard
// input. It is for public files: a schema can be drafted from them. names are
// the column names; without a header they are column_1, column_2 and so on.
// row has one cell a name and is valid until fn returns. The values of Parquet
// columns are written as the writers of this package would, nulls as empty
// cells; header and comma are for CSV only.
func ScanText(path string, header bool, comma byte, fn func(names, row []string) error) error {
	format, err := FormatOf(path)
	if err != nil {
		return err
	}
	if path == "-" {
		return scanCSV(os.Stdin, header, comma, fn)
	}
	f, _, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if format == CSV {
		return scanCSV(f, header, comma, fn)
	}
	p, err := openParquet(context.Background(), f)
	if err != nil {
		return err
	}
	return p.scan(fn)
}

// scanCSV is ScanText for CSV.
func scanCSV(r io.Reader, withHeader bool, comma byte, fn func(names, row []string) error) error {
	if err := checkComma(comma); err != nil {
		return err
	}
	maxCell := ReadOptions{}.withDefaults().MaxCell
	split := &splitter{r: r, block: blockSize, probe: newTokenizer(comma, maxCell)}
	c, names, err := openCSV(split, withHeader)
	if err != nil {
		return err
	}
	s := textScan{z: newTokenizer(comma, maxCell), names: names, fn: fn}
	for err == nil {
		split.cells = len(s.names)
		if err = s.chunk(c); err != nil {
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
	names []string // nil before the first row of a file without a header
	row   []string
	fn    func(names, row []string) error
	blank int // the line of the first of the blank lines just seen
}

func (s *textScan) chunk(c chunk) error {
	s.z.reset(c.buf, c.final, c.line)
	for s.z.more() {
		at := place{unit: "line", number: s.z.line}
		if s.z.blank() {
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
		for i := range s.row {
			s.names = append(s.names, fmt.Sprintf("column_%d", i+1))
		}
	}
	if len(s.row) < len(s.names) {
		return at.wrap(errFewCells)
	}
	return s.fn(s.names, s.row)
}

// scan is ScanText for Parquet. It holds a row group at a time, and every text
// of a column in it once.
func (p *parquetFile) scan(fn func(names, row []string) error) error {
	if len(p.fields) == 0 {
		return fmt.Errorf("table: %w", errEmptyFile)
	}
	for i, f := range p.fields {
		if f.err != nil {
			return fmt.Errorf("table: column %d: %w", i+1, f.err)
		}
	}
	names, row := p.names(), make([]string, len(p.fields))
	for g := range p.groups() {
		texts, cells, rows, err := p.texts(g)
		if err != nil {
			return err
		}
		for r := range rows {
			for i := range row {
				row[i] = texts[i][cells[i][r]]
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
func (p *parquetFile) texts(group int) (texts [][]string, cells [][]uint32, rows int, err error) {
	var n int64
	err = catch(func() error { n = p.reader.RowGroup(group).NumRows(); return nil })
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
					return u.of(scratch), checkText(scratch)
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
