package accountant_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/derive"
)

// plans are n pure calls of one ε beside a filter of μ.
func plans(do func(c accountant.Composition, mu, epsilon float64, n int, delta float64)) {
	for _, n := range []int{1, 2, 3, 40} {
		for _, epsilon := range []float64{1e-4, .03, 3} {
			for _, mu := range []float64{0, .3} {
				for _, delta := range []float64{0, 1e-30, 1e-9, 1e-4} {
					if mu > 0 && delta == 0 {
						continue
					}
					c := accountant.Composition{{Event: accountant.Laplace{Epsilon: epsilon}, Count: n}}
					if mu > 0 {
						c = append(c, accountant.Charge{Event: accountant.GDPFilter{Mu: mu}, Count: 1})
					}
					do(c, mu, epsilon, n, delta)
				}
			}
		}
	}
}

func price(t *testing.T, c accountant.Composition, delta float64) accountant.Bound {
	t.Helper()
	b, err := c.Epsilon(delta, accountant.AddRemove)
	if err != nil {
		t.Fatalf("%+v at %v: %v", c, delta, err)
	}
	return b
}

// TestResponsesAreExact: equal pure calls beside a filter cost what big arithmetic says, under
// whichever name they are called.
func TestResponsesAreExact(t *testing.T) {
	plans(func(c accountant.Composition, mu, epsilon float64, n int, delta float64) {
		if mu > 0 && (n > 2 || delta != 1e-9 || epsilon == .03) { // big arithmetic is slow
			return
		}
		got := price(t, c, delta)
		want := derive.Epsilon(c, delta, accountant.AddRemove)
		if !(got.Epsilon >= want.Lower) {
			t.Errorf("%+v at %v: ε %v, below the least possible %v", c, delta, got.Epsilon, want.Lower)
		}
		if got.Epsilon > want.Upper*(1+1e-6) {
			t.Errorf("%+v at %v: ε %v, %v is enough", c, delta, got.Epsilon, want.Upper)
		}
		if got.Slack > 1e-6*got.Epsilon && got.Epsilon-got.Slack > want.Upper {
			t.Errorf("%+v at %v: slack %v", c, delta, got.Slack)
		}
		other := append(accountant.Composition{{Event: accountant.Approx{Epsilon: epsilon}, Count: 1}},
			c...)
		if other[1].Count--; n > 1 && price(t, other, delta) != got {
			t.Errorf("%+v at %v: %+v, as one kind of call %+v", other, delta, price(t, other, delta), got)
		}
	})
}

// TestResponsesAreTheIntegral: at the claimed ε the hockey-stick divergence, integrated by the
// trapezoidal rule, is the δ that was asked for.
func TestResponsesAreTheIntegral(t *testing.T) {
	plans(func(c accountant.Composition, mu, epsilon float64, n int, delta float64) {
		if mu == 0 || n < 2 || n > 3 || delta < 1e-9 {
			return
		}
		claimed := price(t, c, delta).Epsilon
		if claimed == 0 {
			return
		}
		sum, p := 0.0, 1/(1+math.Exp(-epsilon))
		const steps = 20_000
		for j := range n + 1 {
			weight := math.Pow(p, float64(n-j)) * math.Pow(1-p, float64(j))
			weight *= float64(new(big.Int).Binomial(int64(n), int64(j)).Int64())
			loss := float64(n-2*j) * epsilon
			for i := range steps {
				x := mu - 12 + 24*float64(i)/steps
				density := math.Exp(-(x-mu)*(x-mu)/2) / math.Sqrt(2*math.Pi) * 24 / steps
				sum += weight * density * math.Max(0, -math.Expm1(claimed-loss-mu*x+mu*mu/2))
			}
		}
		if math.Abs(sum-delta) > 1e-5*delta {
			t.Errorf("%d × %v beside μ = %v: δ(%v) = %v, want %v", n, epsilon, mu, claimed, sum, delta)
		}
	})
}

// TestAccountIsMonotone in every number.
func TestAccountIsMonotone(t *testing.T) {
	plans(func(c accountant.Composition, mu, epsilon float64, n int, delta float64) {
		least := price(t, c, delta).Epsilon
		more := func(what string, d float64, e accountant.Event, count int) {
			bigger := append(accountant.Composition{{Event: e, Count: count}}, c[1:]...)
			if got := price(t, bigger, d).Epsilon; got < least*(1-1e-11) {
				t.Errorf("%+v at %v: ε falls from %v to %v with %s", c, delta, least, got, what)
			}
		}
		more("one call more", delta, c[0].Event, n+1)
		more("a larger call", delta, accountant.Laplace{Epsilon: epsilon * 1.001}, n)
		if delta > 0 {
			more("a smaller δ", delta/2, c[0].Event, n)
		}
	})
}

// TestPureStepsAreNeverOverdrawn: calls of random ε are granted until nothing fits. In exact
// arithmetic no step is overdrawn, and calls that divide a step evenly use it up.
func TestPureStepsAreNeverOverdrawn(t *testing.T) {
	u := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		epsilon, steps := .01+2*u.Float64(), 1+u.IntN(4)
		r := accountant.NewReservation(accountant.Composition{
			{Event: accountant.Laplace{Epsilon: epsilon}, Count: steps}})
		whole := new(big.Rat).SetFloat64(epsilon)
		step, opened := new(big.Rat), 0 // left of the step, as a careful reader would keep it
		for range 200 {
			call := epsilon * u.Float64() * 1.02
			events := []accountant.Event{accountant.Laplace{Epsilon: call},
				accountant.Exponential{Epsilon: call}, accountant.Approx{Epsilon: call}}
			if r.Take(accountant.Charge{Event: events[u.IntN(3)], Count: 1}) != nil {
				continue
			}
			cost := new(big.Rat).SetFloat64(call)
			if step.Cmp(cost) < 0 {
				step.Set(whole)
				opened++
			}
			if step.Sub(step, cost); step.Sign() < 0 || opened > steps {
				t.Fatalf("%d steps of %v: overdrawn", steps, epsilon)
			}
		}
		if opened < steps {
			t.Errorf("%d of %d steps of %v were opened", opened, steps, epsilon)
		}
		r = accountant.NewReservation(accountant.Composition{
			{Event: accountant.Laplace{Epsilon: epsilon}, Count: steps}})
		part := epsilon / 7 * (1 - 1e-12)
		stattest.Passes(t, r.Take(accountant.Charge{Event: accountant.Laplace{Epsilon: part},
			Count: 7 * steps}), "sevenths")
	}
}

// TestPureStepAtItsEdge: a step pays for itself, and not for an ulp more.
func TestPureStepAtItsEdge(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 8))
	for _, epsilon := range []float64{1e-6, .1, .3, 1, 7} {
		fresh := func() *accountant.Reservation {
			return accountant.NewReservation(accountant.Composition{
				{Event: accountant.Laplace{Epsilon: epsilon}, Count: 1}})
		}
		call := func(r *accountant.Reservation, x float64) error {
			return r.Take(accountant.Charge{Event: accountant.Exponential{Epsilon: x}, Count: 1})
		}
		stattest.Passes(t, call(fresh(), epsilon), "ε = %v: all of it is refused", epsilon)
		stattest.Wraps(t, call(fresh(), math.Nextafter(epsilon, 9)), accountant.ErrBudget,
			"ε = %v: one ulp more", epsilon)
		for range 200 { // of what a call leaves, rounded to nearest, no more is paid than is there
			r, x := fresh(), epsilon*u.Float64()
			rest := new(big.Rat).Sub(new(big.Rat).SetFloat64(epsilon), new(big.Rat).SetFloat64(x))
			more, _ := rest.Float64()
			if new(big.Rat).SetFloat64(more).Cmp(rest) <= 0 {
				more = math.Nextafter(more, 9)
			}
			if err := call(r, x); err != nil {
				t.Error(err)
			} else if err := call(r, more); !errors.Is(err, accountant.ErrBudget) {
				t.Errorf("ε = %v: %v, and then %v: %v", epsilon, x, more, err)
			}
		}
		r := fresh()
		stattest.Passes(t, errors.Join(call(r, epsilon/3), call(r, epsilon/3)), "")
		stattest.Wraps(t, call(r, epsilon/3*(1+1e-12)), accountant.ErrBudget,
			"ε = %v: three thirds and a little", epsilon)
		for _, e := range []accountant.Event{accountant.Gaussian{NoiseMultiplier: 1e9},
			accountant.Approx{Epsilon: 1e-9, Delta: 1e-12},
			accountant.SubsampledGaussian{Rate: .1, NoiseMultiplier: 1e9}} {
			stattest.Fails(t, fresh().Take(accountant.Charge{Event: e, Count: 1}),
				"a pure step pays for %+v", e)
		}
	}
}

// TestStepsOfProgramsAreOneResponse plays the best program: it spends a step in calls that it
// chooses by the losses so far. At every ε its profile is at most that of one randomised response
// of the whole step, and above that of nine tenths.
func TestStepsOfProgramsAreOneResponse(t *testing.T) {
	const grid = 12
	for _, epsilon := range []float64{.1, 1, 4} {
		h := epsilon / grid
		var best func(at, left int) float64 // at a loss of −at·h
		known := map[[2]int]float64{}
		best = func(at, left int) float64 {
			if left == 0 {
				return math.Max(0, -math.Expm1(float64(at)*h))
			}
			if x, ok := known[[2]int{at, left}]; ok {
				return x
			}
			most := best(at, 0)
			for call := 1; call <= left; call++ {
				p := 1 / (1 + math.Exp(-float64(call)*h))
				most = math.Max(most, p*best(at-call, left-call)+(1-p)*best(at+call, left-call))
			}
			known[[2]int{at, left}] = most
			return most
		}
		response := func(epsilon, x float64) float64 {
			p := 1 / (1 + math.Exp(-epsilon))
			return p*math.Max(0, -math.Expm1(x-epsilon)) + (1-p)*math.Max(0, -math.Expm1(x+epsilon))
		}
		beyond := false
		for at := -grid; at <= grid; at++ {
			x := float64(at) * h
			if got := best(at, grid); got > response(epsilon, x)*(1+1e-12) {
				t.Errorf("ε = %v at %v: a program reaches %v, one response %v", epsilon, x, got,
					response(epsilon, x))
			}
			beyond = beyond || best(at, grid) > response(.9*epsilon, x)
		}
		if !beyond {
			t.Errorf("ε = %v: nine tenths of it dominate all programs: the test cannot fail", epsilon)
		}
	}
}

// TestLeft: what an account has follows from what was taken.
func TestLeft(t *testing.T) {
	batch := accountant.SubsampledGaussian{Rate: .1, NoiseMultiplier: 2}
	r := accountant.NewReservation(accountant.Composition{
		{Event: accountant.GDPFilter{Mu: .5}, Count: 1},
		{Event: accountant.Laplace{Epsilon: .2}, Count: 3}, {Event: batch, Count: 4}})
	for _, step := range []struct {
		take accountant.Charge
		want string
	}{
		{accountant.Charge{Event: accountant.Laplace{Epsilon: .15}, Count: 1},
			"0.2500 0.2 × 2, 4 batches"},
		{accountant.Charge{Event: accountant.Laplace{Epsilon: .04}, Count: 1},
			"0.2500 0.2 × 2, 4 batches"},
		{accountant.Charge{Event: accountant.Laplace{Epsilon: .2}, Count: 1},
			"0.2500 0.2 × 1, 4 batches"},
		{accountant.Charge{Event: accountant.Gaussian{NoiseMultiplier: 4}, Count: 2},
			"0.1250 0.2 × 1, 4 batches"},
		{accountant.Charge{Event: batch, Count: 4}, "0.1250 0.2 × 1, 0 batches"},
		{accountant.Charge{Event: accountant.Laplace{Epsilon: .1}, Count: 2}, "0.1250 0 × 0, 0 batches"},
	} {
		stattest.Check(t, r.Take(step.take))
		left := r.Left()
		if got := fmt.Sprintf("%.4f %v × %d, %d batches", left.Mu2, left.Epsilon, left.Steps,
			left.Samples); got != step.want {
			t.Errorf("after %+v: %s, want %s", step.take, got, step.want)
		}
	}
}
