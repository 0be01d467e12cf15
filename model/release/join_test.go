package release

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/workload"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// partyModel is a model of a run with that name, of noiseless one-way marginals.
func partyModel(t *testing.T, run string, counts []float64, change func(*Fitted)) *Model {
	t.Helper()
	f := testFitted(t, func(e []ledger.Entry) {
		for i := range e {
			if e[i].Run != "" {
				e[i].Run = run
			}
		}
	})
	p := f.Params.(*Marginal)
	p.Measured = []marginal.Measurement{
		{Cols: []int{0}, Counts: counts, Sigma: 9},
		{Cols: []int{1}, Counts: make([]float64, f.Schema.Sizes()[1]), Sigma: 9},
	}
	for i := range p.Measured[1].Counts {
		p.Measured[1].Counts[i] = 1000 / 11. // of 10 bins and missing cells
	}
	p.Model = must(marginal.Fit(context.Background(), p.Model.Sizes(), nil,
		marginal.Options{Total: 1000}))
	if change != nil {
		change(&f)
	}
	payFor(t, &f)
	return must(New(f))
}

func joinedNames(models ...*Model) JoinOptions {
	o := JoinOptions{People: Disjoint, Tool: "t 1"}
	for i := range models {
		o.Names = append(o.Names, string(rune('a'+i)))
	}
	return o
}

// TestJointClaim: parallel composition is the largest, basic composition the sum in decimals, and
// what does not go together is refused.
func TestJointClaim(t *testing.T) {
	claim := func(epsilon, delta float64) partner {
		return partner{Name: "x", Manifest: Manifest{Claim: Claim{Epsilon: epsilon, Delta: delta,
			Adjacency: accountant.AddRemove}}}
	}
	parties := []partner{claim(.1, 1e-6), claim(.2, 1e-9), claim(.3, 1e-7)}
	got, err := jointClaim(Disjoint, parties)
	if err != nil || got.Epsilon != .3 || got.Delta != 1e-6 {
		t.Errorf("disjoint: %+v, %v", got, err)
	}
	got, err = jointClaim(MayOverlap, parties)
	if err != nil || got.Epsilon != .6 || got.Delta != 1.101e-6 {
		t.Errorf("may overlap: %+v, %v", got, err)
	}
	stattest.Wraps(t, stattest.Err(jointClaim("", parties)), ErrJoin, "no word on the people")
	for name, change := range map[string]func(*Claim){
		"relation": func(c *Claim) { c.Adjacency = accountant.ReplaceOne },
		"unit":     func(c *Claim) { c.Unit, c.MaxRowsPerUnit = "id", 1 },
	} {
		other := claim(1, 0)
		change(&other.Claim)
		stattest.Wraps(t, stattest.Err(jointClaim(Disjoint, append(parties[:2:2], other))), ErrJoin,
			"another %s", name)
	}
}

// TestClaimOfPeople: the sentence says what a claim rests on.
func TestClaimOfPeople(t *testing.T) {
	for _, c := range []struct {
		claim Claim
		want  string
	}{
		{Claim{Epsilon: 1, Delta: 1e-9, Adjacency: accountant.AddRemove},
			"(ε = 1, δ = 1e-09)-differential privacy under adding or removing one row"},
		{Claim{Adjacency: accountant.ReplaceOne, Unit: "patient", MaxRowsPerUnit: 4},
			`replacing all rows of one "patient", of which at most 4 are used`},
		{Claim{Adjacency: accountant.AddRemove, People: Disjoint},
			"adding or removing one row, if nobody is at two parties"},
		{Claim{Adjacency: accountant.ReplaceOne, People: Disjoint},
			"replacing one row, by others of the same party, if nobody is at two parties"},
		{Claim{Adjacency: accountant.AddRemove, People: MayOverlap, Unit: "id", MaxRowsPerUnit: 2},
			`adding or removing all rows of one "id", of which at most 2 are used at each party`},
	} {
		if got := c.claim.String(); !strings.HasSuffix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestJoin: answers add up and so do the variances of their noise, the file comes back, and a file
// that claims less or holds another party does not verify.
func TestJoin(t *testing.T) {
	a := partyModel(t, "r1", []float64{600, 300, 100}, nil)
	b := partyModel(t, "r2", []float64{100, 300, 600}, nil)
	m := must(Join([]*Model{a, b}, joinedNames(a, b)))
	raw := encode(t, m)
	m = must(Read(strings.NewReader(string(raw)), int64(len(raw))))
	v, err := m.Verify(nil)
	if err != nil || len(v.Parties) != 2 || v.Claim.Epsilon != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if m.Rows != a.Rows+b.Rows {
		t.Errorf("%v rows of %v and %v", m.Rows, a.Rows, b.Rows)
	}
	w := must(workload.New(m.Schema(), []workload.Item{{Cols: []int{0}, Weight: 1}}))
	alone := [][]Answered{must(a.Answers(w)), must(b.Answers(w)), must(m.Answers(w))}
	for i, x := range alone[2] {
		if want := alone[0][i].Answer + alone[1][i].Answer; math.Abs(x.Answer-want) > .02 {
			t.Errorf("%s: %v, want %v", x.Cell, x.Answer, want)
		}
		if e := *x.StandardError; !(e > 1.3*9 && e < math.Sqrt2*9) {
			t.Errorf("%s: standard error %v of two of 9, which are known better together", x.Cell, e)
		}
	}
	u := rand.New(rand.NewPCG(1, 1))
	if rows := m.params.Sample(10, u); len(rows) != 2 || len(rows[0]) != 10 {
		t.Errorf("drew %v", rows)
	}
	check(t, m.Replicates(t.Context(), 1, 1, func(_ int, r *Model) error {
		if off := r.Rows - m.Rows; math.Abs(off) > 50 {
			t.Errorf("a replicate has %v rows more", off)
		}
		return nil
	}))
	for name, change := range map[string]func(*Model){
		"epsilon":      func(m *Model) { m.Claim.Epsilon /= 2 },
		"people":       func(m *Model) { m.Claim.People = "" },
		"a party less": func(m *Model) { m.Parties = m.Parties[:1] },
		"a party twice": func(m *Model) {
			m.Parties = []partner{m.Parties[0], m.Parties[0]}
		},
		"rows":          func(m *Model) { m.Parties[1].Rows++ },
		"schema":        func(m *Model) { m.Parties[1].SchemaYAML += " " },
		"party's claim": func(m *Model) { m.Parties[0].Claim.Epsilon = .5 },
		"ledger":        func(m *Model) { m.Ledger = m.Parties[0].Ledger },
		"method":        func(m *Model) { m.Method = "mst" },
		"colluding":     func(m *Model) { m.Parties[1].Claim.Among = Among{Parties: 3, Colluding: 1} },
	} {
		forged := must(Read(strings.NewReader(string(raw)), int64(len(raw))))
		change(forged)
		forged.Outputs, _ = ledger.HashOutputs(forged.Manifest, nil) // as a forger would
		stattest.Wraps(t, stattest.Err(forged.Verify(nil)), ErrClaim, "%s", name)
	}
}

func TestJoinRefuses(t *testing.T) {
	a := partyModel(t, "r1", []float64{600, 300, 100}, nil)
	b := partyModel(t, "r2", []float64{600, 300, 100}, nil)
	joint := must(Join([]*Model{a, b}, joinedNames(a, b)))
	lying := partyModel(t, "r4", []float64{1, 2, 3}, nil)
	lying.Claim.Epsilon /= 2
	for name, c := range map[string]struct {
		models []*Model
		want   error
	}{
		"one":   {[]*Model{a}, ErrJoin},
		"twice": {[]*Model{a, b, a}, ErrJoin},
		"joint": {[]*Model{a, joint}, ErrJoin},
		"claim": {[]*Model{a, lying}, ErrClaim},
	} {
		stattest.Wraps(t, stattest.Err(Join(c.models, joinedNames(c.models...))), c.want, "%s", name)
	}
}
