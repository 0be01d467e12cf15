package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
)

// What a Parquet or Arrow file may take. Files are believed in nothing before they are held to
// these: to run out of memory ends the process. At most some two gigabytes, and what is in
// proportion to the length of the file, are in use at a time.
const (
	maxFooter     = 64 << 20       // bytes of a Parquet footer, or of a message's header
	maxElements   = 4 * maxColumns // fields of the schema, groups included
	maxGroupDepth = 64             // fields of Arrow inside each other
	maxChunks     = 1 << 19        // columns times row groups
	maxPage       = 128 << 20      // bytes of a page, decompressed
	maxEntries    = 1 << 22        // of a dictionary

	maxCells = 1 << 27 // cells of a table, and maxRatio more for each byte of its file
	maxBytes = 1 << 30 // bytes of its pages, decompressed, and of texts; likewise
	maxRatio = 1 << 10

	unitCost   = 256 // bytes that a distinct id or text is counted as, besides its own
	lookupCost = 16  // likewise, one that is not new
	valueCost  = 48  // likewise, a value of a related column
)

var (
	// errDamaged is about the data of a Parquet or Arrow file that cannot be decoded.
	errDamaged = errors.New(
		"the file is not Parquet or Arrow as its name says, or is damaged or encrypted, or uses an " +
			"encoding or a compression that is not supported")
	errLargeFooter = errors.New("a Parquet footer of more than 64 MiB, " +
		"or of more than 524288 columns times row groups")
	errLargePage = fmt.Errorf("a Parquet page of more than %d MiB: write the file with smaller pages",
		maxPage>>20)
	errTooMuch = errors.New(
		"a file that holds far more than its length lets expect: over 1 GiB, or " +
			"128 million cells, and 1024 more for each of its bytes")
)

// atLeast gives a limit for a file: base and maxRatio for each of its bytes.
func atLeast(base, size int64) int64 {
	if size > (math.MaxInt64-base)/maxRatio {
		return math.MaxInt64
	}
	return base + maxRatio*size
}

// source reads a file for several goroutines. It stops when its context is done, and remembers the
// first error of the file, which Arrow may pass on in other words or not at all.
type source struct {
	ctx  context.Context
	file io.ReaderAt
	size int64
	left atomic.Int64 // bytes that may still be decompressed or copied, which bounds the time

	mu  sync.Mutex
	err error
}

// newSource finds out how long r is.
func newSource(ctx context.Context, r readAtSeeker) (*source, error) {
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, readingError(err)
	}
	s := &source{ctx: ctx, file: r, size: size}
	s.left.Store(atLeast(maxBytes, size))
	return s, nil
}

// take counts n bytes that are decompressed or copied.
func (s *source) take(n int) error {
	if s.left.Add(-int64(n)) < 0 {
		return errTooMuch
	}
	return nil
}

// fill reads all of p.
func (s *source) fill(p []byte, off int64) error {
	n, err := 0, s.ctx.Err()
	if err == nil {
		n, err = s.file.ReadAt(p, off)
	}
	if n == len(p) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != io.EOF && s.err == nil {
		s.err = err
	}
	return errDamaged
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

// catch calls f and turns a panic into errDamaged: Arrow panics on what it
// does not expect in a file. What it says is dropped, as it may quote the file.
func catch(f func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errDamaged
		}
	}()
	return f()
}
