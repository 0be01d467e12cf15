package synth_test

import (
	"context"
	"flag"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/eval/attack"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/synth"
)

var long = flag.Bool("long", false, "run the audit on the worst case: a minute")

// TestAudit_WorstCase is the audit that gave 2.2 to 4.7 for six public implementations at ε = 1
// (arXiv 2406.13985): D is four rows 000, D′ has the row 111 more; 400 fits on each. What is looked
// at is more than they had: every release of the gate, and how often the generator draws 111. The
// lower bound on ε at 95 % must not exceed 1. With noise for μ = 10 in place of what is charged, μ
// = .27, the same audit must refute the claim.
//
//	go test ./synth -run TestAudit_WorstCase -args -long
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
		tab := stattest.Must(table.FromColumns(s, cols, nil))
		return tab
	}
	pair := &attack.Pair{Name: "four rows 000, and 111", Out: rows(0), In: rows(1),
		Strong: rows(20), Strength: 20, Target: []uint16{1, 1, 1}, Corner: []uint16{0, 0, 0}}
	claimed := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	for name, c := range map[string]synth.PATEGAN{"default": {}, "votes alone": {MarginalShare: 1e-4},
		"lnmax": {MarginalShare: 1e-4, Aggregator: "lnmax"}} {
		c.Rounds, c.Questions, c.DistilSteps, c.GeneratorSteps, c.ShardRows = 4, 16, 20, 5, 1
		made := stattest.Must(synth.NewPlan(stattest.Must(synth.Checked(&c)), schema.One(s),
			privacy.NeighboursOf(s, 0), claimed))
		claim := stattest.Must(attack.ClaimOf(claimed, accountant.AddRemove, made.Reserve))
		for _, lies := range []bool{false, true} {
			r := stattest.Must(attack.ManyRun(context.Background(), attack.Mechanism{Name: "pategan",
				Claim: claim, Run: synth.AuditedPATEGAN(made, lies)}, pair, attack.Options{Runs: 400}))
			t.Logf("%s: epsilon at least %.3f, mu at least %.3f, AUROC %.3f, refuted %v", name,
				r.Epsilon, r.Mu, r.AUROC, r.Refuted)
			if r.Refuted != lies || !lies && r.Epsilon > claimed.Epsilon {
				t.Errorf("%s: epsilon at least %v, refuted %v, want %v: %+v", name, r.Epsilon,
					r.Refuted, lies, r.Broken)
			}
		}
	}
}
