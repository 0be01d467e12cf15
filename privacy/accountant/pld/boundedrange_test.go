package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// profileOf is δ at x of a pair with these atoms.
func profileOf(atoms []atom, x float64) float64 {
	sum := 0.0
	for _, a := range atoms {
		sum += a.mass * math.Max(0, -math.Expm1(x-a.loss))
	}
	return sum
}

// oneRange is the closed form of V_1.
func oneRange(epsilon, x float64) float64 {
	switch {
	case x >= epsilon:
		return 0
	case x <= -epsilon:
		return -math.Expm1(x)
	}
	return math.Pow(-math.Expm1((x-epsilon)/2), 2) / -math.Expm1(-epsilon)
}

// move is one call in a program: value V at x before it, given the value after it.
type move func(after func(float64) float64) func(float64) float64

// bounded is S: the adversary picks t, here from a grid, and each value is attained by a real
// mechanism.
func bounded(epsilon float64, grid int) move {
	return func(after func(float64) float64) func(float64) float64 {
		return func(x float64) float64 {
			best := 0.0
			for i := 0; i <= grid; i++ {
				t := epsilon * float64(i) / float64(grid)
				p := math.Expm1(t-epsilon) / math.Expm1(-epsilon)
				best = math.Max(best, p*after(x-t)+(1-p)*after(x-t+epsilon))
			}
			return best
		}
	}
}

// fixed is the composition with a pair of two atoms, randomised response.
func fixed(epsilon float64) move {
	return func(after func(float64) float64) func(float64) float64 {
		return func(x float64) float64 {
			sum := 0.0
			for _, a := range responseAtoms(epsilon) {
				sum += a.mass * after(x-a.loss)
			}
			return sum
		}
	}
}

func value(moves []move, x float64) float64 {
	v := func(x float64) float64 { return math.Max(0, -math.Expm1(x)) }
	for i := len(moves) - 1; i >= 0; i-- {
		v = moves[i](v)
	}
	return v(x)
}

func TestBoundedRangeOfOne(t *testing.T) {
	for _, epsilon := range []float64{1e-6, .01, .5, 3, 40} {
		g := newRangeGame(epsilon, 1, 300)
		upper := g.upper()
		for i := -12; i <= 12; i++ {
			x := epsilon * float64(i) / 10.01
			want := oneRange(epsilon, x)
			up := profileOf(upper, x)
			if up < want*(1-1e-9) || up > want+3e-5*epsilon {
				t.Errorf("ε %v: V_1(%v) ≤ %v, closed form %v", epsilon, x, up, want)
			}
		}
	}
}

// Ranges at both ends of what the grid accepts: nothing overflows, nothing falls below the closed
// form, blocks are cut in time.
func TestBoundedRangeExtremes(t *testing.T) {
	for _, epsilon := range []float64{minRange, 60, 150, maxRange} {
		upper := rangeBlocks(epsilon, 1)[0].atoms
		for i := -20; i <= 20; i++ {
			x := epsilon * float64(i) / 20.01
			if got, want := profileOf(upper, x), oneRange(epsilon, x); !(got >= want*(1-1e-9)) ||
				got > 1+1e-6 {
				t.Errorf("ε %v: V_1(%v) ≤ %v, closed form %v", epsilon, x, got, want)
			}
		}
	}
	for _, row := range []struct {
		epsilon float64
		k       int
		counts  []float64
	}{{.1, 5, []float64{1}}, {.1, 64, []float64{1}}, {.1, 65, []float64{1, 1}}, {.1, 200,
		[]float64{3, 1}}, {maxRange, 3, []float64{3}}, {100, 9, []float64{2, 1}}} {
		blocks := rangeBlocks(row.epsilon, row.k)
		if len(blocks) != len(row.counts) {
			t.Errorf("%v: %d blocks", row, len(blocks))
			continue
		}
		for i, b := range blocks {
			if mass := profileOf(b.atoms, -1e9); b.count != row.counts[i] || !near(mass, 1, 1e-6) {
				t.Errorf("%v: block %d has count %v and mass %v", row, i, b.count, mass)
			}
		}
	}
}

// The recursion against the adversary himself, on a fine grid of t, for two and three calls.
func TestBoundedRangeAgainstAdversary(t *testing.T) {
	for _, epsilon := range []float64{.1, 1.5} {
		for k := 1; k <= 3; k++ {
			g := newRangeGame(epsilon, k, 60)
			upper := g.upper()
			grid := []int{0, 400, 200, 30}[k]
			var moves []move
			for range k {
				moves = append(moves, bounded(epsilon, grid))
			}
			for _, share := range []float64{-.5, 0, .21, .47, .83} {
				x := share * epsilon * float64(k)
				want := value(moves, x) // attained
				up := profileOf(upper, x)
				if up < want*(1-1e-12) || up > want*1.02+1e-6*epsilon {
					t.Errorf("ε %v k %d: V(%v) ≤ %v, attained %v", epsilon, k, x, up, want)
				}
			}
		}
	}
}

// Other events before, between and after: the composition C V_2 bounds every order, and the bound
// is attained when they come first.
func TestBoundedRangeInAnyOrder(t *testing.T) {
	const epsilon, other = .8, .5
	s, c := bounded(epsilon, 120), fixed(other)
	upper := newRangeGame(epsilon, 2, 120).upper()
	composed := func(x float64) float64 {
		sum := 0.0
		for _, a := range responseAtoms(other) {
			sum += a.mass * profileOf(upper, x-a.loss)
		}
		return sum
	}
	gap := 0.0
	for _, x := range []float64{-.3, .05, .4, .77, 1.1, 1.6} {
		bound := composed(x)
		first := value([]move{c, s, s}, x)
		if first > bound || first < bound*.995-1e-5 {
			t.Errorf("x %v: first: %v, bound %v", x, first, bound)
		}
		for name, order := range map[string][]move{"between": {s, c, s}, "last": {s, s, c}} {
			got := value(order, x)
			if got > bound {
				t.Errorf("x %v: %s: %v exceeds %v", x, name, got, bound)
			}
			gap = math.Max(gap, first/got-1)
		}
	}
	if gap < 1e-3 {
		t.Errorf("the order should matter somewhere: %v", gap)
	}
}

// Exponential mechanisms themselves: random utilities on a few candidates, neighbours that move
// each by at most Δ = 1, one call and two adaptive ones.
func TestExponentialMechanismsAreBounded(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	// losses returns the atoms of P(c) ∝ e^{ε·u_c/2} against the neighbour's.
	losses := func(epsilon float64) []atom {
		n := 2 + u.IntN(4)
		p, q := make([]float64, n), make([]float64, n)
		sp, sq := 0.0, 0.0
		for i := range n {
			score := 4 * u.NormFloat64()
			moved := score + []float64{-1, 1, 2*u.Float64() - 1}[u.IntN(3)]
			p[i], q[i] = math.Exp(epsilon*score/2), math.Exp(epsilon*moved/2)
			sp += p[i]
			sq += q[i]
		}
		var atoms []atom
		for i := range n {
			atoms = append(atoms, atom{math.Log(p[i] / sp * sq / q[i]), p[i] / sp})
		}
		return atoms
	}
	for _, epsilon := range []float64{.2, 1, 4} {
		one, two := newRangeGame(epsilon, 1, 200).upper(), newRangeGame(epsilon, 2, 100).upper()
		closest := 0.0
		for range 4000 {
			a := losses(epsilon)
			b := make([][]atom, len(a)) // the second mechanism depends on the first one's choice
			for i := range b {
				b[i] = losses(epsilon)
			}
			x := epsilon * (3*u.Float64() - 1)
			got, want := profileOf(a, x), profileOf(one, x)
			if got > want*(1+1e-12) {
				t.Fatalf("ε %v: δ(%v) = %v exceeds V_1 = %v", epsilon, x, got, want)
			}
			if want > 1e-3 {
				closest = math.Max(closest, got/want)
			}
			sum := 0.0
			for i := range a {
				sum += a[i].mass * profileOf(b[i], x-a[i].loss)
			}
			if want := profileOf(two, x); sum > want*(1+1e-12) {
				t.Fatalf("ε %v: two calls: δ(%v) = %v exceeds V_2 = %v", epsilon, x, sum, want)
			}
		}
		if closest < .9 {
			t.Errorf("ε %v: the mechanisms come within %v of V_1 only", epsilon, closest)
		}
	}
}

// Blocks: 65 calls cost no less than 64 and no more than 66.
func TestBlocksAreMonotone(t *testing.T) {
	last := 0.0
	for _, k := range []int{1, 2, 63, 64, 65, 129} {
		got := mustEpsilon(t, events(times(exponential(.05), k), times(gaussian(20), 1)), 1e-9,
			accountant.AddRemove)
		if got.Epsilon <= last {
			t.Errorf("%d calls cost %v, fewer cost %v", k, got.Epsilon, last)
		}
		last = got.Epsilon
	}
	// Two groups of one kind of event are one group.
	a := mustEpsilon(t, events(times(exponential(.1), 4), times(exponential(.1), 6)), 1e-9,
		accountant.AddRemove)
	b := mustEpsilon(t, events(times(exponential(.1), 10)), 1e-9, accountant.AddRemove)
	if a != b {
		t.Errorf("split charges: %+v, %+v", a, b)
	}
}
