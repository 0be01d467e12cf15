package synth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// visits is a file of n rows that nobody has described, and how a run buys its schema.
func visits(t *testing.T, n int, b accountant.Budget) (*text.Table, Purchase) {
	t.Helper()
	var csv bytes.Buffer
	csv.WriteString("age,sex,died\n")
	for i := range n {
		fmt.Fprintf(&csv, "%d,%c,%d\n", 20+i*37%60, "fm"[i%2], i/7%2)
	}
	path := filepath.Join(t.TempDir(), "in.csv")
	stattest.Check(t, os.WriteFile(path, csv.Bytes(), 0o600))
	table := stattest.Must(text.File(path, text.Options{Names: []string{"age", "sex", "died"},
		CSV: schema.CSV{Comma: ','}}))
	plan := stattest.Must(infer.PlanInference(3, table.Neighbours(accountant.AddRemove), b))
	plan.Share = 1. / 3
	buy := func(s *text.Session, progress func(float64)) (Bought, error) {
		o := infer.Inference{CSV: schema.CSV{Comma: ','}}
		return plan.Buy(context.Background(), s, o, progress)
	}
	return table, Purchase{Plan: plan.Composition(), Buy: buy}
}

func continuers(t *testing.T) []Continuer {
	a := stattest.Must(Checked(&AIM{Target: "died"}))
	m := stattest.Must(Checked(&MST{}))
	return []Continuer{a, m}
}

// TestRunBought: one run and one reservation within the budget, of which nearly all is charged, and
// a model of the bought schema that verifies, whose measured columns are nearly those of the table.
func TestRunBought(t *testing.T) {
	b := accountant.Budget{Epsilon: 2, Delta: 1e-9}
	for _, f := range continuers(t) {
		table, buy := visits(t, 3000, b)
		delivered := ""
		buy.Deliver = func() error {
			delivered += "schema "
			return nil
		}
		m, s, err := RunBought(context.Background(), table, buy, f, RunOptions{
			Options: privacy.Options{Budget: b}, Deliver: func(*release.Model) error {
				delivered += "model"
				return nil
			}})
		if err != nil || delivered != "schema model" {
			t.Fatalf("%s: %v, delivered %q", f.Name(), err, delivered)
		}
		if runs := s.Ledger().Runs(); len(runs) != 1 || runs[0].Status != ledger.StatusDone {
			t.Errorf("%s: runs %v", f.Name(), runs)
		}
		v, err := m.Verify(pld.Epsilon)
		if err != nil || v.Reserved.Epsilon > 2 || v.Charged.Epsilon < 1.8 {
			t.Errorf("%s: %+v: %v", f.Name(), v, err)
		}
		if m.Rows < 2800 || m.Rows > 3200 {
			t.Errorf("%s: %v rows, want 3000", f.Name(), m.Rows)
		}
	}
}

// TestRunBoughtNothing: a budget that no column stands out of is spent, and the run is over.
func TestRunBoughtNothing(t *testing.T) {
	b := accountant.Budget{Epsilon: .01, Delta: 1e-9}
	for _, f := range continuers(t) {
		table, buy := visits(t, 50, b)
		buy.Deliver = func() error { t.Error("nothing is delivered"); return nil }
		m, s, err := RunBought(context.Background(), table, buy, f,
			RunOptions{Options: privacy.Options{Budget: b}})
		if !errors.Is(err, release.ErrNothing) || m != nil || s == nil {
			t.Fatalf("%s: %v, %v", f.Name(), m, err)
		}
		if runs := s.Ledger().Runs(); len(runs) != 1 || runs[0].Status != ledger.StatusDone {
			t.Errorf("%s: runs %v", f.Name(), runs)
		}
	}
}

// TestRunBoughtRefuses: what needs a schema is refused before anything is reserved.
func TestRunBoughtRefuses(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	for name, c := range map[string]AIM{
		"target": {Target: "income"}, "sets": {Sets: []string{"age*sex"}},
	} {
		f := checked(&c)
		table, buy := visits(t, 50, b)
		_, s, err := RunBought(context.Background(), table, buy, f,
			RunOptions{Options: privacy.Options{Budget: b}})
		if !errors.Is(err, ErrConfig) || s != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestContinue: a target that could not be bought is passed over.
func TestContinue(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{{Name: "a", Kind: schema.Boolean}}}
	for _, f := range continuers(t) {
		_, err := f.Plan(Terms{Schema: s, Neighbours: privacy.NeighboursOf(s, 0),
			Left: accountant.Account{Mu2: .25}})
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
		}
	}
}

// TestKnown: what is known of a column is joined with what is measured, and changes neither.
func TestKnown(t *testing.T) {
	measured := []marginal.Measurement{{Cols: []int{0}, Counts: []float64{1, 2}, Sigma: 1},
		{Cols: []int{1}, Counts: []float64{5, 5}, Sigma: 1}}
	known := []marginal.Measurement{{Cols: []int{1}, Counts: []float64{20},
		Groups: [][]uint16{{0, 0}}, Sigma: 1}}
	got := joined(measured, known)
	if got[0].Counts[0] != 1 || got[1].Counts[0] <= 5 || got[1].Sigma >= 1 ||
		measured[1].Counts[0] != 5 {
		t.Errorf("%+v", got)
	}
}
