package privacy

import (
	"context"

	"github.com/decoy-dp/decoy/table"
)

// FromTable treats a table as private from here on. Its columns must not change any more. Its
// schema may: the gate has its own.
func FromTable(t *table.Table) *Rows {
	s := t.Schema().Clone()
	return &Rows{schema: s, load: func(_ context.Context, begin func() error) (
		*table.Table, table.Report, error) {
		if err := begin(); err != nil {
			return nil, table.Report{}, err
		}
		cols := make([]table.Codes, len(s.Columns))
		for i := range cols {
			cols[i] = t.Column(i)
		}
		own, err := table.FromColumns(s.Clone(), cols, t.Units())
		return own, table.Report{}, err
	}}
}
