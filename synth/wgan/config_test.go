package wgan

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/query"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

func TestPresets(t *testing.T) {
	for _, name := range []string{Small, Medium, Large} {
		c, err := presetOf(name)
		if err != nil || c.Preset != name || c.Steps == 0 || c.Hidden == nil {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		f, err := New(c)
		if err != nil || f.cfg.Steps != c.Steps || f.auto() {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		if f, err = New(Config{Preset: name, Steps: 5}); err != nil || f.cfg.Steps != 5 ||
			!slices.Equal(f.cfg.Hidden, c.Hidden) {
			t.Errorf("%s with 5 steps: %+v, %v", name, f, err)
		}
	}
	for _, name := range []string{"", Auto} {
		if f, err := New(Config{Preset: name}); err != nil || !f.auto() ||
			f.cfg.Preset != Auto {
			t.Errorf("%q: %+v, %v", name, f, err)
		}
	}
	if _, err := presetOf("huge"); !errors.Is(err, synth.ErrConfig) {
		t.Error(err)
	}
	for rows, want := range map[float64]string{-3: Small, 1: Small, 7999: Small, 8000: Medium,
		1e5: Medium, 1e6: Large} {
		if got := presetFor(rows); got != want {
			t.Errorf("%v rows: %s, want %s", rows, got, want)
		}
	}
}

// TestChosenPlanFitsTheFilter: whatever the number of rows turns out to be, the plan that it
// chooses is paid by the filter, which is nearly used up.
func TestChosenPlanFitsTheFilter(t *testing.T) {
	s := synthtest.Schema(6)
	for _, adjacency := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		for _, target := range []string{"", "column 3"} {
			f, err := New(Config{Target: target})
			if err != nil {
				t.Fatal(err)
			}
			planned, err := f.Plan(s, privacy.Neighbours{Adjacency: adjacency, MaxRowsPerUnit: 3},
				accountant.Budget{Epsilon: 2, Delta: 1e-6})
			if err != nil {
				t.Fatal(err)
			}
			for _, rows := range []float64{math.NaN(), -10, 3000, 3e4, 3e6} {
				r := accountant.NewReservation(planned.Composition())
				p := planned.(*plan).chosen(rows)
				take := func(e accountant.Event, n int) {
					for range n {
						if err := r.Take(accountant.Charge{Event: e, Count: 1}); err != nil {
							t.Fatalf("%v, target %q, %v rows: %v", adjacency, target, rows, err)
						}
					}
				}
				take(p.nb.MeasureEvent(query.Total{}, planned.(*plan).total), 1)
				before := r.FilterLeft()
				take(p.nb.MeasureEvent(privacy.Marginal{}, p.table), p.tables())
				take(p.sumEvent(), p.cfg.Steps)
				if left := r.FilterLeft() / before; left > 1e-6 {
					t.Errorf("%v, target %q, %v rows: %v of the filter is left", adjacency, target,
						rows, left)
				}
			}
		}
	}
}

func TestTargetIsChecked(t *testing.T) {
	s := synthtest.Schema(3)
	for len(s.Columns[1].Categories) <= maxTarget {
		s.Columns[1].Categories = append(s.Columns[1].Categories,
			"more"+string(rune('a'+len(s.Columns[1].Categories))))
	}
	for target, ok := range map[string]bool{"column 0": true, "column 1": false, "none": false} {
		f, err := New(Config{Target: target})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Plan(s, privacy.NeighboursOf(s, 0), accountant.Budget{Epsilon: 1,
			Delta: 1e-6}); errors.Is(err, synth.ErrConfig) == ok {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestTargetIsLearned: a small table at a moderate budget; what depends on the target still does.
func TestTargetIsLearned(t *testing.T) {
	s := synthtest.Schema(4)
	tab := synthtest.Table(t, s, 2000)
	f, err := New(Config{Target: "column 1", GeneratorSteps: 5, PostSteps: 100, Batch: 256})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := synth.Run(context.Background(), privacy.FromTable(tab), f,
		synth.RunOptions{Options: privacy.Options{Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6}}})
	if err != nil {
		t.Fatal(err)
	}
	if m.Settings["preset"] != Small {
		t.Errorf("preset %v", m.Settings["preset"])
	}
	syn := synthtest.Sample(t, m, 4000, 1)
	distance := 0.
	a, b := make([]int64, 6), make([]int64, 6)
	tab.CountTo(a, []int{0, 1})
	syn.CountTo(b, []int{0, 1})
	for i := range a {
		distance += math.Abs(float64(a[i])/2000-float64(b[i])/4000) / 2
	}
	if distance > .08 {
		t.Errorf("the joint table of a column and the target is %.3f off", distance)
	}
}
