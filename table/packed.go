package table

import (
	"errors"
	"io"
	"io/fs"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var (
	errDamagedPack = errors.New("the compressed file is damaged")
	errPackedBomb  = errors.New("a compressed file that holds far more than its length lets expect: " +
		"over 1 GiB, and 1024 more for each of its bytes")
)

// maxWindow is the most memory that zstd may ask for to look back: that of zstd --long.
const maxWindow = 128 << 20

// unpacked is the text of a compressed file, of at most 1 GiB and 1024 bytes more for each of the
// file. Its errors are those of reading, errDamagedPack and errPackedBomb; none is
// io.ErrUnexpectedEOF, which readers of CSV take for the end of a file.
type unpacked struct {
	text  io.Reader
	close func()
	left  int64
	size  int64 // of the file
}

// unpack opens a compressed file of size bytes.
func unpack(f Format, r io.Reader, size int64) (*unpacked, error) {
	u := &unpacked{left: atLeast(maxBytes, size), size: size, close: func() {}}
	if f&Gzip != 0 {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, packError(err)
		}
		u.text = z
		return u, nil
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, packError(err)
	}
	u.text, u.close = z, z.Close
	return u, nil
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

// packer is what a CSV file is written through, to be closed when it is complete.
func packer(f Format, w io.Writer) (io.WriteCloser, error) {
	switch {
	case f&Gzip != 0:
		return gzip.NewWriter(w), nil
	case f&Zstd != 0:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return nil, nil
}
