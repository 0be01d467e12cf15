package table

import (
	"context"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/decoy-dp/decoy/schema"
)

// ReadParquet reads a Parquet file.
func ReadParquet(ctx context.Context, r parquet.ReaderAtSeeker, s *schema.Schema, o ReadOptions) (*Table, Report, error) {
	return nil, Report{}, errTODO
}
