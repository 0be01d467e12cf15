package table

import (
	"context"
	"errors"
	"fmt"
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
	workers  int // goroutines that turn text into codes; 0 = GOMAXPROCS
	maxCell  int // longest cell in bytes, quotes inside it counted twice; 0 = 1 MiB
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

// Format is a file format.
type Format uint8

// The formats.
const (
	CSV Format = iota + 1
	Parquet
)

// FormatOf returns the format of a file by the extension of its path, in any
// letter case. The path "-" is CSV.
func FormatOf(path string) (Format, error) {
	if path == "-" {
		return CSV, nil
	}
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".csv":
		return CSV, nil
	case ".parquet":
		return Parquet, nil
	case ".gz", ".zst", ".bz2", ".xz", ".zip":
		return 0, fmt.Errorf("table: compressed files (%s) are not supported: decompress the file first",
			ext)
	}
	return 0, errors.New("table: the file name must end in .csv or .parquet")
}

// Read reads the table at path, whose extension says whether it is CSV or
// Parquet; "-" is CSV on the standard input. See ReadCSV and readParquet. An
// error about the content of the file wraps schema.ErrSchema.
func Read(
	ctx context.Context, path string, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	format, f, size, err := open(path)
	if err != nil {
		return nil, Report{}, err
	}
	defer shut(f)
	if format == CSV {
		return ReadCSV(ctx, f, size, s, o)
	}
	return readParquet(ctx, f, s, o)
}

// open opens a regular file, or the standard input for "-", and returns its
// format and length, -1 if that is not known. A pipe is refused before it is
// opened, which might wait for its writer.
func open(path string) (format Format, f *os.File, size int64, err error) {
	if format, err = FormatOf(path); err != nil {
		return 0, nil, 0, err
	}
	if path == "-" {
		return format, os.Stdin, -1, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, nil, 0, fmt.Errorf("table: %w", err)
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return 0, nil, 0, fmt.Errorf("table: %s is a directory", path)
	case mode&(fs.ModeNamedPipe|fs.ModeCharDevice|fs.ModeSocket) != 0:
		return 0, nil, 0, fmt.Errorf(
			"table: %s is not a regular file; to read CSV from a pipe, use - for the standard input",
			path)
	case !mode.IsRegular():
		return 0, nil, 0, fmt.Errorf("table: %s is not a regular file", path)
	}
	if f, err = os.Open(path); err != nil {
		return 0, nil, 0, fmt.Errorf("table: %w", err)
	}
	return format, f, info.Size(), nil
}

// shut closes what open opened.
func shut(f *os.File) {
	if f != os.Stdin {
		f.Close()
	}
}
