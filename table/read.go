package table

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/decoy-dp/decoy/schema"
)

// ReadOptions steers a read. The zero value is ready to use.
type ReadOptions struct {
	Progress func(fraction float64) // optional; called from the reading goroutine with values from 0 to 1
	Workers  int                    // parsing goroutines; 0 = GOMAXPROCS
	MaxCell  int                    // longest cell in bytes; 0 = 1 MiB
}

// Report says what a read left out.
type Report struct {
	Ignored []int // 1-based file column numbers that the schema does not name; positions only: a header may be a data row
}

var errTODO = errors.New("table: not implemented")

// Read reads a table by the extension of path; "-" is CSV on stdin.
func Read(ctx context.Context, path string, s *schema.Schema, o ReadOptions) (*Table, Report, error) {
	return nil, Report{}, errTODO
}

// ReadCSV reads CSV from r; size is the number of bytes or -1.
func ReadCSV(ctx context.Context, r io.Reader, size int64, s *schema.Schema, o ReadOptions) (*Table, Report, error) {
	return nil, Report{}, errTODO
}

// ReadParquet reads a Parquet file.
func ReadParquet(ctx context.Context, r parquet.ReaderAtSeeker, s *schema.Schema, o ReadOptions) (*Table, Report, error) {
	return nil, Report{}, errTODO
}

// ScanText calls fn with the text of every row.
func ScanText(path string, header bool, comma byte, fn func(names []string, row []string) error) error {
	return errTODO
}
