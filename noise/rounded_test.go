package noise

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestHalfNormalInt: null, P(k) ∝ exp(−k²/2), 10^6 draws; the laws exp(−k²/2·1.3^±2) are rejected.
func TestHalfNormalInt(t *testing.T) {
	b := testSource(t).state()
	counts := make([]int64, 12)
	for range 1_000_000 {
		counts[b.halfNormalInt()]++
	}
	for _, c := range []struct {
		scale float64
		ok    bool
	}{{1, true}, {1.3, false}, {1 / 1.3, false}} {
		p, sum := make([]float64, len(counts)), 0.0
		for k := range p {
			p[k] = math.Exp(-float64(k*k) / 2 / c.scale / c.scale)
			sum += p[k]
		}
		for k := range p {
			p[k] /= sum
		}
		if s, th, ok := stattest.ChiSquare(counts, p); ok != c.ok {
			t.Errorf("scale %v: %v ≤ %v is %v", c.scale, s, th, ok)
		}
	}
}

// gammaAt returns 2^64·x(2k+x)/(2k+2) at x = X/2^64, for X up to 2^64.
func gammaAt(k uint64, X *big.Int) *big.Rat {
	x := new(big.Rat).SetFrac(X, new(big.Int).Lsh(big.NewInt(1), 64))
	twoK := rat(k, 1)
	x.Mul(x, new(big.Rat).Add(x, twoK))
	x.Quo(x, twoK.Add(twoK, ratio(2, 1)))
	return x.Mul(x, rat(1, 64))
}

// TestGammaWord: the bounds hold, exactly, at both ends of the interval of x (γ is increasing), and the lower is the best.
func TestGammaWord(t *testing.T) {
	b := testSource(t).state()
	xs := []uint64{0, 1, 2, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	for range 300 {
		xs = append(xs, b.word(), b.word()>>b.uniform(64))
	}
	for _, k := range []uint64{0, 1, 2, 3, 4, 5, 10, 1023, 1024, 1 << 40} {
		for _, x := range xs {
			low := gammaWord(k, x)
			X := new(big.Int).SetUint64(x)
			lo, hi := gammaAt(k, X), gammaAt(k, X.Add(X, big.NewInt(1)))
			floor := rat(low, 0)
			top := new(big.Rat).Add(floor, ratio(2, 1))
			if floor.Cmp(lo) > 0 || top.Cmp(hi) < 0 {
				t.Fatalf("k %d, X %d: γ in [%s, %s], low %d", k, x, lo.FloatString(3), hi.FloatString(3), low)
			}
			if slack := new(big.Rat).Sub(lo, floor); slack.Cmp(ratio(1, 1)) >= 0 {
				t.Fatalf("k %d, X %d: low is %s below", k, x, slack.FloatString(3))
			}
		}
	}
}

// TestKeepFraction fixes the first digit of x: null, probability exp(−x(2k+x)/2).
func TestKeepFraction(t *testing.T) {
	b := testSource(t).state()
	for _, k := range []uint64{0, 1, 2, 5} {
		for _, x := range []float64{0, .125, .5, .9, 1 - 0x1p-53} {
			t.Run(fmt.Sprintf("%d+%g", k, x), func(t *testing.T) {
				checkRate(t, 50_000, math.Exp(-x*(2*float64(k)+x)/2), func() bool {
					return b.keepFraction(k, &digits{first: uint64(x * 0x1p64)})
				})
			})
		}
	}
}

// TestAbove fixes the first digits of U and x where they do not decide. Within x's interval 2^64·γ grows by its slope
// g = (2k+2x)/(2k+2) from a multiple of 1, so that U = u + uniform is below with probability E[g·uniform] = g/2.
func TestAbove(t *testing.T) {
	b := testSource(t).state()
	for _, c := range []struct {
		name    string
		k, x, u uint64
		p       float64
	}{
		{"k=0", 0, 1 << 63, 1 << 61, .25},              // γ = 1/8, slope 1/2
		{"k=0 below", 0, 1 << 63, 1<<61 - 1, 1},        //
		{"k=0 above", 0, 1 << 63, 1<<61 + 1, 0},        //
		{"k=1", 1, 1 << 63, 5 << 60, .375},             // γ = 5/16, slope 3/4
		{"k=1 below", 1, 1 << 63, 5<<60 - 1, 1},        //
		{"k=1 above", 1, 1 << 63, 5<<60 + 1, 0},        //
		{"k=3, quarter", 3, 1 << 62, 25 << 57, .40625}, // γ = 25/128, slope 13/16
		{"k=0, x=0", 0, 0, 0, 0},                       // γ < 2^−129: below is out of reach
	} {
		t.Run(c.name, func(t *testing.T) {
			checkRate(t, 20_000, c.p, func() bool { return (&digits{first: c.x}).above(b, c.k, c.u) })
		})
	}
}

// TestAboveKeepsDigits: what a comparison has drawn of x stays, and the verdict is right for the digits that were drawn.
func TestAboveKeepsDigits(t *testing.T) {
	b := testSource(t).state()
	for range 1000 {
		x := digits{first: 1 << 63, more: []uint64{b.word()}}
		kept := x.more[0]
		x.above(b, 0, 1<<61)
		if x.first != 1<<63 || x.more[0] != kept || len(x.more) > 2 {
			t.Fatalf("digits became %v", x)
		}
	}
	// With x known to 128 digits and U to 64, U must be extended before it can be compared: x = ½ + ½·2^−64, 2^64·γ = 2^61 + ¼.
	checkRate(t, 50_000, .25, func() bool { return (&digits{1 << 63, []uint64{1 << 63}}).above(b, 0, 1<<61) })
}

func TestDigits(t *testing.T) {
	b := testSource(t).state()
	x := digits{first: 5}
	if x.bits() != 64 || x.int().Uint64() != 5 {
		t.Errorf("one digit: %d bits, %v", x.bits(), x.int())
	}
	x.extend(b)
	x.more[0] = 7
	x.extend(b)
	x.more[1] = 9
	want := new(big.Int).Lsh(big.NewInt(5), 128)
	want.Add(want, new(big.Int).Lsh(big.NewInt(7), 64)).Add(want, big.NewInt(9))
	if x.bits() != 192 || x.int().Cmp(want) != 0 {
		t.Errorf("three digits: %d bits, %v", x.bits(), x.int())
	}
}

// nearest returns ⌊σ(k + v/2^n) + ½⌋ mod 2^64 in exact arithmetic.
func nearest(sigma float64, k uint64, v *big.Int, n uint) int64 {
	y := new(big.Rat).SetFrac(v, new(big.Int).Lsh(big.NewInt(1), n))
	y.Add(y, rat(k, 0))
	y.Mul(y, new(big.Rat).SetFloat64(sigma))
	y.Add(y, ratio(1, 2))
	q := new(big.Int).Div(y.Num(), y.Denom())
	return int64(q.And(q, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
}

// TestRound compares with exact rationals: the answer is that of the smallest and of the largest x with the digits known at
// the end. σ, k and the digits cover both paths, their border at k = 2^10 and results beyond 2^64.
func TestRound(t *testing.T) {
	b := testSource(t).state()
	below := math.Nextafter(MaxScale, 0)
	for _, sigma := range []float64{MinScale, math.Nextafter(MinScale, 1), math.Nextafter(2*MinScale, 0), .3, .5, 1, 1.5, 4.7, 100, 0x1p24, 0x1.fffffp40, below, MaxScale} {
		d, err := NewRoundedGaussian(sigma)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []uint64{0, 1, 2, 7, 100, 1022, 1023, 1024, 2047, 5000, 1<<15 + 1, 1<<16 + 3} {
			xs := []uint64{0, 1, 1 << 63, 1<<63 - 1, math.MaxUint64, math.MaxUint64 - 1}
			for range 20 {
				xs = append(xs, b.word())
			}
			// The x next to a rounding border: σ(k+x) = r + ½, for the r in the middle of the range.
			border := new(big.Rat).SetFloat64(math.Floor(sigma*(float64(k)+.5)) + .5)
			border.Quo(border, new(big.Rat).SetFloat64(sigma)).Sub(border, rat(k, 0)).Mul(border, rat(1, 64))
			if f, _ := border.Float64(); f > 4 && f < 0x1p63 {
				w := new(big.Int).Div(border.Num(), border.Denom()).Uint64()
				xs = append(xs, w-2, w-1, w, w+1, w+2)
			}
			for _, first := range xs {
				x := digits{first: first}
				got := d.round(b, k, &x)
				// The largest x is excluded: one more binary digit than known stands for it, at scales where that is enough.
				lo := x.int()
				hi := new(big.Int).Lsh(lo, 64)
				hi.Add(hi, new(big.Int).SetUint64(math.MaxUint64))
				if l, h := nearest(sigma, k, lo, x.bits()), nearest(sigma, k, hi, x.bits()+64); got != l || got != h {
					t.Fatalf("σ %v, k %d, x %v: %d, want %d to %d", sigma, k, x, got, l, h)
				}
			}
		}
	}
}

// TestRoundAtBorder: the first digit leaves the rounding open, and the border lies at the fraction f of its interval. Null: the
// result is the lower integer with probability f.
func TestRoundAtBorder(t *testing.T) {
	b := testSource(t).state()
	for _, c := range []struct {
		sigma float64
		k     uint64
	}{{3, 0}, {100, 2}, {0x1.8p24, 1}, {0x1.23456789p40, 0}, {7, 1024}} {
		r := math.Floor(c.sigma * (float64(c.k) + .3))
		border := new(big.Rat).SetFloat64(r + .5)
		border.Quo(border, new(big.Rat).SetFloat64(c.sigma)).Sub(border, rat(c.k, 0)).Mul(border, rat(1, 64))
		first := new(big.Int).Div(border.Num(), border.Denom())
		f, _ := border.Sub(border, new(big.Rat).SetInt(first)).Float64()
		d, _ := NewRoundedGaussian(c.sigma)
		t.Run(fmt.Sprintf("%g %d at %.3f", c.sigma, c.k, f), func(t *testing.T) {
			checkRate(t, 20_000, f, func() bool {
				switch got := d.round(b, c.k, &digits{first: first.Uint64()}); got {
				case int64(r):
					return true
				case int64(r) + 1:
				default:
					t.Fatalf("rounded to %d, want %v or one more", got, r)
				}
				return false
			})
		})
	}
}

// TestKeepFractionAsksWhenUndecided: k = 0, γ = x²/2, and the smallest or largest x of a low near the first word u that comes.
// At the smallest, 2^64·γ may lie on either side of any number in [low, low+½); at the largest, of any in [low+1, low+1+ slope).
func TestKeepFractionAsksWhenUndecided(t *testing.T) {
	root := func(low uint64) uint64 { // the smallest X with X²/2 ≥ low·2^64
		x := new(big.Int).Lsh(new(big.Int).SetUint64(low), 65)
		return x.Sqrt(x.Sub(x, big.NewInt(1))).Uint64() + 1
	}
	for _, c := range []struct {
		name    string
		low     int64 // minus u
		largest bool
		asked   bool
	}{
		{"below", 1, false, false}, {"below, largest", 1, true, false}, {"u = low", 0, false, true}, {"u = low + 1", -1, true, true},
		{"above", -2, false, false}, {"above, largest", -2, true, false},
	} {
		for number := range uint64(50) {
			b, u := peek(number)
			if u >= 1<<63-16 || u < 1<<60 {
				continue // γ < ½, and a slope that is not small
			}
			low := u + uint64(c.low)
			x := root(low)
			if c.largest {
				x = root(low+1) - 1
			}
			if gammaWord(0, x) != low {
				t.Fatalf("%s: no x for %d", c.name, low)
			}
			d := digits{first: x}
			if b.keepFraction(0, &d); len(d.more) > 0 != c.asked {
				t.Fatalf("%s: more digits of x drawn: %v", c.name, len(d.more) > 0)
			}
		}
	}
}
