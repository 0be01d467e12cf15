package attack

import (
	"context"
	"flag"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/stats"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

var long = flag.Bool("long", false, "run the long form of some tests")

// TestHalvedNoiseIsCaught audits mechanisms against the claim that was planned for them, which must
// stand, and against the claim of the same mechanism with twice the noise, as a build that adds
// half the noise it accounts for would make, which must fall. An honest mechanism is accused with
// probability 1e-6 at most. The broken one is audited at 95 %, with so many runs that the bound
// exceeds the claim by 5 to 8 of its standard deviations (over 40 audits of each; for
// collect by 6 and 11, from the formulas): it is missed with a probability below 1e-6.
func TestHalvedNoiseIsCaught(t *testing.T) {
	type audited func(*schema.Schema, accountant.Adjacency, accountant.Budget) (Mechanism, *Pair,
		error)
	gate := func(name, shape string) audited {
		return func(s *schema.Schema, adj accountant.Adjacency, b accountant.Budget) (Mechanism, *Pair,
			error) {
			return Gate(name, s, adj, b, shape)
		}
	}
	tree := func(s *schema.Schema, adj accountant.Adjacency, b accountant.Budget) (Mechanism, *Pair,
		error) {
		return Method(mstOf(t), s, adj, b, balanced, 0)
	}
	twice, fourTimes := gaussianWith(2), gaussianWith(4)
	wide := accountant.Budget{Epsilon: 8, Delta: 1e-9}
	pure := func(epsilon float64) accountant.Budget { return accountant.Budget{Epsilon: epsilon} }
	add, replace := accountant.AddRemove, accountant.ReplaceOne
	for _, tt := range []struct {
		name    string
		make    audited
		columns int
		adj     accountant.Adjacency
		budget  accountant.Budget
		claimed func(m Mechanism) (Claim, error) // of twice the noise
		runs    int
	}{
		{"total", gate("total", balanced), 1, add, wide, twice, 2000},
		{"counts", gate("counts", balanced), 1, add, wide, twice, 2000},
		{"counts, replace-one", gate("counts", balanced), 1, replace, wide, twice, 2000},
		{"answer", gate("answer", balanced), 1, add, pure(1), halfEpsilon, 2000},
		{"select", gate("select", balanced), 1, add, pure(2), halfEpsilon, 4500},
		{"select, replace-one", gate("select", balanced), 1, replace, pure(2), halfEpsilon, 4500},
		{"certified-sum", gate("certified-sum", balanced), 1, add, wide, twice, 2000},
		{"certified-sum, replace-one", gate("certified-sum", balanced), 1, replace, wide, twice,
			2000},
		{"logistic", gate("logistic", balanced), 2, add, wide, twice, 2000},
		{"minimum", gate("minimum", balanced), 2, add, wide, fourTimes, 2000},
		{"collect, one cell", respondent, 1, replace, pure(2), halfEpsilon, 2000},
		{"collect, sets of cells", respondent, 5, replace, pure(1), halfEpsilon, 3000},
		{"vote", gate("vote", rare), 1, add, wide, twice, 1400},
		{"mst", tree, 1, add, wide, twice, 2000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if heavy := tt.name == "vote" || tt.name == "mst"; heavy && !*long {
				t.Skip("-long: fits models")
			}
			m, p, err := tt.make(synthtest.Schema(tt.columns), tt.adj, tt.budget)
			stattest.Check(t, err)
			honest, err := ManyRun(context.Background(), m, p,
				Options{Runs: 200, Confidence: 1 - 1e-6})
			if err != nil || honest.Refuted {
				t.Errorf("an honest mechanism is accused: %+v, %v", honest, err)
			}
			if m.Claim, err = tt.claimed(m); err != nil {
				t.Fatal(err)
			}
			broken, err := ManyRun(context.Background(), m, p, Options{Runs: tt.runs})
			if err != nil || !broken.Refuted {
				t.Errorf("halved noise is not noticed: %+v, claim %+v, %v", broken, m.Claim, err)
			}
		})
	}
}

// respondent is an answer to a form.
func respondent(s *schema.Schema, _ accountant.Adjacency, b accountant.Budget) (Mechanism, *Pair,
	error) {
	form, err := stats.NewForm(s, b.Epsilon)
	if err != nil {
		return Mechanism{}, nil, err
	}
	return Respondent(s, b.Epsilon, func(ctx context.Context, tab *table.Table) ([]int, int, error) {
		a, _, err := form.Answer(ctx, privacy.FromTable(tab), stats.Run[stats.Answer]{})
		if err != nil {
			return nil, 0, err
		}
		cells, _, _ := a.Odds()
		return a.Named, cells, nil
	})
}

// gaussianWith is the claim of a Gaussian mechanism with so many times the noise.
func gaussianWith(times float64) func(m Mechanism) (Claim, error) {
	return func(m Mechanism) (Claim, error) {
		b := m.Claim.Budget
		mu, err := accountant.MuFor(b)
		if err != nil {
			return Claim{}, err
		}
		b.Epsilon = accountant.GDPEpsilon(mu/times, b.Delta)
		return ClaimOf(b, accountant.AddRemove,
			accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: times / mu}, Count: 1}})
	}
}

// halfEpsilon is the claim of a pure mechanism with twice the noise.
func halfEpsilon(m Mechanism) (Claim, error) {
	return Claim{Budget: accountant.Budget{Epsilon: m.Claim.Budget.Epsilon / 2}}, nil
}

// TestUnits: with an id column the tables differ by a unit of several rows, which the gate's noise
// must cover: a claim made for single rows falls.
func TestUnits(t *testing.T) {
	s := synthtest.Schema(1)
	s.Unit, s.MaxRowsPerUnit = "id", 4
	m, p, err := Gate("counts", s, accountant.AddRemove, accountant.Budget{Epsilon: 2, Delta: 1e-6},
		balanced)
	stattest.Check(t, err)
	r, err := ManyRun(context.Background(), m, p, Options{Runs: 1000, Confidence: 1 - 1e-6})
	if err != nil || r.Refuted || r.AUROC < .55 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestGateErrors(t *testing.T) {
	for _, tt := range []struct {
		name, shape string
		b           accountant.Budget
	}{{"votes", balanced, accountant.Budget{Epsilon: 1, Delta: 1e-6}},
		{"counts", balanced, accountant.Budget{}}, {"counts", balanced, accountant.Budget{Epsilon: 1}},
		{"counts", "round", accountant.Budget{Epsilon: 1, Delta: 1e-6}}} {
		if _, _, err := Gate(tt.name, synthtest.Schema(1), accountant.AddRemove, tt.b,
			tt.shape); err == nil {
			t.Errorf("%+v is accepted", tt)
		}
	}
}
