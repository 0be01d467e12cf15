package release

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// TestLayers: what is said of trust, account and public knowledge is true of each kind of model.
func TestLayers(t *testing.T) {
	local := must(Collect(t.Context(), Collected{Schema: testSchema(), Claim: LocalClaim(2),
		Answers: 70, Tool: "t", Measured: []marginal.Measurement{
			{Cols: []int{0}, Counts: []float64{50, 10, 10}, Sigma: 3}}}))
	a := partyModel(t, "r1", []float64{500, 300, 200}, nil)
	b := partyModel(t, "r2", []float64{200, 300, 500}, nil)
	joint := must(Join([]*Model{a, b}, joinedNames(a, b)))
	f := testFitted(t, func(e []ledger.Entry) {
		e[1].SchemaSHA256, e[1].Budget.Epsilon = "", 2
		e[1].Composition = append(e[1].Composition,
			accountant.Charge{Event: accountant.Approx{Epsilon: .01, Delta: 1e-12}, Count: 1})
	})
	f.Schema.Lenient = true
	bought := must(New(f))
	const oneLedger = "The cost was reserved in a ledger"
	for _, c := range []struct {
		name    string
		m       *Model
		said    []string
		notSaid []string
	}{
		{"central", a, []string{"Central: one", oneLedger, "The schema: names, kinds, bounds"},
			[]string{"bought"}},
		{"local", local, []string{"Local: the program of each respondent", "no ledger",
			"randomised response, by each respondent to one question, at ε = 2; 70 answers"},
			[]string{"Central", oneLedger, "calls made"}},
		{"joint", joint, []string{"Central at each party", "Each party's cost was reserved"},
			[]string{"Central: one", oneLedger}},
		{"bought", bought, []string{"The names of the columns", "bought with noise"},
			[]string{"The schema:"}},
	} {
		text := fmt.Sprint(c.m.Layers())
		for _, x := range c.said {
			if !strings.Contains(text, x) {
				t.Errorf("%s: no %q in %s", c.name, x, text)
			}
		}
		for _, x := range c.notSaid {
			if strings.Contains(text, x) {
				t.Errorf("%s: %q in %s", c.name, x, text)
			}
		}
	}
}
