package noise

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// gammaAt returns 2^64·x(2n+x)/(2¹³·(1 + ⌊n/2¹²⌋)) at x = X/2^64, for X up to 2^64.
func gammaAt(n uint64, X *big.Int) *big.Rat {
	x := new(big.Rat).SetFrac(X, new(big.Int).Lsh(big.NewInt(1), 64))
	x.Mul(x, new(big.Rat).Add(x, rat(2*n, 0)))
	x.Quo(x, rat(1+n/4096, 13))
	return x.Mul(x, rat(1, 64))
}

// TestGammaWord: the bounds hold, exactly, at both ends of the interval of x (γ is increasing), and
// the lower is the best.
func TestGammaWord(t *testing.T) {
	b := testSource(t).state()
	xs := []uint64{0, 1, 2, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	for range 300 {
		xs = append(xs, b.word(), b.word()>>b.uniform(64))
	}
	for _, k := range []uint64{0, 1, 2, 3, 10, 511, 4094, 4095, 4096, 8191, 8192, 1 << 40} {
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

// TestKeepFraction fixes the first digit of x: null, probability exp(−x(2n+x)/2¹³), for one and for
// several parts.
func TestKeepFraction(t *testing.T) {
	b := testSource(t).state()
	for _, k := range []uint64{0, 64, 511, 4095, 4096, 9000, 30_000} {
		for _, x := range []float64{0, .125, .5, .9, 1 - 0x1p-53} {
			t.Run(fmt.Sprintf("%d+%g", k, x), func(t *testing.T) {
				checkRate(t, 50_000, math.Exp(-x*(2*float64(k)+x)/8192), func() bool {
					return b.keepFraction(k, &digits{first: uint64(x * 0x1p64)})
				})
			})
		}
	}
}

// key returns the stream that peek returns.
func key(number uint64) *stream { b, _ := peek(number); return b }

// TestSampleReadsItsWords: the lowest bit of the first word is the sign and the others are the
// digits for the cell, the second word is x, and the next ones decide on keeping it.
func TestSampleReadsItsWords(t *testing.T) {
	d, _ := NewRoundedGaussian(1e6)
	begin, random := begins(cellDigits), testSource(t).state()
	for n := range uint64(tableCells) {
		u, x := begin[n].Uint64()+1, random.word()
		want := nearest(1e6, n, new(big.Int).SetUint64(x), 64)
		for sign, want := range []int64{want, -want} {
			b, rest := scripted(t, []uint64{u<<1 | uint64(sign), x, math.MaxUint64})
			if got := d.sample(b); got != want || rest() != 0 {
				t.Fatalf("cell %d, sign %d: drew %d, want %d; %d words are left", n, sign, got, want, rest())
			}
		}
	}
}

// TestAbove fixes the first digits of U and x = ½ where they do not decide. Within x's interval
// 2^64·γ grows by its slope g = (2n+2x)/(2¹³·parts) from a multiple of 1, so that U = u + uniform
// is below with probability E[g·uniform] = g/2.
func TestAbove(t *testing.T) {
	b := testSource(t).state()
	const half, middle = 1 << 63, 1<<62 + 1<<49
	for _, c := range []struct {
		name    string
		k, x, u uint64
		p       float64
	}{
		{"n=2048", 2048, half, middle, 4097. / 16384}, // γ = ¼ + 2⁻¹⁵
		{"n=2048 below", 2048, half, middle - 1, 1},
		{"n=2048 above", 2048, half, middle + 1, 0},
		{"n=4095", 4095, half, 4095<<51 + 1<<49, 8191. / 16384},
		{"n=4095 below", 4095, half, 4095<<51 + 1<<49 - 1, 1},
		{"n=4095 above", 4095, half, 4095<<51 + 1<<49 + 1, 0},
		{"two parts", 4096, half, 1<<62 + 1<<48, 8193. / 32768}, // γ = ¼ + 2⁻¹⁶
		{"n=0", 0, half, 1 << 49, 1. / 16384},
		{"n=0, x=0", 0, 0, 0, 0}, // γ < 2^−141: below is out of reach
	} {
		t.Run(c.name, func(t *testing.T) {
			checkRate(t, 20_000, c.p, func() bool { return (&digits{first: c.x}).above(b, c.k, c.u) })
		})
	}
}

// TestAboveKeepsDigits: what a comparison has drawn of x stays, and the verdict is right for the
// digits that were drawn.
func TestAboveKeepsDigits(t *testing.T) {
	b := testSource(t).state()
	for range 1000 {
		x := digits{first: 1 << 63, more: []uint64{b.word()}}
		kept := x.more[0]
		x.above(b, 2048, 1<<62+1<<49)
		if x.first != 1<<63 || x.more[0] != kept || len(x.more) > 2 {
			t.Fatalf("digits became %v", x)
		}
	}
	// With x known to 128 digits and U to 64, U must be extended before it can be compared: x = ½ +
	// ½·2^−64, 2^64·γ = 2^62 + 2^49 + .25006.
	checkRate(t, 50_000, .25006, func() bool {
		return (&digits{1 << 63, []uint64{1 << 63}}).above(b,
			2048, 1<<62+1<<49)
	})
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

// nearest returns ⌊σ(k + v/2^n)/64 + ½⌋ mod 2^64 in exact arithmetic.
func nearest(sigma float64, k uint64, v *big.Int, n uint) int64 {
	y := new(big.Rat).SetFrac(v, new(big.Int).Lsh(big.NewInt(1), n))
	y.Add(y, rat(k, 0))
	y.Mul(y, new(big.Rat).SetFloat64(sigma/64))
	y.Add(y, ratio(1, 2))
	q := new(big.Int).Div(y.Num(), y.Denom())
	return int64(q.And(q, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
}

// TestRound compares with exact rationals: the answer is that of the smallest and of the largest x
// with the digits known at the end. σ, k and the digits cover both paths, their borders at k = 2^9
// and σ = 2^−4 and results beyond 2^64.
func TestRound(t *testing.T) {
	b := testSource(t).state()
	below := math.Nextafter(MaxScale, 0)
	for _, sigma := range []float64{MinScale, math.Nextafter(MinScale, 1), math.Nextafter(2*MinScale,
		0), 0x1p-5, 0x1p-4, math.Nextafter(0x1p-4, 0), .3, .5, 1, 1.5, 4.7, 100, 0x1p24, 0x1.fffffp40,
		below, MaxScale} {
		d := stattest.Must(NewRoundedGaussian(sigma))
		for _, k := range []uint64{0, 1, 2, 7, 100, 510, 511, 512, 1023, 2047, 5000, 1<<15 + 1, 1<<16 +
			3} {
			xs := []uint64{0, 1, 1 << 63, 1<<63 - 1, math.MaxUint64, math.MaxUint64 - 1}
			for range 20 {
				xs = append(xs, b.word())
			}
			// The x next to a rounding border: σ(k+x)/64 = r + ½, for the r in the middle of the range.
			border := new(big.Rat).SetFloat64(math.Floor(sigma/64*(float64(k)+.5)) + .5)
			border.Quo(border, new(big.Rat).SetFloat64(sigma/64)).Sub(border, rat(k, 0)).Mul(border,
				rat(1, 64))
			if f, _ := border.Float64(); f > 4 && f < 0x1p63 {
				w := new(big.Int).Div(border.Num(), border.Denom()).Uint64()
				xs = append(xs, w-2, w-1, w, w+1, w+2)
			}
			for _, first := range xs {
				x := digits{first: first}
				got := d.round(b, k, &x)
				// The largest x is excluded: one more binary digit than known stands for it, at scales where
				// that is enough.
				lo := x.int()
				hi := new(big.Int).Lsh(lo, 64)
				hi.Add(hi, new(big.Int).SetUint64(math.MaxUint64))
				if l, h := nearest(sigma, k, lo, x.bits()), nearest(sigma, k, hi, x.bits()+64); got != l ||
					got != h {
					t.Fatalf("σ %v, k %d, x %v: %d, want %d to %d", sigma, k, x, got, l, h)
				}
			}
		}
	}
}

// TestRoundAtBorder: the first digit leaves the rounding open, and the border lies at the fraction
// f of its interval. Null: the result is the lower integer with probability f.
func TestRoundAtBorder(t *testing.T) {
	b := testSource(t).state()
	for _, c := range []struct {
		sigma float64
		k     uint64
	}{{192, 0}, {6400, 2}, {0x1.8p24, 1}, {0x1.23456789p40, 0}, {448, 1024}} {
		r := math.Floor(c.sigma / 64 * (float64(c.k) + .3))
		border := new(big.Rat).SetFloat64(r + .5)
		border.Quo(border, new(big.Rat).SetFloat64(c.sigma/64)).Sub(border, rat(c.k, 0)).Mul(border,
			rat(1, 64))
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

// TestKeepFractionAsksWhenUndecided: n = 4095, γ = x(2n+x)/2¹³ of slope nearly 1, and the smallest
// or largest x of a low near the first word u that comes. At the smallest, 2^64·γ may lie on either
// side of any number in [low, low+1); at the largest, of any in [low+1, low+2).
func TestKeepFractionAsksWhenUndecided(t *testing.T) {
	const n = 4095
	root := func(low uint64) uint64 { // the smallest X with X(2n·2^64+X) ≥ low·2^77
		x := new(big.Int).Lsh(new(big.Int).SetUint64(low), 77)
		x.Add(x, new(big.Int).Lsh(big.NewInt(n*n), 128))
		x.Sqrt(x.Sub(x, big.NewInt(1)))
		return x.Sub(x, new(big.Int).Lsh(big.NewInt(n), 64)).Uint64() + 1
	}
	for _, c := range []struct {
		name    string
		low     int64 // minus u
		largest bool
		asked   bool
	}{
		{"below", 1, false, false}, {"below, largest", 1, true, false}, {"u = low", 0, false,
			true}, {"u = low + 1", -1, true, true},
		{"above", -2, false, false}, {"above, largest", -2, true, false},
	} {
		for number := range uint64(50) {
			b, u := peek(number)
			if u >= 1<<63-16 || u < 1<<60 {
				continue // well inside the range of γ
			}
			low := u + uint64(c.low)
			x := root(low)
			if c.largest {
				x = root(low+1) - 1
			}
			if gammaWord(n, x) != low {
				t.Fatalf("%s: no x for %d", c.name, low)
			}
			d := digits{first: x}
			if b.keepFraction(n, &d); len(d.more) > 0 != c.asked {
				t.Fatalf("%s: more digits of x drawn: %v", c.name, len(d.more) > 0)
			}
		}
	}
}
