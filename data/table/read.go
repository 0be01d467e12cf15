package table

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
)

// ReadOptions steers a read. The zero value is ready to use.
type ReadOptions struct {
	// optional; called when all that is public of the file has been looked at (that it is there, its
	// format, the names and types of its columns), and before a row is: its error ends the read
	Begin   func() error
	keys    []string // columns whose texts are kept, in place of the unit: see ReadLinked
	workers int      // goroutines that turn text into codes; 0 = GOMAXPROCS
	maxCell int      // longest cell in bytes; 0 = 1 MiB
	block   int      // bytes of a CSV file that are parsed at a time; 0 = blockSize
}

func (o ReadOptions) withDefaults() ReadOptions {
	if o.Begin == nil {
		o.Begin = func() error { return nil }
	}
	o.workers, o.maxCell = cmp.Or(o.workers, runtime.GOMAXPROCS(0)), cmp.Or(o.maxCell, 1<<20)
	o.block = cmp.Or(o.block, blockSize)
	return o
}

// Report says what a read left out.
type Report struct {
	// 1-based file column numbers that the schema does not name; positions only: a header may be a
	// data row
	Ignored []int
}

// Format is a file format and how it is packed.
type Format uint8

// The formats.
const (
	CSV     Format = iota + 1
	Parquet        // Apache Parquet
	Arrow          // Arrow IPC: written as a file, read also as a stream
	// these are read only
	Sheet   // of an Excel workbook, .xlsx
	Objects // JSON lines: an object a line
	Zip     // an archive of one file, of another format

	Tabs Format = 1 << 4 // with CSV: a tab between cells, whatever else is said
	Gzip Format = 1 << 5 // with CSV or Objects: compressed so
)

// IsCSV reports whether it is CSV, packed or not.
func (f Format) IsCSV() bool { return f.base() == CSV }

// Written reports whether a table can be written in it.
func (f Format) Written() bool { return f.base() <= Arrow }

// Named reports whether columns of such a file always have names.
func (f Format) Named() bool { return !slices.Contains([]Format{CSV, Sheet, Zip}, f.base()) }

func (f Format) base() Format { return f & 15 }

// Read reads the table at path, whose extension says what it is: see [FormatOf]; for the standard
// input, [Standard]. See ReadCSV, parquetFile and arrowFile. An error about the content of the file
// wraps schema.ErrSchema.
func Read(
	ctx context.Context, path string, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	f, err := open(path, s.CSV)
	if err != nil {
		return nil, Report{}, err
	}
	defer f.close()
	return f.table(ctx, s, o)
}

// table reads a table of a schema.
func (f *opened) table(
	ctx context.Context, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	l, err := newLayout(s, o.keys)
	if err != nil {
		return nil, Report{}, err
	}
	a := assembly{layout: l}
	if err := f.read(ctx, l, o, a.add); err != nil {
		return nil, Report{}, err
	}
	return a.table(), Report{l.ignored}, nil
}

// read reads a file with a layout; put takes its parts in their order.
func (f *opened) read(
	ctx context.Context, l *layout, o ReadOptions, put func(p part) error,
) error {
	o = o.withDefaults()
	switch f.format.base() {
	case Objects:
		l.header, l.csv.HeaderLine, l.objects = true, 0, true
		fallthrough
	case Sheet:
		l.comma, l.framed = frameComma, true
		return l.readCSV(ctx, f.text, f.size, o, put)
	case CSV:
		if f.format&Tabs != 0 {
			l.comma = '\t'
		}
		return l.readCSV(ctx, f.text, f.size, o, put)
	}
	typed, err := openTyped(ctx, f)
	if err != nil {
		return err
	}
	f.typed, l.header = typed, true
	names := typed.names()
	if len(names) == 0 {
		return fmt.Errorf("table: %w", errEmptyFile)
	}
	if err := l.bind(names); err != nil {
		return err
	}
	return l.readTyped(typed, o, put)
}

// take counts bytes of a file that are copied.
func (f *opened) take(bytes int) error {
	if f.typed == nil {
		return nil
	}
	return f.typed.take(bytes)
}

// opened is a file that is open for reading.
type opened struct {
	format Format
	file   openFile
	size   int64      // -1 if it is not known
	text   io.Reader  // of a CSV file, not packed
	typed  *typedFile // of another, once it is read
}

// openFile is what os.File has of a table: its bytes, in any order unless it is a CSV file.
type openFile interface {
	readAtSeeker
	io.Closer
}

// contextReader stops reading when its context is done, even while a Read of
// r blocks. That Read may go on, and writes into the buffer it was given.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, done := 0, make(chan error, 1)
	go func() {
		m, err := c.r.Read(p)
		n = m
		done <- err
	}()
	select {
	case err := <-done:
		return n, err
	case <-c.ctx.Done():
		return 0, c.ctx.Err()
	}
}
