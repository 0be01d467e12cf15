package mst

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// opened is a plan and a fresh session on the suite's table.
func opened(t *testing.T) (*plan, *privacy.Session) {
	t.Helper()
	f, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	p, s := synthtest.Open(t, f, synthtest.Table(t, synthtest.Schema(4), 500), accountant.Budget{Epsilon: 1, Delta: 1e-6})
	return p.(*plan), s
}

// TestContinues stops a fit after each of its releases and continues it: no release is bought twice, those that were kept are used, and one
// that was lost is done without.
func TestContinues(t *testing.T) {
	p, s := opened(t)
	const releases = 4 + 3 + 3
	var states [][]byte
	save := func(state []byte) error { states = append(states, slices.Clone(state)); return nil }
	if _, err := p.FitFrom(context.Background(), s, nil, save, nil); err != nil {
		t.Fatal(err)
	}
	if len(states) != releases || synthtest.Charges(s) != releases {
		t.Fatalf("%d states and %d charges, want %d", len(states), synthtest.Charges(s), releases)
	}
	for k, state := range states {
		p, s := opened(t)
		if _, err := p.FitFrom(context.Background(), s, state, nil, nil); err != nil {
			t.Fatalf("after %d releases: %v", k+1, err)
		}
		if got := synthtest.Charges(s); got != releases-k-1 {
			t.Errorf("after %d releases: %d more, want %d", k+1, got, releases-k-1)
		}
	}
	dead := errors.New("killed")
	for k := range releases {
		p, s := opened(t)
		var kept []byte
		n := 0
		_, err := p.FitFrom(context.Background(), s, nil, func(state []byte) error {
			if n++; n > k {
				return dead // the release is paid, its result is lost
			}
			kept = slices.Clone(state)
			return nil
		}, nil)
		if err != dead {
			t.Fatalf("the error of save is lost: %v", err)
		}
		m, err := p.FitFrom(context.Background(), s, kept, nil, nil)
		if err != nil {
			t.Fatalf("release %d lost: %v", k+1, err)
		}
		if got := synthtest.Charges(s); got > releases {
			t.Errorf("release %d lost: %d charges in all, the plan has %d", k+1, got, releases)
		}
		if m.Params == nil {
			t.Errorf("release %d lost: no model", k+1)
		}
	}
	if _, err := p.FitFrom(context.Background(), s, []byte("{"), nil, nil); !errors.Is(err, synth.ErrCheckpoint) {
		t.Errorf("a damaged state: %v", err)
	}
}
