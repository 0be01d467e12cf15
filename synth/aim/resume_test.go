package aim

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// opened is a plan and a fresh session on the suite's table.
func opened(t *testing.T, c Config) (*plan, *privacy.Session) {
	t.Helper()
	p, s := synthtest.Open(t, fitter(t, c), synthtest.Table(t, synthtest.Schema(4), 500), one)
	return p.(*plan), s
}

// TestContinues stops a fit after each of its releases, with the release kept and with the release lost, and continues it on the same session: no
// release is bought twice, what was kept is used, and the pool is not overdrawn.
func TestContinues(t *testing.T) {
	for name, c := range map[string]Config{"rounds": {}, "target and clock": {Target: "column 3", TimeLimit: time.Nanosecond}} {
		dead := errors.New("killed")
	releases:
		for k := 0; ; k++ {
			for _, lose := range []bool{false, true} {
				p, s := opened(t, c)
				var kept []byte
				n := 0
				_, err := p.FitFrom(context.Background(), s, nil, func(state []byte) error {
					n++
					if n <= k || !lose && n == k+1 {
						kept = slices.Clone(state)
					}
					if n > k {
						return dead
					}
					return nil
				}, nil)
				if err == nil {
					break releases // k is beyond the last one
				}
				if err != dead {
					t.Fatalf("%s: the error of save is lost: %v", name, err)
				}
				before := synthtest.Charges(s)
				var last []byte
				m, err := p.FitFrom(context.Background(), s, kept, func(state []byte) error { last = slices.Clone(state); return nil }, nil)
				if err != nil {
					t.Fatalf("%s: release %d, lost %v: %v", name, k+1, lose, err)
				}
				if synthtest.Charges(s) == before && k == 0 || s.PoolLeft() < 0 {
					t.Errorf("%s: release %d, lost %v: %d charges before, %d after, left %v", name, k+1, lose, before, synthtest.Charges(s), s.PoolLeft())
				}
				if last == nil {
					continue // nothing was left to buy
				}
				// The whole tape again: the same model, bought from nobody.
				bought := synthtest.Charges(s)
				again, err := p.FitFrom(context.Background(), s, last, nil, nil)
				if err != nil || synthtest.Charges(s) != bought {
					t.Fatalf("%s: release %d, lost %v: playing all back: %v, %d charges", name, k+1, lose, err, synthtest.Charges(s)-bought)
				}
				a, _ := m.Params.(*release.Marginal).MarshalBinary()
				b, _ := again.Params.(*release.Marginal).MarshalBinary()
				if !slices.Equal(a, b) {
					t.Errorf("%s: release %d, lost %v: playing back gives another model", name, k+1, lose)
				}
			}
		}
	}
}

func TestStateIsChecked(t *testing.T) {
	for name, state := range map[string]string{
		"damaged":               "{",
		"counts of other cells": `{"entries": [{"counts": [1, 2], "sigma": 3}]}`,
		"another noise":         `{"entries": [{"counts": [1, 2, 3, 4, 5, 6, 7, 8], "sigma": 3}]}`,
		"negative loss":         `{"entries": [{"lost": -1}]}`,
		"a choice for counts":   `{"entries": [{"chosen": 1, "offers": 2}]}`,
	} {
		p, s := opened(t, Config{})
		if _, err := p.FitFrom(context.Background(), s, []byte(state), nil, nil); !errors.Is(err, synth.ErrCheckpoint) {
			t.Errorf("%s: %v", name, err)
		}
		if synthtest.Charges(s) != 0 {
			t.Errorf("%s: %d charges", name, synthtest.Charges(s))
		}
	}
}
