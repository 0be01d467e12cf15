package table

import (
	"errors"
	"io"
	"io/fs"

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
		return nil, packError(err)
	}
	return &unpacked{z, atLeast(maxBytes, size), size}, nil
}

// packError is err if the disk or the context made it, and else about what is packed.
func packError(err error) error {
	if disk := (*fs.PathError)(nil); errors.As(err, &disk) {
		return err
	}
	return errDamagedPack
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.text.Read(p)
	if u.left -= int64(n); u.left < 0 {
		return 0, errPackedBomb
	}
	if err != nil && err != io.EOF {
		err = packError(err)
	}
	return n, err
}
