package pld

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// reference is a table of published and recomputed values for T steps of the subsampled Gaussian. A
// 0 is a cell without a value. within is the stated accuracy of the PLD columns, half a unit of the
// last digit unless the source gives more.
var reference = []struct {
	q, z       float64
	steps      int
	delta      float64
	addRemove  float64
	replaceOne float64
	within     float64
}{
	{.01, .7, 120, 1e-5, 2.4612381, 0, 5e-6},
	{.0025, 1.3, 6000, 1e-5, .640, 1.158, 5e-4},
	{.01, 1, 1000, 1e-5, 1.828, 2.843, 5e-4},
	{.01, 4, 10000, 1e-5, .947, 1.993, 5e-4},
	{.02, 1.5, 500, 1e-5, 1.370, 2.466, 5e-4},
	{.1, 2, 200, 1e-5, 3.360, 6.536, 5e-4},
	{.2, 10, 1000, 1e-5, 2.613, 5.754, 5e-4},
	{1, 5, 10, 1e-5, 2.5944, 0, 5e-5},
}

func TestReferencePLD(t *testing.T) {
	t.Parallel()
	for _, row := range reference {
		if row.steps > 200 && !*long {
			continue
		}
		c := events(times(subsampled(row.q, row.z), row.steps))
		for _, column := range []struct {
			adj  accountant.Adjacency
			want float64
		}{{accountant.AddRemove, row.addRemove}, {accountant.ReplaceOne, row.replaceOne}} {
			if column.want == 0 {
				continue
			}
			got := withSlack(t, c, row.delta, column.adj)
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

// Against another library, whose pessimistic and optimistic estimates enclose the truth to a
// relative 1e-9: of 100 responses of .1 its only one is 4.6e-10 above the exact sum. The proven
// interval must meet theirs.
func TestOracleCompositions(t *testing.T) {
	t.Parallel()
	for _, row := range readOracle(t).Compositions {
		if row.Delta == 1e-7 && !*long {
			continue
		}
		got := withSlack(t, composition(t, row.Composition), row.Delta, row.Adjacency)
		if got.Epsilon < row.Lower*(1-1e-9) || got.Epsilon-got.Slack > row.Upper {
			t.Errorf("%v %v δ %v: ε in [%v, %v], the oracle says [%v, %v]", row.Composition, row.Adjacency,
				row.Delta, got.Epsilon-got.Slack, got.Epsilon, row.Lower, row.Upper)
		}
		if got.Epsilon > row.Upper*(1+1e-4) {
			t.Errorf("%v %v δ %v: ε = %v, the oracle's upper bound is %v", row.Composition, row.Adjacency,
				row.Delta, got.Epsilon, row.Upper)
		}
		if got.Method == "pld" && got.Slack > .0075*got.Epsilon {
			t.Errorf("%v %v δ %v: slack %v of %v", row.Composition, row.Adjacency, row.Delta, got.Slack,
				got.Epsilon)
		}
	}
}

// A Gaussian sent through the grid must come back as its closed form, from above, at every δ that a
// budget may ask for: a sample that costs nothing keeps the closed form from being used.
func TestPLDOfGaussians(t *testing.T) {
	for _, z := range []float64{.2, 1, 7, 300} {
		for _, delta := range []float64{.1, 1e-3, 1e-5, 1e-9, 1e-12, 1e-15} {
			exact := accountant.GDPEpsilon(math.Sqrt(3/(z*z)+4/(4*z*z)), delta)
			on := math.Inf(1)
			for _, p := range composed(events(times(gaussian(z/2), 1)), delta, accountant.AddRemove) {
				on = math.Min(on, p.upper(delta))
			}
			if on < exact*(1-1e-9) || on > exact*(1+1e-4)+1e-9 {
				t.Errorf("z %v δ %v: ε = %v on the grid, want %v", z, delta, on, exact)
			}
			c := events(times(gaussian(z), 3), times(gaussian(2*z), 4))
			if got := mustEpsilon(t, c, delta, accountant.AddRemove); got.Epsilon != exact {
				t.Errorf("z %v δ %v: %+v is not the closed form", z, delta, got)
			}
			if back := mustDelta(t, c, exact, accountant.AddRemove); exact > 0 && !near(back, delta, 1e-6) {
				t.Errorf("z %v: δ(%v) = %v, want %v", z, exact, back, delta)
			}
		}
	}
}

// Many separate steps, so that the FFT, its powers and its windows matter: a subsampled Gaussian at
// q near 1 is the whole one.
func TestPLDOfManySteps(t *testing.T) {
	for _, delta := range []float64{1e-5, 1e-9, 1e-12} {
		want := accountant.GDPEpsilon(math.Sqrt(50)/30, delta)
		got := withSlack(t, events(times(subsampled(1-1e-12, 30), 50)), delta, accountant.AddRemove)
		if got.Epsilon < want*(1-1e-9) || got.Epsilon > want*(1+1e-4) || got.Epsilon-got.Slack > want {
			t.Errorf("subsampled, δ %v: %+v, want %v", delta, got, want)
		}
		want = accountant.GDPEpsilon(2*math.Sqrt(50)/30, delta)
		got = withSlack(t, events(times(subsampled(1-1e-12, 30), 50)), delta, accountant.ReplaceOne)
		if got.Epsilon < want*(1-1e-9) || got.Epsilon > want*(1+1e-4) {
			t.Errorf("subsampled, replace-one, δ %v: %+v, want %v", delta, got, want)
		}
	}
}

// Beside samples everything costs something, and no more than it does by itself on top.
func TestBesideSamples(t *testing.T) {
	samples := times(subsampled(.3, 5), 10)
	alone := mustEpsilon(t, events(samples), 1e-5, accountant.AddRemove).Epsilon
	for name, c := range map[string]accountant.Composition{
		"steps":     events(times(laplace(.1), 3), times(approx(.2, 0), 1)),
		"equal":     events(times(laplace(.1), 3)),
		"choices":   events(times(exponential(.01), 2), times(exponential(.02), 1)),
		"many":      events(times(exponential(.02), 400)),
		"a filter":  events(times(filter(.25), 4)),
		"gaussians": events(times(gaussian(4), 4)),
	} {
		closed, err := c.Epsilon(0, accountant.AddRemove)
		most := alone + closed.Epsilon
		if err != nil || name == "many" {
			most = alone + 2
		}
		got := mustEpsilon(t, append(events(samples), c...), 1e-5, accountant.AddRemove)
		if !(got.Epsilon > alone) || got.Epsilon > most*(1+1e-9) || got.Method != "pld" {
			t.Errorf("%s: %+v, alone %v, at most %v", name, got, alone, most)
		}
	}
	a := mustEpsilon(t, events(samples, times(filter(.5), 1)), 1e-5, accountant.ReplaceOne)
	b := mustEpsilon(t, events(samples, times(gaussian(4), 4)), 1e-5, accountant.ReplaceOne)
	if !near(a.Epsilon, b.Epsilon, 1e-9) {
		t.Errorf("a filter beside samples costs %v, Gaussians %v", a.Epsilon, b.Epsilon)
	}
	leak := events(samples, times(approx(0, 1e-6), 2))
	if got := mustEpsilon(t, leak, 1-(1-1e-5)*(1-2e-6), accountant.AddRemove); !near(got.Epsilon,
		alone, 1e-6) {
		t.Errorf("with a leak %v, without %v", got.Epsilon, alone)
	}
	for _, l := range []accountant.Charge{times(approx(0, .9), 2), times(approx(0, .499), 3),
		times(approx(0, .9), 1<<40)} { // the last tells all, to float64's last digit
		c := events(l, times(subsampled(.1, 1), 2))
		if b, err := Epsilon(c, 1e-9, accountant.AddRemove); !errors.Is(err, accountant.ErrUnbounded) {
			t.Errorf("%v: %v, %v", c, b, err)
		}
	}
}

// TestInertEventsChangeNothing: a sample that costs next to nothing leaves the cost of the others
// as it is, however extreme its parameters are, and none of them is a panic.
func TestInertEventsChangeNothing(t *testing.T) {
	others := map[string]accountant.Composition{
		"subsampled": events(times(subsampled(.5, 1), 4)),
		"choices":    events(times(exponential(5), 10)),
	}
	for _, inert := range []accountant.Event{
		subsampled(1e-300, 1e150), subsampled(1e-17, 1),
	} {
		for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
			for name, c := range others {
				alone := withSlack(t, c, 1e-9, adj)
				low := alone.Epsilon
				if alone.Method == "pld" {
					low -= alone.Slack
				}
				both, err := Epsilon(append(events(times(inert, 1)), c...), 1e-9, adj)
				if err != nil || both.Epsilon < .97*low {
					t.Errorf("%v, %v: %s costs %v alone and %v with it, %v", adj, inert, name, alone.Epsilon,
						both.Epsilon, err)
				}
			}
		}
	}
	for _, z := range []float64{1e-7, 3e-8, 1e-10, 1e-100, math.SmallestNonzeroFloat64} {
		for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
			if b, err := Epsilon(events(times(subsampled(.5, z), 1)), 1e-9, adj); err == nil &&
				b.Epsilon < 100 {
				t.Errorf("%v: noise %v costs %v", adj, z, b.Epsilon)
			}
		}
	}
}

// TestMoreCostsMore: one sample more, a larger one or less noise never costs less, and neither does
// replacing a unit.
func TestMoreCostsMore(t *testing.T) {
	u := rand.New(rand.NewPCG(11, 12))
	for range 4 {
		q, z, n := .05+.9*u.Float64(), 3+3*u.Float64(), 1+u.IntN(6)
		delta := math.Exp(-8 - 15*u.Float64())
		price := func(q, z float64, n int, adj accountant.Adjacency) float64 {
			return mustEpsilon(t, events(times(subsampled(q, z), n), times(gaussian(20), 2)), delta,
				adj).Epsilon
		}
		least := price(q, z, n, accountant.AddRemove) * (1 - 1e-3)
		for what, got := range map[string]float64{
			"a step more":   price(q, z, n+1, accountant.AddRemove),
			"a larger rate": price(q*1.03, z, n, accountant.AddRemove),
			"less noise":    price(q, z/1.1, n, accountant.AddRemove),
			"replacing":     price(q, z, n, accountant.ReplaceOne),
			"full batches":  price(1, z, n, accountant.AddRemove),
		} {
			if got < least {
				t.Errorf("%v, %v, %d at %v: %s costs %v, less than %v", q, z, n, delta, what, got, least)
			}
		}
	}
}

// TestCalibrate finds the noise of samples.
func TestCalibrate(t *testing.T) {
	for _, row := range []struct {
		b     accountant.Budget
		q     float64
		steps int
		want  float64
	}{
		{accountant.Budget{Epsilon: 1, Delta: 1e-5}, .01, 1, .67379294682},
		{accountant.Budget{Epsilon: 2.0151064, Delta: 1e-9}, .3, 30, 5},
	} {
		at := func(z float64) accountant.Composition {
			return events(times(subsampled(row.q, z), row.steps))
		}
		prices := 0
		scale, err := accountant.ScaleFor(row.b, accountant.AddRemove, at, RDP, func(
			c accountant.Composition, delta float64, adj accountant.Adjacency,
		) (accountant.Bound, error) {
			prices++
			return Epsilon(c, delta, adj)
		})
		if err != nil || !near(scale, row.want, 2e-4) || prices > 12 {
			t.Errorf("%+v: scale %v with %d prices, %v", row, scale, prices, err)
		}
		if got := mustEpsilon(t, at(scale), row.b.Delta, accountant.AddRemove); got.Epsilon >
			row.b.Epsilon {
			t.Errorf("%+v: scale %v costs ε = %v", row, scale, got.Epsilon)
		}
	}
}

// A sample of everyone is no sample: the closed form, with 2/z where a unit is replaced.
func TestRateOne(t *testing.T) {
	c := events(times(subsampled(1, 5), 9), times(gaussian(5), 1))
	for adj, mu := range map[accountant.Adjacency]float64{accountant.AddRemove: math.Sqrt(10) / 5,
		accountant.ReplaceOne: math.Sqrt(37) / 5} {
		if got := mustEpsilon(t, c, 1e-5, adj); got.Method != "gdp" || !near(got.Epsilon,
			accountant.GDPEpsilon(mu, 1e-5), 1e-12) {
			t.Errorf("%v: %+v, want %v", adj, got, accountant.GDPEpsilon(mu, 1e-5))
		}
	}
}

// TestFullBatchesInAMixedPlan: beside events that have no closed formula, a sum over all units
// counts as a Gaussian, under replace-one as one of half the noise.
func TestFullBatchesInAMixedPlan(t *testing.T) {
	rest := events(times(subsampled(.3, 3), 5), times(gaussian(9), 1))
	for adj, z := range map[accountant.Adjacency]float64{
		accountant.AddRemove: 5, accountant.ReplaceOne: 2.5} {
		got := mustEpsilon(t, append(events(times(subsampled(1, 5), 9)), rest...), 1e-5, adj)
		want := mustEpsilon(t, append(events(times(gaussian(z), 9)), rest...), 1e-5, adj)
		if !near(got.Epsilon, want.Epsilon, 1e-9) {
			t.Errorf("%v: %v, want %v", adj, got.Epsilon, want.Epsilon)
		}
	}
}

// For add-remove both orders of a pair count, the larger of which is that without the unit first.
func TestBothDirections(t *testing.T) {
	samples := events(times(subsampled(.3, .8), 4))
	both := composed(samples, 1e-6, accountant.AddRemove)
	larger := false
	for _, epsilon := range []float64{0, .05, .5, 1, 2, 5} {
		r, a := both[0].deltaAt(epsilon), both[1].deltaAt(epsilon)
		larger = larger || r > a*1.01
		if got := math.Max(r, a); got > 1e-12 && got < 1 {
			if e := mustEpsilon(t, samples, got, accountant.AddRemove).Epsilon; e < epsilon-1e-3 {
				t.Errorf("ε(%v) = %v, below %v", got, e, epsilon)
			}
		}
	}
	if !larger {
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
	at := func(epsilon, near float64, adj accountant.Adjacency) (delta float64) {
		for _, p := range composed(events(times(subsampled(q, z), 1)), near, adj) {
			delta = math.Max(delta, p.deltaAt(epsilon))
		}
		return delta
	}
	for _, epsilon := range []float64{0, .2, 1, 2.5} {
		want := math.Max(hockey(plus, none, epsilon), hockey(none, plus, epsilon))
		if got := at(epsilon, want, accountant.AddRemove); got < want-1e-9 || !near(got, want, 1e-4) {
			t.Errorf("add-remove δ(%v) = %v, want %v", epsilon, got, want)
		}
		want = hockey(plus, minus, epsilon)
		if got := at(epsilon, want, accountant.ReplaceOne); got < want-1e-9 || !near(got, want, 1e-4) {
			t.Errorf("replace-one δ(%v) = %v, want %v", epsilon, got, want)
		}
	}
}

// Half the noise, a missing step and a halved rate must be seen: each changes ε by more than the
// accountant's error.
func TestWrongParametersAreSeen(t *testing.T) {
	base := withSlack(t, events(times(subsampled(.3, 5), 30)), 1e-5, accountant.AddRemove)
	for name, c := range map[string]accountant.Composition{
		"30% less noise": events(times(subsampled(.3, 3.5), 30)),
		"a step more":    events(times(subsampled(.3, 5), 31)),
		"a higher rate":  events(times(subsampled(.31, 5), 30)),
	} {
		if got := withSlack(t, c, 1e-5, accountant.AddRemove); got.Epsilon-got.Slack <= base.Epsilon {
			t.Errorf("%s: ε = %v ± %v is not above %v", name, got.Epsilon, got.Slack, base.Epsilon)
		}
	}
}

// The cases in which a naive grid would take all memory: the bound stays valid and the bins
// bounded.
func TestGuards(t *testing.T) {
	for name, c := range map[string]accountant.Composition{
		"tiny ε":     events(times(subsampled(1e-3, 50), 10_000)),
		"tiny noise": events(times(subsampled(.5, .02), 3)),
		"many steps": events(times(gaussian(1e6), 1<<40), times(subsampled(.1, 1e9), 1<<40)),
	} {
		got := mustEpsilon(t, c, 1e-9, accountant.AddRemove)
		if !(got.Epsilon >= 0) || math.IsInf(got.Epsilon, 1) {
			t.Errorf("%s: %+v", name, got)
		}
		t.Logf("%s: %+v", name, got)
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
		stattest.Wraps(t, stattest.Err(Epsilon(row.c, row.delta, row.adj)), row.want, "%s", row.name)
	}
	stattest.Wraps(t, stattest.Err(DeltaAt(g, 1, 3)), accountant.ErrEvent, "")
}
