package noise

import (
	"fmt"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"gonum.org/v1/gonum/stat/distuv"
)

// sampler is what the three distributions share.
type sampler interface {
	Sample(src *Source) int64
	AddTo(dst []int64, src *Source)
}

// laws lists the distributions with their probabilities and, for large scales, their continuous
// limits.
var laws = []struct {
	name  string
	make  func(scale float64) (sampler, error)
	pmf   func(scale float64) func(int64) float64
	cdf   func(scale float64) func(float64) float64
	tails float64 // multiple of the scale that is exceeded about 6 times in 100,000
}{
	{
		"discrete Laplace", func(s float64) (sampler, error) {
			d, err := NewDiscreteLaplace(s)
			return d,
				err
		}, laplacePMF,
		func(s float64) func(float64) float64 { return distuv.Laplace{Scale: s}.CDF }, 9.7,
	},
	{
		"discrete Gaussian", func(s float64) (sampler, error) {
			d, err := NewDiscreteGaussian(s)
			return d, err
		}, gaussianPMF,
		func(s float64) func(float64) float64 { return distuv.Normal{Sigma: s}.CDF }, 4,
	},
	{
		"rounded Gaussian", func(s float64) (sampler, error) {
			d, err := NewRoundedGaussian(s)
			return d,
				err
		}, roundedPMF,
		func(s float64) func(float64) float64 { return distuv.Normal{Sigma: s}.CDF }, 4,
	},
}

func must(t *testing.T) func(s sampler, err error) sampler {
	return func(s sampler, err error) sampler {
		t.Helper()
		stattest.Check(t, err)
		return s
	}
}

// TestLaw: null, the draws have the exact probabilities; n a scale as listed, 10^6 mostly. At each
// scale where the law with a scale 30 % off can be told from the true one at all, it is rejected;
// so are the moments and tails of the wrong law.
func TestLaw(t *testing.T) {
	for _, law := range laws {
		for _, c := range []struct {
			scale float64
			n     int
			blind bool // all mass in one cell: nothing to tell wrong scales by
		}{
			{MinScale, 100_000, true}, {.3, 1_000_000, false}, {1, 1_000_000, false}, {2.5, 200_000,
				false}, {4.7, 1_000_000, false}, {100, 1_000_000, false},
		} {
			t.Run(fmt.Sprintf("%s %g", law.name, c.scale), func(t *testing.T) {
				t.Parallel()
				src, d := testSource(t), must(t)(law.make(c.scale))
				draws := make([]int64, c.n)
				d.AddTo(draws, src)
				if c.blind {
					for _, x := range draws {
						if x != 0 {
							t.Fatalf("drew %d at scale %v", x, c.scale)
						}
					}
					return
				}
				reach := int64(law.tails*c.scale) + 3
				if s, th, ok := fits(draws, reach, law.pmf(c.scale)); !ok {
					t.Errorf("chi-square %v > %v", s, th)
				}
				for _, wrong := range []float64{c.scale * 1.3, c.scale / 1.3} {
					if s, th, ok := fits(draws, reach, law.pmf(wrong)); ok {
						t.Errorf("scale %v fits: chi-square %v ≤ %v", wrong, s, th)
					}
				}
				checkMoments(t, draws, reach, law.pmf(c.scale))
				checkTails(t, draws, law.tails*c.scale, law.pmf, c.scale)
				checkPairs(t, draws)
			})
		}
	}
}

// checkMoments compares mean and mean square with those of the pmf: null, z-scores are standard
// normal (n ≥ 200,000).
func checkMoments(t *testing.T, draws []int64, reach int64, pmf func(int64) float64) {
	t.Helper()
	var second, fourth float64
	for x := -2*reach - 20; x <= 2*reach+20; x++ {
		xx := float64(x) * float64(x)
		second += pmf(x) * xx
		fourth += pmf(x) * xx * xx
	}
	var mean, square float64
	for _, x := range draws {
		mean += float64(x)
		square += float64(x) * float64(x)
	}
	n := float64(len(draws))
	limit := math.Sqrt2 * math.Erfinv(1-stattest.FalseAlarm)
	if z := mean / n / math.Sqrt(second/n); math.Abs(z) > limit {
		t.Errorf("mean %v is %v standard errors from 0", mean/n, z)
	}
	z := func(second float64) float64 {
		return (square/n - second) / math.Sqrt((fourth-second*second)/n)
	}
	if math.Abs(z(second)) > limit {
		t.Errorf("mean square %v, want %v: %v standard errors", square/n, second, z(second))
	}
	if math.Abs(z(second*1.69)) <= limit || math.Abs(z(second/1.69)) <= limit {
		t.Errorf("mean square %v does not exclude a scale 30 %% off", square/n)
	}
}

// checkTails counts |x| > cut. Null: binomial with the pmf's mass there. A scale 30 % off is
// rejected, except where fewer than 40 draws are expected there (small scales, and 200,000 draws).
func checkTails(
	t *testing.T, draws []int64, cut float64, pmf func(scale float64) func(int64) float64,
	scale float64,
) {
	t.Helper()
	count := int64(0)
	for _, x := range draws {
		if math.Abs(float64(x)) > cut {
			count++
		}
	}
	n := int64(len(draws))
	mass := func(scale float64) float64 {
		p, sum := pmf(scale), 0.0
		for x := int64(math.Floor(cut)) + 1; x < int64(10*cut)+40; x++ {
			sum += 2 * p(x)
		}
		return sum
	}
	p := mass(scale)
	if s, th, ok := stattest.Binomial(count, n, p); !ok {
		t.Errorf("%d of %d beyond %v, want %v: %v > %v", count, n, cut, p*float64(n), s, th)
	}
	if p*float64(n) < 40 {
		return
	}
	for _, wrong := range []float64{scale * 1.3, scale / 1.3} {
		if _, _, ok := stattest.Binomial(count, n, mass(wrong)); ok {
			t.Errorf("%d of %d beyond %v does not exclude scale %v", count, n, cut, wrong)
		}
	}
}

// checkPairs: null, a draw tells nothing about the next one. Chi-square on the signs (−, 0, +) of
// neighbours against the product of their margins; taking the margins from the draws only makes the
// test milder.
func checkPairs(t *testing.T, draws []int64) {
	t.Helper()
	class := func(x int64) int {
		switch {
		case x < 0:
			return 0
		case x == 0:
			return 1
		}
		return 2
	}
	var first, second, pairs [9]int64
	for i := 0; i+1 < len(draws); i += 2 {
		a, b := class(draws[i]), class(draws[i+1])
		pairs[3*a+b]++
		first[a]++
		second[b]++
	}
	n := float64(len(draws) / 2)
	p := make([]float64, 9)
	for a := range 3 {
		for b := range 3 {
			p[3*a+b] = float64(first[a]) / n * float64(second[b]) / n
		}
	}
	if s, th, ok := stattest.ChiSquare(pairs[:], p); !ok {
		t.Errorf("neighbours: %v > %v", s, th)
	}
}

// TestLargeScale: null, x/scale has the continuous law, whose jump at this scale is far below what
// n can see; 50,000 draws.
func TestLargeScale(t *testing.T) {
	for _, law := range laws {
		for _, scale := range []float64{0x1p24, 0x1.23456789abcdep40, MaxScale} {
			t.Run(fmt.Sprintf("%s %g", law.name, scale), func(t *testing.T) {
				t.Parallel()
				src, d := testSource(t), must(t)(law.make(scale))
				sample, low := make([]float64, 50_000), make([]int64, 256)
				for i := range sample {
					x := d.Sample(src)
					sample[i] = float64(x)
					low[x&255]++
				}
				for _, c := range []struct {
					scale float64
					ok    bool
				}{{scale, true}, {scale * 1.3, false}, {scale / 1.3, false}} {
					if s, th, ok := stattest.KolmogorovSmirnov(sample, law.cdf(c.scale)); ok != c.ok {
						t.Errorf("against scale %v: %v ≤ %v is %v", c.scale, s, th, ok)
					}
				}
				// The low bits are uniform: a float with too few digits, or a coarse grid, would show here.
				p := make([]float64, 256)
				for i := range p {
					p[i] = 1. / 256
				}
				if s, th, ok := stattest.ChiSquare(low, p); !ok {
					t.Errorf("low byte: %v > %v", s, th)
				}
			})
		}
	}
}

// TestDiscreteAndRoundedDiffer: at σ = .3 the two Gaussians have different laws, and each test
// rejects the other's draws.
func TestDiscreteAndRoundedDiffer(t *testing.T) {
	src := testSource(t)
	a, b := make([]int64, 100_000), make([]int64, 100_000)
	discrete, _ := NewDiscreteGaussian(.3)
	rounded, _ := NewRoundedGaussian(.3)
	discrete.AddTo(a, src)
	rounded.AddTo(b, src)
	if _, _, ok := fits(a, 3, roundedPMF(.3)); ok {
		t.Error("discrete draws pass for rounded ones")
	}
	if _, _, ok := fits(b, 3, gaussianPMF(.3)); ok {
		t.Error("rounded draws pass for discrete ones")
	}
}

// TestAddToAdds: AddTo uses the draws that Sample makes, adds them, and wraps.
func TestAddToAdds(t *testing.T) {
	for _, law := range laws {
		d := must(t)(law.make(5))
		a, b := testSource(t), testSource(t)
		dst := []int64{10, -20, math.MaxInt64, math.MinInt64}
		want := make([]int64, len(dst))
		for i := range dst {
			want[i] = dst[i] + d.Sample(a)
		}
		d.AddTo(dst, b)
		if fmt.Sprint(dst) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", law.name, dst, want)
		}
		d.AddTo(nil, b)
	}
}

func TestDrawsDoNotAllocate(t *testing.T) {
	src, dst := testSource(t), make([]int64, 100)
	for _, law := range laws {
		if law.name == "discrete Gaussian" { // whose numbers are large
			continue
		}
		d := must(t)(law.make(1000))
		if got := testing.AllocsPerRun(100, func() { d.AddTo(dst, src) }); got > 0 {
			t.Errorf("%s: %v allocations for 100 draws", law.name, got)
		}
	}
}

// TestProfile computes δ(ε) = Σ max(0, P(x) − e^ε·P(x−Δ)) of both Gaussians from their
// probabilities: that of the rounded one never exceeds the continuous mechanism's (Balle, Wang
// 2018, arXiv 1805.06530, Theorem 5), that of the discrete one does.
func TestProfile(t *testing.T) {
	for _, sigma := range []float64{.5, 1, 4.7} {
		for _, delta := range []int64{1, 2, 3} {
			mu := float64(delta) / sigma
			excess := func(pmf func(int64) float64) float64 {
				worst := math.Inf(-1)
				for eps := 0.; eps < 5; eps += .01 {
					profile := 0.0
					for x := int64(-60); x <= 60; x++ {
						profile += max(0, pmf(x)-math.Exp(eps)*pmf(x-delta))
					}
					normal := distuv.UnitNormal
					worst = max(worst, profile-(normal.CDF(mu/2-eps/mu)-math.Exp(eps)*normal.CDF(-mu/2-eps/mu)))
				}
				return worst
			}
			if e := excess(roundedPMF(sigma)); e > 1e-12 {
				t.Errorf("σ %v, Δ %d: the rounded Gaussian exceeds the continuous profile by %g", sigma, delta,
					e)
			}
			if e := excess(gaussianPMF(sigma)); delta == 1 && e < 1e-6 {
				t.Errorf("σ %v: the discrete Gaussian exceeds the continuous profile by %g only", sigma, e)
			}
		}
	}
}
