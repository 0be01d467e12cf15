package noise

import (
	"math/big"
	"math/bits"
	"sync"
)

// This file chooses the cell n ≥ 0 of |N|·64 = n + x, N standard normal, for [RoundedGaussian]:
// P(n) ∝ p(n) = exp(−n²/2¹³).
//
// A table has 2¹² slots. Cell n < 240 owns h(n) = ⌈49·p(n)⌉ of them, and the r = 13 that are left
// stand for the tail, the cells from 240 on. A uniform slot proposes its owner; cell n is kept with
// probability
//
//	keep(n) = 49·p(n)/h(n) ≤ 1,
//
// so that it is proposed and kept with probability h(n)/2¹²·keep(n) = 49·p(n)/2¹². Over all n that
// is .9656, and one random word serves a proposal.
//
// The tail takes p(n) under stairs. Sixteen cells make a strip, and in strip i = ⌊n/16⌋ p(n) is at
// most exp(−i²/32) ≤ 2^−stairs(i). The stairs of the strips of the tail are different numbers above
// 9, so a geometric j ≥ 1, P(j) = 2^−j, gives the strip whose stairs are 9 + j, if there is one:
// strip i with probability 2^(9−stairs(i)). A cell of it is taken uniformly, so cell n is proposed
// with probability r/2¹²·2^(5−stairs(i)), and kept with
//
//	keep(n) = 49·2^stairs(i)·p(n)/(32·r) ≤ 49/416,
//
// the product being 49·p(n)/2¹² here too, for every n.

const (
	cellBits   = 6  // cells of width 2⁻⁶ standard deviations
	gammaBits  = 13 // 1 + 2·cellBits: exp(−n²/2¹³)
	slotBits   = 12
	height     = 49 // the largest for which the table leaves slots for the tail
	tailStrip  = 15
	tailCells  = 16 * tailStrip // the cells below are in the table of slots
	tailStairs = 9              // less than the stairs of the strips of the tail
	// 8 standard deviations; beyond, which is once in 10¹⁵ draws, keep(n) is computed
	tableCells = 512

	// A word is, from its lowest bit on: slot, sign, first digits of the U that is compared with γ in
	// keepFraction, first digits of the U compared with keep(n).
	gammaDigits = 25
	keepDigits  = 64 - slotBits - 1 - gammaDigits
)

// stairs is a whole number of at most i²/(32·ln 2), about its floor: 2^stairs(i) ≤ exp(i²/32). For
// i < 2^18.
// 2^32/(32·ln 2) = 193 635 250.99...
func stairs(i uint64) uint64 { return i * i * 193_635_250 >> 32 }

// cells is the table of the proposal and of the first digits of keep.
type cells struct {
	slots  [1 << slotBits]uint8 // owner, tailCells for the tail
	owned  [tailCells + 1]int64 // slots of each cell; the last are those of the tail
	digits [tableCells]uint32   // ⌊2^keepDigits·keep(n)⌋
}

var theCells = sync.OnceValue(func() *cells {
	t := new(cells)
	left := int64(len(t.slots))
	for n := range t.owned[:tailCells] {
		t.owned[n] = certain(func(guard uint) (low, high *big.Int) {
			low, high = lawBetween(uint64(n), 0, guard)
			low.Mul(low, big.NewInt(height))
			high.Mul(high, big.NewInt(height))
			return shiftUp(low, guard), shiftUp(high, guard)
		})
		left -= t.owned[n]
	}
	t.owned[tailCells] = left
	k := 0
	for n, slots := range t.owned {
		for range slots {
			t.slots[k] = uint8(n)
			k++
		}
	}
	for n := range uint64(tableCells) {
		t.digits[n] = uint32(certain(func(guard uint) (low, high *big.Int) {
			low, high = t.keepBetween(n, keepDigits+guard)
			return low.Rsh(low, guard), high.Rsh(high, guard)
		}))
	}
	return t
})

// certain returns the number on which both bounds agree, computed with as many guard digits as it
// takes.
func certain(between func(guard uint) (low, high *big.Int)) int64 {
	for guard := uint(64); ; guard *= 2 {
		if low, high := between(guard); low.Cmp(high) == 0 {
			return low.Int64()
		}
	}
}

// cell proposes a cell by the word w. ok is false if there is nothing to propose or it was not
// kept. The sign and the digits for keepFraction that are in w have no part in it.
func (b *stream) cell(w uint64) (n uint64, ok bool) {
	t := b.cells
	n = uint64(t.slots[w%(1<<slotBits)])
	if n == tailCells {
		i, ok := b.tail()
		if !ok {
			return 0, false
		}
		n = i<<4 | b.word()>>60
	}
	y := w >> (64 - keepDigits)
	if n < tableCells && y != uint64(t.digits[n]) {
		return n, y < uint64(t.digits[n])
	}
	return n, b.belowKeep(t, y, n)
}

// tail returns strip i ≥ tailStrip with probability 2^(tailStairs − stairs(i)), and false with the
// probability that is left.
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

// belowKeep reports U < keep(n) for a uniform U with first keepDigits digits y, drawing digits of U
// until they decide.
func (b *stream) belowKeep(t *cells, y, n uint64) bool {
	digits, u := uint(keepDigits), new(big.Int).SetUint64(y)
	for {
		low, high := t.keepBetween(n, digits)
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

// keepBetween returns whole numbers low ≤ 2^digits·keep(n) ≤ high, at most a few apart.
func (t *cells) keepBetween(n uint64, digits uint) (low, high *big.Int) {
	up, slots := uint64(0), t.owned[min(n, tailCells)]
	if n >= tailCells {
		up, slots = stairs(n>>4), slots<<(tailStairs-4)
	}
	const guard = 6 // 2⁶ > height: bounds a step apart stay a step apart
	low, high = lawBetween(n, up, digits+guard)
	share := func(x *big.Int) *big.Int { return x.Mul(x, big.NewInt(height)) }
	d := new(big.Int).Lsh(big.NewInt(slots), guard)
	return low.Quo(share(low), d), high.Quo(share(high).Add(high, d).Sub(high, big.NewInt(1)), d)
}

// lawBetween returns whole numbers low ≤ 2^(digits+up)·p(n) ≤ high, at most a few apart.
//
// With q = n²/2¹³ it computes exp(−q/2^r) for an r with q/2^r ≤ ½ by its alternating series, whose
// partial sums lie on both sides of it, and squares r times; all in fixed point, low ends rounded
// down and high ends up.
func lawBetween(n, up uint64, digits uint) (low, high *big.Int) {
	square := new(big.Int).Mul(new(big.Int).SetUint64(n), new(big.Int).SetUint64(n))
	r := uint(max(0, square.BitLen()-(gammaBits-1)))
	// binary digits after the point: squaring at most doubles an error, and 2^up multiplies it
	point := digits + uint(up) + 2*r + 16
	low, high = expBetween(square, gammaBits+r, point)
	for range r {
		low.Rsh(low.Mul(low, low), point)
		shiftUp(high.Mul(high, high), point)
	}
	shift := point - digits - uint(up)
	return low.Rsh(low, shift), shiftUp(high, shift)
}

// expBetween returns low ≤ 2^point·exp(−a/2^e) ≤ high for 0 ≤ a/2^e ≤ ½.
func expBetween(a *big.Int, e, point uint) (low, high *big.Int) {
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
