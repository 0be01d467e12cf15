package table

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// errShort says that a buffer ends inside a record and more of the file is needed to go on.
var errShort = errors.New("table: the buffer ends inside a record")

// tokenizer cuts a buffer of CSV into cells by RFC 4180, with four choices of its own: lines end in
// LF or CRLF, also mixed; a CR elsewhere belongs in a quoted cell, whose bytes are taken as they
// are; no space is trimmed; cells are UTF-8 without NUL.
//
// A lenient one cuts up a line, without its end, and makes no error of it: where no quote closes a
// quoted cell, or something else than a separator follows that quote, quotes are ordinary
// characters of that cell, and any byte may be in a cell of any length.
type tokenizer struct {
	lenient bool
	buf     []byte // from the start of a record
	final   bool   // buf ends where the file ends, not just where a block does
	line    int    // physical line at pos
	pos     int
	maxCell int // bytes
	comma   byte

	dirty   bool   // buf has a NUL byte or is not UTF-8 somewhere
	stop    *stops // bytes that end the plain part of an unquoted cell
	scratch []byte // a quoted cell without its doubled quotes
}

// stops marks the separator, the quote, CR and LF.
type stops [256]bool

// newTokenizer returns a tokenizer without a buffer.
func newTokenizer(comma byte, maxCell int) *tokenizer {
	s := &stops{'"': true, '\r': true, '\n': true}
	s[comma] = true
	return &tokenizer{comma: comma, maxCell: maxCell, stop: s}
}

// newLenient returns a lenient one.
func newLenient(comma byte, maxCell int) *tokenizer {
	s := &stops{}
	s[comma] = true
	return &tokenizer{lenient: true, comma: comma, maxCell: maxCell, stop: s}
}

// reset points z at a new buffer that starts with a record on the given line.
func (z *tokenizer) reset(buf []byte, final bool, line int) {
	z.buf, z.final, z.line, z.pos = buf, final, line, 0
	z.dirty = bytes.IndexByte(buf, 0) >= 0 || !utf8.Valid(buf)
}

// more reports whether another record, or a blank line, follows.
func (z *tokenizer) more() bool { return z.pos < len(z.buf) }

// blank skips a blank line and reports whether there was one. It must be
// called at the start of a record.
func (z *tokenizer) blank() bool {
	rest := z.buf[z.pos:]
	switch {
	case len(rest) > 0 && rest[0] == '\n':
		z.pos++
	case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
		z.pos += 2
	case len(rest) == 1 && rest[0] == '\r' && z.final:
		z.pos++
	default:
		return false
	}
	z.line++
	return true
}

// next returns the next cell and whether it is the last of its record. The cell is valid until the
// following call. After errShort the same record must be started again with a longer buffer; after
// any other error z is done, and its line is the one on which the cell in error starts.
func (z *tokenizer) next() (cell []byte, last bool, err error) {
	buf, i := z.buf, z.pos
	if i < len(buf) && buf[i] == '"' {
		if cell, last, err = z.quoted(); err == nil || !z.lenient {
			return cell, last, err
		}
	}
	for i < len(buf) && !z.stop[buf[i]] {
		i++
	}
	cell = buf[z.pos:i]
	switch {
	case z.lenient:
	case len(cell) > z.maxCell:
		return nil, false, errLongCell(z.maxCell)
	case i == len(buf) && !z.final:
		return nil, false, errShort
	case z.dirty:
		if err := checkText(cell); err != nil {
			return nil, false, err
		}
	}
	if i < len(buf) && buf[i] == '"' {
		return nil, false, errBareQuote
	}
	last, err = z.endCell(i, errBareReturn)
	return cell, last, err
}

// endCell goes past the separator or line end at i and reports whether it was
// a line end. Anything else there is the error otherwise.
func (z *tokenizer) endCell(i int, otherwise error) (last bool, err error) {
	buf := z.buf
	switch {
	case i == len(buf):
		if !z.final {
			return false, errShort
		}
		z.pos = i
	case buf[i] == z.comma:
		z.pos = i + 1
		return false, nil
	case buf[i] == '\n':
		z.pos = i + 1
	case buf[i] != '\r':
		return false, otherwise
	case i+1 < len(buf) && buf[i+1] == '\n':
		z.pos = i + 2
	case i+1 == len(buf) && !z.final:
		return false, errShort
	case i+1 == len(buf):
		z.pos = i + 1
	default:
		return false, otherwise
	}
	z.line++
	return true, nil
}

// quoted is next for a cell that starts with a quote.
func (z *tokenizer) quoted() (cell []byte, last bool, err error) {
	var (
		buf     = z.buf
		start   = z.pos + 1
		from    = start // what is not yet in scratch
		doubled = false
	)
	for {
		n := bytes.IndexByte(buf[from:], '"')
		if n < 0 || n+from+1 == len(buf) && !z.final {
			switch {
			case len(buf)-start > z.maxCell+1:
				return nil, false, errLongQuoted(z.maxCell)
			case z.final:
				return nil, false, errOpenQuote
			}
			return nil, false, errShort
		}
		end := from + n
		if end+1 == len(buf) || buf[end+1] != '"' {
			cell = buf[start:end]
			if doubled {
				z.scratch = append(z.scratch, buf[from:end]...)
				cell = z.scratch
			}
			switch {
			case z.lenient:
			case end-start > z.maxCell:
				return nil, false, errLongQuoted(z.maxCell)
			case z.dirty:
				if err := checkText(cell); err != nil {
					return nil, false, err
				}
			}
			lines := bytes.Count(buf[start:end], []byte{'\n'})
			last, err := z.endCell(end+1, errAfterQuote)
			z.line += lines
			return cell, last, err
		}
		if !doubled {
			z.scratch = z.scratch[:0]
			doubled = true
		}
		z.scratch = append(z.scratch, buf[from:end+1]...)
		from = end + 2
	}
}

// checkText reports what a cell must not contain.
func checkText(cell []byte) error {
	switch {
	case bytes.IndexByte(cell, 0) >= 0:
		return errNUL
	case !utf8.Valid(cell):
		return errUTF8
	}
	return nil
}
