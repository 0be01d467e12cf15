package noise

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestStairs: 2^stairs(i) ≤ exp(i²/32), exactly; the strips of the tail have different stairs above tailStairs, and the bytes add up.
func TestStairs(t *testing.T) {
	ln2, _, _ := big.ParseFloat("0.693147180559945309417232121458176568075500134360255254120680", 10, 190, big.ToPositiveInf)
	bytes := 0
	for i := range uint64(2000) {
		left := new(big.Float).SetPrec(190).SetUint64(32 * stairs(i))
		if left.Mul(left, ln2).Cmp(new(big.Float).SetUint64(i*i)) > 0 {
			t.Fatalf("strip %d: 2^%d is above exp(i²/32)", i, stairs(i))
		}
		if exact := float64(i*i) / 32 / math.Ln2; exact-float64(stairs(i)) > 1.001 {
			t.Errorf("strip %d: stairs %d, could be %v", i, stairs(i), exact)
		}
		switch {
		case i < tailStrip:
			bytes += 32 >> stairs(i)
			if stairs(i) > tailStairs {
				t.Errorf("strip %d has stairs %d", i, stairs(i))
			}
		case stairs(i) <= stairs(i-1) || stairs(i) <= tailStairs:
			t.Errorf("strip %d: stairs %d after %d", i, stairs(i), stairs(i-1))
		}
	}
	counts := map[uint8]int{}
	for _, i := range theCells().strips {
		counts[i]++
	}
	if bytes != 215 || counts[stripTail] != 1 || counts[stripNone] != 40 {
		t.Errorf("%d bytes of strips, %d of the tail, %d of none", bytes, counts[stripTail], counts[stripNone])
	}
	for i := range uint8(tailStrip) {
		if counts[i] != 32>>stairs(uint64(i)) {
			t.Errorf("strip %d has %d bytes", i, counts[i])
		}
	}
}

// oracle returns 2^stairs·exp(−n²/2¹³) by a way of its own: a product of n factors exp(−(2k+1)/2¹³), in floating point of 400 digits.
func oracle(n uint64) *big.Float {
	real := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	root, term := real(1), real(1) // exp(−2⁻¹³)
	for k := 1; k < 40; k++ {
		term.Mul(term, real(-0x1p-13)).Quo(term, real(float64(k)))
		root.Add(root, term)
	}
	out, factor, step := real(1), real(0).Set(root), real(0).Mul(root, root)
	for range n {
		out.Mul(out, factor)
		factor.Mul(factor, step)
	}
	return out.SetMantExp(out, int(stairs(n>>4)))
}

// digitsOf returns 2^digits·p and its floor.
func digitsOf(p *big.Float, digits int) (scaled *big.Float, floor *big.Int) {
	scaled = new(big.Float).SetMantExp(p, digits)
	floor, _ = scaled.Int(nil)
	return scaled, floor
}

// TestKeepTable compares every entry with the oracle.
func TestKeepTable(t *testing.T) {
	for n, got := range theCells().keep {
		if _, want := digitsOf(oracle(uint64(n)), tableBits); want.Uint64() != got {
			t.Fatalf("cell %d: %d, want %d", n, got, want)
		}
	}
	if got := theCells().keep[0]; got != 1<<tableBits {
		t.Errorf("cell 0: %d", got)
	}
}

func TestKeepBetween(t *testing.T) {
	for _, n := range []uint64{0, 1, 15, 16, 63, 64, 65, 90, 91, 511, 512, 1000, 4096, 9001} {
		for _, digits := range []int{1, 51, 64, 115, 243} {
			low, high := keepBetween(n, uint(digits))
			p, _ := digitsOf(oracle(n), digits)
			if p.Cmp(new(big.Float).SetInt(low)) < 0 || p.Cmp(new(big.Float).SetInt(high)) > 0 {
				t.Errorf("cell %d, %d digits: not between %v and %v", n, digits, low, high)
			}
			if high.Sub(high, low).Cmp(big.NewInt(2)) > 0 {
				t.Errorf("cell %d, %d digits: the ends are %v apart", n, digits, high)
			}
		}
	}
}

// TestExpMinus: the ends lie on both sides of exp(−a/2^e) and a hundred steps apart at most.
func TestExpMinus(t *testing.T) {
	for _, c := range []struct {
		a int64
		e uint
	}{{0, 4}, {1, 1}, {1, 20}, {3, 3}, {511, 10}, {1 << 40, 41}} {
		low, high := expMinus(big.NewInt(c.a), c.e, 60)
		want := math.Exp(-math.Ldexp(float64(c.a), -int(c.e))) * 0x1p60
		l, _ := new(big.Float).SetInt(low).Float64()
		h, _ := new(big.Float).SetInt(high).Float64()
		if l > want+0x1p8 || h < want-0x1p8 || h < l || h-l > 100 { // math.Exp itself is exact to 2^7 steps
			t.Errorf("exp(−%d/2^%d): %v to %v, want %v", c.a, c.e, l, h, want)
		}
	}
}

// TestCellLaw: null, P(n) ∝ exp(−n²/2¹³) and both signs alike, 3·10^6 proposals, of which 80.71/128 are kept; the laws with 1.3 times the width and
// 1/1.3 of it are rejected.
func TestCellLaw(t *testing.T) {
	b, table := testSource(t).state(), theCells()
	const proposals, last = 3_000_000, 300
	counts := make([]int64, 2*last+2)
	kept := int64(0)
	for range proposals {
		if n, negative, ok := b.cell(table); ok {
			kept++
			k := 2 * min(n, last)
			if negative {
				k++
			}
			counts[k]++
		}
	}
	for _, c := range []struct {
		scale float64
		ok    bool
	}{{1, true}, {1.3, false}, {1 / 1.3, false}} {
		p, sum := make([]float64, len(counts)), 0.0
		for n := range 2000 {
			w := math.Exp(-float64(n*n) / 8192 / c.scale / c.scale)
			p[2*min(n, last)] += w
			p[2*min(n, last)+1] += w
			sum += 2 * w
		}
		for k := range p {
			p[k] /= sum
		}
		if s, th, ok := stattest.ChiSquare(counts, p); ok != c.ok {
			t.Errorf("scale %v: %v ≤ %v is %v", c.scale, s, th, ok)
		}
		if rate := sum / 256; c.ok {
			if s, th, ok := stattest.Binomial(kept, proposals, rate); !ok {
				t.Errorf("%d of %d proposals kept, want %v: %v > %v", kept, proposals, rate, s, th)
			}
		}
	}
}

// TestTail: null, strip i with probability 2^(5−stairs(i)), none with the rest.
func TestTail(t *testing.T) {
	b := testSource(t).state()
	counts, p := make([]int64, 12), make([]float64, 12)
	for range 500_000 {
		switch i, ok := b.tail(); {
		case !ok:
			counts[0]++
		case i < tailStrip:
			t.Fatalf("strip %d", i)
		default:
			counts[min(i-tailStrip+1, 11)]++
		}
	}
	p[0] = 1
	for i := uint64(tailStrip); i < 60; i++ {
		q := math.Ldexp(1, tailStairs-int(stairs(i)))
		p[min(i-tailStrip+1, 11)] += q
		p[0] -= q
	}
	if s, th, ok := stattest.ChiSquare(counts, p); !ok {
		t.Errorf("%v > %v: %v", s, th, counts)
	}
	p[1], p[2] = p[2], p[1]
	if _, _, ok := stattest.ChiSquare(counts, p); ok {
		t.Error("other stairs are not rejected")
	}
}

// TestBelowKeep fixes the first digits y of U where they do not decide: null, kept with the probability of the digits of p(n) that follow.
func TestBelowKeep(t *testing.T) {
	b := testSource(t).state()
	for _, n := range []uint64{1, 77, 200, 511, 512, 700} {
		scaled, floor := digitsOf(oracle(n), tableBits)
		f, _ := scaled.Sub(scaled, new(big.Float).SetInt(floor)).Float64()
		y := floor.Uint64()
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			checkRate(t, 2000, f, func() bool { return b.belowKeep(y, n) })
			if !b.belowKeep(y-1, n) || b.belowKeep(y+1, n) {
				t.Error("wrong beside the digits that do not decide")
			}
		})
	}
}
