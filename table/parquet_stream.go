package table

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
)

// source reads a Parquet file for several goroutines. It stops when its
// context is done and remembers the first error of the file, which Arrow may
// pass on in other words or not at all.
type source struct {
	ctx context.Context
	parquet.ReaderAtSeeker
	size int64

	mu  sync.Mutex
	err error
}

// newSource finds out how long r is.
func newSource(ctx context.Context, r parquet.ReaderAtSeeker) (*source, error) {
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	return &source{ctx: ctx, ReaderAtSeeker: r, size: size}, nil
}

func (s *source) ReadAt(p []byte, off int64) (int, error) {
	err := s.ctx.Err()
	n := 0
	if err == nil {
		n, err = s.ReaderAtSeeker.ReadAt(p, off)
	}
	if err != nil && err != io.EOF {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.err == nil {
			s.err = err
		}
	}
	return n, err
}

// failure returns the error of the file or, if there was none, err.
func (s *source) failure(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return readingError(s.ctx.Err())
	case s.err != nil:
		return readingError(s.err)
	}
	return err
}

// section is a stretch of a file as Arrow's page reader wants it. Arrow's own
// type for this returns stale bytes when it is asked for more than is left.
type section struct {
	r        io.ReaderAt
	off, end int64  // what is still to be read from r
	buf      []byte // what was read but not yet taken
}

// Peek returns the next n bytes without taking them, or fewer and io.EOF. The
// page reader peeks at page headers only; one that announces more bytes than
// are left is an error here, before Arrow makes room for them.
func (s *section) Peek(n int) ([]byte, error) {
	view, err := s.peek(n)
	left := s.end - s.off + int64(len(s.buf))
	if announced(view) > left {
		return nil, errDamaged
	}
	return view, err
}

// announced returns the length in bytes of the page behind a page header: the
// third of the integers that the header starts with, which are fields 1, 2 and
// 3 of a Thrift compact struct. It is 0 if the header does not start so.
func announced(header []byte) int64 {
	const nextInt32 = 0x15 // the next field, of 32 bits
	r := varints{data: header}
	var value int64
	for range 3 {
		if len(r.data) == 0 || r.data[0] != nextInt32 {
			return 0
		}
		r.data = r.data[1:]
		value = r.signed()
	}
	return value
}

// peek is Peek for any bytes.
func (s *section) peek(n int) ([]byte, error) {
	if n > len(s.buf) {
		more := min(int64(n-len(s.buf)), s.end-s.off)
		have := len(s.buf)
		s.buf = append(s.buf, make([]byte, more)...)
		m, err := s.r.ReadAt(s.buf[have:], s.off)
		s.buf = s.buf[:have+m]
		s.off += int64(m)
		if int64(m) < more {
			return s.buf, err
		}
	}
	if n > len(s.buf) {
		return s.buf, io.EOF
	}
	return s.buf[:n], nil
}

// Discard skips n bytes.
func (s *section) Discard(n int) (int, error) {
	if n > len(s.buf) {
		if _, err := s.peek(n); err != nil {
			n = len(s.buf)
			s.buf = nil
			return n, err
		}
	}
	s.buf = s.buf[n:]
	return n, nil
}

func (s *section) Read(p []byte) (int, error) {
	if len(s.buf) > 0 {
		n := copy(p, s.buf)
		s.buf = s.buf[n:]
		return n, nil
	}
	p = p[:min(int64(len(p)), s.end-s.off)]
	if len(p) == 0 {
		return 0, io.EOF
	}
	n, err := s.r.ReadAt(p, s.off)
	s.off += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// maxPage is the most memory that one page may take.
const maxPage = 1 << 30

// pageMemory gives memory to Arrow, but not for a page whose length must be
// wrong: to run out of memory ends the process, a panic can be caught.
type pageMemory struct{ memory.Allocator }

var errPageSize = errors.New("table: a page of more than 1 GiB")

func (m pageMemory) Allocate(size int) []byte {
	if size > maxPage {
		panic(errPageSize)
	}
	return m.Allocator.Allocate(size)
}

func (m pageMemory) Reallocate(size int, b []byte) []byte {
	if size > maxPage {
		panic(errPageSize)
	}
	return m.Allocator.Reallocate(size, b)
}
