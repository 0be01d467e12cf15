package noise

import (
	"math"
	"math/big"
	"sync"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

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

// oracleSums is p(0) + ... + p(n−1) for n up to 1300; p(1300) is below 2^−297.
var oracleSums = sync.OnceValue(func() []*big.Float {
	sums := []*big.Float{wide(0)}
	for n := range uint64(1300) {
		sums = append(sums, new(big.Float).Add(sums[n], oracle(n)))
	}
	return sums
})

// beginOracle returns 2^digits·B(n) for n up to 1200.
func beginOracle(digits int) []*big.Float {
	out := make([]*big.Float, 1200)
	for n := range out {
		b := new(big.Float).Quo(oracleSums()[n], oracleSums()[1300])
		out[n] = b.SetMantExp(b, digits)
	}
	return out
}

// TestBeginsExactly: each cell begins where the sum of the probabilities before it says, to the
// last digit, and the list ends where all digits are ones; too few digits to compute with are
// refused.
func TestBeginsExactly(t *testing.T) {
	for _, digits := range []uint{1, 20, cellDigits, cellDigits + 64, 200} {
		want, last := beginOracle(int(digits)), new(big.Int).Lsh(big.NewInt(1), digits)
		last.Sub(last, big.NewInt(1))
		got := begins(digits)
		for n, begin := range got {
			if floor, _ := want[n].Int(nil); begin.Cmp(floor) != 0 {
				t.Fatalf("%d digits, cell %d: %v, want %v", digits, n, begin, floor)
			}
			if ends := begin.Cmp(last) == 0; ends != (n == len(got)-1) {
				t.Fatalf("%d digits: cell %d of %d is the last: %v", digits, n, len(got), ends)
			}
		}
		refused := 0
		for guard := range uint(40) {
			few, ok := beginsWith(digits, max(24, digits+guard))
			for n := range few {
				if ok && few[n].Cmp(got[n]) != 0 {
					t.Fatalf("%d digits and %d: cell %d wrong", digits, guard, n)
				}
			}
			if !ok {
				refused++
			}
		}
		if refused < 10 && digits > 20 {
			t.Errorf("%d digits: refused %d times only", digits, refused)
		}
	}
}

// TestExpNear: the ends lie on both sides of exp(−2⁻¹³) and a few steps apart.
func TestExpNear(t *testing.T) {
	for _, point := range []uint{1, 13, 63, 127, 250} {
		got, want := expNear(point), oracle(1)
		want.SetMantExp(want, int(point))
		if want.Cmp(new(big.Float).SetInt(got.low)) < 0 || want.Cmp(new(big.Float).SetInt(got.high)) > 0 {
			t.Errorf("%d digits: not in [%v, %v]", point, got.low, got.high)
		}
		if width := new(big.Int).Sub(got.high, got.low); width.Cmp(big.NewInt(60)) > 0 {
			t.Errorf("%d digits: the ends are %v apart", point, width)
		}
	}
}

// TestTimes: every product of numbers in two intervals lies in theirs.
func TestTimes(t *testing.T) {
	whole := func(low, high int64) interval { return interval{big.NewInt(low), big.NewInt(high)} }
	for a := range int64(8) {
		for b := range int64(8) {
			got := whole(a, a+1).times(whole(b, b+2), 2)
			if got.low.Int64()*4 > a*b || got.high.Int64()*4 < (a+1)*(b+2) {
				t.Errorf("[%d, %d] × [%d, %d]: [%v, %v]", a, a+1, b, b+2, got.low, got.high)
			}
		}
	}
}

// TestCellIsInversion: digits that lie between where a cell begins and where it ends give that cell
// and draw no more; so do those on both sides of a border of the guide.
func TestCellIsInversion(t *testing.T) {
	begin := begins(cellDigits)
	check := func(u, n uint64) {
		t.Helper()
		b, twin := key(n), key(n)
		if got := b.cell(u); got != n || b.word() != twin.word() {
			t.Fatalf("digits %d: cell %d, or more digits drawn; want %d", u, got, n)
		}
	}
	for n := range uint64(tableCells + 20) { // beyond the table too
		first, end := begin[n].Uint64(), begin[n+1].Uint64()
		if n > 0 {
			first++
		}
		check(first, n)
		check(end-1, n)
		check(first+(end-first)/2, n)
	}
	for k := range uint64(1 << guideBits) {
		for _, u := range []uint64{k << 53, k<<53 + 1, (k+1)<<53 - 1} {
			n := uint64(0)
			for u < 1<<63-1 && begin[n+1].Uint64() <= u {
				n++
			}
			if u < 1<<63-1 && u != begin[n].Uint64() {
				check(u, n)
			}
		}
	}
}

// TestCellTakesMoreDigits: where the digits are those of where a cell begins, or all are ones, the
// next ones decide, as exactly.
func TestCellTakesMoreDigits(t *testing.T) {
	table, want := begins(cellDigits), beginOracle(cellDigits+64)
	b, seen := testSource(t).state(), map[uint64]bool{}
	for _, begin := range []uint64{1, 2, 77, 200, tableCells, tableCells + 1, uint64(len(table) - 1)} {
		next, _ := want[begin].Int(nil) // the digits that follow
		border := next.Uint64()
		for _, w := range []uint64{0, border - 1, border + 1, 1<<64 - 1<<40, b.word(), b.word()} {
			u := new(big.Int).Lsh(table[begin], 64)
			u.Or(u, new(big.Int).SetUint64(w))
			n := uint64(0)
			for want[n+1].Cmp(new(big.Float).SetInt(u)) <= 0 {
				n++
			}
			play, rest := scripted(t, []uint64{w})
			if got := play.cell(table[begin].Uint64()); got != n || rest() != 0 {
				t.Fatalf("begin of %d and %d: cell %d, want %d", begin, w, got, n)
			}
			seen[n] = true
		}
	}
	for _, n := range []uint64{0, 1, 2, 76, 77, 199, 200, tableCells - 1, tableCells, tableCells + 1} {
		if !seen[n] {
			t.Errorf("cell %d was never drawn", n)
		}
	}
}

// TestCellLaw: null, P(n) ∝ exp(−n²/2¹³), 3·10^6 draws; the laws with 1.3 times the width and 1/1.3
// of it are rejected.
func TestCellLaw(t *testing.T) {
	b := testSource(t).state()
	const draws, last = 3_000_000, 300
	counts := make([]int64, last+1)
	for range draws {
		counts[min(b.cell(b.word()>>1), last)]++
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
	}
}
