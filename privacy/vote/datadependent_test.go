package vote

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/ledger"
)

// TestReferenceCosts: votes of the shapes of published runs, by the call that training makes, leave
// charges in the ledger that cost what their papers' data-independent closed form says, ρ +
// 2√(ρ·ln(1/δ)), to 1e-3; the exact composition costs less. So many questions pass the check that
// the plan decides how many are answered.
func TestReferenceCosts(t *testing.T) {
	for _, tt := range []struct {
		name           string
		queries        int
		answers        int
		sigma1, sigma2 float64
		delta, want    float64
	}{
		{"MNIST", 640, 286, 150, 40, 1e-5, 3.174}, {"SVHN", 8500, 3098, 200, 40, 1e-6, 12.667},
		{"Adult", 1500, 524, 200, 40, 1e-5, 4.339}, {"Glyph", 12000, 10762, 500, 100, 1e-8, 10.104},
	} {
		a, b := ConfidentGNMax{
			CheckSigma: tt.sigma1,
			Sigma:      tt.sigma2,
			Threshold:  -1e5,
		}, Ballot{
			Questions: tt.queries,
			Classes:   10,
		}
		s := open(t, testTable(t, testSchema("", 0), someRows(50), nil), Plan(a, b, tt.answers))
		sh, _ := toys(t, s, 5, 10)
		if _, err := sh.Vote(a, b, 0); err != nil {
			t.Fatal(err)
		}
		charged := s.Ledger().Runs()[0].Charged
		if calls(charged) != tt.queries+tt.answers {
			t.Errorf("%s: charged %v", tt.name, charged)
		}
		rho, err := charged.Rho()
		if err != nil {
			t.Fatal(err)
		}
		if got := rho + 2*math.Sqrt(rho*math.Log(1/tt.delta)); math.Abs(got-tt.want) > 1e-3 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		exact, err := pld.Epsilon(charged, tt.delta, accountant.AddRemove)
		if err != nil || exact.Method != "gdp" || exact.Epsilon >= tt.want || exact.Epsilon < .8*tt.want {
			t.Errorf("%s: exact cost %+v, %v; the closed form says %v", tt.name, exact, err, tt.want)
		}
	}
}

// TestAudit_MomentsOfLaplaceVotes: k queries of LNMax compose to no more than basic composition and
// the moments bound with the factor 2λ²l(l+1), and to no less than half of it. With exp(2λl+1) for
// exp(2λ(l+1)) as the moment of a query, l ≤ 100, they would come out at over one and a half times
// basic composition.
func TestAudit_MomentsOfLaplaceVotes(t *testing.T) {
	const queries, lambda, delta = 100, .01, 1e-5
	plan := Plan(LNMax{Scale: 1 / lambda}, Ballot{Questions: queries, Classes: 10}, 0)
	got, err := pld.Epsilon(plan, delta, accountant.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	moments := math.Inf(1)
	for l := 1.0; l <= 400; l++ {
		moments = min(moments, (queries*2*lambda*lambda*l*(l+1)-math.Log(delta))/l)
	}
	if got.Epsilon > moments || got.Epsilon > 2*lambda*queries || got.Epsilon < .5*moments {
		t.Errorf("100 queries at 2λ = .02 cost %+v; moments %v, basic 2", got, moments)
	}
	wrong := math.Inf(1)
	for l := 1.0; l <= 100; l++ {
		wrong = min(wrong, (queries*(2*lambda*l+1)-math.Log(delta))/l)
	}
	if wrong < 1.5*2*lambda*queries || got.Epsilon > .6*wrong {
		t.Errorf("with the wrong exponent %v, exact %v", wrong, got.Epsilon)
	}
	mixed, err := pld.Epsilon(append(plan, Plan(GNMax{Sigma: 50},
		Ballot{Questions: 50, Classes: 3}, 0)...), delta, accountant.AddRemove)
	if err != nil || mixed.Method != "pld" || mixed.Epsilon <= got.Epsilon {
		t.Errorf("mixed noise: %+v, %v", mixed, err)
	}
}

// TestAudit_DataDependentCostStaysInside: no method of the gate returns it, it cannot be had while
// training goes on, and what is written says that it is not private.
func TestAudit_DataDependentCostStaysInside(t *testing.T) {
	a, b := GNMax{Sigma: 4}, Ballot{Questions: 50, Classes: 3}
	s := open(t, testTable(t, testSchema("", 0), someRows(90), nil), Plan(a, b, 0))
	sh, _ := toys(t, s, 60, 3)
	path := filepath.Join(t.TempDir(), "cost.private.json")
	if _, err := sh.Vote(a, b, 0); err != nil {
		t.Fatal(err)
	}
	if err := sh.SaveDataDependent(path, 1e-5); !errors.Is(err, ErrNotPrivate) {
		t.Errorf("from an open session: %v", err)
	}
	if err := s.Close(ledger.StatusDone); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"a model's name": sh.SaveDataDependent(filepath.Join(filepath.Dir(path), "cost.json"), 1e-5),
		"delta 0":        sh.SaveDataDependent(path, 0),
		"delta NaN":      sh.SaveDataDependent(path, math.NaN()),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := sh.SaveDataDependent(path, 1e-5); err != nil {
		t.Fatal(err)
	}
	if err := sh.SaveDataDependent(path, 1e-5); err == nil {
		t.Error("an existing file was overwritten")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		NotPrivate bool    `json:"not_private"`
		Epsilon    float64 `json:"data_dependent_epsilon"`
		Answers    int
	}
	if err := json.Unmarshal(text, &got); err != nil || !got.NotPrivate || got.Answers != 50 ||
		!(got.Epsilon > 0) {
		t.Errorf("%s: %v", text, err)
	}
	// By type: nothing that a caller can reach holds a number beside the tally, and the ledger has the
	// data-independent events only.
	typ := reflect.TypeFor[*Shards[int]]()
	var methods []string
	for i := range typ.NumMethod() {
		methods = append(methods, typ.Method(i).Name)
	}
	if want := []string{"Count", "Format", "MarshalText", "SaveDataDependent", "Train",
		"Vote"}; !slices.Equal(methods, want) {
		t.Errorf("methods of shards %v, want %v", methods, want)
	}
	for _, e := range s.Ledger().Entries {
		if strings.Contains(e.Label, "dependent") {
			t.Errorf("the ledger has %+v", e)
		}
	}
}

// TestDataDependentCost: agreeing teachers cost less than the data-independent bound, divided ones
// as much.
func TestDataDependentCost(t *testing.T) {
	g := aggregator{sigma: 40}
	var agree, divided, two, laplace, checks diagnostic
	for range 100 {
		agree.add([]int64{0, 250, 0}, g)
		divided.add([]int64{84, 83, 83}, g)
		two.add([]int64{125, 125}, g)
		laplace.add([]int64{3, 4}, aggregator{laplace: 20})
	}
	checks.addChecks(100, 40)
	// ρ = 100/1600 of the votes with three classes, half of it with two and for checks: the conversion
	// at the best order is near ρ + 2√(ρ ln(1/δ)).
	if a, d := agree.epsilon(1e-5), divided.epsilon(1e-5); a > .6*d || d < 1.4 || d > 1.76 {
		t.Errorf("agreeing teachers cost %v, divided ones %v", a, d)
	}
	if a, b := two.epsilon(1e-5), checks.epsilon(1e-5); math.Abs(a-b) > 1e-9 || a < 1 || a > 1.24 {
		t.Errorf("two classes cost %v, checks %v", a, b)
	}
	if e := laplace.epsilon(1e-5); !(e > 1 && e < 5) {
		t.Errorf("Laplace votes cost %v", e)
	}
}
