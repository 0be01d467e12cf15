package infer

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// TestMeasurements: in one session and reservation a schema is bought with a third of the filter,
// and what is left pays for the one-way counts by it. The counts that bought the schema agree with
// these: every group within 6 standard deviations of the noise of both, and of the few rows that
// were moved to a bound. Null: all noise is normal; 300 groups, of which one fails by chance with
// probability below 1e-6.
func TestMeasurements(t *testing.T) {
	r := agree(t, hospital(t, 20000, true), hospitalNames, 6)
	ms, err := r.Measurements()
	if err != nil || len(ms) < len(r.Schema().Columns) {
		t.Errorf("%d measurements of %d columns: %v", len(ms), len(r.Schema().Columns), err)
	}
}

// agree buys a schema and compares its counts with others.
func agree(t *testing.T, path string, names []string, epsilon float64) *Inferred {
	t.Helper()
	tab := stattest.Must(text.File(path, text.Options{Names: names}))
	nb := tab.Neighbours(0)
	b := accountant.Budget{Epsilon: epsilon, Delta: 1e-9}
	plan := stattest.Must(PlanInference(len(names), nb, b))
	plan.Share = 1. / 3
	file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	texts, err := text.Open(context.Background(), tab, privacy.Options{Budget: b,
		Plan: plan.Composition(), Adjacency: nb.Adjacency, Ledger: file})
	check(t, err)
	r, err := plan.Buy(context.Background(), texts, Inference{}, func(float64) {})
	check(t, err)
	bought := r.Schema()
	s, err := texts.As(t.Context(), schema.One(bought))
	check(t, err)
	left := s.Left().Mu2 / (plan.Mu * plan.Mu)
	if left < .63 || // a twentieth less if rules were chosen
		left > .8 {
		t.Errorf("%.2f of the filter is left", left)
	}
	ms, err := r.Measurements()
	check(t, err)
	sigma := math.Sqrt(float64(len(ms))/s.Left().Mu2) * 1.0001
	sizes := bought.Sizes()
	for _, m := range ms {
		name := bought.Columns[m.Cols[0]].Name
		counted := stattest.Must(s.Measure(privacy.Marginal{Cols: m.Cols, Groups: m.Groups}, sigma))
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
	if len(ms) < len(sizes) {
		return r
	}
	stattest.Passes(t, stattest.Err(marginal.Fit(context.Background(), sizes, ms, marginal.Options{})),
		"a model cannot be fitted to them")
	check(t, s.Finish(nil, nil))
	stattest.Passes(t, s.Ledger().Verify(nil), "")
	return r
}
