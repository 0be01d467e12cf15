package aim

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
)

// tape holds what a fit was told, in order. All else that a fit does follows from it, so a later process plays back what an earlier one has paid
// for, estimates as it did, and goes on from there.
type tape struct {
	Entries []told `json:"entries"`
	played  int
	resumed bool                     // a release may have been lost
	lost    float64                  // μ² of releases that were lost
	save    func(state []byte) error // nil records nothing
}

// told is one entry: a marginal, a choice, μ² that an earlier process took from the pool without leaving a result, or the end of the time.
type told struct {
	Counts []int64 `json:"counts,omitempty"`
	Sigma  float64 `json:"sigma,omitempty"` // of Counts
	Chosen int     `json:"chosen,omitempty"`
	Offers int     `json:"offers,omitempty"` // of Chosen
	Lost   float64 `json:"lost,omitempty"`
	Late   bool    `json:"late,omitempty"`
}

// FitFrom is Fit on what an earlier process was told already.
func (p *plan) FitFrom(ctx context.Context, s *privacy.Session, state []byte, save func([]byte) error, progress synth.Progress) (synth.Model, error) {
	t := &tape{save: save, resumed: state != nil || s.PoolLeft() < p.mu*p.mu*(1-1e-9)}
	if state != nil {
		if err := json.Unmarshal(state, t); err != nil {
			return synth.Model{}, fmt.Errorf("aim: the state is damaged: %w", synth.ErrCheckpoint)
		}
	}
	return p.fit(ctx, s, t, progress)
}

// settle takes account of results that an earlier process paid for and lost, before the fit decides what to spend.
func (f *fit) settle() error {
	t := f.tape
	if t.played == len(t.Entries) && t.resumed {
		t.resumed = false
		// What the ledger has charged beyond what is on the tape.
		if lost := f.mu*f.mu - f.session.PoolLeft() - f.used - t.lost; lost > 1e-6*f.total {
			t.Entries = append(t.Entries, told{Lost: lost})
		}
	}
	for t.played < len(t.Entries) && t.Entries[t.played].Lost != 0 {
		lost := t.Entries[t.played].Lost
		if !(lost > 0 && lost <= f.total) {
			return f.mismatch()
		}
		t.played++
		t.lost += lost
		f.total -= lost
	}
	return nil
}

// next is the next entry: played back, or bought by fresh and saved.
func (f *fit) next(fresh func() (told, error)) (told, error) {
	t := f.tape
	if t.played < len(t.Entries) {
		t.played++
		return t.Entries[t.played-1], nil
	}
	e, err := fresh()
	if err != nil {
		return told{}, err
	}
	t.Entries = append(t.Entries, e)
	t.played++
	if t.save == nil {
		return e, nil
	}
	state, err := json.Marshal(t)
	if err != nil {
		return told{}, err
	}
	return e, t.save(state)
}

func (f *fit) mismatch() error {
	return fmt.Errorf("aim: the state is of another fit or processor: %w", synth.ErrCheckpoint)
}

// counts is a noisy marginal, played back or measured.
func (f *fit) counts(ask func() (privacy.Noisy, error), m privacy.Marginal, sigma float64) (privacy.Noisy, error) {
	e, err := f.next(func() (told, error) {
		n, err := ask()
		return told{Counts: n.Counts, Sigma: n.Sigma}, err
	})
	if err != nil {
		return privacy.Noisy{}, err
	}
	cells := 1
	for _, n := range (release.Measured{Cols: m.Cols, Groups: m.Groups}).Sizes(f.sizes) {
		cells *= n
	}
	if len(e.Counts) != cells || !(math.Abs(e.Sigma-sigma) <= 1e-6*sigma) {
		return privacy.Noisy{}, f.mismatch()
	}
	return privacy.Noisy{Marginal: m, Counts: e.Counts, Sigma: e.Sigma}, nil
}

// choice is a choice among n offers, played back or made.
func (f *fit) choice(n int, ask func() (int, error)) (int, error) {
	e, err := f.next(func() (told, error) {
		k, err := ask()
		return told{Chosen: k, Offers: n}, err
	})
	if err != nil {
		return 0, err
	}
	if e.Offers != n || e.Chosen < 0 || e.Chosen >= n {
		return 0, f.mismatch()
	}
	return e.Chosen, nil
}

// late says whether the time is up; an earlier process may have found so.
func (f *fit) late(now func() bool) (bool, error) {
	t := f.tape
	if t.played < len(t.Entries) { // to be played back: the clock of the earlier process decides
		if !t.Entries[t.played].Late {
			return false, nil
		}
		t.played++
		return true, nil
	}
	if !now() {
		return false, nil
	}
	_, err := f.next(func() (told, error) { return told{Late: true}, nil })
	return true, err
}
