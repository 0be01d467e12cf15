package stattest

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// logBinomial is the log probability of k successes of n.
func logBinomial(k, n int64, p float64) float64 {
	lg := func(x int64) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p)
}

func TestBinomialTailsAgainstDirectSum(t *testing.T) {
	for _, c := range []struct {
		s, n int64
		p    float64
	}{
		{0, 10, .3}, {10, 10, .3}, {3, 10, .3}, {60, 100, .5},
		{900, 1_000_000, .001}, {1150, 1_000_000, .001}, {503_000, 1_000_000, .5},
	} {
		var lower, upper float64
		for k := int64(0); k <= c.n; k++ {
			mass := math.Exp(logBinomial(k, c.n, c.p))
			if k <= c.s {
				lower += mass
			}
			if k >= c.s {
				upper += mass
			}
		}
		want := -math.Log10(min(1, 2*min(lower, upper)))
		if got, _, _ := Binomial(c.s, c.n, c.p); math.Abs(got-want) > 1e-5 {
			t.Errorf("Binomial(%d, %d, %v) = %v, want %v", c.s, c.n, c.p, got, want)
		}
	}
}

func TestBinomialCertainties(t *testing.T) {
	for _, c := range []struct {
		s, n int64
		p    float64
		ok   bool
	}{{0, 10, 0, true}, {1, 10, 0, false}, {10, 10, 1, true}, {9, 10, 1, false}} {
		if _, _, ok := Binomial(c.s, c.n, c.p); ok != c.ok {
			t.Errorf("Binomial(%d, %d, %v) ok = %v", c.s, c.n, c.p, ok)
		}
	}
}

// TestChiSquareFalseAlarm computes, exactly, the rate at which a true null with two cells is
// rejected: the sum of the binomial probabilities of all rejected outcomes.
func TestChiSquareFalseAlarm(t *testing.T) {
	worst := 0.0
	for _, n := range []int64{50, 51, 73, 100, 250, 1000, 10_000, 100_000} {
		for _, expected := range []float64{25, 25.5, 26, 28, 33, 40, 60, 100, 500, 5000, 50_000} {
			p := expected / float64(n)
			if p > .5 {
				continue
			}
			rate := 0.0
			for k := int64(0); k <= n; k++ {
				lp := logBinomial(k, n, p)
				if lp < -60 {
					continue
				}
				if _, _, ok := ChiSquare([]int64{k, n - k}, []float64{p, 1 - p}); !ok {
					rate += math.Exp(lp)
				}
			}
			worst = max(worst, rate)
		}
	}
	t.Logf("worst exact false-alarm rate with two cells: %.2g", worst)
	if worst > FalseAlarm || worst < nominal/5 {
		t.Errorf("worst false-alarm rate %.3g, stated %g", worst, FalseAlarm)
	}
}

// TestTwoSampleFalseAlarm is the same for two samples over two cells: the sum over all pairs of
// outcomes.
func TestTwoSampleFalseAlarm(t *testing.T) {
	worst := 0.0
	for _, c := range []struct {
		na, nb int64
		p      float64
	}{{100, 100, .5}, {100, 100, .3}, {60, 900, .5}, {300, 300, .1}, {60, 60, .5}} {
		rate := 0.0
		for i := range c.na + 1 {
			for j := range c.nb + 1 {
				lp := logBinomial(i, c.na, c.p) + logBinomial(j, c.nb, c.p)
				small := float64(min(i+j, c.na+c.nb-i-j)) * float64(min(c.na, c.nb)) / float64(c.na+c.nb)
				if lp < -40 || small < minExpected {
					continue // too small to matter, or refused by a panic
				}
				if _, _, ok := TwoSample([]int64{i, c.na - i}, []int64{j, c.nb - j}); !ok {
					rate += math.Exp(lp)
				}
			}
		}
		worst = max(worst, rate)
	}
	t.Logf("worst exact false-alarm rate of two samples over two cells: %.2g", worst)
	if worst > FalseAlarm || worst == 0 {
		t.Errorf("worst false-alarm rate %.3g, stated %g", worst, FalseAlarm)
	}
}

// TestChiSquareManyCells checks the law of the statistic where its rate can be counted. Null: 40
// cells, each expecting minExpected, statistic chi-square with 39 degrees of freedom; 20,000
// tables; the number above the 1e-3 quantile is binomial (rate up to 2e-3 allowed, since at 25 a
// cell the limit law is not exact).
func TestChiSquareManyCells(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	const cells, tables = 40, 20_000
	p := make([]float64, cells)
	for i := range p {
		p[i] = 1. / cells
	}
	q := distuv.ChiSquared{K: cells - 1}.Quantile(1 - 1e-3)
	above, mean := int64(0), 0.0
	for range tables {
		counts := make([]int64, cells)
		for range cells * minExpected {
			counts[u.IntN(cells)]++
		}
		s, _, ok := ChiSquare(counts, p)
		if !ok {
			t.Error("a true null was rejected")
		}
		if s > q {
			above++
		}
		mean += s / tables
	}
	if _, _, ok := Binomial(above, tables, 2e-3); !ok && above > tables*2/1000 {
		t.Errorf("%d of %d above the 1e-3 quantile", above, tables)
	}
	if above == 0 || math.Abs(mean-(cells-1)) > 2 {
		t.Errorf("statistic: mean %v, %d above the 1e-3 quantile", mean, above)
	}
}

func TestQuantileIsOnTheTail(t *testing.T) {
	for _, df := range []int{1, 2, 10, 100, 1000} {
		got := (distuv.ChiSquared{K: float64(df)}).Survival(quantile(df))
		if math.Abs(got/nominal-1) > 1e-3 {
			t.Errorf("df %d: tail %g, want %g", df, got, nominal)
		}
	}
	// The χ²₁ tail at q is that of |N(0,1)| at √q.
	if got := math.Erfc(math.Sqrt(quantile(1) / 2)); math.Abs(got/nominal-1) > 1e-3 {
		t.Errorf("normal tail %g, want %g", got, nominal)
	}
}

func TestChiSquareStatistic(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []int64
		p      []float64
		want   float64
		ok     bool
	}{
		{"exact fit", []int64{50, 50}, []float64{.5, .5}, 0, true},
		{"by hand", []int64{60, 40}, []float64{.5, .5}, 2 * (60*math.Log(1.2) + 40*math.Log(.8)), true},
		{"far off", []int64{90, 10}, []float64{.5, .5}, 2 * (90*math.Log(1.8) + 10*math.Log(.2)), false},
		{"empty cell", []int64{0, 100}, []float64{.5, .5}, 2 * 100 * math.Log(2), false},
		{"impossible cell", []int64{50, 1, 49}, []float64{.5, 0, .5}, math.Inf(1), false},
		{"possible zero", []int64{50, 0, 50}, []float64{.5, 0, .5}, 0, true},
		{"pooled left and right", []int64{5, 20, 50, 24, 1}, []float64{.05, .2, .5, .24, .01}, 0, true},
	} {
		got, _, ok := ChiSquare(c.counts, c.p)
		if !(math.Abs(got-c.want) < 1e-9 || got == c.want) || ok != c.ok {
			t.Errorf("%s: %v %v, want %v %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

// TestRejectsWrongScale: null, 10,000 normal draws of scale 1; the same draws against scale 1.3 and
// 1/1.3.
func TestRejectsWrongScale(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	const n = 10_000
	sample := make([]float64, n)
	counts, other := make([]int64, 16), make([]int64, 16)
	bin := func(x float64) int { return max(0, min(15, int(math.Floor(x*2))+8)) }
	for i := range sample {
		sample[i] = u.NormFloat64()
		counts[bin(sample[i])]++
	}
	for _, c := range []struct {
		scale float64
		ok    bool
	}{{1, true}, {1.3, false}, {1 / 1.3, false}} {
		normal := distuv.Normal{Sigma: c.scale}
		if s, th, ok := KolmogorovSmirnov(sample, normal.CDF); ok != c.ok {
			t.Errorf("Kolmogorov–Smirnov at scale %v: %v ≤ %v is %v", c.scale, s, th, ok)
		}
		p := make([]float64, 16)
		for i := range p {
			p[i] = normal.CDF(float64(i-7)/2) - normal.CDF(float64(i-8)/2)
		}
		p[0], p[15] = normal.CDF(-3.5), normal.CDF(-3.5)
		if s, th, ok := ChiSquare(counts, p); ok != c.ok {
			t.Errorf("chi-square at scale %v: %v ≤ %v is %v", c.scale, s, th, ok)
		}
		clear(other)
		for range 2 * n {
			other[bin(c.scale*u.NormFloat64())]++
		}
		if s, th, ok := TwoSample(counts, other); ok != c.ok {
			t.Errorf("two-sample at scale %v: %v ≤ %v is %v", c.scale, s, th, ok)
		}
	}
}

func TestTwoSampleStatistic(t *testing.T) {
	// By hand: margins 100 and 200 over cells 120 and 180 expect 40, 60 and 80, 120.
	want := 2 * (50*math.Log(50./40) + 50*math.Log(50./60) +
		70*math.Log(70./80) + 130*math.Log(130./120))
	if got, _, ok := TwoSample([]int64{50, 50}, []int64{70, 130}); math.Abs(got-want) > 1e-9 || !ok {
		t.Errorf("statistic %v, want %v", got, want)
	}
}

func TestKolmogorovSmirnovStatistic(t *testing.T) {
	uniform := func(x float64) float64 { return x }
	sample := []float64{.9, .2, .3} // steps at .2, .3, .9: the largest gap is 2/3 just after .3
	got, threshold, ok := KolmogorovSmirnov(sample, uniform)
	if math.Abs(got-(2./3-.3)) > 1e-12 ||
		math.Abs(threshold-math.Sqrt(math.Log(2e6)/6)) > 1e-12 || !ok {
		t.Errorf("statistic %v, threshold %v", got, threshold)
	}
	if sample[0] != .9 {
		t.Error("the sample was reordered")
	}
	// Before the first step the gap is cdf − 0.
	if got, _, _ := KolmogorovSmirnov([]float64{.8}, uniform); math.Abs(got-.8) > 1e-12 {
		t.Errorf("statistic %v, want .8", got)
	}
}
