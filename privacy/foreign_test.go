package privacy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// TestRowsAreThoseThatWereChecked: what a pricer, which is foreign code, writes to the rows it can
// reach comes too late: each unit counts for one row, whatever table stands there afterwards. Noise
// of σ = 10 reaches 400 of 1,000 rows with a probability below 1e-300.
func TestRowsAreThoseThatWereChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	cells := "id,x\n1,true\n" + strings.Repeat("2,true\n", 1000)
	stattest.Check(t, os.WriteFile(path, []byte(cells), 0o600))
	rowsOf := func(unit string) *privacy.Rows {
		s := stattest.Must(schema.Parse([]byte("decoy: 1\n" + unit + "lenient: true\n" +
			"columns: [{name: x, kind: boolean}]\n")))
		return privacy.File(path, s)
	}
	rows, other := rowsOf("unit: id\nmax_rows_per_unit: 1\n"), rowsOf("")
	o := privacy.Options{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9},
		Plan: accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: 10}, Count: 1}}}
	pricer := func(swap func()) accountant.Pricer {
		return func(
			c accountant.Composition, delta float64, a accountant.Adjacency,
		) (accountant.Bound, error) {
			swap()
			return c.Epsilon(delta, a)
		}
	}
	o.Price = pricer(func() { *rows = *other })
	s := stattest.Must(privacy.Open(t.Context(), rows, o))
	if n, err := s.Measure(privacy.Total{}, 10); err != nil || n[0] > 600 {
		t.Errorf("about %v rows of two units: %v", n, err)
	}

	texts := func(unit string, k int) *text.Table {
		table := stattest.Must(text.File(path, text.Options{Names: []string{"id", "x"}, Unit: unit,
			MaxRowsPerUnit: k}))
		return table
	}
	table, all := texts("id", 1), texts("", 0)
	o.Price = pricer(func() { *table = *all })
	ts := stattest.Must(text.Open(t.Context(), table, o))
	if len(ts.Names()) != 1 {
		t.Errorf("the columns are %q, as of the other table", ts.Names())
	}
}
