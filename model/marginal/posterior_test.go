package marginal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGammaNormal: tables and tails are the integrals, by quadrature in v = t^shape (in t, for
// large shapes), to 1e-3.
func TestGammaNormal(t *testing.T) {
	for _, g := range gammaNormals() {
		for _, m := range []float64{-300, -g.end - 1, -g.end + .01, -7.3, -1, 0, .77, 3, g.end - .01,
			g.end + 1} {
			p := math.Min(g.shape, 1)
			mode := math.Max(0, (m+math.Sqrt(m*m+4*math.Max(g.shape-1, 0)))/2)
			log := func(t float64) float64 {
				return (g.shape-p)*math.Log(t) + m*t - t*t/2
			}
			top, last := log(math.Max(mode, 1e-9)), math.Pow(mode+12, p)
			if m < -20 {
				last = math.Pow((g.shape+12*math.Sqrt(g.shape)+30)/-m, p)
			}
			sum, first := 0.0, 0.0
			const steps = 40_000
			for i := range steps {
				x := math.Pow((float64(i)+.5)/steps*last, 1/p)
				w := math.Exp(log(x)-top) * last / steps / p
				sum += w
				first += w * x
			}
			k, r := g.at(m)
			if d := math.Abs(k - top - math.Log(sum)); d > 3e-3*math.Max(1, math.Sqrt(g.shape)) {
				t.Errorf("shape %v, m %v: log of the integral is off by %v", g.shape, m, d)
			}
			if d := math.Abs(r*sum/first - 1); d > 3e-3 {
				t.Errorf("shape %v, m %v: mean %v, want %v", g.shape, m, r, first/sum)
			}
		}
	}
}

// TestExpected: the counts without noise, those of the codes where it drowns them, and in between
// positive ones in the order of the noisy ones. The sum is always n.
func TestExpected(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	for _, sigma := range []float64{1e-3, 1, 50, 1e3, 1e6} {
		y, s := make([]float64, 40), slices.Repeat([]float64{sigma}, 40)
		truth, n := make([]float64, 40), 0.0
		for i := range y {
			truth[i] = float64(i*i) + 1
			n += truth[i]
			y[i] = truth[i] + sigma*u.NormFloat64()
		}
		q := expected(y, s, nil, n)
		sum := 0.0
		for i, x := range q {
			sum += x
			if x <= 0 {
				t.Errorf("sigma %v: count %v", sigma, x)
			}
			for j := range i {
				if (y[i] > y[j]) != (x > q[j]) && math.Abs(y[i]-y[j]) > 1e-3*sigma {
					t.Errorf("sigma %v: of %v and %v became %v and %v", sigma, y[i], y[j], x, q[j])
				}
			}
			if sigma == 1e-3 && math.Abs(x-truth[i]) > .01 {
				t.Errorf("without noise: %v, want %v", x, truth[i])
			}
			if want := n / 40; sigma == 1e6 && math.Abs(x-want) > want/4 {
				t.Errorf("noise alone: %v, want about %v", x, want)
			}
		}
		if math.Abs(sum-n) > 1e-6*n {
			t.Errorf("sigma %v: the sum is %v, want %v", sigma, sum, n)
		}
	}
	codes := []float64{1, 1, 10}
	q := expected([]float64{0, 0, 0}, []float64{1e6, 1e6, 1e6}, codes, 120)
	if q[2] < 90 || q[2] > 110 {
		t.Errorf("ten of twelve codes hold %v of 120 rows", q[2])
	}
}

// TestExpectedIsNearer: over columns from even to steep, the L1 error is at most a quarter above
// that of the nearest counts ≥ 0 with the same sum, and .15 below it on average.
func TestExpectedIsNearer(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	all, nearest := 0.0, 0.0
	for _, sigma := range []float64{3, 10, 30, 100, 300} {
		for _, decay := range []float64{.3, .7, .9, 1} {
			const k, n, runs = 32, 1000., 60
			truth, sum := make([]float64, k), 0.0
			for i := range truth {
				truth[i] = math.Pow(decay, float64(i))
				sum += truth[i]
			}
			var a, b float64
			for range runs {
				y := make([]float64, k)
				for i := range y {
					truth[i] *= n / sum
					y[i] = truth[i] + sigma*u.NormFloat64()
				}
				sum = n
				q, p := expected(y, slices.Repeat([]float64{sigma}, k), nil, n), nearestCounts(y, n)
				for i := range y {
					a += math.Abs(q[i] - truth[i])
					b += math.Abs(p[i] - truth[i])
				}
			}
			if a > 1.25*b {
				t.Errorf("sigma %v, decay %v: L1 error %v, nearest counts have %v", sigma, decay,
					a/runs, b/runs)
			}
			all += a / b
			nearest++
		}
	}
	if all > .85*nearest {
		t.Errorf("errors are %.3f of those of the nearest counts, want .85", all/nearest)
	}
}

// nearestCounts is the point nearest to y with entries ≥ 0 and sum n (Held, Wolfe and Crowder,
// Validation of subgradient optimization, 1974).
func nearestCounts(y []float64, n float64) []float64 {
	lo, hi := slices.Min(y)-n, slices.Max(y)
	q := make([]float64, len(y))
	for range 100 {
		mid, sum := (lo+hi)/2, 0.0
		for i, x := range y {
			q[i] = math.Max(x-mid, 0)
			sum += q[i]
		}
		if sum > n {
			lo = mid
		} else {
			hi = mid
		}
	}
	return q
}

// TestJoin: the first measurement of each code stands; one of runs of codes before it says nothing.
// What Refine joins is in its own test.
func TestJoin(t *testing.T) {
	y, variance := []float64{1, 1}, []float64{math.Inf(1), math.Inf(1)}
	join(y, variance, []uint16{0, 0}, []float64{9}, []float64{1})
	if !slices.Equal(y, []float64{1, 1}) || !math.IsInf(variance[0], 1) {
		t.Errorf("a run of codes that were not measured: %v, %v", y, variance)
	}
	join(y, variance, nil, []float64{3, 4}, []float64{2, 5})
	if !slices.Equal(y, []float64{3, 4}) || !slices.Equal(variance, []float64{2, 5}) {
		t.Errorf("the first measurement: %v, %v", y, variance)
	}
}

// TestExpectedExtremes: of any counts, noise and number of rows come finite counts that sum to it.
func TestExpectedExtremes(t *testing.T) {
	u := rand.New(rand.NewPCG(5, 6))
	scale := func(digits float64) float64 { return math.Pow(10, digits*(2*u.Float64()-1)) }
	for range 4000 {
		k := 1 + u.IntN(6)
		y, sigma, codes := make([]float64, k), make([]float64, k), make([]float64, k)
		base, n := scale(12), 1e6*scale(6)
		for i := range y {
			sigma[i], y[i] = base*scale(3), u.NormFloat64()*scale(12)
			codes[i] = float64(1 + u.IntN(70_000))
		}
		sum := 0.0
		q := expected(y, sigma, codes, n)
		for _, x := range q {
			sum += x
		}
		if slices.Min(q) < 0 || !(math.Abs(sum/n-1) < 1e-9) {
			t.Fatalf("y %v, sigma %v, codes %v, n %v: %v", y, sigma, codes, n, q)
		}
	}
}

// TestCutNormalEnds: also far below zero, where it is an exponential law of mean σ²/|μ|.
func TestCutNormalEnds(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 8))
	for _, mu := range []float64{-1e3, -1e9, -1e160, math.Inf(-1)} {
		if x := cutNormal(mu, 1, u); !(x >= 0 && x < 1) {
			t.Errorf("mean %v: %v", mu, x)
		}
	}
}
