package vote

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
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
		a, b := Aggregator{
			CheckSigma: tt.sigma1,
			Sigma:      tt.sigma2,
			Threshold:  -1e5,
		}, Ballot{
			Questions: tt.queries,
			Classes:   10,
		}
		s := open(t, testTable(t, testSchema("", 0), someRows(50), nil), Plan(a, b, tt.answers))
		sh, _ := toys(t, s, 5, 10)
		stattest.Must(sh.Vote(a, b, 0))
		charged := s.Ledger().Runs()[0].Charged
		if calls(charged) != tt.queries+tt.answers {
			t.Errorf("%s: charged %v", tt.name, charged)
		}
		rho := accountant.Rho(charged)
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
	plan := Plan(Aggregator{Laplace: 1 / lambda}, Ballot{Questions: queries, Classes: 10}, 0)
	got := stattest.Must(pld.Epsilon(plan, delta, accountant.AddRemove))
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
	mixed, err := pld.Epsilon(append(plan, Plan(Aggregator{Sigma: 50},
		Ballot{Questions: 50, Classes: 3}, 0)...), delta, accountant.AddRemove)
	if err != nil || mixed.Epsilon <= got.Epsilon {
		t.Errorf("mixed noise: %+v, %v", mixed, err)
	}
}
