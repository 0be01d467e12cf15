package privacy_test

import (
	"errors"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// TestSingle: that a table has one row is asked only where all neighbours have as many. Elsewhere
// the answer would tell of rows, for nothing: the run opens whatever the table holds.
func TestSingle(t *testing.T) {
	x := schema.Column{Name: "x", Kind: schema.Boolean}
	rows := &schema.Schema{Columns: []schema.Column{x}}
	units := &schema.Schema{Columns: []schema.Column{x}, Unit: "id", MaxRowsPerUnit: 2}
	for name, tt := range map[string]struct {
		s    *schema.Schema
		adj  accountant.Adjacency
		n    int
		void bool
	}{
		"one row":               {rows, accountant.ReplaceOne, 1, false},
		"none":                  {rows, accountant.ReplaceOne, 0, true},
		"two":                   {rows, accountant.ReplaceOne, 2, true},
		"two, add or remove":    {rows, accountant.AddRemove, 2, false},
		"two of a unit":         {units, accountant.ReplaceOne, 2, false},
		"two of a unit removed": {units, accountant.AddRemove, 2, false},
	} {
		var ids []uint32
		if tt.s.Unit != "" {
			ids = make([]uint32, tt.n)
		}
		tab, err := table.FromColumns(tt.s, []table.Codes{table.NewCodes(2, tt.n)}, ids)
		if err != nil {
			t.Fatal(err)
		}
		_, err = privacy.Open(t.Context(), privacy.FromTable(tab), privacy.Options{Single: true,
			Adjacency: tt.adj, Budget: accountant.Budget{Epsilon: 1},
			Plan: accountant.Composition{{Event: accountant.Laplace{Epsilon: 1}, Count: 1}}})
		if errors.Is(err, schema.ErrSchema) != tt.void || (err != nil) != tt.void {
			t.Errorf("%s: %v", name, err)
		}
	}
}
