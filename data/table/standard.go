package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/decoy-dp/decoy/data/schema"
)

// Standard is what the standard input or output holds under this path: CSV under "-"; under
// "arrow:-" an Arrow file or stream; and under "arrow:-2" to "arrow:-9" the k-th of several Arrow
// streams, one behind the other. A name may follow, as that of a linked table in
// "arrow:-2/visits.arrow". It is 0 for the path of a file. An input of Arrow is held in memory, and
// so may be read more than once.
func Standard(path string) (f Format, k int) {
	if path == "-" {
		return CSV, 1
	}
	stream, _, _ := strings.Cut(path, "/")
	number, isArrow := strings.CutPrefix(stream, "arrow:-")
	switch {
	case isArrow && number == "":
		return Arrow, 1
	case isArrow && len(number) == 1 && number[0] >= '2' && number[0] <= '9':
		return Arrow, int(number[0] - '0')
	}
	return 0, 0
}

// standardInput is all of the standard input.
var standardInput = sync.OnceValues(func() ([]byte, error) { return io.ReadAll(os.Stdin) })

// inMemory is a file that is none.
type inMemory struct{ readAtSeeker }

// readAtSeeker is bytes that can be read in any order.
type readAtSeeker interface {
	io.ReadSeeker
	io.ReaderAt
}

func (inMemory) Close() error { return nil }

// standardStream is the k-th Arrow stream of the standard input, from 1.
func standardStream(k int) (openFile, error) {
	rest, err := standardInput()
	if err != nil {
		return nil, fmt.Errorf("table: the standard input: %w", err)
	}
	for i := 1; ; i++ {
		n, whole := streamLength(rest)
		switch {
		case i == k && !whole && !bytes.HasPrefix(rest, []byte("ARROW1")):
			return nil, errors.New("table: the Arrow stream on the standard input has no end: " +
				"its writer stopped before it was done, or this is no Arrow")
		case i == k:
			return inMemory{bytes.NewReader(rest[:n])}, nil
		}
		if rest = rest[n:]; len(rest) == 0 {
			return nil, errors.New("table: the standard input has fewer Arrow streams")
		}
	}
}

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

// inBytes is the bytes of an Arrow stream or file, open.
func inBytes(data []byte) *opened {
	return &opened{format: Arrow, file: inMemory{bytes.NewReader(data)}}
}

// open opens a regular file, or the standard input. A pipe is refused before it is
// opened, which might wait for its writer.
func open(path string, csv schema.CSV) (*opened, error) {
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
