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
// A row is a record of several lines, or a line that is in none, whatever is in it: no line changes
// how others than those of its record are read. A line with another number of cells than columns,
// or longer than lineCells says, cannot be read, but one more at its end may be empty. A blank line
// is no row, but an empty cell where there is one column. Without a header any line may be the
// first, and so has no byte-order mark.
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
	rule    recordRule
}

// parse encodes a chunk. Of a strict file it ends where so many lines are not allowed that no more
// are named.
func (p *csvParser) parse(c chunk) csvPart {
	p.out = csvPart{part: p.newPart(c.lines + 1)}
	p.out.rows = 0 // so far
	p.dirty = checkText(c.buf) != nil
	blankCell := p.blankCell()
	quoted := bytes.IndexByte(c.buf, '"') >= 0
	for rest, lines := c.buf, 1; len(rest) > 0; c.line += lines {
		var line []byte
		line, rest, lines = p.next(rest, quoted)
		p.z.line, p.z.pos = bytes.TrimSuffix(line, []byte{'\r'}), 0
		if p.spaced {
			p.z.line = bytes.Trim(p.z.line, " ")
		}
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

// next cuts off the lines of the next row, without their last end. quoted says whether there are
// quotes at all.
func (p *csvParser) next(text []byte, quoted bool) (row, rest []byte, lines int) {
	row, rest, _ = bytes.Cut(text, []byte{'\n'})
	if lines = 1; quoted && p.rule.mayBegin(row) {
		if n, _ := p.rule.length(text, true); n > 0 {
			row = text[:n]
			_, rest, _ = bytes.Cut(text[n:], []byte{'\n'})
			lines += bytes.Count(row, []byte{'\n'})
		}
	}
	if !p.header {
		row = bytes.TrimPrefix(row, []byte(mark))
	}
	return row, rest, lines
}

// blankCell reports whether a blank line is an empty cell of the one column.
func (l *layout) blankCell() bool {
	if l.framed { // there it is quoted
		return false
	}
	if len(l.columns) != 1 || l.columns[0].codec == nil {
		return len(l.columns) == 1 && l.columns[0].to == toText
	}
	_, err := l.columns[0].codec.EncodeText(nil)
	return err == nil
}

// row adds the row of the line at hand. In a strict file the error is about it, and a column of it
// unless that is negative: that cells are too few or too many is said before what is wrong with one
// of them. In a lenient one there is none: a line that cannot be read has the codes of such cells
// or, where there are units, is nobody's and left out, as is one that names none.
func (p *csvParser) row() (column int, err error) {
	switch {
	case len(p.z.line) > lineCells*p.maxCell:
		column, err = -1, errLongLine(p.maxCell)
	case p.framed && len(p.z.line) == 1 && p.z.line[0] == frameRow:
		column, err = -1, errNoRow
	}
	if p.numbered {
		if _, last := p.z.next(); last {
			p.z.pos = len(p.z.line) // the next cell is empty
		}
	}
	for i, last := 0, false; !last && column >= 0; i++ {
		var cell []byte
		cell, last = p.z.next()
		last = last || i+1 == len(p.columns) && p.z.pos == len(p.z.line) // but for an empty one
		// in a framed file the rest is empty, or has no name
		if p.framed && last == (i+1 < len(p.columns)) {
			p.z.pos, last = len(p.z.line), !last
		}
		if more := i+1 < len(p.columns); last == more {
			column, err = -1, errManyCells
			if last {
				err = errFewCells
			}
		} else if bad := p.cell(p.columns[i], cell); bad != nil && err == nil {
			column, err = i, bad
		}
	}
	return p.settleRow(column, err)
}

// settleRow adds the row whose cells have been read, with what was wrong with it.
func (p *csvParser) settleRow(column int, err error) (int, error) {
	switch {
	case err != nil && !p.lenient:
		return column, err
	case err != nil && p.unit >= 0:
		return 0, nil
	case err != nil:
		for _, d := range p.columns {
			p.setUnread(d)
		}
	case p.unit >= 0:
		p.out.texts[p.unit].Cells[p.out.rows] = p.words[p.unit].addBytes(p.id)
	}
	if p.related != nil {
		if column, err := p.related.settle(p.out.codes, p.out.rows); err != nil {
			if p.lenient {
				panic("table: a lenient schema refuses a row")
			}
			return column, err
		}
	}
	p.out.rows++
	return 0, nil
}

// cell stores what becomes of a cell, or keeps it until its row is settled. The error of a lenient
// file is that its row has no unit. What is no text is no category either, of which a strict file
// says why.
func (p *csvParser) cell(d destination, cell []byte) (err error) {
	switch {
	case len(cell) > p.maxCell:
		err = errLongCell(p.maxCell)
	case p.dirty && (d.to >= toText || d.to != toNothing && !p.lenient):
		err = checkText(cell)
	}
	if p.framed && err == errUTF8 {
		err = errNoCell
	}
	switch {
	case err != nil && p.lenient && d.to != toUnit:
		p.setUnread(d)
		return nil
	case err != nil:
		return err
	case d.related:
		return p.related.cell(d.at, cell)
	case d.to == toCode:
		var code uint16
		code, err = d.codec.EncodeText(cell)
		p.out.codes[d.at].Set(p.out.rows, code)
	case d.to == toText:
		p.out.texts[d.at].Cells[p.out.rows] = p.words[d.at].addBytes(cell)
	case d.to == toUnit:
		if p.id = append(p.id[:0], idOf(cell)...); len(p.id) == 0 {
			return errEmptyUnit
		}
	}
	return err
}

// setUnread stores what a cell that cannot be read becomes: its code, or an empty text.
func (p *csvParser) setUnread(d destination) {
	switch {
	case d.related:
		p.related.put(d.at, d.codec.Unreadable())
	case d.to == toCode:
		p.out.codes[d.at].Set(p.out.rows, d.codec.Unreadable())
	case d.to == toText:
		p.out.texts[d.at].Cells[p.out.rows] = p.words[d.at].addBytes(nil)
	}
}
