package table

import (
	"bytes"
	"io"
)

const (
	blockSize  = 1 << 20 // bytes read before a cut is looked for
	maxColumns = 1 << 16 // cells of one line
)

// maxRecord is the most bytes of a line, its end not counted, for cells of at most maxCell. No
// reader holds more than twice of it at a time.
func maxRecord(maxCell int) int { return 16 * maxCell }

// chunk is a piece of a CSV file that starts with a line.
type chunk struct {
	buf   []byte
	line  int // number of the first line, from 1
	lines int // line feeds in buf
}

// splitter cuts a stream into chunks at ends of lines. A line that is longer than one may be loses
// bytes, but keeps so many that it is too long without its mark and its carriage return, too; it
// ends a strict file.
type splitter struct {
	r      io.Reader
	block  int // bytes of a usual chunk
	most   int // bytes of a line
	strict bool

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
		switch end := 1 + bytes.LastIndexByte(buf[from:], '\n'); {
		case end > 0:
			return s.cut(buf, from+end), nil
		case n < s.kept()+s.block:
			buf = append(buf, make([]byte, len(buf))...)
		case s.strict:
			s.done = true
			return s.cut(buf, n), nil
		default:
			n = s.kept()
		}
	}
	return chunk{}, io.EOF
}

// kept is how many bytes a line that is too long keeps at least.
func (s *splitter) kept() int { return len(mark) + s.most + 1 + len("\r") }

// firstLine takes the first line off a file. It reads no byte behind it, as the rows may have to
// be paid for first.
func (s *splitter) firstLine() (line []byte, err error) {
	for one := make([]byte, 1); len(line) <= s.most+len(mark) &&
		!bytes.HasSuffix(line, []byte{'\n'}); {
		n, err := s.r.Read(one)
		line = append(line, one[:n]...)
		if err == io.EOF && len(line) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	s.line = 1
	return line, nil
}

// cut makes a chunk of buf[:end] and keeps the rest for the next one.
func (s *splitter) cut(buf []byte, end int) chunk {
	s.carry = append(s.carry[:0], buf[end:]...)
	s.carry = s.carry[:min(len(s.carry), s.kept())]
	c := chunk{buf: buf[:end], line: s.line + 1}
	c.lines = bytes.Count(c.buf, []byte{'\n'})
	s.line += c.lines
	return c
}
