package table

import (
	"context"

	"github.com/decoy-dp/decoy/schema"
)

// typedFile is an open file of typed columns: Parquet or Arrow.
type typedFile interface {
	names() []string
	// read reads the rows with this layout, in parts; put takes these in their order
	read(l *layout, o ReadOptions, put func(part) error) error
	take(bytes int) error // of what the file may expand to
}

// openTyped opens a file of typed columns.
func openTyped(ctx context.Context, f *opened) (typedFile, error) {
	if f.format == Arrow {
		return openArrow(ctx, f.file)
	}
	return openParquet(ctx, f.file)
}

// ReadArrow reads a table from the bytes of an Arrow stream or file, as [Read] does one on disk.
func ReadArrow(
	ctx context.Context, data []byte, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	return inBytes(data).readTyped(ctx, s, o)
}

// readTyped reads a table from a file of typed columns.
func (f *opened) readTyped(
	ctx context.Context, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, Report{}, err
	}
	typed, err := openTyped(ctx, f)
	if err != nil {
		return nil, Report{}, err
	}
	var report Report
	if report.Ignored, err = l.bindNames(typed.names()); err != nil {
		return nil, Report{}, err
	}
	a := assembly{layout: l}
	if err := typed.read(l, o, a.add); err != nil {
		return nil, Report{}, err
	}
	return a.table(), report, nil
}
