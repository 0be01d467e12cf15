package table

import (
	"bytes"
	"fmt"
)

// parseStrict is parse for a strict file. It reports the first cells that are not allowed, up to
// the first mistake of another kind; a record with the wrong number of cells is reported as such,
// whatever is in them.
func (p *csvParser) parseStrict(c chunk) csvPart {
	out := csvPart{bytes: len(c.buf)}
	p.open(&out.part, min(c.lines, len(c.buf)/len(p.lanes))+1)
	z := p.z
	z.reset(c.buf, c.final, c.line)
	for z.more() {
		line := z.line
		if !p.blankCell && z.blank() {
			if out.blank == 0 {
				out.blank = line
			}
			continue
		}
		if out.blank != 0 {
			out.err = place{unit: "line", number: out.blank}.wrap(errBlankLine)
			return out
		}
		start := z.pos
		if out.err = p.record(out.rows, line, &out.wrong); out.err == nil && z.pos-start > maxRecord(
			z.maxCell)+1 {
			out.err = place{unit: "line", number: line}.wrap(errLongRecord(z.maxCell))
		}
		if out.err != nil || out.wrong.full() {
			return out
		}
		out.rows++
	}
	p.close(&out.part)
	return out
}

// record encodes the record at the tokenizer, which starts on the given line,
// into a row. Cells that are not allowed are added to wrong.
func (p *csvParser) record(row, line int, wrong *mistakes) error {
	var bad mistakes
	for col := 0; ; col++ {
		cell, last, err := p.z.next()
		if err != nil {
			switch err {
			case errShort: // the splitter gave up on a record that has no end
				return place{unit: "line", number: line}.wrap(errLongRecord(p.z.maxCell))
			case errOpenQuote:
				line = p.z.line
			}
			return p.at("line", line, col).wrap(err)
		}
		if col == len(p.lanes) {
			return place{unit: "line", number: line}.wrap(errManyCells)
		}
		l := &p.lanes[col]
		switch {
		case l.codec != nil:
			if err := p.encode(l, row, cell); err != nil {
				p.refuse(&bad, line, col, cell, err)
			}
		case l.check >= 0:
			p.related.keep(l.check, cell)
		case l.text >= 0:
			if l.unit {
				if cell = idOf(cell); len(cell) == 0 {
					p.refuse(&bad, line, col, cell, errEmptyUnit)
				}
			}
			l.number[row] = l.texts.addBytes(cell)
		}
		if !last {
			continue
		}
		if col+1 < len(p.lanes) {
			return place{unit: "line", number: line}.wrap(errFewCells)
		}
		if bad == nil && p.related != nil {
			if col, err := p.settle(row); err != nil {
				p.refuse(&bad, line, col, nil, err)
			}
		}
		for _, one := range bad {
			wrong.add(one)
		}
		return nil
	}
}

// refuse adds a cell that is not allowed to bad.
func (p *csvParser) refuse(bad *mistakes, line, col int, cell []byte, err error) {
	bad.add(mistake{p.at("line", line, col).wrap(err), fmt.Sprintf("%d %s", col, cell)})
}

// lastRecordEnd returns the length of the longest prefix of buf that ends with
// a line feed and has an even number of quotes, 0 if there is none.
func lastRecordEnd(buf []byte) int {
	odd := bytes.Count(buf, []byte{'"'})%2 == 1
	end := len(buf)
	for {
		i := bytes.LastIndexByte(buf[:end], '\n')
		if i < 0 {
			return 0
		}
		if bytes.Count(buf[i:end], []byte{'"'})%2 == 1 {
			odd = !odd
		}
		if !odd {
			return i + 1
		}
		end = i
	}
}
