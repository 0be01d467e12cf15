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
// its end, all but a byte that is too many; it ends a strict file.
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
		switch end := 1 + bytes.LastIndexByte(buf, '\n'); {
		case end > 0:
			return s.cut(buf, end), nil
		case n <= s.most+1:
			buf = append(buf, make([]byte, len(buf))...)
		case s.strict:
			s.done = true
			return s.cut(buf, n), nil
		default:
			n = s.most + 1
		}
	}
	return chunk{}, io.EOF
}

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
	if len(s.carry) > s.most {
		s.carry = s.carry[:s.most+1]
	}
	c := chunk{buf: buf[:end], line: s.line + 1}
	c.lines = bytes.Count(c.buf, []byte{'\n'})
	s.line += c.lines
	return c
}
