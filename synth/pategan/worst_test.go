package pategan

import (
	"context"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/attack"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/vote"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
	"github.com/decoy-dp/decoy/table"
)

var long = flag.Bool("long", false, "run the audit on the worst case: a minute")

// TestAudit_WorstCase is the audit that gave 2.2 to 4.7 for six public implementations at ε = 1
// (arXiv 2406.13985): D is four rows 000, D′ has the row 111 more; 400 fits on each. What is looked
// at is more than they had: every release of the gate, and how often the generator draws 111. The
// lower bound on ε at 95 % must not exceed 1. With noise for μ = 10 in place of what is charged, μ
// = .27, the same audit must refute the claim.
//
//	go test ./synth/pategan -run TestAudit_WorstCase -args -long
func TestAudit_WorstCase(t *testing.T) {
	if !*long {
		t.Skip("skipped: runs with -args -long")
	}
	s := &schema.Schema{}
	for _, name := range []string{"a", "b", "c"} {
		s.Columns = append(s.Columns, schema.Column{Name: name, Kind: schema.Categorical,
			Categories: []string{"0", "1"}})
	}
	rows := func(ones int) *table.Table {
		cols := make([]table.Codes, 3)
		for k := range cols {
			cols[k].U8 = make([]uint8, 4+ones)
			for i := range ones {
				cols[k].U8[4+i] = 1
			}
		}
		tab, err := table.FromColumns(s, cols, nil)
		if err != nil {
			t.Fatal(err)
		}
		return tab
	}
	pair := &attack.Pair{Name: "four rows 000, and 111", Out: rows(0), In: rows(1),
		Strong: rows(20), Strength: 20, Target: []uint16{1, 1, 1}, Corner: []uint16{0, 0, 0}}
	claimed := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	for name, c := range map[string]Config{"default": {}, "votes alone": {MarginalShare: 1e-4},
		"lnmax": {MarginalShare: 1e-4, Aggregator: lnmax}} {
		c.Rounds, c.Questions, c.DistilSteps, c.GeneratorSteps, c.ShardRows = 4, 16, 20, 5, 1
		made := synthtest.Must(synth.NewPlan(synthtest.Must(New(c)), s, privacy.NeighboursOf(s, 0),
			claimed))
		honest := made.Plan.(*plan)
		lying := *honest.at(10)
		if c.Aggregator == lnmax {
			lying.votes = vote.Aggregator{Laplace: honest.votes.Laplace / 50}
		}
		enough := accountant.Composition{{Event: accountant.GDPFilter{Mu: 100}, Count: 1},
			{Event: accountant.Laplace{Epsilon: 1e3}, Count: 64}}
		for _, tt := range []struct {
			plan    *plan
			refuted bool
		}{{honest, false}, {&lying, true}} {
			claim, err := attack.ClaimOf(claimed, accountant.AddRemove, made.Reserve)
			if err != nil {
				t.Fatal(err)
			}
			run := func(ctx context.Context, tab *table.Table) ([]float64, error) {
				session, err := privacy.Open(ctx, privacy.FromTable(tab), privacy.Options{
					Budget: accountant.Budget{Epsilon: 1e6, Delta: 1e-5},
					Plan:   enough, Method: Name,
				})
				if err != nil {
					return nil, err
				}
				var got answers
				tr := &training{plan: tt.plan, u: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
				from := got.recorded(tt.plan.source(ctx, session, nil))
				if _, err := tr.run(ctx, from, nil); err != nil {
					return nil, err
				}
				return seen(&got, tr), nil
			}
			r, err := attack.ManyRun(context.Background(), attack.Mechanism{Name: Name,
				Claim: claim, Run: run}, pair, attack.Options{Runs: 400})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: epsilon at least %.3f, mu at least %.3f, AUROC %.3f, refuted %v", name,
				r.Epsilon, r.Mu, r.AUROC, r.Refuted)
			if r.Refuted != tt.refuted || !tt.refuted && r.Epsilon > claimed.Epsilon {
				t.Errorf("%s: epsilon at least %v, refuted %v, want %v: %+v", name, r.Epsilon,
					r.Refuted, tt.refuted, r.Broken)
			}
		}
	}
}

// seen is what an auditor sees of a fit: the rows and the ones that the marginal model has, votes
// on rows by their number of ones, and draws of 111.
func seen(got *answers, tr *training) []float64 {
	out := []float64{0, 0, 0, 0, 0, 0}
	out[0] = got.marginals.Params.Total()
	for _, m := range got.marginals.Params.(*release.Marginal).Measured {
		out[1] += m.Counts[len(m.Counts)-1]
	}
	for i, votes := range got.votes {
		for q := range votes.Answered {
			ones, n := 0, float64(votes.Counts[2*q+1])
			for k := range 3 {
				ones += int(got.shown[i].asked.row(q)[k]) & 1
			}
			if ones == 3 {
				out[2] += n
			} else {
				out[3] += n
			}
			out[4] += n
		}
	}
	codes := tr.generator.Sample(1000, tr.u)
	for i := range codes[0] {
		if codes[0][i]+codes[1][i]+codes[2][i] == 3 {
			out[5]++
		}
	}
	return out
}
