package privacy

import (
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// MergeBins goes over to a coarser schema: from here on the session's table has the codes of to,
// each of which stands for codes of the present schema as [schema.Schema.Groups] says, and the
// finer codes are gone. Only columns that the present schema declares as bought (bins: dp) may
// differ. Nothing is released, so nothing is charged: each row is mapped on its own, by a rule that
// the caller took from public or noised knowledge (docs/claims/bins.md). The ledger keeps the
// fingerprint of the schema that the session was opened with.
//
// It must not run at the same time as a mechanism of the session.
func (s *session) MergeBins(to *schema.Schema) error {
	to = to.Clone()
	err := s.hold(func(from *schema.Schema, rows access.Rows) (*schema.Schema, access.Rows, error) {
		groups, err := from.Groups(to)
		if err != nil {
			return nil, rows, err
		}
		coarse, err := regroup(rows.Table(), to, groups)
		rows.Table = func() *table.Table { return coarse }
		return to, rows, err
	})
	if err != nil {
		return fmt.Errorf("merging bins: %w", err)
	}
	return nil
}

// regroup maps the codes of each row.
func regroup(t *table.Table, to *schema.Schema, groups [][]uint16) (*table.Table, error) {
	sizes := to.Sizes()
	cols := t.Columns()
	for i, g := range groups {
		if g == nil {
			continue
		}
		cols[i] = table.NewCodes(sizes[i], t.Rows())
		for r := range t.Rows() {
			cols[i].Set(r, g[t.Column(i).At(r)])
		}
	}
	return table.FromColumns(to, cols, t.Units())
}
