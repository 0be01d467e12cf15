package pld

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// randomDist is a distribution on a few grid points.
func randomDist(u *rand.Rand, count float64) pld {
	d := pld{lo: u.IntN(9) - 6, mass: make([]float64, 1+u.IntN(12)), inf: u.Float64() * 1e-3,
		count: count}
	sum := 0.0
	for i := range d.mass {
		d.mass[i] = u.ExpFloat64()
		sum += d.mass[i]
	}
	for i := range d.mass {
		d.mass[i] *= (1 - d.inf) / sum
	}
	return d
}

// convolution composes directly.
func convolution(terms []pld) pld {
	out := pld{mass: []float64{1}}
	keep := 1.0
	for _, d := range terms {
		for range int(d.count) {
			next := make([]float64, len(out.mass)+len(d.mass)-1)
			for i, a := range out.mass {
				for j, b := range d.mass {
					next[i+j] += a * b
				}
			}
			out.mass, out.lo = next, out.lo+d.lo
			keep *= 1 - d.inf
		}
	}
	out.inf = 1 - keep
	return out
}

func (d pld) profileOf(epsilon, h float64) float64 {
	sum := d.inf
	for i, m := range d.mass {
		sum += m * math.Max(0, -math.Expm1(epsilon-float64(d.lo+i)*h))
	}
	return sum
}

// The tilted FFT against direct convolution, for tilts from none to steep, at every ε from 0 to
// beyond the support.
func TestComposeAgainstConvolution(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	const h = .13
	for trial := range 200 {
		terms := []pld{randomDist(u, float64(1+u.IntN(7))), randomDist(u, 1), randomDist(u,
			float64(1+u.IntN(3)))}
		want := convolution(terms)
		steps := terms[0].count + terms[1].count + terms[2].count
		lambda := []float64{0, .3, 2, 9}[trial%4]
		c, _, ok := compose(terms, h, lambda)
		if !ok {
			t.Fatal("compose failed")
		}
		for epsilon := 0.0; epsilon < 8; epsilon += .0413 {
			got, exact := c.deltaAt(epsilon), want.profileOf(epsilon, h)
			if epsilon < float64(c.first)*h { // below the window it says nothing
				if got != 1 {
					t.Fatalf("trial %d λ %v: δ(%v) = %v below the window", trial, lambda, epsilon, got)
				}
				continue
			}
			if got < exact*(1-1e-14) || got > exact+1e-6*(1+math.Exp(c.logM-lambda*epsilon)) {
				t.Fatalf("trial %d λ %v: δ(%v) = %v, want %v", trial, lambda, epsilon, got, exact)
			}
		}
		for _, delta := range []float64{.5, .1, .02} {
			if delta <= want.inf*1.01 {
				if delta < want.inf && !math.IsInf(c.upper(delta), 1) {
					t.Fatalf("trial %d: ε(%v) = %v with %v at infinity", trial, delta, c.upper(delta), want.inf)
				}
				continue
			}
			got := c.upper(delta)
			if d := want.profileOf(got, h); d > delta*(1+1e-14) {
				t.Fatalf("trial %d λ %v: ε(%v) = %v costs %v", trial, lambda, delta, got, d)
			}
			if got > 1e-4 && lambda < 3 &&
				want.profileOf(got-1e-4, h) < delta-1e-6*(1+math.Exp(c.logM-lambda*got)) {
				t.Fatalf("trial %d λ %v: ε(%v) = %v is not the smallest", trial, lambda, delta, got)
			}
			if low := c.lower(delta, steps, 0); low > got {
				t.Fatalf("trial %d: lower bound %v above %v", trial, low, got)
			}
		}
	}
}

// A window too narrow for the support: what wraps around is counted. The stated error must cover
// the difference.
func TestWrapAroundIsBounded(t *testing.T) {
	u := rand.New(rand.NewPCG(5, 6))
	d := pld{lo: -400, mass: make([]float64, 801), count: 30}
	for i := range d.mass {
		x := float64(i-400) / 10
		d.mass[i] = math.Exp(-x*x/2+x/20) / 25.1 * (1 + u.Float64()*1e-3)
	}
	s := floats.Sum(d.mass)
	for i := range d.mass {
		d.mass[i] /= s
	}
	const h = .01
	want := convolution([]pld{d})
	for _, lambda := range []float64{.1, 1, 3} {
		c, _, ok := compose([]pld{d}, h, lambda)
		if !ok || len(c.p) >= len(want.mass) {
			t.Fatalf("λ %v: the window of %d does not test anything", lambda, len(c.p))
		}
		for epsilon := float64(c.first)*h + h; epsilon < 9; epsilon += .37 {
			if epsilon < 0 {
				continue
			}
			if got, exact := c.deltaAt(epsilon), want.profileOf(epsilon, h); got < exact*(1-1e-13) {
				t.Errorf("λ %v: δ(%v) = %v, want at least %v", lambda, epsilon, got, exact)
			}
		}
	}
}

// On a wide grid the upper bound is visibly too large; the lower one must make up for it.
func TestLowerOnAWideGrid(t *testing.T) {
	const mu, steps = .1, 60
	for _, h := range []float64{.4 * mu, mu} {
		d, _ := discretize(gaussianPair{mu}, h, 1e-18, steps)
		c, _, ok := compose([]pld{d}, h, 5)
		if !ok {
			t.Fatal("compose failed")
		}
		truth := accountant.GDPEpsilon(mu*math.Sqrt(steps), 1e-5)
		up, low := c.upper(1e-5), c.lower(1e-5, steps, 2e-18*steps)
		if up < truth*(1+1e-3) || low > truth || low < truth/4 {
			t.Errorf("h %v: ε in [%v, %v], truth %v", h, low, up, truth)
		}
	}
}

// The part of err that is for the rounding of the FFT covers the difference to a direct
// convolution, and is not absurdly larger.
func TestRoundingIsBounded(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 10))
	const h = .05
	for range 20 {
		terms := []pld{randomDist(u, 40), randomDist(u, 9)}
		c, _, ok := compose(terms, h, 1)
		if !ok {
			t.Fatal("compose failed")
		}
		want := convolution(terms)
		worst := 0.0
		for i, p := range c.p {
			exact := 0.0
			if k := c.first + i - want.lo; k >= 0 && k < len(want.mass) {
				exact = want.mass[k] * math.Exp(c.lambda*float64(c.first+i)*h-c.logM)
			}
			if diff := math.Abs(p - exact); diff > worst && exact > 1e-300 {
				worst = diff
			}
		}
		if rounding := c.err - 4*windowTail; rounding < worst || rounding > 1e-8 {
			t.Errorf("err is %v, one mass is off by %v", rounding, worst)
		}
	}
}

func TestPower(t *testing.T) {
	z := complex(.6, -.7)
	for n := int64(1); n < 40; n++ {
		want := complex(1, 0)
		for range n {
			want *= z
		}
		if got := power(z, n); cmplx.Abs(got-want) > float64(n)*4*ulp*cmplx.Abs(want) {
			t.Errorf("power(z, %d) = %v, want %v", n, got, want)
		}
	}
}

// The moment generating function and the tilt against their definitions, past several
// resynchronisations.
func TestTilt(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 8))
	d := pld{lo: -700, mass: make([]float64, 2000)}
	for i := range d.mass {
		d.mass[i] = u.Float64()
	}
	const h = .01
	for _, s := range []float64{-30, -1, 0, .5, 25} {
		sum, mean := 0.0, 0.0
		for i, m := range d.mass {
			w := m * math.Exp(s*h*float64(d.lo+i))
			sum += w
			mean += w * float64(d.lo+i)
		}
		mean /= sum
		if got := d.logMGF(s, h); math.Abs(got-math.Log(sum)) > 1e-11 {
			t.Errorf("logMGF(%v) = %v, want %v", s, got, math.Log(sum))
		}
		if s < 0 {
			continue
		}
		p, logM := d.tilt(s, h)
		m, v := moments(p, d.lo)
		if math.Abs(logM-math.Log(sum)) > 1e-11 || math.Abs(m-mean) > 1e-8 ||
			!near(floats.Sum(p), 1, 1e-12) || v <= 0 {
			t.Errorf("tilt(%v): ln M %v, mean %v, want %v, %v", s, logM, m, math.Log(sum), mean)
		}
	}
}

// On the grid a pair costs at least what it costs off it, at every ε; and no more than with every
// loss a cell higher.
func TestDiscretizeIsAnUpperBound(t *testing.T) {
	const h = .05
	for _, row := range []struct {
		name  string
		pr    pair
		exact func(epsilon float64) float64
	}{
		{"gaussian", gaussianPair{.7}, func(e float64) float64 { return accountant.GDPDelta(.7, e) }},
		{"steep gaussian", gaussianPair{6}, func(e float64) float64 { return accountant.GDPDelta(6, e) }},
		{"flat gaussian", gaussianPair{.01}, func(e float64) float64 {
			return accountant.GDPDelta(.01,
				e)
		}},
		// (1−q)N(0) + qN(μ) against N(0): δ(ε) = q·δ_G(ln(1 + (e^ε − 1)/q)).
		{"remove", removePair{.2, 1.1}, func(e float64) float64 {
			return .2 * accountant.GDPDelta(1.1,
				math.Log1p(math.Expm1(e)/.2))
		}},
		// The reverse: δ(ε) = 1 − e^ε + e^ε·δ_remove(−ε), and above −ln(1−q) it is 0.
		{"add", addPair{.2, 1.1}, func(e float64) float64 {
			if inner := math.Expm1(-e)/.2 + 1; inner > 0 {
				return -math.Expm1(e) + math.Exp(e)*.2*accountant.GDPDelta(1.1, math.Log(inner))
			}
			return 0
		}},
	} {
		for _, tail := range []float64{1e-18, 1e-3} {
			d, ok := discretize(row.pr, h, tail, 1)
			if !ok {
				t.Fatal("too many bins")
			}
			if mass := floats.Sum(d.mass) + d.inf; mass < 1 || mass > 1+1e-9+2*tail {
				t.Errorf("%s, tail %v: mass %v", row.name, tail, mass)
			}
			for epsilon := 0.0; epsilon < 9; epsilon += .0173 {
				got, exact := d.profileOf(epsilon-d.shift, h), row.exact(epsilon)
				if got < exact*(1-1e-9)-1e-16 {
					t.Errorf("%s, tail %v: δ(%v) = %v, below %v", row.name, tail, epsilon, got, exact)
				}
				if most := row.exact(epsilon - h); got > most*(1+1e-9)+1e-15+2*tail {
					t.Errorf("%s, tail %v: δ(%v) = %v, above δ(ε − h) = %v", row.name, tail, epsilon, got, most)
				}
			}
		}
	}
}

// point inverts loss over the whole reach, for every pair.
func TestPairsInvert(t *testing.T) {
	for _, pr := range []pair{
		gaussianPair{.01}, gaussianPair{5}, removePair{.01, .5}, removePair{.999, 4}, addPair{.01, .5},
		addPair{.999, 4},
		replacePair{.01, .5}, replacePair{.5, 9}, replacePair{.999, 4},
	} {
		x, mu := pr.reach(1e-15)
		last := math.Inf(-1)
		for i := -50; i <= 50; i++ {
			at := x * float64(i) / 50
			loss := pr.loss(at)
			if loss < last || math.Abs(loss) > mu*x+mu*mu {
				t.Fatalf("%#v: loss(%v) = %v", pr, at, loss)
			}
			last = loss
			back := pr.point(loss)
			if math.IsInf(back, 0) { // beyond the range in float64
				continue
			}
			if again := pr.loss(back); math.Abs(again-loss) > 64*ulp*(1+x*mu+mu*mu) {
				t.Errorf("%#v: loss(point(%v)) = %v", pr, loss, again)
			}
			// The loss is the logarithm of the ratio of the masses of a short interval.
			if math.Abs(at) < 4 {
				if p, q := pr.masses(between(at-1e-5, at+1e-5)); math.Abs(math.Log(p/q)-loss) > 1e-6 {
					t.Errorf("%#v: ln(p/q) = %v at %v, loss %v", pr, math.Log(p/q), at, loss)
				}
			}
		}
	}
}

// Atoms on the grid keep P's mass, and E[e^{−L}] = Q's mass.
func TestOnGrid(t *testing.T) {
	const h = .03
	atoms := []atom{{-.7213, .1}, {-.03, .2}, {0, .05}, {.0299999, .15}, {.4444, .5}}
	d, ok := onGrid(atoms, h, 1)
	if !ok {
		t.Fatal("too many bins")
	}
	q, wantQ := 0.0, 0.0
	for i, m := range d.mass {
		q += m * math.Exp(-float64(d.lo+i)*h)
	}
	for _, a := range atoms {
		wantQ += a.mass * math.Exp(-a.loss)
	}
	if !near(floats.Sum(d.mass), 1, 1e-11) || !near(q, wantQ, 1e-11) {
		t.Errorf("masses %v and %v, want 1 and %v", floats.Sum(d.mass), q, wantQ)
	}
	for epsilon := -1.0; epsilon < 1; epsilon += .0071 {
		got, exact := d.profileOf(epsilon-d.shift, h), profileOf(atoms, epsilon)
		if got < exact*(1-1e-12) || got > profileOf(atoms, epsilon-h)*(1+1e-11) {
			t.Errorf("δ(%v) = %v, want %v", epsilon, got, exact)
		}
	}
	if _, ok := onGrid([]atom{{0, .5}, {1e9, .5}}, h, 1); ok {
		t.Error("a grid of 3e10 bins was accepted")
	}
	if _, ok := discretize(gaussianPair{1}, 1e-9, 1e-12, 1); ok {
		t.Error("a grid of 1e10 bins was accepted")
	}
}

// lower returns an ε below which the composition of the true events is not (ε, delta)-DP. They are
// so many steps, whose losses were moved by more than a grid cell with probability lost.
//
// Putting a loss L on the grid is a random move to L + D, with D in an interval of length h and
// E[e^{−D}|L] = 1 up to the relative errors r of the masses. So E[D|L] ≤ h²/8 + 2r (Hoeffding's
// lemma for one side, Jensen's for the other), and for n independent draws, by Hoeffding's
// inequality, ΣD ≤ t = n(h²/8 + 2r) + h√(n·ln(1/η)/2) except with probability η. Hence δ_grid(ε +
// t) ≤ δ_true(ε) + η + lost, and the ε at which δ_grid falls to delta + η + lost, less t, is a
// lower bound of the true one.
func (c profile) lower(delta, steps, lost float64) float64 {
	eta := 1e-3 * delta // a relative change of 1e-3 in δ moves ε by about 1e-3/ln(1/δ)
	t := steps*(c.h*c.h/8+4*massError) + c.h*math.Sqrt(-steps*math.Log(eta)/2) + 4*c.shift
	target := (delta + eta + lost) * math.Exp(c.grow)
	inf := math.Max(0, c.inf-lost)
	epsilon := 0.0
	c.scan(func(loss, scale, a, b float64) bool {
		epsilon = loss
		return inf+scale*(a-b-c.err) <= target
	})
	return math.Max(0, epsilon-t)
}
