package table

import (
	"context"
	"io"
	"sync"

	"github.com/apache/arrow/go/v15/parquet"
)

// source reads a Parquet file for several goroutines. It stops when its context is done and
// remembers the first error of the file, which Arrow may pass on in other words or not at all.
type source struct {
	ctx context.Context
	parquet.ReaderAtSeeker
	size int64
	allowance

	mu  sync.Mutex
	err error
}

// newSource finds out how long r is.
func newSource(ctx context.Context, r parquet.ReaderAtSeeker) (*source, error) {
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	s := &source{ctx: ctx, ReaderAtSeeker: r, size: size}
	s.left.Store(atLeast(maxBytes, size))
	return s, nil
}

func (s *source) length() int64 { return s.size }

func (s *source) ReadAt(p []byte, off int64) (int, error) {
	err := s.ctx.Err()
	n := 0
	if err == nil {
		n, err = s.ReaderAtSeeker.ReadAt(p, off)
	}
	s.remember(err)
	return n, err
}

func (s *source) Seek(off int64, whence int) (int64, error) {
	n, err := s.ReaderAtSeeker.Seek(off, whence)
	s.remember(err)
	return n, err
}

func (s *source) remember(err error) {
	if err == nil || err == io.EOF {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// fill reads all of p.
func (s *source) fill(p []byte, off int64) error {
	if n, _ := s.ReadAt(p, off); n < len(p) {
		return errDamaged
	}
	return nil
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
