package table

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
)

var (
	errDamagedPack = errors.New("the compressed file is damaged")
	errPackedBomb  = errors.New("a compressed file that holds far more than its length lets expect: " +
		"over 1 GiB, and 1024 more for each of its bytes")
)

// unpacked is the text of a compressed file, of at most 1 GiB and 1024 bytes more for each of the
// file. Its errors are those of reading, errDamagedPack and errPackedBomb; none is
// io.ErrUnexpectedEOF, which readers of CSV take for the end of a file.
type unpacked struct {
	text io.Reader
	left int64
	size int64 // of the file
}

// unpack opens a compressed file of size bytes.
func unpack(r io.Reader, size int64) (*unpacked, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, packedAs(err, errDamagedPack)
	}
	return &unpacked{z, atLeast(maxBytes, size), size}, nil
}

// packedAs is err if the disk made it, or it is about the content of a file or its bounds, and else
// what is said of a file that is damaged.
func packedAs(err, damaged error) error {
	disk, data := (*fs.PathError)(nil), dataError("")
	if errors.As(err, &disk) || errors.As(err, &data) || errors.Is(err, errPackedBomb) {
		return err
	}
	return damaged
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.text.Read(p)
	if u.left -= int64(n); u.left < 0 {
		return 0, errPackedBomb
	}
	if err != nil && err != io.EOF {
		err = packedAs(err, errDamagedPack)
	}
	return n, err
}

const (
	errZip     dataError = "the file is no zip archive, or is damaged"
	errNoTable dataError = "the archive holds no table (a file whose name ends as that of one); " +
		"what is in an archive within it is not looked for"
	errTables dataError = "the archive holds more than one table: take out the one to be read, or, " +
		"of linked tables, all"
	errZipped dataError = "the file in the archive has a password, or is compressed in a way that " +
		"is not supported (Deflate is)"
)

// tableIn finds the one table of an archive of size bytes. Nothing of the file is read.
func tableIn(r io.ReaderAt, size int64) (table *zip.File, format Format, err error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, 0, packedAs(err, errZip)
	}
	for _, f := range z.File {
		name := path.Base(strings.ReplaceAll(f.Name, `\`, "/"))
		as := formatByName(name)
		hidden := strings.HasPrefix(name, ".") || strings.HasPrefix(f.Name, "__MACOSX/")
		if as == 0 || as == Zip || hidden || f.Mode().IsDir() {
			continue
		}
		if table != nil {
			return nil, 0, errTables
		}
		table, format = f, as
	}
	if table == nil {
		return nil, 0, errNoTable
	}
	return table, format, nil
}

// fileIn opens a file of an archive of size bytes.
func fileIn(f *zip.File, size int64) (*unpacked, error) {
	const locked = 1 // a flag
	text, err := f.Open()
	if err != nil || f.Flags&locked != 0 {
		return nil, packedAs(err, errZipped)
	}
	return &unpacked{text, atLeast(maxBytes, size), size}, nil
}
