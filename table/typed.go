package table

import (
	"bytes"
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
	open := func() (typedFile, error) { return openArrow(ctx, bytes.NewReader(data)) }
	return readTyped(open, s, o)
}

// readTyped reads a table from a file that is opened once the schema is known to be valid.
func readTyped(
	open func() (typedFile, error), s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, Report{}, err
	}
	f, err := open()
	if err != nil {
		return nil, Report{}, err
	}
	var report Report
	if report.Ignored, err = l.bindNames(f.names()); err != nil {
		return nil, Report{}, err
	}
	a := assembly{layout: l}
	if err := f.read(l, o, a.add); err != nil {
		return nil, Report{}, err
	}
	return a.table(), report, nil
}
