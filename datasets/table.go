package datasets

import (
	"bytes"
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/data/table"
)

// Table gives the rows of an embedded data set in codes. For the others the error wraps
// ErrNotEmbedded and says where the rows are.
func (d Dataset) Table() (*table.Table, error) {
	if !d.Embedded {
		return nil, fmt.Errorf("%s is %w: it comes from %s", d.Name, ErrNotEmbedded, d.Origin)
	}
	s, err := d.Schema()
	if err != nil {
		return nil, err
	}
	rows := d.CSV()
	t, _, err := table.ReadCSV(context.Background(), bytes.NewReader(rows), int64(len(rows)), s,
		table.ReadOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	return t, nil
}
