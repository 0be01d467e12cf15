package table

import (
	"bytes"
	"cmp"
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

// endings are those of files, none of which is that of another.
var endings = []struct {
	name   string
	format Format
}{
	{".csv", CSV}, {".csv.gz", CSV | Gzip}, {".tsv", CSV | Tabs}, {".tsv.gz", CSV | Tabs | Gzip},
	{".parquet", Parquet}, {".arrow", Arrow}, {".feather", Arrow}, {".xlsx", Sheet}, {".xlsm", Sheet},
	{".jsonl", Objects}, {".jsonl.gz", Objects | Gzip}, {".ndjson", Objects},
	{".ndjson.gz", Objects | Gzip}, {".zip", Zip},
}

// Endings are those of the names of tables, or of those that can be written alone.
func Endings(written bool) (out []string) {
	for _, e := range endings {
		if !written || e.format.Written() {
			out = append(out, e.name)
		}
	}
	return out
}

// FormatOf returns the format of a file by the extension of its path, in any
// letter case. Of the standard input and output see [Standard].
func FormatOf(path string) (Format, error) {
	format, _ := Standard(path)
	if format = cmp.Or(format, formatByName(path)); format == 0 {
		return 0, errors.New("table: the file name must end in " + strings.Join(Endings(false), ", "))
	}
	return format, nil
}

// formatByName is the format of a file, 0 if its name is that of no table.
func formatByName(path string) Format {
	_, format := cutEnding(path)
	return format
}

// cutEnding cuts off a path what says the format.
func cutEnding(path string) (stem string, format Format) {
	for _, e := range endings {
		if n := len(path) - len(e.name); n >= 0 && strings.EqualFold(path[n:], e.name) {
			return path[:n], e.format
		}
	}
	return path, 0
}

// Stem is a path without what says its format, and that of the table in an archive.
func Stem(path string) string {
	stem, format := cutEnding(path)
	if format == Zip {
		stem, _ = cutEnding(stem)
	}
	return stem
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
	if err = f.unpack(csv); err != nil {
		plain.Close()
		return nil, readingError(err)
	}
	return f, nil
}

// unpack opens what is in the file, as far as that can be said without a row. What is read in any
// order is unpacked into memory, if it is in an archive, of which it then is no more than 1 GiB.
func (f *opened) unpack(csv schema.CSV) error {
	size, err := f.size, error(nil)
	if f.format == Zip {
		table, format, err := tableIn(f.file, size)
		if err != nil {
			return err
		}
		text, err := fileIn(table, size)
		if err != nil {
			return err
		}
		f.format, f.text = format, text
		if f.size = -1; format.base() != CSV && format.base() != Objects {
			data, err := inMemoryOf(text, table.UncompressedSize64)
			if err != nil {
				return err
			}
			f.file.Close()
			f.file, f.size = inMemory{data}, data.Size()
		}
	}
	switch {
	case f.format&Gzip != 0:
		f.text, err = unpack(f.text, size)
		f.size = -1 // of the text
	case f.format == Sheet:
		f.text, err = openSheet(f.file, f.size, csv)
	}
	return err
}

// inMemoryOf is what is packed, which has so many bytes, or the archive is damaged.
func inMemoryOf(text *unpacked, n uint64) (out *bytes.Reader, err error) {
	if n > maxBytes || n > maxRatio*uint64(text.size)+maxRatio<<10 {
		return out, errPackedBomb
	}
	var data bytes.Buffer
	data.Grow(int(n) + bytes.MinRead)
	if _, err = data.ReadFrom(text); err == nil && data.Len() != int(n) {
		err = errDamagedPack
	}
	return bytes.NewReader(data.Bytes()), err
}

// close closes what open opened.
func (f *opened) close() {
	if f.file != os.Stdin {
		f.file.Close()
	}
}
