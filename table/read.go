package table

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/decoy-dp/decoy/schema"
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

// Format is a file format: CSV, Parquet or Arrow and, with CSV, how it is packed.
type Format uint8

// The formats.
const (
	CSV     Format = iota + 1
	Parquet        // Apache Parquet
	Arrow          // Arrow IPC: written as a file, read also as a stream

	Tabs Format = 1 << 4 // with CSV: a tab between cells, whatever else is said
	Gzip Format = 1 << 5 // with CSV: compressed so
)

// IsCSV reports whether it is CSV, packed or not.
func (f Format) IsCSV() bool { return f.base() == CSV }

func (f Format) base() Format { return f & 15 }

// errFormat is about the name of a file.
var errFormat = errors.New(
	"table: the file name must end in .csv or .tsv (.gz may follow), " +
		".parquet, .arrow or .feather")

// FormatOf returns the format of a file by the extension of its path, in any
// letter case. Of the standard input and output see [Standard].
func FormatOf(path string) (Format, error) {
	if format, _ := Standard(path); format != 0 {
		return format, nil
	}
	for ending, format := range endings {
		if strings.HasSuffix(strings.ToLower(path), ending) {
			return format, nil
		}
	}
	return 0, errFormat
}

// endings are those of files, none of which is that of another.
var endings = map[string]Format{
	".csv": CSV, ".csv.gz": CSV | Gzip, ".tsv": CSV | Tabs, ".tsv.gz": CSV | Tabs | Gzip,
	".parquet": Parquet, ".arrow": Arrow, ".feather": Arrow,
}

// Read reads the table at path, whose extension says what it is: see [FormatOf]; for the standard
// input, [Standard]. See ReadCSV, parquetFile and arrowFile. An error about the content of the file
// wraps schema.ErrSchema.
func Read(
	ctx context.Context, path string, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	f, err := open(path)
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
	if f.format.IsCSV() {
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

// inBytes is the bytes of an Arrow stream or file, open.
func inBytes(data []byte) *opened {
	return &opened{format: Arrow, file: inMemory{bytes.NewReader(data)}}
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

// open opens a regular file, or the standard input. A pipe is refused before it is
// opened, which might wait for its writer.
func open(path string) (*opened, error) {
	format, err := FormatOf(path)
	if err != nil {
		return nil, err
	}
	switch standard, k := Standard(path); standard {
	case CSV:
		return &opened{format: format, file: os.Stdin, size: -1, text: os.Stdin}, nil
	case Arrow:
		stream, err := standardStream(k)
		return &opened{format: Arrow, file: stream, size: -1}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("table: %s is not a regular file; CSV from a pipe is read as -, the "+
			"standard input", path)
	}
	f := &opened{format: format, size: info.Size()}
	plain, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	f.file, f.text = plain, plain
	if format&Gzip != 0 {
		if f.text, err = unpack(plain, f.size); err != nil {
			plain.Close()
			return nil, readingError(err)
		}
		f.size = -1 // of the text
	}
	return f, nil
}

// close closes what open opened.
func (f *opened) close() {
	if f.file != os.Stdin {
		f.file.Close()
	}
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
