package noise

import (
	"math/big"
	"math/bits"
	"sync"
)

// This file chooses the cell n ≥ 0 of |N|·64 = n + x, N standard normal, for [RoundedGaussian]: P(n) ∝ exp(−n²/2¹³).
//
// It is rejection under stairs. Sixteen cells make a strip, and in strip i = ⌊n/16⌋ the law is at most exp(−i²/32) ≤ 2^−stairs(i), the law
// at the strip's first cell. A strip is proposed with probability ∝ 2^−stairs(i), a cell of it uniformly, and cell n is kept with probability
//
//	p(n) = 2^stairs(i)·exp(−n²/2¹³) ≤ 1.
//
// The proposal takes a byte, 32/256 standing for a probability of 1 before normalisation: 32·2^−stairs(i) values for each strip i < 12. The
// stairs of the strips from 12 on are different numbers above 5, so one value (2⁻⁵) stands for all of them: a geometric j ≥ 1, P(j) = 2^−j, gives the strip
// whose stairs are 5 + j, if there is one. Other values propose nothing. In all .63 of the proposals are kept, for one random word each.

const (
	cellBits   = 6       // cells of width 2⁻⁶ standard deviations
	gammaBits  = 13      // 1 + 2·cellBits: exp(−n²/2¹³)
	tailStrip  = 12      // from here on one byte stands for all strips
	tailStairs = 5       // less than the stairs of these strips
	tableCells = 32 * 16 // cells below 8 standard deviations; beyond, which is once in 10¹⁵ draws, p(n) is computed
	tableBits  = 51      // digits of p(n) in the table: what a word has left after byte, cell and sign
)

// stairs is a whole number of at most i²/(32·ln 2), about its floor: 2^stairs(i) ≤ exp(i²/32). For i < 2^18.
func stairs(i uint64) uint64 { return i * i * 193_635_250 >> 32 } // 2^32/(32·ln 2) = 193 635 250.99...

// cells is the table of the proposal and of the first digits of p.
type cells struct {
	strips [256]uint8
	keep   [tableCells]uint64 // ⌊2^tableBits·p(n)⌋
}

const (
	stripTail = 254 // entries of strips that are no strip
	stripNone = 255
)

var theCells = sync.OnceValue(func() *cells {
	t := new(cells)
	k := 0
	for i := range uint64(tailStrip) {
		for range 32 >> stairs(i) {
			t.strips[k] = uint8(i)
			k++
		}
	}
	t.strips[k] = stripTail
	for k++; k < len(t.strips); k++ {
		t.strips[k] = stripNone
	}
	for n := range uint64(tableCells) {
		low, high := new(big.Int), big.NewInt(1)
		for guard := uint(64); low.Cmp(high) != 0; guard *= 2 { // until all digits are certain
			low, high = keepBetween(n, tableBits+guard)
			low.Rsh(low, guard)
			high.Rsh(high, guard)
		}
		t.keep[n] = low.Uint64()
	}
	return t
})

// cell proposes a cell and a sign. ok is false if there is nothing to propose or it was not kept.
func (b *stream) cell(t *cells) (n uint64, negative, ok bool) {
	w := b.word()
	i := uint64(t.strips[w&0xff])
	if i >= stripTail {
		if i == stripNone {
			return 0, false, false
		}
		if i, ok = b.tail(); !ok {
			return 0, false, false
		}
	}
	n, negative = i<<4|w>>8&15, w>>12&1 == 1
	y := w >> (64 - tableBits)
	if n < tableCells && y != t.keep[n] {
		return n, negative, y < t.keep[n]
	}
	return n, negative, b.belowKeep(y, n)
}

// tail returns strip i ≥ tailStrip with probability 2^(tailStairs − stairs(i)), and false with the probability that is left.
func (b *stream) tail() (i uint64, ok bool) {
	s := uint64(tailStairs)
	w := b.word()
	for ; w == 0; w = b.word() {
		s += 64
	}
	s += 1 + uint64(bits.LeadingZeros64(w))
	for i = tailStrip; stairs(i) < s; i++ {
	}
	return i, stairs(i) == s
}

// belowKeep reports U < p(n) for a uniform U with first tableBits digits y, drawing digits of U until they decide.
func (b *stream) belowKeep(y, n uint64) bool {
	digits, u := uint(tableBits), new(big.Int).SetUint64(y)
	for {
		low, high := keepBetween(n, digits)
		if u.Cmp(high) >= 0 {
			return false
		}
		next := new(big.Int).Add(u, big.NewInt(1))
		if next.Cmp(low) <= 0 {
			return true
		}
		digits += 64
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(b.word()))
	}
}

// keepBetween returns whole numbers low ≤ 2^digits·p(n) ≤ high, at most a few apart.
//
// With q = n²/2¹³ it computes exp(−q/2^r) for an r with q/2^r ≤ ½ by its alternating series, whose partial sums lie on both sides of it, and
// squares r times; all in fixed point, low ends rounded down and high ends up.
func keepBetween(n uint64, digits uint) (low, high *big.Int) {
	up := uint(stairs(n >> 4))
	square := new(big.Int).Mul(new(big.Int).SetUint64(n), new(big.Int).SetUint64(n))
	r := uint(max(0, square.BitLen()-(gammaBits-1)))
	point := digits + up + 2*r + 16 // binary digits after the point: squaring at most doubles an error, and 2^up multiplies it
	low, high = expMinus(square, gammaBits+r, point)
	for range r {
		low.Rsh(low.Mul(low, low), point)
		shiftUp(high.Mul(high, high), point)
	}
	shift := point - digits - up
	return low.Rsh(low, shift), shiftUp(high, shift)
}

// expMinus returns low ≤ 2^point·exp(−a/2^e) ≤ high for 0 ≤ a/2^e ≤ ½.
func expMinus(a *big.Int, e, point uint) (low, high *big.Int) {
	one := new(big.Int).Lsh(big.NewInt(1), point)
	low, high = new(big.Int).Set(one), new(big.Int).Set(one)
	down, above := new(big.Int).Set(one), new(big.Int).Set(one) // bounds of the term a^k/(2^ek·k!)
	if a.Sign() == 0 {
		return low, high
	}
	for k := int64(1); down.Sign() > 0; k++ {
		down.Rsh(down.Mul(down, a), e).Quo(down, big.NewInt(k))
		shiftUp(above.Mul(above, a), e).Add(above, big.NewInt(k-1)).Quo(above, big.NewInt(k))
		if k%2 == 1 {
			low, high = new(big.Int).Sub(low, above), high.Sub(high, down)
		} else {
			low, high = low.Add(low, down), high.Add(high, above)
		}
	}
	// What is left out is smaller than the last term, which is below above.
	return low.Sub(low, above), high.Add(high, above)
}

// shiftUp sets x to ⌈x/2^n⌉.
func shiftUp(x *big.Int, n uint) *big.Int {
	x.Add(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(1)))
	return x.Rsh(x, n)
}
