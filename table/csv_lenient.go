package table

import "bytes"

// mark is the byte-order mark of UTF-8.
const mark = "\xef\xbb\xbf"

// lenientLines takes CSV apart by a rule under which every physical line is a
// row of its own, whatever is in it: no line can change how another is read.
//
// A line ends in LF or CRLF. Quotes count within the line only: a cell that starts with a quote
// ends at the quote that closes it; where none does, or something else than a separator follows
// that quote, quotes are ordinary characters of that cell. Any byte may be in a cell. A line with
// another number of cells than columns, or of more than maxRecord bytes, cannot be read. A blank
// line is no row, but an empty cell where there is one column.
type lenientLines struct {
	comma   byte
	columns int
	maxCell int  // bytes; a longer cell cannot be read
	headed  bool // the file has a header, before which its byte-order mark is

	scratch []byte // a cell without its doubled quotes
}

// each calls row for every row of a chunk, with its line or, if it is too long, nil.
func (l *lenientLines) each(c chunk, row func(line []byte)) {
	if c.skipped {
		row(nil)
		return
	}
	for rest := c.buf; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		long := len(line) > maxRecord(l.maxCell)
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if !l.headed {
			line = bytes.TrimPrefix(line, []byte(mark)) // of any line, as any may be the first
		}
		switch {
		case long:
			row(nil)
		case len(line) > 0 || l.columns == 1:
			row(line)
		}
	}
}

// next takes a cell off what is left of a line. It is valid until the following call.
func (l *lenientLines) next(line []byte) (cell, rest []byte, last bool) {
	if len(line) > 0 && line[0] == '"' {
		if cell, end := l.quoted(line); end == len(line) {
			return cell, nil, true
		} else if end > 0 && line[end] == l.comma {
			return cell, line[end+1:], false
		}
	}
	for i, b := range line {
		if b == l.comma {
			return line[:i], line[i+1:], false
		}
	}
	return line, nil, true
}

// quoted gives the cell that the quote at the start of line opens and the
// position behind the quote that closes it, 0 if none does.
func (l *lenientLines) quoted(line []byte) (cell []byte, end int) {
	l.scratch = l.scratch[:0]
	for from := 1; ; {
		n := bytes.IndexByte(line[from:], '"')
		if n < 0 {
			return nil, 0
		}
		end = from + n + 1
		if end == len(line) || line[end] != '"' {
			if len(l.scratch) == 0 {
				return line[from : end-1], end
			}
			l.scratch = append(l.scratch, line[from:end-1]...)
			return l.scratch, end
		}
		l.scratch = append(l.scratch, line[from:end]...)
		from = end + 1
	}
}

// parseLenient is parse for a lenient file. It makes no mistakes.
func (p *csvParser) parseLenient(c chunk) csvPart {
	out := csvPart{bytes: len(c.buf)}
	p.open(&out.part, c.lines+1)
	dirty := !isText(c.buf)
	p.lines.each(c, func(line []byte) {
		read := p.lenientRecord(out.rows, line, dirty)
		switch {
		case read && p.unit != nil:
			p.unit.number[out.rows] = p.unit.texts.addBytes(p.id)
		case p.unit != nil:
			return // it is nobody's
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
	})
	p.close(&out.part)
	return out
}

// lenientRecord encodes a line, all but its unit's number, into a row. It
// reports whether the line can be read and, if there are units, names one: p.id.
func (p *csvParser) lenientRecord(row int, line []byte, dirty bool) bool {
	if line == nil {
		return false
	}
	p.id = p.id[:0]
	for i, last := 0, false; !last; i++ {
		if i == len(p.lanes) {
			return false
		}
		l := &p.lanes[i]
		var cell []byte
		cell, line, last = p.lines.next(line)
		if last != (i+1 == len(p.lanes)) {
			return false
		}
		bad := len(cell) > p.lines.maxCell
		if l.text >= 0 && dirty && !isText(cell) {
			bad = true
		}
		switch {
		case l.unit:
			if bad {
				return false
			}
			p.id = append(p.id, idOf(cell)...)
		case bad:
			p.setUnread(l, row)
		case l.text >= 0:
			l.number[row] = l.texts.addBytes(cell)
		case l.codec != nil:
			var code uint16
			var err error
			if l.settled {
				err = p.related.cell(l.code, cell)
			} else if code, err = l.codec.EncodeText(cell); err == nil {
				l.set(row, code)
			}
			if err != nil {
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
