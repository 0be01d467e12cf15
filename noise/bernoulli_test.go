package noise

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

const trials = 200_000

func TestExpMinusRatio(t *testing.T) {
	b := testSource(t).state()
	for _, c := range []struct{ num, den uint64 }{
		{0, 1}, {1, 1}, {1, 2}, {1, 3}, {9, 10}, {1, 1000}, {1 << 62, 3 << 62},
		{math.MaxUint64 - 1, math.MaxUint64},
	} {
		t.Run(fmt.Sprintf("%d over %d", c.num, c.den), func(t *testing.T) {
			checkRate(t, trials, math.Exp(-float64(c.num)/float64(c.den)),
				func() bool { return b.expMinusRatio(c.num, c.den) })
		})
	}
}

func TestSmallBernoullis(t *testing.T) {
	b := testSource(t).state()
	for _, c := range []struct {
		name  string
		p     float64
		event func() bool
	}{
		{"exp(−1)", math.Exp(-1), b.expMinusOne},
		{"1/1", 1, func() bool { return b.oneIn(1) }},
		{"1/2", .5, func() bool { return b.oneIn(2) }},
		{"1/3", 1. / 3, func() bool { return b.oneIn(3) }},
		{"1/17", 1. / 17, func() bool { return b.oneIn(17) }},
	} {
		t.Run(c.name, func(t *testing.T) { checkRate(t, trials, c.p, c.event) })
	}
}

func ratio(a, b int64) *big.Rat { return big.NewRat(a, b) }

// TestExpMinusFrom: γ = 1/3 of which only [low, low+width] is told; the middle is decided by
// below.
func TestExpMinusFrom(t *testing.T) {
	b := testSource(t).state()
	third := uint64(math.MaxUint64 / 3) // ⌊2^64/3⌋
	for _, c := range []struct {
		name       string
		low, width uint64
	}{{"one digit", third, 1}, {"a quarter wide", third - 1<<60, 1 << 62}, {"all", 0,
		math.MaxUint64}} {
		t.Run(c.name, func(t *testing.T) {
			checkRate(t, trials, math.Exp(-1./3), func() bool {
				return b.expMinusFrom(b.word(), c.low, c.width, func(u uint64) bool {
					if u < c.low || u-c.low >= c.width {
						t.Fatalf("asked about %d, outside the interval", u)
					}
					return b.below(u, big.NewInt(1), big.NewInt(3))
				})
			})
		})
	}
}

func TestExpMinus(t *testing.T) {
	b := testSource(t).state()
	almost := new(big.Rat).Sub(ratio(1, 1), rat(1, -200))
	for _, c := range []struct {
		name string
		g    *big.Rat
	}{
		{"0", ratio(0, 1)}, {"1", ratio(1, 1)}, {"2", ratio(2, 1)}, {"2/3", ratio(2, 3)}, {"7/5",
			ratio(7, 5)}, {"20/7", ratio(20, 7)},
		{"2^-200", rat(1, -200)}, {"1 − 2^-200", almost},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, _ := c.g.Float64()
			checkRate(t, trials/10, math.Exp(-g), func() bool { return b.expMinus(c.g.Num(), c.g.Denom()) })
		})
	}
}

// TestBelow fixes the first digit of U and looks at what the following ones decide.
func TestBelow(t *testing.T) {
	b := testSource(t).state()
	const u = 0x123456789abcdef0
	for _, c := range []struct {
		name string
		u    uint64
		rest *big.Rat // p = (digit u + rest)/2^64
		p    float64
	}{
		{"first digit below", u - 1, ratio(0, 1), 1},
		{"first digit above", u + 1, ratio(999, 1000), 0},
		{"equal, no more digits", u, ratio(0, 1), 0},
		{"equal, 1/3 more", u, ratio(1, 3), 1. / 3},
		{"equal, 9/10 more", u, ratio(9, 10), .9},
		{"equal, dyadic", u, ratio(3, 4), .75},
	} {
		p := new(big.Rat).Add(rat(u, 0), c.rest)
		p.Mul(p, rat(1, -64))
		before := p.String()
		t.Run(c.name, func(t *testing.T) {
			checkRate(t, trials/10, c.p, func() bool { return b.below(c.u, p.Num(), p.Denom()) })
			if p.String() != before {
				t.Error("the argument was changed")
			}
		})
	}
}

// peek returns a stream and its first word. Which words are compared, and how, at the very digit
// that decides has probability 2^−64 in a random test; here the interval is put around a word that
// is known to come.
func peek(number uint64) (b *stream, first uint64) {
	key := [32]byte{byte(number), byte(number >> 8), byte(number >> 16), byte(number >> 24)}
	return newSource(key).state(), newSource(key).Uint64()
}

func TestExpMinusFromAsksExactlyWhenUndecided(t *testing.T) {
	for _, c := range []struct {
		name  string
		low   int64 // minus the first word
		width uint64
		asked bool
		fails bool // the first trial fails, so that K = 1 and the event happens
	}{
		{"below", 1, 5, false, false},
		{"at the low end", 0, 1, true, false},
		{"inside", -2, 3, true, false},
		{"at the high end", -3, 3, false, true},
		{"above", -4, 3, false, true},
	} {
		for number := range uint64(50) {
			b, first := peek(number)
			asked := false
			got := b.expMinusFrom(b.word(), first+uint64(c.low), c.width, func(u uint64) bool {
				asked = asked || u == first
				return false
			})
			if asked != c.asked || (c.fails && !got) {
				t.Fatalf("%s: asked %v, event %v", c.name, asked, got)
			}
		}
	}
}

// TestExpMinusKeepsTheLastDigit: with γ half a unit above the first word the next digit decides
// the first trial. Null: the event happens in ½ + ½·(at least ½ and less than all) of the cases; a
// decision by the first word alone makes it certain.
func TestExpMinusKeepsTheLastDigit(t *testing.T) {
	happened := 0
	for number := range uint64(1000) {
		b, first := peek(number)
		g := new(big.Rat).Mul(rat(1, -64), new(big.Rat).Add(rat(first, 0), ratio(1, 2)))
		if b.expMinus(g.Num(), g.Denom()) {
			happened++
		}
	}
	if happened < 500 || happened > 900 {
		t.Errorf("%d of 1000", happened)
	}
}
