package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/decoy-dp/decoy/schema"
)

// ReadOptions steers a read. The zero value is ready to use.
type ReadOptions struct {
	// optional; called by the goroutine that reads, with rising values up to 1, unless the length of
	// the input is unknown
	Progress func(fraction float64)
	// optional; called when all that is public of the file has been looked at (that it is there, its
	// format, the names and types of its columns), and before a row is: its error ends the read
	Begin   func() error
	workers int // goroutines that turn text into codes; 0 = GOMAXPROCS
	maxCell int // longest cell in bytes, quotes inside it counted twice; 0 = 1 MiB
}

func (o ReadOptions) begin() error {
	if o.Begin == nil {
		return nil
	}
	return o.Begin()
}

func (o ReadOptions) withDefaults() ReadOptions {
	if o.workers <= 0 {
		o.workers = runtime.GOMAXPROCS(0)
	}
	if o.maxCell <= 0 {
		o.maxCell = 1 << 20
	}
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

	Tabs Format = 1 << 4 // with CSV: a tab between cells, whatever the schema says
	Gzip Format = 1 << 5 // with CSV: compressed so
	Zstd Format = 1 << 6 // likewise
)

// IsCSV reports whether it is CSV, packed or not.
func (f Format) IsCSV() bool { return f.base() == CSV }

func (f Format) base() Format { return f & 15 }

// errFormat is about the name of a file.
var errFormat = errors.New(
	"table: the file name must end in .csv or .tsv (.gz or .zst may follow), " +
		".parquet, .arrow or .feather")

// FormatOf returns the format of a file by the extension of its path, in any
// letter case. Of the standard input and output see [Standard].
func FormatOf(path string) (Format, error) {
	if format, _ := Standard(path); format != 0 {
		return format, nil
	}
	path = strings.ToLower(path)
	base, how := path, Format(0)
	if rest, ok := strings.CutSuffix(path, ".gz"); ok {
		base, how = rest, Gzip
	} else if rest, ok := strings.CutSuffix(path, ".zst"); ok {
		base, how = rest, Zstd
	}
	switch ext := filepath.Ext(base); {
	case ext == ".csv":
		return CSV | how, nil
	case ext == ".tsv":
		return CSV | Tabs | how, nil
	case ext == ".parquet" && how == 0:
		return Parquet, nil
	case (ext == ".arrow" || ext == ".feather") && how == 0:
		return Arrow, nil
	}
	return 0, errFormat
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
	if f.format.IsCSV() {
		return ReadCSV(ctx, f.text, f.size, s, o)
	}
	return f.readTyped(ctx, s, o)
}

// opened is a file that is open for reading.
type opened struct {
	format Format
	file   openFile
	size   int64     // -1 if it is not known
	text   io.Reader // of a CSV file, not packed
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
		return &opened{format, os.Stdin, -1, os.Stdin}, nil
	case Arrow:
		stream, err := standardStream(k)
		return &opened{format: Arrow, file: stream, size: -1}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return nil, fmt.Errorf("table: %s is a directory", path)
	case mode&(fs.ModeNamedPipe|fs.ModeCharDevice|fs.ModeSocket) != 0:
		return nil, fmt.Errorf("table: %s is not a regular file; to read CSV from a pipe, use - for "+
			"the standard input", path)
	case !mode.IsRegular():
		return nil, fmt.Errorf("table: %s is not a regular file", path)
	}
	f := &opened{format: format, size: info.Size()}
	plain, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	f.file, f.text = plain, plain
	if format&(Gzip|Zstd) != 0 {
		if f.text, err = unpack(format, plain, f.size); err != nil {
			plain.Close()
			return nil, readingError(err)
		}
		f.size = -1 // of the text
	}
	return f, nil
}

// close closes what open opened.
func (f *opened) close() {
	if c, ok := f.text.(*unpacked); ok {
		c.close()
	}
	if f.file != os.Stdin {
		f.file.Close()
	}
}
