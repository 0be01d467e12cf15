package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
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
