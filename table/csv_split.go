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
	line  int // physical line of the first byte, from 1
	lines int // line feeds in buf
	// buf ends where the file ends; otherwise it ends where a record does, unless its CSV is malformed
	final   bool
	skipped bool // it is one line of a lenient file that is longer than maxRecord; buf is empty
}

// splitter cuts a stream into chunks at ends of records.
//
// Outside of malformed files a line feed ends a record exactly if the number of quotes before it is
// even, so a cut needs a count of quotes and no parse. In a malformed file the first chunk with a
// mistake still starts with a record, since all before it is well formed: who parses the chunks in
// order finds the mistake where it is. In a lenient file every line feed ends a record.
type splitter struct {
	r       io.Reader
	block   int             // bytes of a usual chunk
	lenient bool            // every line is a record
	probe   *tokenizer      // of the header
	known   map[string]bool // columns that the header may have; nil: the separator is sure

	carry []byte // what was read after the last cut
	line  int    // physical line of carry, from 0
	ended bool
}

// skipMark drops a byte-order mark from the start of the stream.
func (s *splitter) skipMark() error {
	s.carry = make([]byte, 3)
	n, err := io.ReadFull(s.r, s.carry)
	s.carry = bytes.TrimPrefix(s.carry[:n], []byte(mark))
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// next returns the next chunk in buf or, if buf is too small, in a new buffer;
// io.EOF after the last.
func (s *splitter) next(buf []byte) (chunk, error) {
	if s.ended {
		return chunk{}, io.EOF
	}
	if want := max(s.block, 2*len(s.carry)); cap(buf) < want {
		buf = make([]byte, want)
	}
	buf = buf[:cap(buf)]
	n := copy(buf, s.carry)
	if end := s.end(buf[:n]); end > 0 { // of lines behind a long one
		return s.cut(buf[:n], end, false), nil
	}
	for n <= maxRecord(s.probe.maxCell) { // else the record that was carried over is too long
		m, err := io.ReadFull(s.r, buf[n:])
		n += m
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			s.ended = true
			if n == 0 {
				return chunk{}, io.EOF
			}
			return s.cut(buf[:n], n, true), nil
		}
		if err != nil {
			return chunk{}, err
		}
		if end := s.end(buf); end > 0 {
			return s.cut(buf, end, false), nil
		}
		if n <= maxRecord(s.probe.maxCell) {
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
	if s.lenient {
		return s.skipLine(buf)
	}
	s.ended = true
	return s.cut(buf, n, false), nil
}

// firstLine takes the first line off a lenient file. It reads no byte behind it, as the rows may
// have to be paid for first.
func (s *splitter) firstLine() (chunk, error) {
	var err error
	most := maxRecord(s.probe.maxCell) + 2
	for more := make([]byte, 1); err == nil && len(s.carry) <= most &&
		bytes.IndexByte(s.carry, '\n') < 0; {
		var n int
		n, err = s.r.Read(more)
		s.carry = append(s.carry, more[:n]...)
	}
	if err != nil && (err != io.EOF || len(s.carry) == 0) {
		return chunk{}, err
	}
	line := s.carry[:1+bytes.IndexByte(s.carry, '\n')]
	if len(line) == 0 {
		line = s.carry
	}
	s.carry, s.line = bytes.Clone(s.carry[len(line):]), 1
	return chunk{buf: line, line: 1, final: true, skipped: len(line) > most}, nil
}

// end returns the length of the longest prefix of buf that ends with a record, 0 if there is none.
func (s *splitter) end(buf []byte) int {
	if s.lenient {
		return 1 + bytes.LastIndexByte(buf, '\n')
	}
	return lastRecordEnd(buf)
}

// skipLine goes past the line that fills buf and does not end in it.
func (s *splitter) skipLine(buf []byte) (chunk, error) {
	s.line++
	skipped := chunk{line: s.line, skipped: true}
	for {
		n, err := io.ReadFull(s.r, buf)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			s.carry = append(s.carry[:0], buf[i+1:n]...)
			return skipped, nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			s.ended = true
			return skipped, nil
		}
		if err != nil {
			return chunk{}, err
		}
	}
}

// cut makes a chunk of buf[:end] and keeps the rest for the next one.
func (s *splitter) cut(buf []byte, end int, final bool) chunk {
	s.carry = append(s.carry[:0], buf[end:]...)
	c := chunk{buf: buf[:end], line: s.line + 1, final: final}
	c.lines = bytes.Count(c.buf, []byte{'\n'})
	s.line += c.lines
	return c
}
