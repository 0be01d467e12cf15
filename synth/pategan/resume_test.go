package pategan

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// generator of a fitted model.
func generator(t testing.TB, m synth.Model) []float32 {
	t.Helper()
	g, ok := m.Params.(*release.Generator)
	if !ok {
		t.Fatalf("parameters of type %T", m.Params)
	}
	return g.Net.Parameters()
}

// TestResumeRepeats: a fit that hears its checkpoint's answers again ends where it ended.
func TestResumeRepeats(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 300)
	p, s := opened(t, small, tab, budget)
	var states [][]byte
	first, err := p.FitFrom(context.Background(), s, nil, func(b []byte) error { states = append(states, slices.Clone(b)); return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + 4 + 3 + 2*2 + small.Rounds; len(states) != want { // rows, columns, pairs with the target, two choices and pairs, votes
		t.Errorf("%d states, want %d", len(states), want)
	}
	again, err := p.FitFrom(context.Background(), s, states[len(states)-1], func([]byte) error { t.Error("a repeated fit saves"); return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(generator(t, first), generator(t, again)) {
		t.Error("the repeated fit ends elsewhere")
	}
}

// TestLostRelease: whichever release dies between its charge and its checkpoint, the fit goes on without it and charges nothing twice. The session that goes
// on is that of the same process, so its teachers do too; a new process splits anew, which TestResumeSplitsAnew shows.
func TestLostRelease(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 300)
	stop := errors.New("killed")
	for n := range 1 + 4 + 3 + 2*2 + small.Rounds {
		p, s := opened(t, small, tab, budget)
		var state []byte
		written := 0
		_, err := p.FitFrom(context.Background(), s, nil, func(b []byte) error {
			if written++; written > n {
				return stop
			}
			state = slices.Clone(b)
			return nil
		}, nil)
		if !errors.Is(err, stop) {
			t.Fatalf("write %d: %v", n, err)
		}
		if n > 11 { // a partition is already there in this process: go on as a new process would
			continue
		}
		m, err := p.FitFrom(context.Background(), s, state, func([]byte) error { return nil }, nil)
		if err != nil {
			t.Errorf("release %d lost: %v", n, err)
			continue
		}
		if m.Params == nil || s.Ledger().Verify() != nil {
			t.Errorf("release %d lost: no model, or the ledger does not verify", n)
		}
	}
}

// TestStateRefuses: what is not a state of this plan is refused.
func TestStateRefuses(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 100)
	p, s := opened(t, small, tab, budget)
	var state []byte
	keep := func(b []byte) error { state = slices.Clone(b); return nil }
	if _, err := p.FitFrom(context.Background(), s, nil, keep, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := p.FitFrom(context.Background(), s, state[:len(state)/2], keep, nil); !errors.Is(err, synth.ErrCheckpoint) {
		t.Errorf("half a state: %v", err)
	}
	for name, change := range map[string]func(a []answer){
		"another order":      func(a []answer) { a[0], a[1] = a[1], a[0] },
		"counts too short":   func(a []answer) { a[2].Counts = a[2].Counts[:1] },
		"pair too short":     func(a []answer) { a[6].Counts = a[6].Counts[:1] },
		"choice of no pair":  func(a []answer) { a[8].Index = 1000 },
		"fewer votes":        func(a []answer) { a[len(a)-1].Counts = a[len(a)-1].Counts[:3] },
		"rows that are none": func(a []answer) { a[len(a)-1].Asked[2] = 9999 },
	} {
		j, err := newJournal(&gate{p: p, s: s}, state)
		if err != nil {
			t.Fatal(err)
		}
		change(j.Answers)
		if _, err := p.fit(context.Background(), j, nil); !errors.Is(err, synth.ErrCheckpoint) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestResumeSplitsAnew kills a fit after its second vote, as a process is killed, and continues it in another session: the plan's questions are
// charged once each, over both partitions, and one vote is lost at most.
func TestResumeSplitsAnew(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 300)
	p, s := opened(t, small, tab, budget)
	var state []byte
	votes := 0
	stop := errors.New("killed")
	_, err := p.FitFrom(context.Background(), s, nil, func(b []byte) error {
		j, err := newJournal(nil, b)
		if err != nil {
			return err
		}
		if j.Answers[len(j.Answers)-1].Kind == voteAnswer {
			if votes++; votes == 3 {
				return stop
			}
		}
		state = slices.Clone(b)
		return nil
	}, nil)
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	// A second session stands for the continued one: of its own reservation it leaves what the first has not used.
	_, second := opened(t, small, tab, budget)
	g := &gate{p: p, s: second}
	j, err := newJournal(g, state)
	if err != nil {
		t.Fatal(err)
	}
	rounds := 1 // left in the first session's reservation, whose third was charged and lost
	j.left = func(answerKind) bool { rounds--; return rounds >= 0 }
	if _, err := p.fit(context.Background(), j, nil); err != nil {
		t.Fatal(err)
	}
	charged := 0
	event, _ := p.nb.VoteEvents(p.aggregator(), 2)
	for _, session := range []*privacy.Session{s, second} {
		for _, c := range session.Ledger().Runs()[0].Charged {
			if c.Event == event {
				charged += c.Count
			}
		}
	}
	if want := small.Rounds * small.Questions; charged != want || g.shards == nil {
		t.Errorf("%d questions charged, want %d", charged, want)
	}
}
