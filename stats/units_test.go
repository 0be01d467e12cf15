package stats

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// visits has 3000 units with one row, 1000 with three, 500 with ten.
func visits(t testing.TB, unit string, k int) *privacy.Rows {
	t.Helper()
	s := &schema.Schema{Unit: unit, MaxRowsPerUnit: k, Columns: []schema.Column{{Name: "died",
		Kind: schema.Boolean}}}
	var units []uint32
	for id := range uint32(4500) {
		rows := 1
		switch {
		case id >= 4000:
			rows = 10
		case id >= 3000:
			rows = 3
		}
		for range rows {
			units = append(units, id)
		}
	}
	col := table.NewCodes(2, len(units))
	if unit == "" {
		units = nil
	}
	tab := stattest.Must(table.FromColumns(s, []table.Codes{col}, units))
	return privacy.FromTable(tab)
}

// TestUnitSizes: at ε = 1 the noise is 6 units; each figure is compared within six standard
// deviations of what it sums. Rows that are left out are those of ranges that stand out, as an
// empty one does in one run of 250: the median of five is wrong with probability 6e-7.
func TestUnitSizes(t *testing.T) {
	file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	o := Run[*UnitSizes]{Options: privacy.Options{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9},
		Ledger: file}}
	r, s, err := Units(context.Background(), visits(t, "patient", 3), o)
	check(t, err)
	if fmt.Sprint(r.UpTo) != "[1 2 3 4 8 16 32 64 128 256 512 1024]" || len(r.Counts) != 13 ||
		r.Sigma < 4 || r.Sigma > 8 {
		t.Fatalf("%+v", r)
	}
	leftOut := []float64{r.LeftOut}
	for range 4 {
		again, _, err := Units(context.Background(), visits(t, "patient", 3), o)
		check(t, err)
		leftOut = append(leftOut, again.LeftOut)
	}
	slices.Sort(leftOut)
	for name, c := range map[string]struct{ got, want, sums float64 }{
		"one row":   {float64(r.Counts[0]), 3000, 1},
		"two":       {float64(r.Counts[1]), 0, 1},
		"three":     {float64(r.Counts[2]), 1000, 1},
		"9 to 16":   {float64(r.Counts[5]), 500, 1},
		"whole":     {r.Whole, 4000, 3},
		"bounded":   {r.Bounded, 500, 10},
		"left out ": {leftOut[2] / 6, 500, 1}, // at least nine rows each, of which three are used
	} {
		if math.Abs(c.got-c.want) > 6*r.Sigma*math.Sqrt(c.sums) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	l, err := file.Read()
	if err != nil || l.Spent().Epsilon != 5 || l.Runs()[0].Status != ledger.StatusDone ||
		l.Runs()[0].Method != "schema units" {
		t.Errorf("the ledger says %+v, %v", l.Runs(), err)
	}
	cost, err := pld.Epsilon(s.Ledger().Runs()[0].Charged, 1e-9, accountant.AddRemove)
	if err != nil || cost.Epsilon > 1 || cost.Epsilon < .99 {
		t.Errorf("charged %v, %v", cost, err)
	}
}

// TestUnitsDoNotCostMore: the noise is the same whatever the bound is.
func TestUnitsDoNotCostMore(t *testing.T) {
	o := Run[*UnitSizes]{Options: privacy.Options{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}}}
	a, _, err := Units(context.Background(), visits(t, "patient", 1), o)
	check(t, err)
	b, _, err := Units(context.Background(), visits(t, "patient", 100), o)
	if err != nil || a.Sigma != b.Sigma {
		t.Errorf("noise %v and %v, %v", a.Sigma, b.Sigma, err)
	}
	if b.Bounded > 12*b.Sigma { // of five ranges: 5.4 standard deviations
		t.Errorf("with a bound of 100: %v units bounded", b.Bounded)
	}
}

func TestUnitsRefuses(t *testing.T) {
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	nb := privacy.Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 3}
	check(t, ledger.SetLimit(context.Background(), file, nb.Units("patient"),
		ledger.Limit{Budget: accountant.Budget{Epsilon: .5, Delta: 1e-6}}))
	for _, tt := range []struct {
		unit   string
		budget accountant.Budget
		ledger *ledger.File
		want   error
	}{
		{"", budget, nil, schema.ErrInvalid},
		{"patient", accountant.Budget{Epsilon: 1}, nil, accountant.ErrBudgetRange},
		{"patient", accountant.Budget{Epsilon: -1, Delta: 1e-9}, nil, accountant.ErrBudgetRange},
		{"patient", budget, file, accountant.ErrBudget},
	} {
		rows := 3
		if tt.unit == "" {
			rows = 0
		}
		o := Run[*UnitSizes]{Options: privacy.Options{Budget: tt.budget, Ledger: tt.ledger}}
		_, s, err := Units(context.Background(), visits(t, tt.unit, rows), o)
		if !errors.Is(err, tt.want) || s != nil {
			t.Errorf("unit %q, budget %v: %v", tt.unit, tt.budget, err)
		}
	}
}
