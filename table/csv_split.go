package table

import (
	"bytes"
	"io"
)

const (
	blockSize  = 1 << 20 // bytes read before a cut is looked for
	maxColumns = 1 << 16 // cells of one record
)

// maxRecord is the most bytes of a record, its line end not counted, for cells
// of at most maxCell. No reader holds more than twice of it at a time.
func maxRecord(maxCell int) int { return 16 * maxCell }

// chunk is a piece of a CSV file that starts with a record.
type chunk struct {
	buf   []byte
	line  int  // physical line of the first byte, from 1
	lines int  // line feeds in buf
	ended bool // it ends with a record, unless its CSV is malformed; false: that is too long
}

// splitter cuts a stream into chunks at ends of records: a line feed or, in a strict file, one
// before which the quotes are even. A line of a lenient file that is longer than a record may be
// loses its end, all but a byte that is too many.
type splitter struct {
	r      io.Reader
	block  int // bytes of a usual chunk
	most   int // bytes of a record
	strict bool

	head  chunk  // is next, if it is not empty
	carry []byte // what was read after the last cut
	line  int    // physical line of carry, from 0
	done  bool
}

// next returns the next chunk, in buf if that is large enough; io.EOF after the last.
func (s *splitter) next(buf []byte) (chunk, error) {
	if head := s.head; len(head.buf) > 0 {
		s.head = chunk{}
		return head, nil
	}
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
				return s.cut(buf[:n], n, true), nil
			}
			break
		}
		if err != nil {
			return chunk{}, err
		}
		switch end := s.end(buf); {
		case end > 0:
			return s.cut(buf, end, true), nil
		case n <= s.most+1:
			buf = append(buf, make([]byte, len(buf))...)
		case s.strict:
			s.done = true
			return s.cut(buf, n, false), nil
		default:
			n = s.most + 1
		}
	}
	return chunk{}, io.EOF
}

// firstLine takes the first line off a lenient file. It reads no byte behind it, as the rows may
// have to be paid for first.
func (s *splitter) firstLine() (chunk, error) {
	first := chunk{line: 1, ended: true}
	for one := make([]byte, 1); len(first.buf) <= s.most+len(mark) &&
		!bytes.HasSuffix(first.buf, []byte{'\n'}); {
		n, err := s.r.Read(one)
		first.buf = append(first.buf, one[:n]...)
		if err == io.EOF && len(first.buf) > 0 {
			break
		}
		if err != nil {
			return chunk{}, err
		}
	}
	s.line = 1
	return first, nil
}

// end returns the length of the longest prefix of buf that ends with a record, 0 if there is none.
func (s *splitter) end(buf []byte) int {
	if s.strict {
		return lastRecordEnd(buf)
	}
	return 1 + bytes.LastIndexByte(buf, '\n')
}

// cut makes a chunk of buf[:end] and keeps the rest for the next one.
func (s *splitter) cut(buf []byte, end int, ended bool) chunk {
	s.carry = append(s.carry[:0], buf[end:]...)
	if !s.strict && len(s.carry) > s.most {
		s.carry = s.carry[:s.most+1]
	}
	c := chunk{buf: buf[:end], line: s.line + 1, ended: ended}
	c.lines = bytes.Count(c.buf, []byte{'\n'})
	s.line += c.lines
	return c
}
