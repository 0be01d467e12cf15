package stats

import (
	"bytes"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
)

// FuzzRead: no file makes reading, verifying or predicting panic.
func FuzzRead(f *testing.F) {
	t := &testing.T{}
	tab := simulated(t, 20, false)
	files := []release.File{sealed(f),
		published(f, patients(f, 100, 1, ""), patients(f, 100, 2, ""), Evaluation{},
			privacy.Options{Budget: ten})}
	for _, target := range []string{"y", "kind"} {
		c := trainedOn(f, tab, Training{Target: target}, privacy.Options{Budget: wide})
		c.Ledger = append(c.Ledger[:3:3], c.Ledger[len(c.Ledger)-1])
		files = append(files, c)
	}
	for _, file := range files {
		var text bytes.Buffer
		release.FileWriter(file)(&text)
		f.Add(text.Bytes())
	}
	f.Add([]byte(`{"decoy_classifier": 1}`))
	f.Add([]byte(`{"decoy_published": 1, "publishable": true, "ledger": [{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		release.Verify(file, nil)
		c, ok := file.(*Classifier)
		if !ok {
			return
		}
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
