package noise

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/decoy-dp/decoy/internal/stattest"
)

var scales = flag.Int("scales", 3, "how many scales are enumerated: 9 are all")

// The samplers against algorithms that are proved.
//
// SampCert (de Medeiros, Naveed, Lepoint, Kohli, Ristenpart, Tristan 2024, arXiv 2412.01671;
// github.com/leanprover/SampCert) proves the laws of its samplers in Lean. The functions of proved
// below are its definitions step by step; coded are the algorithms of Canonne, Kamath, Steinke
// 2020 (CKS) that this package follows, draw by draw. Both are run on every string of choices whose
// probability is above a cutoff, and give lower bounds of the law's probabilities, as exact
// rationals, and the mass that is still open. No test here is statistical:
//
//   - each path of coded is played to the sampler itself, as words of its source, which
//     must return the same number, having read these words and no other: so its law is coded's;
//   - the law of coded, that of proved and the formula agree to within the open mass.

// walk is one run on choices made for it. The first choices are those of path, the others 0.
type walk struct {
	path, sizes []int
	at          int
	mass        *big.Rat
	cutoff      *big.Rat

	first, last []uint64 // the ends of the range of each word, in which every word chooses the same
	refused     []bool   // the word follows on one that uniform refuses
}

// open and again end a walk: too unlikely to go on, and back at the start of a rejection sampler.
type (
	openEnd  struct{}
	againEnd struct{}
)

func (w *walk) choose(masses ...*big.Rat) int {
	if w.at == len(w.path) {
		w.path = append(w.path, 0)
	}
	w.sizes = append(w.sizes[:w.at], len(masses))
	c := w.path[w.at]
	w.at++
	if w.mass.Mul(w.mass, masses[c]); w.mass.Cmp(w.cutoff) < 0 {
		panic(openEnd{})
	}
	return c
}

// law is what all walks give. All masses are exact.
type law struct {
	mass        map[int64]*big.Rat
	again, open *big.Rat
	leaves      []leaf
}

type leaf struct {
	value       int64
	again       bool
	mass        *big.Rat
	first, last []uint64
	refused     []bool
}

// enumerate takes every walk whose probability is at least 2^−depth.
func enumerate(depth uint, run func(w *walk) int64) law {
	out := law{mass: map[int64]*big.Rat{}, again: new(big.Rat), open: ratio(1, 1)}
	for path := []int(nil); ; {
		w := &walk{path: path, mass: ratio(1, 1), cutoff: rat(1, -int(depth))}
		if l, ok := w.take(run); ok {
			out.open.Sub(out.open, l.mass)
			sum := out.again
			if !l.again {
				if out.mass[l.value] == nil {
					out.mass[l.value] = new(big.Rat)
				}
				sum = out.mass[l.value]
			}
			sum.Add(sum, l.mass)
			out.leaves = append(out.leaves, l)
		}
		path = w.path[:w.at]
		for len(path) > 0 && path[len(path)-1]+1 == w.sizes[len(path)-1] {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return out
		}
		path = slices.Clone(path)
		path[len(path)-1]++
	}
}

func (w *walk) take(run func(*walk) int64) (l leaf, ok bool) {
	defer func() {
		switch end := recover(); end.(type) {
		case nil:
		case openEnd:
			return
		case againEnd:
			l.again = true
		default:
			panic(end)
		}
		l.mass, l.first, l.last, l.refused = w.mass, w.first, w.last, w.refused
		ok = true
	}()
	l.value = run(w)
	return
}

// between are bounds of P(x): what is drawn again is drawn from the same law.
func (l law) between(x int64) (lo, hi *big.Rat) {
	lo, hi = new(big.Rat), new(big.Rat).Set(l.open)
	if m := l.mass[x]; m != nil {
		lo.Set(m)
		hi.Add(hi, m)
	}
	left := ratio(1, 1)
	left.Sub(left, l.again)
	lo.Quo(lo, left)
	return lo, hi.Quo(hi, left.Sub(left, l.open))
}

// bernoulli is BernoulliSample: true with probability num/den (BernoulliSample_apply_true).
func (w *walk) bernoulli(num, den *big.Int) bool {
	yes := new(big.Rat).SetFrac(num, den)
	if yes.Sign() == 0 || yes.Cmp(ratio(1, 1)) == 0 {
		return yes.Sign() > 0
	}
	return w.choose(yes, new(big.Rat).Sub(ratio(1, 1), yes)) == 0
}

// proved are the samplers of SampCert, SampCert/Samplers, on big integers.
type proved struct{ *walk }

// unit is BernoulliExpNegSampleUnit: true with probability exp(−num/den), num ≤ den.
func (p proved) unit(num, den *big.Int) bool {
	k := big.NewInt(1)
	for {
		yes := p.bernoulli(num, new(big.Int).Mul(k, den))
		k.Add(k, big.NewInt(1))
		if !yes {
			return k.Bit(0) == 0
		}
	}
}

// expNeg is BernoulliExpNegSample: true with probability exp(−num/den)
// (BernoulliExpNegSample_apply_true).
func (p proved) expNeg(num, den *big.Int) bool {
	if num.Cmp(den) <= 0 {
		return p.unit(num, den)
	}
	whole, rest := new(big.Int).QuoRem(num, den, new(big.Int))
	for ; whole.Sign() > 0; whole.Sub(whole, big.NewInt(1)) {
		if !p.unit(big.NewInt(1), big.NewInt(1)) {
			return false
		}
	}
	return p.unit(rest, den)
}

// geometric is DiscreteLaplaceSampleLoopIn2, less 1: P(v) ∝ exp(−v·num/den).
func (p proved) geometric(num, den *big.Int) *big.Int {
	v := new(big.Int)
	for p.expNeg(num, den) {
		v.Add(v, big.NewInt(1))
	}
	return v
}

// laplace is DiscreteLaplaceSample, of scale num/den (DiscreteLaplaceSample_apply).
func (p proved) laplace(num, den *big.Int) int64 {
	return p.signed(p.geometric(den, num))
}

// laplaceOptimized is DiscreteLaplaceSampleOptimized (DiscreteLaplaceSampleMixed_apply).
func (p proved) laplaceOptimized(num, den *big.Int) int64 {
	// DiscreteLaplaceSampleLoopIn1: U with P(u) ∝ exp(−u/num).
	equal := make([]*big.Rat, num.Int64())
	for i := range equal {
		equal[i] = ratio(1, num.Int64())
	}
	u := big.NewInt(int64(p.choose(equal...)))
	if !p.expNeg(u, num) {
		panic(againEnd{})
	}
	x := new(big.Int).Mul(num, p.geometric(big.NewInt(1), big.NewInt(1)))
	return p.signed(x.Quo(x.Add(x, u), den))
}

func (p proved) signed(y *big.Int) int64 {
	negative := p.bernoulli(big.NewInt(1), big.NewInt(2))
	switch {
	case negative && y.Sign() == 0:
		panic(againEnd{})
	case negative:
		return -y.Int64()
	}
	return y.Int64()
}

// gaussian is DiscreteGaussianSample, of σ = num/den (DiscreteGaussianSample_apply), with mix 0.
func (p proved) gaussian(num, den *big.Int) int64 {
	t := new(big.Int).Quo(num, den)
	t.Add(t, big.NewInt(1))
	num, den = new(big.Int).Mul(num, num), new(big.Int).Mul(den, den)
	y := p.laplaceOptimized(t, big.NewInt(1))
	n := big.NewInt(max(y, -y))
	n.Mul(n, t).Mul(n, den).Sub(n, num).Mul(n, n)
	d := new(big.Int).Mul(t, t)
	d.Mul(d, big.NewInt(2)).Mul(d, num).Mul(d, den)
	if !p.expNeg(n, d) {
		panic(againEnd{})
	}
	return y
}

// coded are the algorithms of this package, with the draws of its source: they name CKS's.
type coded struct{ *walk }

// word reads one of the words from first to last, which has this probability.
func (c coded) word(first, last uint64, refused bool) {
	c.first, c.last = append(c.first, first), append(c.last, last)
	c.refused = append(c.refused, refused)
}

// wordsOf are the words for which uniform(n) is v: those w with v·2^64 + 2^64 mod n ≤ w·n <
// (v+1)·2^64, as many for each v.
func wordsOf(v, n uint64) (first, last uint64) {
	size := new(big.Int).Lsh(big.NewInt(1), 64)
	N, V := new(big.Int).SetUint64(n), new(big.Int).SetUint64(v)
	from := new(big.Int).Mod(size, N)
	from.Add(from, new(big.Int).Mul(V, size)).Add(from, N).Sub(from, big.NewInt(1))
	to := V.Add(V, big.NewInt(1)).Mul(V, size)
	to.Sub(to, big.NewInt(1))
	return from.Quo(from, N).Uint64(), to.Quo(to, N).Uint64()
}

// below is uniform(n) < m.
func (c coded) below(m, n uint64) bool {
	refusable := n&(n-1) != 0
	yes := m == n
	if 0 < m && m < n {
		yes = c.choose(ratio(int64(m), int64(n)), ratio(int64(n-m), int64(n))) == 0
	}
	if yes {
		first, _ := wordsOf(0, n)
		_, last := wordsOf(m-1, n)
		c.word(first, last, refusable)
	} else {
		first, _ := wordsOf(m, n)
		_, last := wordsOf(n-1, n)
		c.word(first, last, refusable)
	}
	return yes
}

func (c coded) uniform(n uint64) uint64 {
	equal := make([]*big.Rat, n)
	for i := range equal {
		equal[i] = ratio(1, int64(n))
	}
	v := uint64(c.choose(equal...))
	first, last := wordsOf(v, n)
	c.word(first, last, n&(n-1) != 0)
	return v
}

func (c coded) oneIn(k uint64) bool {
	return k == 1 || c.below(1, k)
}

// expMinus is CKS Algorithm 1 for γ ≤ 1: trial reports an event of probability γ.
func (c coded) expMinus(k uint64, trial func() bool) bool {
	for c.oneIn(k) && trial() {
		k++
	}
	return k%2 == 1
}

func (c coded) expMinusOne() bool { return c.expMinus(2, func() bool { return true }) }

// laplace is CKS Algorithm 2, of scale t/2^shift.
func (c coded) laplace(t uint64, shift uint) int64 {
	u := c.uniform(t)
	if !c.expMinus(1, func() bool { return c.below(u, t) }) {
		panic(againEnd{})
	}
	x := u
	for c.expMinusOne() {
		x += t
	}
	y := int64(x >> shift)
	if !c.below(1, 2) {
		return y
	} else if y == 0 {
		panic(againEnd{})
	}
	return -y
}

// fraction is Algorithm 1 for a γ of which low/2^64 ≤ γ ≤ (low+width)/2^64 < 1 is known: its trials
// compare a word with that, and a word that does not decide leaves the walk open.
func (c coded) fraction(low, width uint64) bool {
	yes, unknown := rat(low, -64), rat(width, -64)
	no := new(big.Rat).Sub(ratio(1, 1), yes)
	no.Sub(no, unknown)
	trial := func() bool {
		switch c.choose(no, unknown, yes) {
		case 0:
			c.word(low+width, math.MaxUint64, false)
			return false
		case 1:
			panic(openEnd{})
		}
		c.word(0, low-1, false)
		return true
	}
	k := uint64(1)
	for trial() {
		if k++; !c.oneIn(k) {
			break
		}
	}
	return k%2 == 1
}

// floor is ⌊x⌋ of a number from 0 to below 2^64.
func floor(x *big.Rat) uint64 { return new(big.Int).Quo(x.Num(), x.Denom()).Uint64() }

// gaussian is CKS Algorithm 3.
func (c coded) gaussian(sigma *big.Rat, t uint64) int64 {
	y := c.laplace(t, 0)
	// γ = (|y| − σ²/t)²/2σ²
	square := new(big.Rat).Mul(sigma, sigma)
	gamma := new(big.Rat).Quo(square, rat(t, 0))
	gamma.Sub(rat(uint64(max(y, -y)), 0), gamma)
	gamma.Mul(gamma, gamma).Quo(gamma, square.Mul(square, ratio(2, 1)))
	for gamma.Cmp(ratio(1, 1)) >= 0 {
		if !c.expMinusOne() {
			panic(againEnd{})
		}
		gamma.Sub(gamma, ratio(1, 1))
	}
	if !c.fraction(floor(gamma.Mul(gamma, rat(1, 64))), 1) {
		panic(againEnd{})
	}
	return y
}

// scripted is a stream that reads these words. rest reports how many are left.
func scripted(t *testing.T, words []uint64) (b *stream, rest func() int) {
	t.Helper()
	if len(words) > 32 {
		t.Fatalf("%d words are too long a script", len(words))
	}
	b = &stream{gen: rand.NewChaCha8([32]byte{}), cells: theCells()}
	// The generator hands out the numbers of a buffer, from i to below n: see chacha8rand.State.
	state := reflect.ValueOf(b.gen).Elem().FieldByName("state")
	at := func(name string) unsafe.Pointer {
		return unsafe.Pointer(state.FieldByName(name).UnsafeAddr())
	}
	copy((*[32]uint64)(at("buf"))[:], words)
	next := (*uint32)(at("i"))
	*next, *(*uint32)(at("n")) = 0, uint32(len(words))
	return b, func() int { return len(words) - int(*next) }
}

// TestScript: the words of a script are those that a stream reads.
func TestScript(t *testing.T) {
	b, rest := scripted(t, []uint64{7, 0, math.MaxUint64})
	if b.word() != 7 || b.word() != 0 {
		t.Error("other words")
	}
	if words := rest(); words != 1 {
		t.Errorf("%d words are left", words)
	}
	if b.word() != math.MaxUint64 {
		t.Error("another word")
	}
}

// TestWordsOf: uniform(n) is v from the first word to the last, as many for each v as 2^64/n.
func TestWordsOf(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 5, 6, 7, 12, 1000, 1<<52 + 1, 1<<53 - 1} {
		for _, v := range []uint64{0, 1, 2, n / 2, n - 2, n - 1} {
			if v >= n {
				continue
			}
			first, last := wordsOf(v, n)
			if count := last - first + 1; count != math.MaxUint64/n && count != math.MaxUint64/n+1 ||
				count == 0 && n > 1 || n&(n-1) != 0 && count != math.MaxUint64/n {
				t.Errorf("%d of %d: %d words", v, n, count)
			}
			for _, w := range []uint64{first, last} {
				b, rest := scripted(t, []uint64{w})
				if got := b.uniform(n); got != v {
					t.Errorf("word %d: %d of %d, want %d", w, got, n, v)
				}
				if rest() != 0 {
					t.Errorf("word %d is not read for %d of %d", w, v, n)
				}
			}
			if first > 0 { // the word before is refused, or chooses another number
				b, rest := scripted(t, []uint64{first - 1, last})
				got := b.uniform(n)
				if got == v && rest() != 0 {
					t.Errorf("word %d is one more of %d of %d", first-1, v, n)
				}
			}
		}
	}
}

// play runs a sampler on every leaf: with the first words and the last words that choose it, and
// with refused words before. A leaf that begins again is followed by the likeliest that does not.
func (l law) play(t *testing.T, sample func(b *stream) int64) {
	t.Helper()
	likely := leaf{mass: new(big.Rat)}
	for _, x := range l.leaves {
		if !x.again && x.mass.Cmp(likely.mass) > 0 {
			likely = x
		}
	}
	played := 0
	for _, x := range l.leaves {
		value, parts := x.value, []leaf{x}
		if x.again {
			value, parts = likely.value, []leaf{x, likely}
		}
		for variant := range 3 {
			var words []uint64
			for _, p := range parts {
				for i := range p.first {
					w := p.first[i]
					if variant == 1 {
						w = p.last[i]
					}
					if variant == 2 && p.refused[i] {
						words = append(words, 0)
					}
					words = append(words, w)
				}
			}
			if len(words) > 32 {
				continue
			}
			played++
			b, rest := scripted(t, words)
			if got := sample(b); got != value || rest() != 0 {
				t.Fatalf("words %d: drew %d, want %d; %d words are left", words, got, value, rest())
			}
		}
	}
	if played < 2*len(l.leaves) {
		t.Errorf("%d plays of %d leaves", played, len(l.leaves))
	}
}

// expOf is exp(−g), g ≥ 0, to far more digits than the open masses have.
func expOf(g *big.Rat) *big.Float {
	halvings := 0
	x := new(big.Float).SetPrec(400).SetRat(g)
	for ; x.Cmp(wide(.5)) > 0; halvings++ {
		x.Mul(x, wide(.5))
	}
	sum, term := wide(1), wide(1)
	for k := 1; k < 100; k++ {
		term.Mul(term, x).Quo(term, wide(float64(-k)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// exactLaplace is P(x) = (1−r)/(1+r)·r^|x|, r = exp(−1/scale).
func exactLaplace(scale *big.Rat) func(x int64) *big.Float {
	r := expOf(new(big.Rat).Inv(scale))
	return func(x int64) *big.Float {
		p := new(big.Float).Sub(wide(1), r)
		p.Quo(p, new(big.Float).Add(wide(1), r))
		for range max(x, -x) {
			p.Mul(p, r)
		}
		return p
	}
}

// exactGaussian is P(x) ∝ exp(−x²/2σ²); what it leaves out of the sum is below exp(−10³).
func exactGaussian(sigma *big.Rat) func(x int64) *big.Float {
	weight := func(x int64) *big.Float {
		g := new(big.Rat).Quo(ratio(x, 1), sigma)
		return expOf(g.Mul(g, g).Quo(g, ratio(2, 1)))
	}
	sum := wide(1)
	for x := int64(1); x < 200; x++ {
		sum.Add(sum, new(big.Float).Mul(wide(2), weight(x)))
	}
	return func(x int64) *big.Float { p := weight(x); return p.Quo(p, sum) }
}

// agrees reports whether P(x) is within the bounds for every |x| ≤ 12.
func (l law) agrees(exact func(x int64) *big.Float) error {
	slack := ratio(1, 1e18)
	for x := int64(-12); x <= 12; x++ {
		lo, hi := l.between(x)
		p, _ := exact(x).Rat(nil)
		if new(big.Rat).Sub(lo, slack).Cmp(p) > 0 || new(big.Rat).Add(hi, slack).Cmp(p) < 0 {
			return fmt.Errorf("P(%d) = %s is not in [%s, %s]",
				x, p.FloatString(9), lo.FloatString(9), hi.FloatString(9))
		}
	}
	return nil
}

// compare checks a law against the formula, and that the formula with a scale 5 % off is refused.
func (l law) compare(
	t *testing.T, name string, scale *big.Rat, exact func(scale *big.Rat) func(x int64) *big.Float,
) {
	t.Helper()
	open, _ := l.open.Float64()
	t.Logf("%s: %d paths, open mass %.2g", name, len(l.leaves), open)
	if open > .02 {
		t.Errorf("%s: open mass %v: the walks are too short to show much", name, open)
	}
	stattest.Passes(t, l.agrees(exact(scale)), "%s", name)
	for _, wrong := range []*big.Rat{ratio(21, 20), ratio(19, 20)} {
		if l.agrees(exact(wrong.Mul(wrong, scale))) == nil {
			t.Errorf("%s, open mass %v: a scale 5 %% off is not refused", name, open)
		}
	}
}

// TestDiscreteLaplaceIsTheProvedOne: the scale is t/2^shift, and the law is the same for 2t and
// shift + 1; NewDiscreteLaplace takes t in [2^52, 2^53), at which 2^52 draws of one kind are too
// many to go through, and its t/2^shift is the scale, exactly.
func TestDiscreteLaplaceIsTheProvedOne(t *testing.T) {
	for _, c := range []struct {
		t     uint64
		shift uint
	}{{1, 0}, {3, 0}, {3, 1}, {5, 3}, {2, 0}, {5, 0}, {6, 2}, {12, 3}, {1, 1}}[:*scales] {
		t.Run(fmt.Sprintf("%d over 2^%d", c.t, c.shift), func(t *testing.T) {
			scale := rat(c.t, -int(c.shift))
			l := enumerate(19, func(w *walk) int64 { return coded{w}.laplace(c.t, c.shift) })
			d := DiscreteLaplace{c.t, c.shift}
			l.play(t, d.sample)
			l.compare(t, "CKS Algorithm 2", scale, exactLaplace)
			num, den := scale.Num(), scale.Denom()
			enumerate(17, func(w *walk) int64 { return proved{w}.laplace(num, den) }).
				compare(t, "DiscreteLaplaceSample", scale, exactLaplace)
			enumerate(17, func(w *walk) int64 { return proved{w}.laplaceOptimized(num, den) }).
				compare(t, "DiscreteLaplaceSampleOptimized", scale, exactLaplace)
			s, _ := scale.Float64()
			made, err := NewDiscreteLaplace(s)
			if err != nil || rat(made.t, -int(made.shift)).Cmp(scale) != 0 {
				t.Errorf("NewDiscreteLaplace(%v) is %d/2^%d, %v", s, made.t, made.shift, err)
			}
		})
	}
}

// TestDiscreteGaussianIsTheProvedOne, with the σ that the constructor is given.
func TestDiscreteGaussianIsTheProvedOne(t *testing.T) {
	for _, sigma := range []float64{.6, 2.25, .5, 1, 1.5}[:min(*scales, 5)] {
		t.Run(fmt.Sprint(sigma), func(t *testing.T) {
			d := stattest.Must(NewDiscreteGaussian(sigma))
			exact := new(big.Rat).SetFloat64(sigma)
			l := enumerate(19, func(w *walk) int64 { return coded{w}.gaussian(exact, d.laplace.t) })
			l.play(t, d.sample)
			l.compare(t, "CKS Algorithm 3", exact, exactGaussian)
			num, den := exact.Num(), exact.Denom()
			enumerate(17, func(w *walk) int64 { return proved{w}.gaussian(num, den) }).
				compare(t, "DiscreteGaussianSample", exact, exactGaussian)
		})
	}
}

// TestKeepFractionExactly: of the cell n + x of a rounded Gaussian, x is kept with probability
// exp(−x(2n+x)/2¹³), by CKS Algorithm 1 in as many parts as it takes. With TestBeginsExactly,
// which has the law of n, that is the law exp(−(n+x)²/2¹³); TestRound rounds it.
func TestKeepFractionExactly(t *testing.T) {
	for _, n := range []uint64{0, 1, 64, 239, 2000, 4095, 4096, 9000} {
		for _, x := range []uint64{0, 1 << 20, 1 << 61, 0x9e3779b97f4a7c15, math.MaxUint64} {
			X := new(big.Int).SetUint64(x)
			gamma, parts := gammaAt(n, X), 1+n/4096 // 2^64·γ of one part, and their number
			l := enumerate(30, func(w *walk) int64 {
				for range parts {
					if !(coded{w}).fraction(floor(gamma), 2) {
						return 0
					}
				}
				return 1
			})
			l.play(t, func(b *stream) int64 {
				if b.keepFraction(n, &digits{first: x}) {
					return 1
				}
				return 0
			})
			gamma.Mul(gamma, rat(parts, -64))
			keep, _ := expOf(gamma).Rat(nil)
			lo, hi := l.between(1)
			slack := rat(8, -64)
			if lo.Sub(lo, slack).Cmp(keep) > 0 || hi.Add(hi, slack).Cmp(keep) < 0 {
				t.Errorf("cell %d, x %d/2^64: kept with %s, not in [%s, %s]", n, x,
					keep.FloatString(12), lo.FloatString(12), hi.FloatString(12))
			}
			if width, _ := hi.Sub(hi, lo).Float64(); width > 1e-6 {
				t.Errorf("cell %d, x %d/2^64: the bounds are %v apart", n, x, width)
			}
		}
	}
}

// svReach is beyond what matters of the noise of aboveThreshold.
const svReach = 200

// lawOf is P(x) of a discrete Laplace number for |x| ≤ svReach, from −svReach on.
func lawOf(scale int64) []*big.Float {
	p, r := exactLaplace(ratio(scale, 1))(0), expOf(ratio(1, scale))
	out := make([]*big.Float, 2*svReach+1)
	for x := range svReach + 1 {
		out[svReach+x], out[svReach-x] = p, p
		p = new(big.Float).Mul(p, r)
	}
	return out
}

// aboveThreshold is sv1_aboveThresh of SampCert (DifferentialPrivacy/Queries/AboveThresh/Code.lean;
// sv9_aboveThresh_pmf_DP): the probability, for i = 0, 1, ..., that question i is the first with
// answer_i + v_i ≥ τ, and that none is. τ and v_i are discrete Laplace of these scales.
func aboveThreshold(answers []int64, tau, v int64) []*big.Float {
	below := []*big.Float{wide(0)} // P(v < x − svReach)
	for _, p := range lawOf(v) {
		below = append(below, new(big.Float).Add(below[len(below)-1], p))
	}
	first := make([]*big.Float, len(answers)+1)
	for i := range first {
		first[i] = wide(0)
	}
	for x, p := range lawOf(tau) {
		reached := new(big.Float).Set(p)
		for i, a := range answers {
			no := below[min(max(int64(x)-a, 0), 2*svReach)]
			yes := new(big.Float).Sub(wide(1), no)
			first[i].Add(first[i], yes.Mul(yes, reached))
			reached.Mul(reached, no)
		}
		first[len(answers)].Add(first[len(answers)], reached)
	}
	return first
}

// TestAboveThresholdNoise: with scales 2Δ/ε for the threshold and 4Δ/ε for each question, as
// SampCert has them (privNoiseThresh, privNoiseGuess) and privacy.AboveThreshold, no outcome of six
// questions is more than e^ε times as likely when every answer moves by up to Δ, to any side; with
// half of either noise some outcome is. Here Δ/ε = 2. That the gate has these scales: privacy's
// TestThresholdFollowsItsLaw.
func TestAboveThresholdNoise(t *testing.T) {
	const delta, questions = 2, 5
	worst := func(tau, v int64) (most float64) { // in units of ε = 1
		for _, level := range []int64{-40, -4, 0} {
			a := make([]int64, questions)
			for i := range a {
				a[i] = level
			}
			p := aboveThreshold(a, tau, v)
			for move := range 1 << questions {
				b := slices.Clone(a)
				for i := range b {
					b[i] += delta - 2*delta*int64(move>>i&1)
				}
				for i, q := range aboveThreshold(b, tau, v) {
					r, _ := new(big.Float).Quo(q, p[i]).Float64()
					most = max(most, math.Abs(math.Log(r)))
				}
			}
		}
		return most
	}
	honest := worst(2*delta, 4*delta)
	threshold, each := worst(delta, 4*delta), worst(2*delta, 2*delta)
	if honest > 1 {
		t.Errorf("ε is %v, not 1", honest)
	}
	if threshold <= 1 || each <= 1 {
		t.Errorf("ε is %v with half of one noise, %v with half of the other: nothing is shown",
			threshold, each)
	}
}
