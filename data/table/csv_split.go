package table

import (
	"bytes"
	"io"
	"unicode/utf8"
)

const (
	blockSize  = 1 << 20 // bytes read before a cut is looked for
	maxColumns = 1 << 16 // cells of one line
)

// lineCells is how many of the longest cells a line may be long, its end not counted. No reader
// holds more than twice of it at a time.
const lineCells = 16

// chunk is a piece of a CSV file that starts with a line.
type chunk struct {
	buf   []byte
	line  int // number of the first line, from 1
	lines int // line feeds in buf
}

// splitter cuts a stream into chunks at ends of lines that are in no record of several. A line that
// is longer than one may be loses bytes, but keeps so many that it is too long without its mark and
// its carriage return, too; it ends a strict file.
type splitter struct {
	r      io.Reader
	block  int // bytes of a usual chunk
	most   int // bytes of a line
	strict bool
	rule   recordRule // once the columns are known

	carry []byte // what was read after the last cut
	line  int    // of carry, from 0
	done  bool
}

// next returns the next chunk, in buf if that is large enough; io.EOF after the last.
func (s *splitter) next(buf []byte) (chunk, error) {
	if want := max(s.block, 2*len(s.carry)); cap(buf) < want {
		buf = make([]byte, want)
	}
	buf = buf[:cap(buf)]
	n := copy(buf, s.carry)
	full := 1 + bytes.LastIndexByte(buf[:n], '\n') // bytes of whole lines
	for !s.done {
		from := n
		m, err := io.ReadFull(s.r, buf[n:])
		n += m
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			if s.done = true; n > 0 {
				return s.cut(buf[:n], n), nil
			}
			break
		}
		if err != nil {
			return chunk{}, err
		}
		if end := 1 + bytes.LastIndexByte(buf[from:], '\n'); end > 0 {
			full = from + end
		}
		switch end := s.whole(buf, full); {
		case end > 0:
			return s.cut(buf, end), nil
		case n < full+s.kept()+s.block:
			buf = append(buf, make([]byte, len(buf))...)
		case s.strict:
			s.done = true
			return s.cut(buf, n), nil
		default:
			n = full + s.kept()
		}
	}
	return chunk{}, io.EOF
}

// whole is how many bytes of the lines text[:full] are before the first line that may begin a
// record of more than there is of the text.
func (s *splitter) whole(text []byte, full int) int {
	if bytes.IndexByte(text[:full], '"') < 0 {
		return full
	}
	for at := 0; at < full; {
		n := bytes.IndexByte(text[at:full], '\n')
		if s.rule.mayBegin(text[at : at+n]) {
			record, more := s.rule.length(text[at:], false)
			if more {
				return at
			}
			n = max(n, record)
			n += bytes.IndexByte(text[at+n:], '\n')
		}
		at += n + 1
	}
	return full
}

// kept is how many bytes a line that is too long keeps at least.
func (s *splitter) kept() int { return len(mark) + s.most + 1 + len("\r") }

// cut makes a chunk of buf[:end] and keeps the rest for the next one.
func (s *splitter) cut(buf []byte, end int) chunk {
	s.carry = append(s.carry[:0], buf[end:]...)
	full := 1 + bytes.LastIndexByte(s.carry, '\n')
	s.carry = s.carry[:min(len(s.carry), full+s.kept())]
	c := chunk{buf: buf[:end], line: s.line + 1}
	c.lines = bytes.Count(c.buf, []byte{'\n'})
	s.line += c.lines
	return c
}

// mark is the byte-order mark of UTF-8.
const mark = "\xef\xbb\xbf"

// tokenizer cuts a row of CSV into cells, as RFC 4180 has it: a line, or the lines of a record. No
// line is an error: where no quote closes a quoted cell, or something else
// than a separator follows that quote, quotes are ordinary characters of that cell, and any byte
// may be in a cell of any length.
type tokenizer struct {
	comma    byte
	spaced   bool   // blanks around a cell are no part of it
	framed   bool   // the file is framed
	line     []byte // or the lines of a record, without the last end
	pos      int    // in it, of the next cell
	inQuotes bool   // the last cell
	scratch  []byte // a quoted cell without its doubled quotes
}

// next returns the next cell and whether it is the last of its line. The cell is valid until the
// following call.
func (z *tokenizer) next() (cell []byte, last bool) {
	rest, n := z.line[z.pos:], 0
	for z.spaced && len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
		z.pos++
	}
	if len(rest) > 0 && rest[0] == '"' {
		cell, n = z.quoted(rest)
	}
	if z.inQuotes = n > 0; !z.inQuotes {
		for n < len(rest) && rest[n] != z.comma {
			n++
		}
		if cell = rest[:n]; z.spaced {
			cell = bytes.TrimRight(cell, " ")
		}
	}
	if z.pos += n + 1; z.framed {
		unframe(cell)
	}
	return cell, n == len(rest)
}

// quoted is the cell, in quotes, that rest begins with, and its length there; 0 if it is none.
func (z *tokenizer) quoted(rest []byte) (cell []byte, n int) {
	z.scratch = z.scratch[:0]
	for from := 1; ; {
		i := bytes.IndexByte(rest[from:], '"')
		if i < 0 {
			return nil, 0
		}
		end := from + i
		switch behind := rest[end+1:]; {
		case len(behind) > 0 && behind[0] == '"':
			z.scratch = append(z.scratch, rest[from:end+1]...)
			from = end + 2
			continue
		case len(behind) > 0 && behind[0] != z.comma:
			return nil, 0
		case from == 1:
			return rest[1:end], end + 1
		}
		z.scratch = append(z.scratch, rest[from:end]...)
		return z.scratch, end + 1
	}
}

// checkText reports what a cell, or a whole chunk, must not contain: it is UTF-8 without NUL.
func checkText(cell []byte) error {
	switch {
	case bytes.IndexByte(cell, 0) >= 0:
		return errNUL
	case !utf8.Valid(cell):
		return errUTF8
	}
	return nil
}
