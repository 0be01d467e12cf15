package synth

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"

	"github.com/decoy-dp/decoy/model/workload"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

const someWorkload = `
decoy_workload: 1
queries:
  - prefix: column 3
  - where: "` + "`column 0` = c0 and `column 1` != c1" + `"
  - marginal: [column 2, column 0]
`

func TestWorkloadSources(t *testing.T) {
	s, nb := synthtest.Schema(4), privacy.Neighbours{Adjacency: accountant.AddRemove,
		MaxRowsPerUnit: 1}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	path := filepath.Join(t.TempDir(), "w.yaml")
	stattest.Check(t, os.WriteFile(path, []byte(someWorkload), 0o600))
	for _, text := range []string{someWorkload, path} {
		f := checked(&MWEM{Workload: text})
		p := stattest.Must(NewPlan(f, schema.One(s), nb, b))
		q := p.Plan.(*mwemPlan)
		if q.graph || len(q.items) != 6 || q.rounds != 6 || q.counts || q.laplace {
			t.Errorf("graph %v, %d items, %d rounds, counts %v, laplace %v", q.graph, len(q.items),
				q.rounds, q.counts, q.laplace)
		}
	}
	for name, c := range map[string]MWEM{
		"unknown column": {Workload: "decoy_workload: 1\nqueries: [{prefix: age}]"},
		"histogram":      {Workload: someWorkload, MaxCells: 20},
		"nothing fits":   {MaxCells: 1},
	} {
		f := stattest.Must(Checked(&c))
		stattest.Wraps(t, stattest.Err(NewPlan(f, schema.One(s), nb, b)), ErrConfig, "%s", name)
	}
}

// TestNoiseOfCounts: noise is Gaussian, Laplace without delta, and marginals are then refused.
func TestNoiseOfCounts(t *testing.T) {
	s, nb := synthtest.Schema(4), privacy.Neighbours{Adjacency: accountant.ReplaceOne,
		MaxRowsPerUnit: 3}
	counts := "decoy_workload: 1\nqueries: [{prefix: column 3}, {prefix: column 2}]"
	for _, tt := range []struct {
		rounds  int
		b       accountant.Budget
		laplace bool
	}{
		{60, accountant.Budget{Epsilon: 1, Delta: 1e-9}, false},
		{60, accountant.Budget{Epsilon: 1}, true},
	} {
		f := checked(&MWEM{Workload: counts, Rounds: tt.rounds})
		p := stattest.Must(NewPlan(f, schema.One(s), nb, tt.b))
		if got := p.Plan.(*mwemPlan).laplace; got != tt.laplace {
			t.Errorf("%d rounds, delta %v: Laplace is %v", tt.rounds, tt.b.Delta, got)
		}
		cost, err := pld.Epsilon(p.Reserve, tt.b.Delta, nb.Adjacency)
		if err != nil || cost.Epsilon > 1 || cost.Epsilon < .95 {
			t.Errorf("%d rounds: costs %v, %v", tt.rounds, cost.Epsilon, err)
		}
	}
	f := checked(&MWEM{})
	stattest.Wraps(t, stattest.Err(NewPlan(f, schema.One(s), nb, accountant.Budget{Epsilon: 1})),
		accountant.ErrBudgetRange, "marginals without delta")
}

// TestBothHalvesAreCharged: T selections and T measurements besides the number of rows, and all of
// them in the ledger after a fit.
func TestBothHalvesAreCharged(t *testing.T) {
	f := checked(&MWEM{Workload: "decoy_workload: 1\nqueries: [{prefix: column 3}]", Rounds: 7})
	tab := synthtest.Table(t, synthtest.Schema(4), 400)
	m := Fit(t, f, tab, accountant.Budget{Epsilon: 1, Delta: 1e-9})
	v, err := m.Verify(pld.Epsilon)
	if err != nil || v.Charges != 1+7+7 {
		t.Errorf("%d charges, %v", v.Charges, err)
	}
	if v.Charged.Epsilon < .85 { // numerical composition knows choices better
		t.Errorf("only %v is charged", v.Charged.Epsilon)
	}
}

// TestLearnsCounts: at a generous budget the counts of the workload come close.
func TestLearnsCounts(t *testing.T) {
	s := synthtest.Schema(5)
	tab := synthtest.Table(t, s, 20000)
	text := "decoy_workload: 1\nqueries: [{prefix: column 4}," +
		" {prefix: column 2}, {where: '`column 0` = c0 and " +
		"(`column 1` = c0 or `column 3` in (c1, c2))'}," +
		" {where: 'not (`column 1` = c1 and `column 4` = c2)', weight: 3}," +
		" {marginal: [column 3, column 1]}]"
	w := stattest.Must(workload.Parse([]byte(text), s))
	want := stattest.Must(w.OnTable(tab))
	m := Fit(t, checked(&MWEM{Workload: text}), tab, accountant.Budget{Epsilon: 5, Delta: 1e-9})
	p := m.Params().(*release.Marginal)
	got := stattest.Must(w.OnModel(p.Model, p.Grouping))
	sum, numbers := 0., 0.
	for i := range want {
		for k := range want[i] {
			sum += math.Abs(got[i][k]-want[i][k]) / 20000
			numbers++
		}
	}
	if sum/numbers > .004 {
		t.Errorf("the mean error is %v", sum/numbers)
	}
}

// TestSettingsSayWhatWasMeasured: columns and σ of every measurement, for standard errors.
func TestSettingsSayWhatWasMeasured(t *testing.T) {
	f := checked(&MWEM{Workload: someWorkload})
	m := Fit(t, f, synthtest.Table(t, synthtest.Schema(4), 400),
		accountant.Budget{Epsilon: 1, Delta: 1e-9})
	list, _ := m.Settings["measured"].([]any)
	if len(list) != 6 {
		t.Fatalf("%d measurements: %v", len(list), m.Settings)
	}
	if text := fmt.Sprint(list); !strings.Contains(text, "columns:[column 0 column 2]") ||
		!strings.Contains(text, "query:") {
		t.Errorf("measured %s", text)
	}
}
