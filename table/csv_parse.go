package table

import "bytes"

// csvPart is what became of one chunk.
type csvPart struct {
	part
	bytes int
	blank int // strict: the line of the first of the blank lines at its end; 0 = none
	// strict: cells that the schema does not allow, and what ended the parse before its end; with
	// either the rows are of no use
	wrong mistakes
	err   error
}

// csvParser turns chunks into codes and texts. It is not for concurrent use.
//
// Every line of a lenient file is a row of its own, whatever is in it, so that no line can change
// how another is read. A line with another number of cells than columns, or of more than maxRecord
// bytes, cannot be read. A blank line is no row, but an empty cell where there is one column.
// Without a header any line may be the first, and so has no byte-order mark.
type csvParser struct {
	*layout
	z       *tokenizer
	out     csvPart
	words   []numbering // of the columns of texts
	id      []byte      // of the record at hand
	related *related    // nil if no cell has to do with others of its row
	buf     []byte      // for a chunk
	line    int         // strict: of the record at hand
	bad     mistakes    // strict: in it
}

func newCSVParser(l *layout, o ReadOptions) *csvParser {
	return &csvParser{layout: l, z: newTokenizer(l.comma, o.maxCell, !l.lenient),
		words: make([]numbering, l.texts), related: newRelated(l)}
}

// parse encodes a chunk.
func (p *csvParser) parse(c chunk) csvPart {
	p.out = csvPart{part: p.newPart(c.lines + 1), bytes: len(c.buf)}
	p.out.rows = 0 // so far
	p.z.dirty = !isText(c.buf)
	p.line = c.line
	blankCell := p.blankCell()
	for rest := c.buf; len(rest) > 0; {
		var record []byte
		record, rest = p.z.cut(rest)
		long := len(record) > maxRecord(p.z.maxCell)
		if p.lenient && !p.header {
			record = bytes.TrimPrefix(record, []byte(mark))
		}
		p.z.open(record)
		switch blank := len(p.z.record) == 0 && !blankCell; {
		case p.lenient && (long || !blank):
			p.lenientRow(long)
		case !p.lenient && !p.strictRow(blank, long, c.ended):
			return p.out
		}
		p.line += 1 + bytes.Count(record, []byte{'\n'})
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

// lenientRow adds the row of the record at hand, if that can be read: one that cannot has the codes
// of such cells. Where there are units it adds a row that can be read and names one: others are
// nobody's.
func (p *csvParser) lenientRow(long bool) {
	read := false
	if !long {
		_, err := p.cells()
		read = err == nil
	}
	if !read && p.unit >= 0 {
		return
	}
	for _, d := range p.columns {
		if !read {
			p.setUnread(d)
		}
	}
	if _, err := p.related.settle(p.out.codes, p.out.rows); err != nil {
		panic("table: a lenient schema refuses a row")
	}
	p.out.rows++
}

// cells encodes the cells of the record at hand. The error is about the record, and a column of it
// unless that is negative; in a strict file bad has the cells that are not allowed.
func (p *csvParser) cells() (column int, err error) {
	for i, last := 0, false; !last; i++ {
		var cell []byte
		if cell, last, err = p.z.next(); err != nil {
			return i, err
		}
		switch more := i+1 < len(p.columns); {
		case last && more:
			return -1, errFewCells
		case !last && !more:
			return -1, errManyCells
		}
		if err := p.cell(p.columns[i], cell); err != nil {
			if p.lenient {
				return i, err
			}
			p.refuse(i, cell, err)
		}
	}
	if p.unit >= 0 && len(p.bad) == 0 {
		p.out.texts[p.unit].Cells[p.out.rows] = p.words[p.unit].addBytes(p.id)
	}
	return 0, nil
}

// cell stores what becomes of a cell, or keeps it until its row is settled.
func (p *csvParser) cell(d destination, cell []byte) (err error) {
	if p.lenient && (len(cell) > p.z.maxCell || d.to >= toText && p.z.dirty && !isText(cell)) {
		if d.to == toUnit {
			return errEmptyUnit
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
	case toCheck:
		p.related.keep(d.at, cell)
	case toText:
		p.out.texts[d.at].Cells[p.out.rows] = p.words[d.at].addBytes(cell)
	case toUnit:
		if p.id = append(p.id[:0], idOf(cell)...); len(p.id) == 0 {
			return errEmptyUnit
		}
	}
	return err
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
