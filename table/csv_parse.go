package table

import "bytes"

// csvPart is what became of one chunk.
type csvPart struct {
	part
	err error   // what ended the reading; or
	bad []error // about lines of a strict file: the rows are of no use
}

// csvParser turns chunks into codes and texts. It is not for concurrent use.
//
// Every line of a file is a row of its own, whatever is in it, so that no line can change how
// another is read. A line with another number of cells than columns, or of more than maxRecord
// bytes, cannot be read. A blank line is no row, but an empty cell where there is one column.
// Without a header any line may be the first, and so has no byte-order mark.
type csvParser struct {
	*layout
	z       tokenizer
	out     csvPart
	dirty   bool        // the chunk has a NUL byte or is not UTF-8 somewhere
	words   []numbering // of the columns of texts
	id      []byte      // of the line at hand
	related *related    // nil if no cell has to do with others of its row
	buf     []byte      // for a chunk
	maxCell int         // bytes
}

func newCSVParser(l *layout, o ReadOptions) *csvParser {
	return &csvParser{layout: l, z: tokenizer{comma: l.comma}, maxCell: o.maxCell,
		words: make([]numbering, l.texts), related: newRelated(l)}
}

// parse encodes a chunk. Of a strict file it ends where so many lines are not allowed that no more
// are named.
func (p *csvParser) parse(c chunk) csvPart {
	p.out = csvPart{part: p.newPart(c.lines + 1)}
	p.out.rows = 0 // so far
	p.dirty = !isText(c.buf)
	blankCell := p.blankCell()
	for rest := c.buf; len(rest) > 0; c.line++ {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if !p.header {
			line = bytes.TrimPrefix(line, []byte(mark))
		}
		p.z.open(line)
		if len(p.z.line) == 0 && !blankCell {
			continue
		}
		if column, err := p.row(); err != nil {
			p.out.bad = append(p.out.bad, p.wrap("line", c.line, column, err))
			if len(p.out.bad) == mostBad {
				break
			}
		}
	}
	p.out.cut(p.out.rows)
	for i := range p.words {
		p.out.texts[i].Texts = p.words[i].take()
	}
	return p.out
}

// blankCell reports whether a blank line is an empty cell of the one column.
func (l *layout) blankCell() bool {
	if len(l.columns) != 1 || l.columns[0].codec == nil {
		return len(l.columns) == 1 && l.columns[0].to == toText
	}
	_, err := l.columns[0].codec.EncodeText(nil)
	return err == nil
}

// row adds the row of the line at hand. In a strict file the error is about it, and a column of it
// unless that is negative. In a lenient one there is none: a line that cannot be read has the codes
// of such cells or, where there are units, is nobody's and left out, as is one that names none.
func (p *csvParser) row() (column int, err error) {
	if column, err = p.cells(); err != nil {
		switch {
		case !p.lenient:
			return column, err
		case p.unit >= 0:
			return 0, nil
		}
		for _, d := range p.columns {
			p.setUnread(d)
		}
	}
	if column, err = p.related.settle(p.out.codes, p.out.rows); err != nil {
		if p.lenient {
			panic("table: a lenient schema refuses a row")
		}
		return column, err
	}
	p.out.rows++
	return 0, nil
}

// cells encodes the cells of the line at hand. That they are too few or too many is said before
// what is wrong with one of them.
func (p *csvParser) cells() (column int, err error) {
	if len(p.z.line) > maxRecord(p.maxCell) {
		return -1, errLongLine(p.maxCell)
	}
	for i, last := 0, false; !last; i++ {
		var cell []byte
		cell, last = p.z.next()
		switch more := i+1 < len(p.columns); {
		case last && more:
			return -1, errFewCells
		case !last && !more:
			return -1, errManyCells
		}
		if bad := p.cell(p.columns[i], cell); bad != nil && err == nil {
			column, err = i, bad
		}
	}
	if p.unit >= 0 && err == nil {
		p.out.texts[p.unit].Cells[p.out.rows] = p.words[p.unit].addBytes(p.id)
	}
	return column, err
}

// cell stores what becomes of a cell, or keeps it until its row is settled. The error of a lenient
// file is that its row has no unit.
func (p *csvParser) cell(d destination, cell []byte) (err error) {
	if err := p.readable(d, cell); err != nil {
		if !p.lenient || d.to == toUnit {
			return err
		}
		p.setUnread(d)
		return nil
	}
	switch d.to {
	case toCode:
		if d.related {
			return p.related.cell(d.at, cell)
		}
		var code uint16
		code, err = d.codec.EncodeText(cell)
		p.out.codes[d.at].Set(p.out.rows, code)
	case toText:
		p.out.texts[d.at].Cells[p.out.rows] = p.words[d.at].addBytes(cell)
	case toUnit:
		if p.id = append(p.id[:0], idOf(cell)...); len(p.id) == 0 {
			return errEmptyUnit
		}
	}
	return err
}

// readable reports why a cell cannot be read. What is no text is no category either, of which a
// strict file says why.
func (p *csvParser) readable(d destination, cell []byte) error {
	switch {
	case len(cell) > p.maxCell:
		return errLongCell(p.maxCell)
	case p.dirty && (d.to >= toText || d.to != toNothing && !p.lenient):
		return checkText(cell)
	}
	return nil
}

// setUnread stores what a cell that cannot be read becomes: its code, or an empty text.
func (p *csvParser) setUnread(d destination) {
	switch {
	case d.to == toCode && d.related:
		p.related.put(d.at, d.codec.Unreadable())
	case d.to == toCode:
		p.out.codes[d.at].Set(p.out.rows, d.codec.Unreadable())
	case d.to == toText:
		p.out.texts[d.at].Cells[p.out.rows] = p.words[d.at].addBytes(nil)
	}
}
