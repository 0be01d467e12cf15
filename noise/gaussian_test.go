package noise

import (
	"math"
	"math/big"
	"testing"
)

// TestInterval: the interval contains γ, in exact arithmetic, and is narrow enough that math/big is
// almost never needed.
func TestInterval(t *testing.T) {
	b := testSource(t).state()
	sigmas := []float64{MinScale, .3, math.Nextafter(1, 0), 1, 1.5, 4.7, 100, 0x1p24,
		0x1.fffffffffffffp40, MaxScale}
	for range 50 {
		sigmas = append(sigmas, math.Ldexp(1+float64(b.word()>>12)*0x1p-52, int(b.uniform(58))-10))
	}
	for _, sigma := range sigmas {
		d, err := NewDiscreteGaussian(sigma)
		if err != nil {
			t.Fatal(err)
		}
		if d.t != uint64(math.Floor(sigma))+1 {
			t.Fatalf("σ %v: t = %d", sigma, d.t)
		}
		s := uint64(sigma)
		ys := []uint64{0, 1, 2, s, s + 1, 5 * s, 1<<53 - 1, 1<<53 + 1, 1 << 62, 1 << 63}
		for range 50 {
			ys = append(ys, b.uniform(1+10*d.t), b.word()>>(1+b.uniform(60)))
		}
		for _, y := range ys {
			lo, hi := d.interval(y)
			gamma := d.gamma(y)
			if !inside(gamma, lo, hi) {
				t.Fatalf("σ %v, y %d: γ = %s is not in [%v, %v]", sigma, y, gamma.FloatString(20), lo, hi)
			}
			// Half the margin is slack that the proof does not use up: the bound is not just true by luck.
			g, margin := (lo+hi)/2, (hi-lo)/2
			if !inside(gamma, g-.75*margin, g+.75*margin) {
				t.Fatalf("σ %v, y %d: γ is within a quarter of an end of [%v, %v]", sigma, y, lo, hi)
			}
			if f, _ := gamma.Float64(); f < 50 && hi-lo > 0x1p-40 {
				t.Fatalf("σ %v, y %d: γ = %v, interval of width %g", sigma, y, f, hi-lo)
			}
		}
	}
}

// TestGamma compares with (y − σ²/t)²/2σ² by hand.
func TestGamma(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		y     uint64
		want  *big.Rat
	}{
		{1, 0, ratio(1, 8)},      // t = 2: (0 − ½)²/2
		{1, 3, ratio(25, 8)},     // (3 − ½)²/2
		{2.5, 2, ratio(1, 1800)}, // t = 3: (2 − 25/12)²/12.5
		{.5, 1, ratio(9, 8)},     // t = 1: (1 − ¼)²/½
	} {
		d, _ := NewDiscreteGaussian(c.sigma)
		if got := d.gamma(c.y); got.Cmp(c.want) != 0 {
			t.Errorf("σ %v, y %d: γ = %v, want %v", c.sigma, c.y, got, c.want)
		}
	}
}
