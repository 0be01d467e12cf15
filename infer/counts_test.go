package infer

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/text"
)

// TestMeasurements: in one session and reservation a schema is bought with a third of the filter,
// and what is left pays for the one-way counts by it. The counts that bought the schema agree with
// these: every group within 6 standard deviations of the noise of both, and of the few rows that
// were moved to a bound. Null: all noise is normal; 300 groups, of which one fails by chance with
// probability below 1e-6.
func TestMeasurements(t *testing.T) {
	tab, err := text.File(hospital(t, 20000, true), text.Options{Names: hospitalNames})
	if err != nil {
		t.Fatal(err)
	}
	nb := tab.Neighbours(0)
	b := accountant.Budget{Epsilon: 6, Delta: 1e-9}
	plan, err := NewPlan(len(hospitalNames), nb, b)
	if err != nil {
		t.Fatal(err)
	}
	plan.Share = 1. / 3
	file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	texts, err := text.Open(context.Background(), tab, privacy.Options{Budget: b,
		Plan: plan.Composition(), Adjacency: nb.Adjacency, Ledger: file})
	if err != nil {
		t.Fatal(err)
	}
	r, err := plan.Buy(context.Background(), tab, texts, Options{Options: privacy.Options{Budget: b}})
	if err != nil {
		t.Fatal(err)
	}
	bought := r.Schema()
	s, err := texts.As(bought)
	if err != nil {
		t.Fatal(err)
	}
	left := s.FilterLeft() / (plan.Mu * plan.Mu)
	if left < .66 || left > .75 {
		t.Errorf("%.2f of the filter is left", left)
	}
	sigma := math.Sqrt(float64(len(bought.Columns))/s.FilterLeft()) * 1.0001
	ms, err := r.Measurements()
	if err != nil || len(ms) != len(bought.Columns) {
		t.Fatalf("%d measurements of %d columns: %v", len(ms), len(bought.Columns), err)
	}
	sizes := bought.Sizes()
	for i, m := range ms {
		name := bought.Columns[i].Name
		counted, err := s.Measure(privacy.Marginal{Cols: m.Cols, Groups: m.Groups}, sigma)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Counts) != len(counted) || len(m.Sigmas) != len(counted) || len(counted) < 2 {
			t.Fatalf("%s: %d counts, %d groups", name, len(m.Counts), len(counted))
		}
		for g, n := range counted {
			if d := math.Abs(m.Counts[g] - float64(n)); d > 6*math.Hypot(m.Sigmas[g], sigma)+60 {
				t.Errorf("%s: group %d: bought %.0f ± %.0f, measured %d ± %.0f", name, g, m.Counts[g],
					m.Sigmas[g], n, sigma)
			}
		}
	}
	if _, err := marginal.Fit(context.Background(), sizes, ms, marginal.Options{}); err != nil {
		t.Errorf("a model cannot be fitted to them: %v", err)
	}
	if err := s.Close(ledger.StatusDone); err != nil {
		t.Fatal(err)
	}
	if err := s.Ledger().Verify(nil); err != nil {
		t.Error(err)
	}
}
