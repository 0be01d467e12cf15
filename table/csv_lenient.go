package table

import "bytes"

// mark is the byte-order mark of UTF-8.
const mark = "\xef\xbb\xbf"

// parseLenient is parse for a lenient file: by a rule under which every physical line is a row of
// its own, whatever is in it, so that no line can change how another is read. It makes no mistakes.
//
// A line ends in LF or CRLF. Quotes count within the line only (see tokenizer). A line with another
// number of cells than columns, or of more than maxRecord bytes, cannot be read. A blank line is no
// row, but an empty cell where there is one column. Without a header any line may be the first, and
// so has no byte-order mark.
func (p *csvParser) parseLenient(c chunk) csvPart {
	out := csvPart{bytes: len(c.buf)}
	p.open(&out.part, c.lines+1)
	dirty := !isText(c.buf)
	for rest := c.buf; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		long := len(line) > maxRecord(p.z.maxCell)
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if !p.header {
			line = bytes.TrimPrefix(line, []byte(mark))
		}
		if long || len(line) > 0 || len(p.lanes) == 1 {
			p.lenientRow(&out.part, line, !long, dirty)
		}
	}
	if c.skipped {
		p.lenientRow(&out.part, nil, false, false)
	}
	p.close(&out.part)
	return out
}

// lenientRow adds the row of a line, if that can be read; one that names no unit is nobody's.
func (p *csvParser) lenientRow(out *part, line []byte, read, dirty bool) {
	read = read && p.lenientRecord(out.rows, line, dirty)
	switch {
	case read && p.unit != nil:
		p.unit.number[out.rows] = p.unit.texts.addBytes(p.id)
	case p.unit != nil:
		return
	case !read:
		for i := range p.lanes {
			p.setUnread(&p.lanes[i], out.rows)
		}
	}
	if p.related != nil {
		if _, err := p.settle(out.rows); err != nil {
			panic("table: a lenient schema refuses a row")
		}
	}
	out.rows++
}

// lenientRecord encodes a line, all but its unit's number, into a row. It reports whether the line
// can be read and, if there are units, names one: p.id.
func (p *csvParser) lenientRecord(row int, line []byte, dirty bool) bool {
	p.z.buf, p.z.pos, p.z.final, p.id = line, 0, true, p.id[:0]
	for i, last := 0, false; !last; i++ {
		if i == len(p.lanes) {
			return false
		}
		l := &p.lanes[i]
		var cell []byte
		cell, last, _ = p.z.next()
		if last != (i+1 == len(p.lanes)) {
			return false
		}
		bad := len(cell) > p.z.maxCell || l.text >= 0 && dirty && !isText(cell)
		switch {
		case l.unit && bad:
			return false
		case l.unit:
			p.id = append(p.id, idOf(cell)...)
		case bad:
			p.setUnread(l, row)
		case l.text >= 0:
			l.number[row] = l.texts.addBytes(cell)
		case l.codec != nil:
			if p.encode(l, row, cell) != nil {
				panic("table: a lenient schema refuses a cell")
			}
		}
	}
	return p.unit == nil || len(p.id) > 0
}

// setUnread stores what a cell that cannot be read becomes: its code, or an empty text.
func (p *csvParser) setUnread(l *lane, row int) {
	switch {
	case l.settled:
		p.related.put(l.code, l.unread)
	case l.codec != nil:
		l.set(row, l.unread)
	case l.text >= 0:
		l.number[row] = l.texts.addBytes(nil)
	}
}

// isText reports whether a cell, or a whole chunk, is UTF-8 without NUL.
func isText(text []byte) bool { return checkText(text) == nil }
