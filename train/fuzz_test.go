package train

import (
	"bytes"
	"context"
	"testing"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/table"
)

// FuzzRead: no file makes reading, verifying or predicting panic.
func FuzzRead(f *testing.F) {
	t := &testing.T{}
	tab := simulated(t, 20, false)
	for _, target := range []string{"y", "kind"} {
		c, _, err := Run(context.Background(), privacy.FromTable(tab),
			Options{Options: privacy.Options{Budget: wide}, Target: target})
		if err != nil {
			f.Fatal(err)
		}
		c.Ledger = append(c.Ledger[:3:3], c.Ledger[len(c.Ledger)-1])
		var file bytes.Buffer
		release.FileWriter(c)(&file)
		f.Add(file.Bytes())
	}
	f.Add([]byte(`{"decoy_classifier": 1}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		c.Verify(nil)
		s, err := c.Schema()
		if err != nil {
			return
		}
		cols := make([]table.Codes, len(s.Columns))
		for i, size := range s.Sizes() {
			cols[i] = table.NewCodes(size, 2)
		}
		rows, err := table.FromColumns(s, cols, nil)
		if err != nil {
			return // of a unit
		}
		if _, err := c.Probabilities(rows); err != nil {
			t.Errorf("a table of its own schema is refused: %v", err)
		}
	})
}
