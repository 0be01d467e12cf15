package noise

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestStairs: 2^stairs(i) ≤ exp(i²/32), exactly; the strips of the tail have different stairs above
// tailStairs.
func TestStairs(t *testing.T) {
	ln2, _, _ := big.ParseFloat("0.693147180559945309417232121458176568075500134360255254120680", 10,
		190, big.ToPositiveInf)
	for i := range uint64(2000) {
		left := new(big.Float).SetPrec(190).SetUint64(32 * stairs(i))
		if left.Mul(left, ln2).Cmp(new(big.Float).SetUint64(i*i)) > 0 {
			t.Fatalf("strip %d: 2^%d is above exp(i²/32)", i, stairs(i))
		}
		if exact := float64(i*i) / 32 / math.Ln2; exact-float64(stairs(i)) > 1.001 {
			t.Errorf("strip %d: stairs %d, could be %v", i, stairs(i), exact)
		}
		if i >= tailStrip && (stairs(i) <= stairs(i-1) || stairs(i) <= tailStairs) {
			t.Errorf("strip %d: stairs %d after %d", i, stairs(i), stairs(i-1))
		}
	}
}

// oracle returns p(n) = exp(−n²/2¹³) by a way of its own: a product of n factors exp(−(2k+1)/2¹³),
// in floating point of 400 digits.
func oracle(n uint64) *big.Float {
	root, term := wide(1), wide(1) // exp(−2⁻¹³)
	for k := 1; k < 40; k++ {
		term.Mul(term, wide(-0x1p-13)).Quo(term, wide(float64(k)))
		root.Add(root, term)
	}
	out, factor, step := wide(1), wide(0).Set(root), wide(0).Mul(root, root)
	for range n {
		out.Mul(out, factor)
		factor.Mul(factor, step)
	}
	return out
}

func wide(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }

// proposed returns the probability that one word, and those of the tail, propose cell n: the
// table's slots are counted.
func proposed(n uint64) *big.Float {
	owner, share := min(n, tailCells), wide(1./4096)
	if n >= tailCells {
		// of the tail's proposals: the strip, and one of 16
		share.SetMantExp(share, tailStairs-4-int(stairs(n/16)))
	}
	count := 0.
	for _, o := range theCells().slots {
		if uint64(o) == owner {
			count++
		}
	}
	return share.Mul(share, wide(count))
}

// keepOracle returns 49·p(n)/2¹² over the probability of a proposal: what keep(n) must be.
func keepOracle(n uint64) *big.Float {
	p := oracle(n)
	return p.Mul(p, wide(49./4096)).Quo(p, proposed(n))
}

// digitsOf returns 2^digits·p and its floor.
func digitsOf(p *big.Float, digits int) (scaled *big.Float, floor *big.Int) {
	scaled = new(big.Float).SetMantExp(p, digits)
	floor, _ = scaled.Int(nil)
	return scaled, floor
}

// TestSlots: each cell owns the least number of slots that keep(n) ≤ 1 allows, the tail the rest,
// and a height of 50 would leave it none.
func TestSlots(t *testing.T) {
	counts := map[uint8]int64{}
	for _, n := range theCells().slots {
		counts[n]++
	}
	total, higher := int64(0), int64(0)
	for n := range uint64(tailCells) {
		ceil := func(height float64) int64 {
			x, _ := wide(0).Mul(oracle(n), wide(height)).Int64()
			if n > 0 { // 50·p(0) is whole, other multiples of p are not
				x++
			}
			return x
		}
		if got := counts[uint8(n)]; got != ceil(49) || theCells().owned[n] != got {
			t.Errorf("cell %d has %d slots, %d by the table's count, want %d", n, got, theCells().owned[n],
				ceil(49))
		}
		total += ceil(49)
		higher += ceil(50)
	}
	if counts[tailCells] != 13 || theCells().owned[tailCells] != 13 || total != 4083 ||
		len(counts) != tailCells+1 {
		t.Errorf("%d slots of the tail, %d of %d cells", counts[tailCells], total, len(counts))
	}
	if higher < 4096 {
		t.Errorf("at height 50 there are %d slots", higher)
	}
}

// TestCellLawExactly: the probability of a proposal, times keep(n) in bounds of 2⁻³⁰⁰, is
// 49·p(n)/2¹² in the table, in the tail and beyond the table of digits; that and all digits that
// belowKeep draws being uniform, P(n) ∝ p(n). keep(n) is a probability, and the digits of the table
// are its first.
func TestCellLawExactly(t *testing.T) {
	for n := range uint64(700) {
		law, share := oracle(n), proposed(n)
		law.Mul(law, wide(49./4096))
		low, high := theCells().keepBetween(n, 300)
		if high.Cmp(new(big.Int).Lsh(big.NewInt(1), 300)) > 0 {
			t.Fatalf("cell %d: keep above 1", n)
		}
		for _, bound := range []struct {
			keep *big.Int
			sign int
		}{{low, 1}, {high, -1}} {
			product := wide(0).SetInt(bound.keep)
			product.SetMantExp(product, -300).Mul(product, share)
			if got := law.Cmp(product); got == -bound.sign {
				t.Fatalf("cell %d: 49·p/2¹² is %v, bound %v", n, law.Text('g', 20), product.Text('g', 20))
			}
		}
		if n < tableCells {
			if _,
				want := digitsOf(keepOracle(n), keepDigits); want.Uint64() != uint64(theCells().digits[n]) {
				t.Fatalf("cell %d: digits %d, want %d", n, theCells().digits[n], want)
			}
		}
	}
	if got := theCells().digits[0]; got != 1<<keepDigits {
		t.Errorf("cell 0: %d", got) // 49 slots of height 49: always kept
	}
}

// TestKeepBetween: bounds on both sides of what the oracle says, and nearly as close as whole
// numbers can be.
func TestKeepBetween(t *testing.T) {
	for _, n := range []uint64{0, 1, 15, 16, 63, 64, 65, 90, 91, 239, 240, 255, 256, 511, 512, 1000,
		4096, 9001} {
		for _, digits := range []int{1, 26, 64, 115, 243} {
			low, high := theCells().keepBetween(n, uint(digits))
			p, _ := digitsOf(keepOracle(n), digits)
			if p.Cmp(new(big.Float).SetInt(low)) < 0 || p.Cmp(new(big.Float).SetInt(high)) > 0 {
				t.Errorf("cell %d, %d digits: not between %v and %v", n, digits, low, high)
			}
			if high.Sub(high, low).Cmp(big.NewInt(2)) > 0 {
				t.Errorf("cell %d, %d digits: the ends are %v apart", n, digits, high)
			}
		}
	}
}

// slotOf returns the first or last slot of a cell.
func slotOf(n uint64, last bool) (slot uint64) {
	for k, o := range theCells().slots {
		if uint64(o) == n {
			if slot = uint64(k); !last {
				break
			}
		}
	}
	return slot
}

// word puts a word together as cells.go takes it apart.
func word(slot, negative, u, y uint64) uint64 { return y<<38 | u<<13 | negative<<12 | slot }

// used returns how many words of the stream that begins like twin have been drawn from b, at most
// 9.
func used(b, twin *stream) int {
	next := b.word()
	for k := range 10 {
		if twin.word() == next {
			return k
		}
	}
	return 10
}

// TestCellReadsItsWord: of a word that decides, slot and y are what counts, whatever the other
// digits are, and no other word is drawn.
func TestCellReadsItsWord(t *testing.T) {
	for n := range uint64(tailCells) {
		for _, last := range []bool{false, true} {
			for _, c := range []struct {
				y    uint64
				kept bool
			}{{0, true}, {uint64(theCells().digits[n]) - 1, true}, {uint64(theCells().digits[n]) + 1,
				false}, {1<<26 - 1, uint64(theCells().digits[n]) > 1<<26-1}} {
				if c.y >= 1<<26 {
					continue // keep(n) is 1
				}
				for _, u := range []uint64{0, 1, 1 << 24, 1<<25 - 1} {
					b, _ := peek(n)
					got, kept := b.cell(word(slotOf(n, last), u&1, u, c.y))
					twin, _ := peek(n)
					if words := used(b, twin); got != n || kept != c.kept || words != 0 {
						t.Fatalf("y %d, u %d: cell %d, kept %v, %d words drawn, want %d, %v, none", c.y, u, got, kept,
							words, n, c.kept)
					}
				}
			}
		}
	}
}

// TestCellOfTail: a slot of the tail gives cells of the tail only, which the same y keeps or not as
// the table says.
func TestCellOfTail(t *testing.T) {
	b, seen := testSource(t).state(), map[uint64]bool{}
	for k := range 4000 {
		low, high := uint64(k%2)*1000, uint64(k%2)*2_000_000
		y := low + high
		n, kept := b.cell(word(slotOf(tailCells, k%3 == 0), 0, 0, y))
		switch {
		case n == 0 && !kept: // no such strip
		case n < tailCells:
			t.Fatalf("cell %d", n)
		case n < tableCells && kept != (y < uint64(theCells().digits[n])) &&
			y != uint64(theCells().digits[n]):
			t.Fatalf("cell %d: y %d kept %v", n, y, kept)
		}
		seen[n] = true
	}
	for n := uint64(tailCells); n < tailCells+16; n++ {
		if !seen[n] {
			t.Errorf("cell %d was never proposed", n)
		}
	}
}

// TestExpBetween: the ends lie on both sides of exp(−a/2^e) and a hundred steps apart at most.
func TestExpBetween(t *testing.T) {
	for _, c := range []struct {
		a int64
		e uint
	}{{0, 4}, {1, 1}, {1, 20}, {3, 3}, {511, 10}, {1 << 40, 41}} {
		low, high := expBetween(big.NewInt(c.a), c.e, 60)
		want := math.Exp(-math.Ldexp(float64(c.a), -int(c.e))) * 0x1p60
		l, _ := new(big.Float).SetInt(low).Float64()
		h, _ := new(big.Float).SetInt(high).Float64()
		// math.Exp itself is exact to 2^7 steps
		if l > want+0x1p8 || h < want-0x1p8 || h < l || h-l > 100 {
			t.Errorf("exp(−%d/2^%d): %v to %v, want %v", c.a, c.e, l, h, want)
		}
	}
}

// TestCellLaw: null, P(n) ∝ exp(−n²/2¹³), 3·10^6 proposals, of which 49·80.71/2¹² are kept; the
// laws with 1.3 times the width and 1/1.3 of it are rejected.
func TestCellLaw(t *testing.T) {
	b := testSource(t).state()
	const proposals, last = 3_000_000, 300
	counts := make([]int64, last+1)
	kept := int64(0)
	for range proposals {
		if n, ok := b.cell(b.word()); ok {
			kept++
			counts[min(n, last)]++
		}
	}
	for _, c := range []struct {
		scale float64
		ok    bool
	}{{1, true}, {1.3, false}, {1 / 1.3, false}} {
		p, sum := make([]float64, len(counts)), 0.0
		for n := range 2000 {
			w := math.Exp(-float64(n*n) / 8192 / c.scale / c.scale)
			p[min(n, last)] += w
			sum += w
		}
		for k := range p {
			p[k] /= sum
		}
		if s, th, ok := stattest.ChiSquare(counts, p); ok != c.ok {
			t.Errorf("scale %v: %v ≤ %v is %v", c.scale, s, th, ok)
		}
		if rate := 49 * sum / 4096; c.ok {
			if s, th, ok := stattest.Binomial(kept, proposals, rate); !ok {
				t.Errorf("%d of %d proposals kept, want %v: %v > %v", kept, proposals, rate, s, th)
			}
		}
	}
}

// TestTailLaw: null, a slot of the tail keeps cell n with probability 49·p(n)/13; 3·10^6 proposals,
// cells from 240 to 300 and the others.
func TestTailLaw(t *testing.T) {
	b, slot := testSource(t).state(), slotOf(tailCells, true)
	const proposals, last = 3_000_000, 300
	counts, p := make([]int64, last-tailCells+2), make([]float64, last-tailCells+2)
	for range proposals {
		if n, ok := b.cell(b.word()>>12<<12 | slot); ok {
			counts[min(n, last)-tailCells]++
		} else {
			counts[len(counts)-1]++
		}
	}
	sum := 0.
	for n := tailCells; n < 2000; n++ {
		w := 49 * math.Exp(-float64(n*n)/8192) / 13
		p[min(n, last)-tailCells] += w
		sum += w
	}
	p[len(p)-1] = 1 - sum
	if s, th, ok := stattest.ChiSquare(counts, p); !ok {
		t.Errorf("%v > %v: %v", s, th, counts)
	}
	for k := range len(p) - 1 {
		p[k] *= 1.3
	}
	p[len(p)-1] = 1 - 1.3*sum
	if _, _, ok := stattest.ChiSquare(counts, p); ok {
		t.Error("1.3 times the law is not rejected")
	}
}

// TestTail: null, strip i with probability 2^(9−stairs(i)), none with the rest.
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

// TestBelowKeep fixes the first digits y of U where they do not decide: null, kept with the
// probability of the digits of keep(n) that follow. cell asks it then, and where it has no digits.
func TestBelowKeep(t *testing.T) {
	b := testSource(t).state()
	for _, n := range []uint64{1, 77, 200, 239, 240, 300, 512, 700} {
		scaled, floor := digitsOf(keepOracle(n), keepDigits)
		f, _ := scaled.Sub(scaled, new(big.Float).SetInt(floor)).Float64()
		y := floor.Uint64()
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			trials := 2000
			if n == 1 {
				trials = 12_000 // enough for a wrong rate to be rejected
			}
			checkRate(t, trials, f, func() bool { return b.belowKeep(theCells(), y, n) })
			if y > 0 && !b.belowKeep(theCells(), y-1, n) || b.belowKeep(theCells(), y+1, n) {
				t.Error("wrong beside the digits that do not decide")
			}
			if n < tailCells {
				checkRate(t, 2000, f, func() bool {
					_, kept := b.cell(word(slotOf(n, true), 1,
						1<<25-1, y))
					return kept
				})
			}
		})
	}
}
