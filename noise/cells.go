package noise

import (
	"math/big"
	"sync"
)

// This file draws the cell n ≥ 0 of |N|·64 = n + x, N standard normal, for [RoundedGaussian]:
//
//	P(n) = p(n)/S,   p(n) = exp(−n²/2¹³),   S = p(0) + p(1) + ...
//
// by inversion: a uniform U gives the n with B(n) ≤ U < B(n+1), where B(n) = P(0) + ... + P(n−1) is
// where cell n begins. ⌊2^digits·B⌋ and as many digits of U decide that, unless they are equal.

const (
	cellBits  = 6  // cells of width 2⁻⁶ standard deviations
	gammaBits = 13 // 1 + 2·cellBits: exp(−n²/2¹³)

	cellDigits = 63 // of the U of a draw, whose word has the sign besides
	guideBits  = 10
	// in the table: 8 standard deviations; a draw is beyond once in 10¹⁵
	tableCells = 512
)

// cells is where the cells begin, to cellDigits digits.
type cells struct {
	begins [tableCells + 1]uint64 // the last: that of the first cell beyond
	guide  [1 << guideBits]uint16 // a cell that begins below these first digits, near them
}

var theCells = sync.OnceValue(func() *cells {
	t, n := new(cells), 0
	for k, begin := range begins(cellDigits)[:len(t.begins)] {
		t.begins[k] = begin.Uint64()
	}
	for k := range t.guide {
		for n+1 < tableCells && t.begins[n+1] < uint64(k)<<(cellDigits-guideBits) {
			n++
		}
		t.guide[k] = uint16(n)
	}
	return t
})

// cell draws the cell of a U with first digits u.
func (b *stream) cell(u uint64) uint64 {
	t := b.cells
	n := uint64(t.guide[u>>(cellDigits-guideBits)])
	for n < tableCells && t.begins[n+1] < u {
		n++
	}
	if n < tableCells && u < t.begins[n+1] {
		return n
	}
	return b.cellOf(new(big.Int).SetUint64(u), cellDigits)
}

// cellOf is cell for a U with these first digits, and as many more as it takes.
func (b *stream) cellOf(u *big.Int, digits uint) uint64 {
	for {
		for n, end := range begins(digits)[1:] {
			if order := u.Cmp(end); order < 0 {
				return uint64(n)
			} else if order == 0 {
				break
			}
		}
		digits += 64
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(b.word()))
	}
}

// begins returns ⌊2^digits·B(n)⌋ for n = 0, 1, 2, ... until that is 2^digits − 1, as it is from
// there on.
func begins(digits uint) []*big.Int {
	for guard := uint(64); ; guard *= 2 {
		if out, ok := beginsWith(digits, digits+guard); ok {
			return out
		}
	}
}

// beginsWith is begins computed to point binary digits, at least 24, or false if these are too few.
//
// p(n+1) is p(n) times exp(−(2n+1)/2¹³), these factors are each exp(−2/2¹³) times the one before,
// and 2^point·p(K) ≤ 1 ends the sums: as 1 − exp(−K/2¹²) ≥ 2⁻¹³ for K ≥ 1,
//
//	p(K) + p(K+1) + ... ≤ p(K)·(1 + exp(−2K/2¹³) + exp(−4K/2¹³) + ...) ≤ 2¹³·p(K).
func beginsWith(digits, point uint) (out []*big.Int, ok bool) {
	one := new(big.Int).Lsh(big.NewInt(1), point)
	factor := expNear(point)
	step := factor.times(factor, point)
	var sums []interval
	sum, p := interval{new(big.Int), new(big.Int)}, interval{one, one}
	for p.high.Cmp(big.NewInt(1)) > 0 {
		sums = append(sums, sum)
		sum = interval{new(big.Int).Add(sum.low, p.low), new(big.Int).Add(sum.high, p.high)}
		p, factor = p.times(factor, point), factor.times(step, point)
	}
	all := interval{sum.low, sum.high.Add(sum.high, big.NewInt(1<<gammaBits))}
	last := new(big.Int).Lsh(big.NewInt(1), digits)
	last.Sub(last, big.NewInt(1)) // B < 1
	for _, s := range sums {
		low := s.low.Lsh(s.low, digits).Quo(s.low, all.high)
		high := new(big.Int).Lsh(s.high, digits)
		if high.Quo(high, all.low).Cmp(last) > 0 {
			high = last
		}
		if low.Cmp(high) != 0 {
			return nil, false
		}
		if out = append(out, low); low.Cmp(last) == 0 {
			return out, true
		}
	}
	return nil, false
}

// expNear returns bounds of 2^point·exp(−2⁻¹³): of its alternating series, whose terms are cut off
// to whole numbers until one is 0.
func expNear(point uint) interval {
	term := new(big.Int).Lsh(big.NewInt(1), point)
	sum, k := new(big.Int), int64(0)
	for ; term.Sign() > 0; term.Rsh(term, gammaBits).Quo(term, big.NewInt(k)) {
		if k++; k%2 == 1 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
	}
	off := big.NewInt(k + 1) // less than 1 for each term, and for what follows
	return interval{new(big.Int).Sub(sum, off), sum.Add(sum, off)}
}

// interval is two whole numbers around one that is not: low ≤ x ≤ high.
type interval struct{ low, high *big.Int }

// times is the product of two numbers of 0 or more, all three in units of 2^−point.
func (a interval) times(b interval, point uint) interval {
	low, high := new(big.Int).Mul(a.low, b.low), new(big.Int).Mul(a.high, b.high)
	return interval{low.Rsh(low, point), high.Rsh(high, point).Add(high, big.NewInt(1))}
}
