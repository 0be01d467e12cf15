package accountant

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestReservationTakesNamedEventsFirst: what is reserved by name does not touch the filter; after
// that the filter pays, and only for what it may pay for.
func TestReservationTakesNamedEventsFirst(t *testing.T) {
	r := NewReservation(Composition{{Gaussian{4}, 2}, {Laplace{.1}, 1}, {GDPFilter{.5}, 1},
		{Gaussian{4}, 1}})
	whole := r.Left().Mu2
	if whole > .25 || whole < .25*(1-1e-11) {
		t.Fatalf("a fresh filter has %v, want .25", whole)
	}
	for step, row := range []struct {
		e     Event
		count int
		ok    bool
		left  float64 // of the filter
	}{
		{Gaussian{4}, 2, true, .25},
		{Gaussian{4}, 1, true, .25},
		{Laplace{.1}, 1, true, .25},
		{Laplace{.1}, 1, false, .25}, // a filter pays for no Laplace
		{Gaussian{4}, 1, true, .1875},
		{Gaussian{4}, 4, false, .1875}, // all or nothing
		{Gaussian{4}, 2, true, .0625},
		{GDPFilter{.1}, 1, false, .0625}, // a filter is no mechanism
		{Gaussian{3.9}, 1, false, .0625},
		{Gaussian{5}, 1, true, .0225},
		{Gaussian{0}, 1, false, .0225},
		{Gaussian{50}, -1, false, .0225},
		{Gaussian{50}, 0, false, .0225},
		{SubsampledGaussian{.01, 1e6}, 1, false, .0225},
		{Approx{1e-9, 0}, 1, false, .0225},
		{Exponential{.1}, 1, true, .0225 - .06266*.06266},
	} {
		err := r.Take(Charge{row.e, row.count})
		if (err == nil) != row.ok {
			t.Fatalf("step %d: %+v × %d: %v", step, row.e, row.count, err)
		}
		if err != nil && !errors.Is(err, ErrBudget) && !errors.Is(err, ErrEvent) {
			t.Errorf("step %d: error %v", step, err)
		}
		if math.Abs(r.Left().Mu2-row.left) > 1e-6 {
			t.Fatalf("step %d: the filter has %v, want %v", step, r.Left().Mu2, row.left)
		}
	}
}

func TestReservationWithoutAFilter(t *testing.T) {
	r := NewReservation(Composition{{Gaussian{4}, 1}})
	stattest.Wraps(t, r.Take(Charge{Gaussian{1e12}, 1}), ErrBudget, "an event that is not reserved")
	if r.Left().Mu2 != 0 {
		t.Errorf("pool %v", r.Left().Mu2)
	}
	stattest.Passes(t, r.Take(Charge{Gaussian{4}, 1}), "")
	stattest.Wraps(t, r.Take(Charge{Gaussian{4}, 1}), ErrBudget, "a second time")
}

// TestFiltersAddUp in μ².
func TestFiltersAddUp(t *testing.T) {
	r := NewReservation(Composition{{GDPFilter{.3}, 2}, {GDPFilter{.4}, 1}})
	if got, want := r.Left().Mu2, .34; got > want || got < want*(1-1e-11) {
		t.Errorf("pool of %v, want %v", got, want)
	}
}

// TestFilterIsNeverOverdrawn draws random charges until nothing fits and adds up what was granted
// in exact arithmetic: never above Σ Mu², and all but a relative 1e-9 can be spent.
func TestFilterIsNeverOverdrawn(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	square := func(x float64) *big.Rat { r := new(big.Rat).SetFloat64(x); return r.Mul(r, r) }
	for range 200 {
		mu := .05 + 3*u.Float64()
		r := NewReservation(Composition{{GDPFilter{mu}, 1}})
		granted := new(big.Rat)
		take := func(z float64, count int) bool {
			err := r.Take(Charge{Gaussian{z}, count})
			if err == nil {
				one := new(big.Rat).Inv(square(z))
				granted.Add(granted, one.Mul(one, new(big.Rat).SetInt64(int64(count))))
			}
			return err == nil
		}
		for range 60 {
			take((1+9*u.Float64())/mu, 1+u.IntN(3))
		}
		if left := r.Left().Mu2; left > 0 &&
			!take(math.Nextafter(1/math.Sqrt(left), math.Inf(1))*(1+1e-14), 1) {
			t.Fatalf("Left says %v, which is refused", left)
		}
		if granted.Cmp(square(mu)) > 0 {
			t.Fatalf("μ = %v: granted more than the pool", mu)
		}
		g, _ := granted.Float64()
		if g < mu*mu*(1-1e-9) {
			t.Errorf("μ = %v: only %v of %v could be spent", mu, g, mu*mu)
		}
	}
}

// TestFilterAtItsEdge: a charge of exactly Mu is refused or granted by less than a relative 1e-13,
// one of an ulp more never.
func TestFilterAtItsEdge(t *testing.T) {
	for _, mu := range []float64{.1, .25, 1, 3} {
		stattest.Fails(t, NewReservation(Composition{{GDPFilter{mu},
			1}}).Take(Charge{Gaussian{math.Nextafter(1/mu, 0)}, 1}),
			"μ = %v: one ulp too much is granted", mu)
		stattest.Passes(t, NewReservation(Composition{{GDPFilter{mu},
			1}}).Take(Charge{Gaussian{1 / mu * (1 + 1e-13)}, 1}), "μ = %v: all of it is refused", mu)
	}
}
