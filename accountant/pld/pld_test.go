package pld

import (
	"errors"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// reference is a table of published and recomputed values for T steps of the subsampled Gaussian. A
// 0 is a cell without a value. within is the stated accuracy of the PLD columns, half a unit of the
// last digit unless the source gives more.
var reference = []struct {
	q, z       float64
	steps      int
	delta, rdp float64
	addRemove  float64
	replaceOne float64
	within     float64
}{
	{.01, .7, 120, 1e-5, 3.2392676, 2.4612381, 0, 5e-6},
	{.0025, 1.3, 6000, 1e-5, .7242234026, .640, 1.158, 5e-4},
	{.001, 1, 30000, 1e-7, 1.4154988495, 0, 0, 0},
	{.01, 1, 1000, 1e-5, 2.1014, 1.828, 2.843, 5e-4},
	{.01, 4, 10000, 1e-5, 1.0355, .947, 1.993, 5e-4},
	{.02, 1.5, 500, 1e-5, 1.5140, 1.370, 2.466, 5e-4},
	{.1, 2, 200, 1e-5, 3.6797, 3.360, 6.536, 5e-4},
	{.2, 10, 1000, 1e-5, 2.8361, 2.613, 5.754, 5e-4},
	{1, 5, 10, 1e-5, 2.8137, 2.5944, 0, 5e-5},
}

func TestReferencePLD(t *testing.T) {
	t.Parallel()
	for _, row := range reference {
		c := events(times(subsampled(row.q, row.z), row.steps))
		for _, column := range []struct {
			adj  accountant.Adjacency
			want float64
		}{{accountant.AddRemove, row.addRemove}, {accountant.ReplaceOne, row.replaceOne}} {
			if column.want == 0 {
				continue
			}
			got := mustEpsilon(t, c, row.delta, column.adj)
			if math.Abs(got.Epsilon-column.want) > row.within {
				t.Errorf("q %v σ %v T %d %v: ε = %v, want %v ± %v", row.q, row.z, row.steps, column.adj,
					got.Epsilon, column.want, row.within)
			}
			if got.Slack > .005*got.Epsilon {
				t.Errorf("q %v σ %v T %d %v: slack %v of %v", row.q, row.z, row.steps, column.adj, got.Slack,
					got.Epsilon)
			}
		}
	}
}

func TestReferenceDelta(t *testing.T) {
	for _, row := range []struct {
		name   string
		c      accountant.Composition
		want   float64
		within float64
	}{
		{"q=.2 σ=.5 T=3", events(times(subsampled(.2, .5), 3)), .15594, 1e-5},
		{"three Gaussians of √3", events(times(gaussian(math.Sqrt(3)), 3)), .126936, 1e-6},
	} {
		if got := mustDelta(t, row.c, 1,
			accountant.AddRemove); math.Abs(got.Delta-row.want) > row.within {
			t.Errorf("%s: δ = %v, want %v", row.name, got.Delta, row.want)
		}
	}
}

// Against another library, whose pessimistic and optimistic estimates enclose the truth to a
// relative 1e-9: of 100 responses of .1 its only one is 4.6e-10 above the exact sum. The proven
// interval must meet theirs.
func TestOracleCompositions(t *testing.T) {
	t.Parallel()
	for _, row := range readOracle(t).Compositions {
		got := mustEpsilon(t, composition(t, row.Composition), row.Delta, row.Adjacency)
		if got.Epsilon < row.Lower*(1-1e-9) || got.Epsilon-got.Slack > row.Upper {
			t.Errorf("%v %v δ %v: ε in [%v, %v], the oracle says [%v, %v]", row.Composition, row.Adjacency,
				row.Delta, got.Epsilon-got.Slack, got.Epsilon, row.Lower, row.Upper)
		}
		if got.Epsilon > row.Upper*(1+1e-4) {
			t.Errorf("%v %v δ %v: ε = %v, the oracle's upper bound is %v", row.Composition, row.Adjacency,
				row.Delta, got.Epsilon, row.Upper)
		}
		if got.Slack > .0075*got.Epsilon {
			t.Errorf("%v %v δ %v: slack %v of %v", row.Composition, row.Adjacency, row.Delta, got.Slack,
				got.Epsilon)
		}
	}
}

// A Gaussian sent through the grid must come back as its closed form, from above, within the slack,
// at every δ that a budget may ask for. An event that costs nothing keeps the closed form from
// being used.
func TestPLDOfGaussians(t *testing.T) {
	for _, z := range []float64{.2, 1, 7, 300} {
		for _, delta := range []float64{.1, 1e-3, 1e-5, 1e-9, 1e-12, 1e-15} {
			c := events(times(gaussian(z), 3), times(gaussian(2*z), 4))
			exact := mustEpsilon(t, c, delta, accountant.AddRemove)
			if exact.Method != accountant.MethodGDP || exact.Epsilon != accountant.GDPEpsilon(
				math.Sqrt(3/(z*z)+4/(4*z*z)), delta) {
				t.Fatalf("z %v δ %v: %+v is not the closed form", z, delta, exact)
			}
			got := mustEpsilon(t, append(c, times(approx(0, 0), 1)), delta, accountant.AddRemove)
			truth := exact.Epsilon * (1 - 1e-9)
			if got.Epsilon < truth || got.Epsilon-got.Slack > exact.Epsilon ||
				got.Epsilon > exact.Epsilon*(1+1e-4) {
				t.Errorf("z %v δ %v: %+v, want %v", z, delta, got, exact.Epsilon)
			}
			back := mustDelta(t, append(c, times(approx(0, 0), 1)), exact.Epsilon, accountant.AddRemove)
			if back.Delta < accountant.GDPDelta(math.Sqrt(4)/z, exact.Epsilon)*(1-1e-9) ||
				back.Delta > delta*(1+1e-3) {
				t.Errorf("z %v: δ(%v) = %+v, want %v", z, exact.Epsilon, back, delta)
			}
		}
	}
}

// Many separate steps, so that the FFT, its powers and its windows matter: a subsampled Gaussian at
// q near 1 is the whole one.
func TestPLDOfManySteps(t *testing.T) {
	for _, delta := range []float64{1e-5, 1e-9, 1e-12} {
		want := accountant.GDPEpsilon(math.Sqrt(50)/30, delta)
		got := mustEpsilon(t, events(times(subsampled(1-1e-12, 30), 50)), delta, accountant.AddRemove)
		if got.Epsilon < want*(1-1e-9) || got.Epsilon > want*(1+1e-4) || got.Epsilon-got.Slack > want {
			t.Errorf("subsampled, δ %v: %+v, want %v", delta, got, want)
		}
		want = accountant.GDPEpsilon(2*math.Sqrt(50)/30, delta)
		got = mustEpsilon(t, events(times(subsampled(1-1e-12, 30), 50)), delta, accountant.ReplaceOne)
		if got.Epsilon < want*(1-1e-9) || got.Epsilon > want*(1+1e-4) {
			t.Errorf("subsampled, replace-one, δ %v: %+v, want %v", delta, got, want)
		}
	}
}

// Randomised response composes to a binomial, which is summed here directly.
func TestPLDOfRandomisedResponse(t *testing.T) {
	binomial := func(epsilon float64, k int, at float64) float64 {
		p, sum := 1/(1+math.Exp(-epsilon)), 0.0
		for j := 0; j <= k; j++ {
			a, _ := math.Lgamma(float64(k + 1))
			b, _ := math.Lgamma(float64(j + 1))
			c, _ := math.Lgamma(float64(k - j + 1))
			loss := float64(2*j-k) * epsilon
			sum += math.Exp(a-b-c+float64(j)*math.Log(p)+float64(k-j)*math.Log(1-p)) * math.Max(0,
				-math.Expm1(at-loss))
		}
		return sum
	}
	for _, row := range []struct {
		epsilon float64
		k       int
	}{{.05, 400}, {.7, 12}, {3, 2}} {
		c := events(times(laplace(row.epsilon), row.k))
		for _, share := range []float64{.1, .3, .6} {
			at := share * row.epsilon * float64(row.k)
			want := binomial(row.epsilon, row.k, at)
			if want < 1e-20 {
				continue
			}
			got := mustDelta(t, c, at, accountant.AddRemove)
			if got.Delta < want*(1-1e-9) || got.Delta > want*1.01 {
				t.Errorf("ε %v k %d: δ(%v) = %v, want %v", row.epsilon, row.k, at, got.Delta, want)
			}
		}
	}
}

func TestPureComposition(t *testing.T) {
	c := events(times(laplace(.1), 3), times(exponential(.2), 2), times(approx(.5, 0), 1))
	for _, delta := range []float64{0, 1e-300} {
		if got := mustEpsilon(t, c, delta, accountant.AddRemove); !near(got.Epsilon, 1.2, 1e-12) ||
			got.Method != accountant.MethodBasic {
			t.Errorf("δ %v: %+v, want 1.2", delta, got)
		}
	}
	if got := mustEpsilon(t, c, 0, accountant.ReplaceOne); got.Slack != 0 {
		t.Errorf("slack of the exact sum: %v", got.Slack)
	}
	if got := mustDelta(t, c, 1.2000001, accountant.AddRemove); got.Delta != 0 ||
		got.Method != accountant.MethodBasic {
		t.Errorf("δ(1.2) = %+v", got)
	}
	if got := mustEpsilon(t, c, 1e-3, accountant.AddRemove); got.Epsilon >= 1.15 ||
		got.Method != methodPLD {
		t.Errorf("δ = 1e-3 should be worth something: %+v", got)
	}
	if got := mustEpsilon(t, nil, 0, accountant.AddRemove); got.Epsilon != 0 {
		t.Errorf("nothing costs %+v", got)
	}
}

func TestApproxLeaks(t *testing.T) {
	c := events(times(approx(.5, 1e-6), 3))
	if got := mustEpsilon(t, c, 3e-6, accountant.AddRemove); got.Epsilon != 1.5 ||
		got.Method != accountant.MethodBasic {
		t.Errorf("basic composition: %+v", got)
	}
	if _, err := Epsilon(c, 2.9e-6, accountant.AddRemove); !errors.Is(err, accountant.ErrUnbounded) {
		t.Errorf("δ smaller than the leak: %v", err)
	}
	got := mustDelta(t, c, 1.5, accountant.AddRemove)
	if want := 1 - math.Pow(1-1e-6, 3); !near(got.Delta, want, 1e-9) {
		t.Errorf("leak = %v, want %v", got.Delta, want)
	}
	// With noise: the leak comes on top of what the rest costs.
	noisy := events(times(gaussian(3), 1), times(approx(0, 1e-6), 2))
	exact := accountant.GDPEpsilon(1./3, 1e-5)
	bound := mustEpsilon(t, noisy, 1-(1-1e-5)*math.Pow(1-1e-6, 2), accountant.AddRemove)
	if bound.Epsilon < exact*(1-1e-9) || bound.Epsilon > exact*(1+1e-4) {
		t.Errorf("gaussian and leak: %+v, want %v", bound, exact)
	}
	if bound.Epsilon-bound.Slack > exact {
		t.Errorf("gaussian and leak: lower bound %v above %v", bound.Epsilon-bound.Slack, exact)
	}
}

// Without a grid the leak still counts.
func TestLeakBesideRDP(t *testing.T) {
	c := events(times(laplace(1e-9), 1<<40), times(approx(0, 1e-6), 1))
	if got := mustDelta(t, c, .1, accountant.AddRemove); got.Method != methodRDP || got.Delta < 1e-6 ||
		got.Delta > 1.001e-6 {
		t.Errorf("δ(.1) = %+v", got)
	}
	if _, err := Epsilon(c, .9e-6, accountant.AddRemove); !errors.Is(err, accountant.ErrUnbounded) {
		t.Error(err)
	}
}

// A sample of everyone is no sample: the closed form, with 2/z where a unit is replaced.
func TestRateOne(t *testing.T) {
	c := events(times(subsampled(1, 5), 9), times(gaussian(5), 1))
	for adj, mu := range map[accountant.Adjacency]float64{accountant.AddRemove: math.Sqrt(10) / 5,
		accountant.ReplaceOne: math.Sqrt(37) / 5} {
		if got := mustEpsilon(t, c, 1e-5, adj); got.Method != accountant.MethodGDP || !near(got.Epsilon,
			accountant.GDPEpsilon(mu, 1e-5), 1e-12) {
			t.Errorf("%v: %+v, want %v", adj, got, accountant.GDPEpsilon(mu, 1e-5))
		}
	}
}

// TestFullBatchesInAMixedPlan: beside events that have no closed formula, a sum over all units
// counts as a Gaussian, under replace-one as one of half the noise.
func TestFullBatchesInAMixedPlan(t *testing.T) {
	rest := events(times(subsampled(.1, 1), 20), times(gaussian(9), 1))
	for adj, z := range map[accountant.Adjacency]float64{
		accountant.AddRemove: 5, accountant.ReplaceOne: 2.5} {
		got := mustEpsilon(t, append(events(times(subsampled(1, 5), 9)), rest...), 1e-5, adj)
		want := mustEpsilon(t, append(events(times(gaussian(z), 9)), rest...), 1e-5, adj)
		if !near(got.Epsilon, want.Epsilon, 1e-9) {
			t.Errorf("%v: %v, want %v", adj, got.Epsilon, want.Epsilon)
		}
	}
}

// A table of one unit against none, with a fair share of the wrong directions: for add-remove both
// orders of the pair are needed.
func TestBothDirections(t *testing.T) {
	e := subsampled(.3, .8)
	only := func(added bool, epsilon float64) float64 {
		p, _ := newPlan(events(times(e, 4)), 1e-6, accountant.AddRemove)
		terms, _ := p.terms(1e-3, added)
		c, _, _ := compose(terms, 1e-3, 2)
		return c.deltaAt(epsilon)
	}
	larger := map[bool]bool{}
	for _, epsilon := range []float64{0, .05, .5, 1, 2, 5} {
		r, a := only(false, epsilon), only(true, epsilon)
		larger[false] = larger[false] || r > a*1.01
		larger[true] = larger[true] || a > r*1.01
		got := mustDelta(t, events(times(e, 4)), epsilon, accountant.AddRemove).Delta
		if got < math.Max(r, a)*(1-1e-3) {
			t.Errorf("δ(%v) = %v, below %v or %v", epsilon, got, r, a)
		}
	}
	if !larger[false] {
		t.Error("the remove direction never matters")
	}
}

// A single step against numerical integration of its own definition.
func TestSubsampledProfile(t *testing.T) {
	const q, z = .3, .8
	density := func(x, m float64) float64 {
		return math.Exp(-(x-m)*(x-m)/(2*z*z)) / (z * math.Sqrt(2*math.Pi))
	}
	mix := func(x, m float64) float64 { return (1-q)*density(x, 0) + q*density(x, m) }
	hockey := func(p, q func(float64) float64, epsilon float64) float64 {
		sum := 0.0
		for x := -12.0; x < 13; x += 1e-4 {
			sum += math.Max(0, p(x)-math.Exp(epsilon)*q(x)) * 1e-4
		}
		return sum
	}
	none := func(x float64) float64 { return density(x, 0) }
	plus, minus := func(x float64) float64 { return mix(x, 1) }, func(x float64) float64 {
		return mix(x, -1)
	}
	c := events(times(subsampled(q, z), 1))
	for _, epsilon := range []float64{0, .2, 1, 2.5} {
		want := math.Max(hockey(plus, none, epsilon), hockey(none, plus, epsilon))
		if got := mustDelta(t, c, epsilon, accountant.AddRemove).Delta; got < want-1e-9 ||
			!near(got, want, 1e-4) {
			t.Errorf("add-remove δ(%v) = %v, want %v", epsilon, got, want)
		}
		want = hockey(plus, minus, epsilon)
		if got := mustDelta(t, c, epsilon, accountant.ReplaceOne).Delta; got < want-1e-9 ||
			!near(got, want, 1e-4) {
			t.Errorf("replace-one δ(%v) = %v, want %v", epsilon, got, want)
		}
	}
}

// Half the noise, a missing step and a halved rate must be seen: each changes ε by more than the
// accountant's error.
func TestWrongParametersAreSeen(t *testing.T) {
	base := mustEpsilon(t, events(times(subsampled(.02, 1.5), 500)), 1e-5, accountant.AddRemove)
	for name, c := range map[string]accountant.Composition{
		"30% less noise": events(times(subsampled(.02, 1.05), 500)),
		"a step more":    events(times(subsampled(.02, 1.5), 510)),
		"a higher rate":  events(times(subsampled(.021, 1.5), 500)),
	} {
		if got := mustEpsilon(t, c, 1e-5, accountant.AddRemove); got.Epsilon-got.Slack <= base.Epsilon {
			t.Errorf("%s: ε = %v ± %v is not above %v", name, got.Epsilon, got.Slack, base.Epsilon)
		}
	}
}

// The cases in which a naive grid would take all memory: the bound stays valid and the bins
// bounded.
func TestGuards(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		c    accountant.Composition
	}{
		{"tiny ε", events(times(subsampled(1e-3, 50), 100_000))},
		{"tiny noise", events(times(subsampled(.5, .02), 3))},
		{"large pure events", events(times(exponential(1e4), 3), times(laplace(1e5), 2))},
		{"small pure events", events(times(exponential(1e-9), 1000), times(laplace(1e-9), 1000))},
		{"many steps", events(times(gaussian(1e6), 1<<40), times(laplace(1e-6), 1<<30))},
	} {
		got := mustEpsilon(t, row.c, 1e-9, accountant.AddRemove)
		rdp, _ := rdpEpsilon(row.c, 1e-9, accountant.AddRemove)
		sum := math.Inf(1)
		if closed, err := row.c.Epsilon(0, accountant.AddRemove); err == nil {
			sum = closed.Epsilon
		}
		if !(got.Epsilon >= 0) || got.Epsilon > math.Min(math.Max(0, rdp), sum) || got.Slack < 0 ||
			got.Slack > got.Epsilon {
			t.Errorf("%s: %+v, RDP %v, basic %v", row.name, got, rdp, sum)
		}
		t.Logf("%s: %+v", row.name, got)
	}
}

func TestEpsilonErrors(t *testing.T) {
	g := events(times(gaussian(1), 1))
	for _, row := range []struct {
		name  string
		c     accountant.Composition
		delta float64
		adj   accountant.Adjacency
		want  error
	}{
		{"gaussian at δ = 0", g, 0, accountant.AddRemove, accountant.ErrUnbounded},
		{"subsampled gaussian at δ = 0", events(times(subsampled(.1, 1), 1)), 0, accountant.AddRemove,
			accountant.ErrUnbounded},
		{"gaussian among pure events at δ = 0", events(times(laplace(1), 1), times(gaussian(1), 1)), 0,
			accountant.AddRemove, accountant.ErrUnbounded},
		{"negative δ", g, -1e-9, accountant.AddRemove, accountant.ErrBudgetRange},
		{"δ = 1", g, 1, accountant.AddRemove, accountant.ErrBudgetRange},
		{"δ is NaN", g, math.NaN(), accountant.AddRemove, accountant.ErrBudgetRange},
		{"no adjacency", g, 1e-9, 0, accountant.ErrEvent},
		{"no event", events(times(nil, 1)), 1e-9, accountant.AddRemove, accountant.ErrEvent},
		{"count 0", events(times(gaussian(1), 0)), 1e-9, accountant.AddRemove, accountant.ErrEvent},
		{"count too large", events(times(gaussian(1), 1<<40+1)), 1e-9, accountant.AddRemove,
			accountant.ErrEvent},
		{"no noise", events(times(gaussian(0), 1)), 1e-9, accountant.AddRemove, accountant.ErrEvent},
		{"noise lost to underflow", events(times(gaussian(1e-200), 1)), 1e-9, accountant.AddRemove,
			accountant.ErrUnbounded},
		{"noise lost to underflow, mixed", events(times(gaussian(1e-200), 1), times(laplace(1), 1)),
			1e-9, accountant.AddRemove, accountant.ErrUnbounded},
	} {
		if _, err := Epsilon(row.c, row.delta, row.adj); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.name, err, row.want)
		}
	}
	for _, epsilon := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, err := DeltaAt(g, epsilon, accountant.AddRemove)
		if !errors.Is(err, accountant.ErrBudgetRange) {
			t.Errorf("ε = %v: %v", epsilon, err)
		}
	}
	if _, err := DeltaAt(g, 1, 3); !errors.Is(err, accountant.ErrEvent) {
		t.Error(err)
	}
}
