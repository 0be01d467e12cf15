package gradient

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/engine/sums"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// TestLostEngineIsAskedAgain: an engine that is lost in the third release ends the run, which goes
// on where it was: the first two answers come from the journal, the engine is asked for the others
// alone, and the run costs what it costs without.
func TestLostEngineIsAskedAgain(t *testing.T) {
	const releases, lost = 4, 2
	tab := someTable(t, 200)
	s := tab.Schema()
	e := stattest.Must(critic.NewEncoder(s))
	p := Plan{Rate: 1, NoiseMultiplier: 50}
	down := errors.New("the cluster is down")
	dir := t.TempDir()
	l := ledger.NewFile(dir + "/ledger")
	asked, fails := 0, true
	from := engine.Source{Begin: engine.AskSets([][]int{{0}}, s.Sizes()),
		Ask: func(q engine.Question) ([]int64, error) {
			if q.Kind == engine.Sets {
				counts := tab.Counts(0)
				return append([]int64{200}, counts...), nil
			}
			if asked++; fails && asked > lost {
				return nil, down
			}
			a, err := sums.New(s, q)
			if err != nil {
				return nil, err
			}
			a.Add(tab)
			return append([]int64{200}, a.Answer...), nil
		}}
	run := func(resume bool) (out [][]int64, err error) {
		s := stattest.Must(privacy.Open(context.Background(), privacy.FromEngine(s, from.Sealed()),
			privacy.Options{Budget: mechtest.Wide, Plan: accountant.Composition{calls(p, releases)},
				Ledger: l, Journal: dir + "/journal", Resume: resume}))
		for k := range releases {
			c, _ := critic.New(e, critic.Options{Hidden: []int{5}}, rand.New(rand.NewPCG(7, uint64(k))))
			var got Certified
			if got, err = CertifiedSum(s, p, c.Network()); err != nil {
				break
			}
			out = append(out, got.Released)
		}
		return out, s.Finish(err, nil)
	}
	first, err := run(false)
	if !errors.Is(err, down) || len(first) != lost {
		t.Fatalf("%d answers, %v", len(first), err)
	}
	asked, fails = 0, false
	again, err := run(true)
	if err != nil || len(again) != releases || asked != releases-lost {
		t.Fatalf("%d answers, %d of them asked for, %v", len(again), asked, err)
	}
	if !slices.EqualFunc(first, again[:lost], slices.Equal[[]int64]) {
		t.Error("answers that were given have changed")
	}
	file := stattest.Must(l.Read())
	runs := file.Runs()
	if len(runs) != 1 || runs[0].Status != ledger.StatusDone ||
		len(runs[0].Charged) != 1 || runs[0].Charged[0].Count != releases ||
		file.Spent().Epsilon != mechtest.Wide.Epsilon {
		t.Errorf("the ledger has %+v", runs)
	}
}
