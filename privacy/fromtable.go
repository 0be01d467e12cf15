package privacy

import "github.com/decoy-dp/decoy/table"

// FromTable treats a table as private from here on. Its columns must not change any more. Its
// schema may: the gate has its own.
func FromTable(t *table.Table) *Rows {
	s := t.Schema().Clone()
	return &Rows{schema: s, table: func(begin func() error) (*table.Table, error) {
		if err := begin(); err != nil {
			return nil, err
		}
		return table.FromColumns(s.Clone(), t.Columns(), t.Units())
	}}
}
