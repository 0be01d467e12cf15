package table

import (
	"bytes"
	"errors"
	"fmt"
)

// What is only of strict files, which are public: where mistakes are, and what they are.

// strictRow adds the row of the record at hand, and reports whether the chunk can be parsed on. The
// error is about the first cells that are not allowed, up to the first mistake of another kind; a
// record with the wrong number of cells is reported as such, whatever is in them.
func (p *csvParser) strictRow(blank, long, ended bool) bool {
	out := &p.out
	if blank {
		if out.blank == 0 {
			out.blank = p.line
		}
		return true
	}
	if out.blank != 0 {
		out.err = p.wrap("line", out.blank, -1, errBlankLine)
		return false
	}
	p.bad = nil
	column, err := p.cells()
	line := p.line
	switch {
	case err == errOpenQuote && !ended, (err == nil || err == errFewCells) && long:
		column, err = -1, errLongRecord(p.z.maxCell)
	case err == errOpenQuote:
		line += bytes.Count(p.z.record[:p.z.pos], []byte{'\n'})
	}
	if err != nil {
		out.err = p.wrap("line", line, column, err)
		return false
	}
	if p.bad == nil {
		if column, err := p.related.settle(out.codes, out.rows); err != nil {
			p.refuse(column, nil, err)
		}
	}
	for _, one := range p.bad {
		out.wrong.add(one)
	}
	out.rows++
	return !out.wrong.full()
}

// csvMistakes are those of the chunks of a file.
type csvMistakes struct {
	*layout
	cells mistakes
	blank int // line of the first of the blank lines just seen
}

// add adds those of the next chunk. Its error ends the reading.
func (m *csvMistakes) add(p csvPart) error {
	if m.blank != 0 && (p.rows > 0 || p.err != nil || len(p.wrong) > 0) {
		return m.wrap("line", m.blank, -1, errBlankLine)
	}
	for _, one := range p.wrong {
		m.cells.add(one)
	}
	if p.err == nil && m.cells.full() {
		return errEnough
	}
	if m.blank == 0 {
		m.blank = p.blank
	}
	return p.err
}

// errEnough ends the reading of a file with many mistakes.
var errEnough = errors.New("table: too many mistakes")

// refuse notes a cell that is not allowed.
func (p *csvParser) refuse(column int, cell []byte, err error) {
	p.bad.add(mistake{p.wrap("line", p.line, column, err), fmt.Sprintf("%d %s", column, cell)})
}

// check reports what is wrong with a cell, of the first n bytes of what is left of a record.
func (z *tokenizer) check(cell, rest []byte, n int) error {
	switch {
	case len(cell) > z.maxCell && rest[0] == '"':
		return errLongQuoted(z.maxCell)
	case len(cell) > z.maxCell:
		return errLongCell(z.maxCell)
	}
	if z.dirty {
		if err := checkText(cell); err != nil {
			return err
		}
	}
	switch {
	case n < len(rest) && rest[n] == '"':
		return errBareQuote
	case n < len(rest) && rest[n] == '\r':
		return errBareReturn
	}
	return nil
}

// mistake is an error about the quotes of the cell that rest begins with.
func (z *tokenizer) mistake(rest []byte, err error) error {
	if err == errOpenQuote && len(rest) > z.maxCell+2 {
		return errLongQuoted(z.maxCell)
	}
	return err
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
