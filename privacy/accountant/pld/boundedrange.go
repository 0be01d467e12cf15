package pld

import "math"

// The composition of k adaptively chosen ε-bounded-range mechanisms.
//
// On a pair of neighbours the losses of such a mechanism lie in [t − ε, t] for some t in [0, ε],
// which may depend on the pair, the query and so on what came before. Given t the largest privacy
// profile is that of the two losses t and t − ε, with probability under P
//
//	p_t = (e^ε − e^t)/(e^ε − 1) = (1 − e^{t−ε})/(1 − e^{−ε})       and 1 − p_t,
//
// the only pair with these losses (Dong, Durfee, Rogers 2020, lemma 3.2): a convex function between
// its ends is below the chord. The pointwise supremum over t is attained at t = (ε + ε′)/2 and
// gives for one mechanism
//
//	δ(ε′) = (1 − e^{(ε′−ε)/2})²/(1 − e^{−ε}),   |ε′| ≤ ε,
//
// which is the profile of a pair again (a supremum of convex functions of α = e^ε′; Zhu, Dong, Wang
// 2022, proposition 8). Composing that pair k times is valid, but it lets the adversary choose
// another t for each ε′ and each factor after the fact: losses have the variance ε²/3, not ε²/4.
// The adversary's true power is to choose t when the mechanism is called, knowing the losses so
// far:
//
//	(S V)(x) = sup_t  p_t·V(x − t) + (1 − p_t)·V(x − t + ε),     V_k = S^k V_0,   V_0(x) = (1 − e^x)₊
//
// V_k is the optimal profile of k adaptive mechanisms. It is convex in e^x and so the profile of a
// pair C_k; that pair is what is composed with the rest.
//
// Other events may come before, between and after, in an order chosen on the way. Let C be the
// composition with any fixed pair, (C V)(x) = E[V(x − L)]. A supremum of means is at most the mean
// of suprema, S C V ≤ C S V: knowing the outcome of C first only helps the adversary. The value W
// of what remains, k calls of S and the fixed pairs C, is thus at most C V_k, by induction on the
// number of calls: if the next is a fixed pair it is moved into C, and if it is S, then S C V_{k−1}
// ≤ C S V_{k−1} = C V_k. With several ε the pairs C_k of the other groups are among the fixed ones.

const (
	// maxBlock bounds the calls in one V_k; more are composed as blocks, at a small loss.
	maxBlock = 64
	// maxRange is the largest ε of a bounded-range event on the grid: e^{(k+2)ε} must not overflow for
	// one call or more.
	maxRange = 200
	// minRange is the smallest: a mechanism of a smaller range has this one too, and the rounding of
	// p_t is an ulp of 1/ε.
	minRange = 1e-6
	// rangeWork is k·m² for a bounded-range game of k ≥ 14 calls, m points in ε: the relative error of
	// the variance is about 1/m².
	rangeWork = 14e3
)

// rangeBlocks splits k bounded-range events into blocks of at most maxBlock, with (size + 2)·ε at
// most 3·maxRange.
func rangeBlocks(epsilon float64, k int) (blocks []step) {
	epsilon = math.Max(epsilon, minRange)
	size := max(1, min(maxBlock, int(3*maxRange/epsilon)-2, k))
	for _, b := range []struct{ k, count int }{{size, k / size}, {k % size, 1}} {
		if b.k > 0 {
			blocks = append(blocks, step{atoms: gameOf(epsilon, b.k).upper(), count: float64(b.count)})
		}
	}
	return blocks
}

// gameOf is that of k calls, of as many points as they are worth.
func gameOf(epsilon float64, k int) *rangeGame {
	m := int(math.Sqrt(rangeWork / float64(k) * math.Max(1, 14/float64(k))))
	return newRangeGame(epsilon, k, m)
}

// rangeGame is the recursion V ← S V on the points (i − n)·h of the privacy loss, h = ε/m, n = km,
// 0 ≤ i ≤ 2n; V = V_0 outside them.
type rangeGame struct {
	epsilon, h float64
	k, m, n    int
	p, edge    []float64 // p_t and e^t at t = jh, 0 ≤ j ≤ m
	// e^x at the points, with 2m more on either side, so that no index needs a test
	alpha []float64
}

func newRangeGame(epsilon float64, k, m int) *rangeGame {
	g := &rangeGame{epsilon: epsilon, h: epsilon / float64(m), k: k, m: m, n: k * m}
	for j := range m + 1 {
		g.p = append(g.p, math.Expm1(float64(j-m)*g.h)/math.Expm1(-epsilon))
		g.edge = append(g.edge, math.Exp(float64(j)*g.h))
	}
	for i := -2 * m; i <= 2*g.n+2*m; i++ {
		g.alpha = append(g.alpha, math.Exp(float64(i-g.n)*g.h))
	}
	return g
}

// start returns V_0 on the extended points.
func (g *rangeGame) start() []float64 {
	v := make([]float64, len(g.alpha))
	for i := range v {
		v[i] = math.Max(0, -math.Expm1(float64(i-2*g.m-g.n)*g.h))
	}
	return v
}

// inner calls f for the extended index of every point.
func (g *rangeGame) inner(f func(i int)) {
	for i := 2 * g.m; i <= 2*g.m+2*g.n; i++ {
		f(i)
	}
}

// upper returns the atoms of a pair whose profile is at least V_k. Between points V is replaced by
// its chord in e^x. On a cell of t where both arguments of V stay in one cell the bracket is then,
// with a = e^t and c = e^{−ε}, of the form constant − D·a − κ/a with κ ≥ 0: its maximum is at a =
// √(κ/D) or at an end.
func (g *rangeGame) upper() []atom {
	v, next := g.start(), g.start()
	// V ≈ intercept − slope·e^x on the cell i, i+1
	slope, intercept := make([]float64, len(v)), make([]float64, len(v))
	c, cell := math.Exp(-g.epsilon), math.Expm1(g.h)
	m := g.m
	for range g.k {
		for i := range len(v) - 1 {
			slope[i] = (v[i] - v[i+1]) / (g.alpha[i] * cell)
			intercept[i] = v[i] + slope[i]*g.alpha[i]
		}
		g.inner(func(i int) {
			best := 0.0
			for j, p := range g.p {
				best = math.Max(best, p*v[i-j]+(1-p)*v[i-j+m])
			}
			for j := range m {
				lo := i - j - 1
				kappa := (slope[lo] - slope[lo+m]) * g.alpha[i]
				d := c * (intercept[lo] - intercept[lo+m])
				if kappa > d*g.edge[j]*g.edge[j] && kappa < d*g.edge[j+1]*g.edge[j+1] {
					a := math.Sqrt(kappa / d)
					p := g.p[j] - (a-g.edge[j])*c/(1-c)
					f := (g.edge[j+1]/a - 1) / cell // where e^{x−t} lies in the cell
					best = math.Max(best, p*(v[lo]+f*(v[lo+1]-v[lo]))+(1-p)*(v[lo+m]+f*(v[lo+m+1]-v[lo+m])))
				}
			}
			next[i] = best
		})
		v, next = next, v
	}
	// Rounding costs a few ulps a step, and p an ulp of 1/ε. Interpolating values above V gives a
	// function above V.
	grow := 1 + float64(g.k)*32*ulp*(1+1/g.epsilon)
	last, atoms := -1.0, []atom{}
	g.inner(func(i int) {
		s := 0.0
		if i < 2*g.m+2*g.n {
			s = (v[i+1] - v[i]) * grow / (g.alpha[i] * cell)
		}
		// The profile Σ mass·(1 − e^x/alpha)₊ has the slope jump mass/alpha; a jump too large is an upper
		// bound.
		mass := g.alpha[i] * (math.Max(0, s-last) - 8*ulp*math.Min(last, s))
		atoms = append(atoms, atom{float64(i-2*g.m-g.n) * g.h, mass})
		last = s
	})
	return atoms
}
