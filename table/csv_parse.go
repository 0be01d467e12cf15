package table

import "bytes"

// csvPart is what became of one chunk.
type csvPart struct {
	part
	bytes int
	blank int // the line of the first of the blank lines at its end; 0 = none
	// cells that the schema does not allow, and what ended the parse before its end; with either the
	// rows are of no use
	wrong mistakes
	err   error
}

// csvParser turns chunks into codes and texts. It is not for concurrent use.
type csvParser struct {
	*layout
	z         *tokenizer
	blankCell bool     // a blank line is an empty cell of the one column
	lanes     []lane   // by file column
	unit      *lane    // nil: none
	id        []byte   // of the line at hand, in a lenient file
	related   *related // nil if no cell has to do with others of its row
	buf       []byte   // for a chunk
}

// lane is where the cells of one file column go in the chunk at hand.
type lane struct {
	destination
	settled bool   // with others of its row
	unread  uint16 // code of a cell that cannot be read, in a lenient file
	u8      []uint8
	u16     []uint16
	number  []uint32 // texts
	texts   numbering
}

// set stores the code of a row; without codes there is nothing to store.
func (l *lane) set(row int, code uint16) {
	switch {
	case l.u8 != nil:
		l.u8[row] = uint8(code)
	case l.u16 != nil:
		l.u16[row] = code
	}
}

func newCSVParser(l *layout, o ReadOptions) *csvParser {
	p := &csvParser{
		layout: l, z: newTokenizer(l.comma, o.maxCell), lanes: make([]lane, len(l.columns)),
	}
	if l.lenient {
		p.z = newLenient(l.comma, o.maxCell)
	}
	if l.rows != nil {
		p.related = newRelated(l)
	}
	for i, d := range l.columns {
		p.lanes[i].destination, p.lanes[i].settled = d, l.relates(d)
		if d.codec != nil {
			p.lanes[i].unread = d.codec.Unreadable()
		}
		if d.unit {
			p.unit = &p.lanes[i]
		}
	}
	if d := l.columns[0]; len(l.columns) == 1 && !d.unit {
		p.blankCell = true
		if d.codec != nil {
			_, err := d.codec.EncodeText(nil)
			p.blankCell = err == nil
		}
	}
	return p
}

// parse encodes a chunk.
func (p *csvParser) parse(c chunk) csvPart {
	if p.lenient {
		return p.parseLenient(c)
	}
	return p.parseStrict(c)
}

// open makes room for rows rows in out and points the lanes at it.
func (p *csvParser) open(out *part, rows int) {
	out.codes, out.texts = make([]Codes, len(p.sizes)), make([]texts, p.layout.texts)
	for i := range p.lanes {
		switch l := &p.lanes[i]; {
		case l.codec != nil:
			out.codes[l.code] = NewCodes(p.sizes[l.code], rows)
			l.u8, l.u16 = out.codes[l.code].U8, out.codes[l.code].U16
		case l.text >= 0:
			l.number = make([]uint32, rows)
			out.texts[l.text].number = l.number
		}
	}
}

// close cuts out to its rows and takes the texts.
func (p *csvParser) close(out *part) {
	out.cut(out.rows)
	for i := range p.lanes {
		if l := &p.lanes[i]; l.text >= 0 {
			out.texts[l.text].words = l.texts.take()
		}
	}
}

// encode stores the code of a cell, or keeps it until its row is settled.
func (p *csvParser) encode(l *lane, row int, cell []byte) error {
	if l.settled {
		return p.related.cell(l.code, cell)
	}
	code, err := l.codec.EncodeText(cell)
	l.set(row, code)
	return err
}

// settle stores the codes of a row whose cells have to do with each other. An error is about a
// column of the file.
func (p *csvParser) settle(row int) (column int, err error) {
	if column, err = p.related.settle(); err != nil {
		return column, err
	}
	for i := range p.lanes {
		if l := &p.lanes[i]; l.settled && l.codec != nil {
			l.set(row, p.related.codes[l.code])
		}
	}
	return 0, nil
}

// header reads the first record of a file as column names and returns c without it. Of a lenient
// file c is the first line: no row has a say in it.
func header(z *tokenizer, c chunk) (names []string, rest chunk, err error) {
	z.reset(c.buf, c.final, c.line)
	if !c.skipped && z.blank() {
		return nil, chunk{}, place{unit: "line", number: 1}.wrap(errBlankLine)
	}
	for last := false; !last; {
		var cell []byte
		cell, last, err = z.next()
		if c.skipped || err == errShort || z.pos > maxRecord(z.maxCell)+1 {
			return nil, chunk{}, place{unit: "line", number: 1}.wrap(errLongRecord(z.maxCell))
		}
		if err != nil {
			at := place{unit: "line", number: z.line, column: len(names) + 1}
			return nil, chunk{}, at.wrap(err)
		}
		if len(names) == maxColumns {
			return nil, chunk{}, place{unit: "line", number: 1}.wrap(errTooMany)
		}
		names = append(names, string(cell))
	}
	c.buf, c.line = c.buf[z.pos:], z.line
	c.lines = bytes.Count(c.buf, []byte{'\n'})
	return names, c, nil
}
