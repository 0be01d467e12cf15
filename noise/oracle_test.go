package noise

import (
	"crypto/sha256"
	"math"
	"math/big"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// Every statistical test here has false-alarm rate 1e-6 (stattest.FalseAlarm). The sources of the
// tests are keyed by the test's name, so a passing test passes again; to see other randomness,
// change the salt.
const salt = "0"

func testSource(t *testing.T) *Source { return newSource(sha256.Sum256([]byte(salt + t.Name()))) }

// checkRate fails unless the successes of n trials agree with probability p and disagree with
// p·1.3, p/1.3 and .7 of the failures. Where too few are expected to tell, p(1−p)n < 2000, the
// disagreement is not asked for.
func checkRate(t *testing.T, n int, p float64, event func() bool) {
	t.Helper()
	count := int64(0)
	for range n {
		if event() {
			count++
		}
	}
	if s, th, ok := stattest.Binomial(count, int64(n), p); !ok {
		t.Errorf("%d of %d, want probability %v: %v > %v", count, n, p, s, th)
	}
	if p*(1-p)*float64(n) < 2000 {
		return
	}
	for _, wrong := range []float64{p * 1.3, p / 1.3, 1 - (1-p)*.7} {
		if wrong > 1 {
			continue
		}
		if _, _, ok := stattest.Binomial(count, int64(n), wrong); ok {
			t.Errorf("%d of %d does not exclude probability %v", count, n, wrong)
		}
	}
}

// fits is the chi-square test that the draws have the probabilities pmf(x), symmetric in x; |x| >
// reach are two cells.
func fits(
	draws []int64, reach int64, pmf func(x int64) float64,
) (statistic, threshold float64, ok bool) {
	counts, p := make([]int64, 2*reach+3), make([]float64, 2*reach+3)
	inside := 0.0
	for x := -reach; x <= reach; x++ {
		p[x+reach+1] = pmf(x)
		inside += p[x+reach+1]
	}
	p[0] = max(0, 1-inside) / 2
	p[len(p)-1] = p[0]
	for _, x := range draws {
		counts[max(0, min(int64(len(p))-1, x+reach+1))]++
	}
	return stattest.ChiSquare(counts, p)
}

// laplacePMF is tanh(1/2s)·exp(−|x|/s): the sum over x of exp(−|x|/s) is coth(1/2s).
func laplacePMF(scale float64) func(int64) float64 {
	return func(x int64) float64 {
		return math.Tanh(1/(2*scale)) * math.Exp(-math.Abs(float64(x))/scale)
	}
}

// gaussianPMF normalises by direct summation to 40σ.
func gaussianPMF(sigma float64) func(int64) float64 {
	weight := func(x int64) float64 { return math.Exp(-float64(x) * float64(x) / (2 * sigma * sigma)) }
	sum := 1.0
	for x := int64(1); float64(x) <= 40*sigma+1; x++ {
		sum += 2 * weight(x)
	}
	return func(x int64) float64 { return weight(x) / sum }
}

// roundedPMF is the normal probability of [x−½, x+½], from the upper tail so that it keeps its
// digits.
func roundedPMF(sigma float64) func(int64) float64 {
	upper := func(z float64) float64 { return math.Erfc(z/sigma/math.Sqrt2) / 2 }
	return func(x int64) float64 {
		a := math.Abs(float64(x))
		if a == 0 {
			return 1 - 2*upper(.5)
		}
		return upper(a-.5) - upper(a+.5)
	}
}

// TestOracles checks the three formulas against each other and against closed forms.
func TestOracles(t *testing.T) {
	for _, c := range []struct {
		name  string
		pmf   func(int64) float64
		reach int64
		want  float64 // variance
	}{
		// 2e^{1/s}/(e^{1/s}−1)²
		{"laplace 1", laplacePMF(1), 60, 2 * math.E / (math.E - 1) / (math.E - 1)},
		{"laplace 4.7", laplacePMF(4.7), 300, 2 * math.Exp(1/4.7) / math.Pow(math.Exp(1/4.7)-1, 2)},
		// By Poisson summation σ² up to exp(−2π²σ²).
		{"gaussian 4.7", gaussianPMF(4.7), 300, 4.7 * 4.7},
		// σ²·(Sheppard) + 1/12 up to exp(−2π²σ²).
		{"rounded 4.7", roundedPMF(4.7), 300, 4.7*4.7 + 1./12},
		{"gaussian .3", gaussianPMF(.3), 20, 2 * (math.Exp(-1/.18) + 4*math.Exp(-4/.18)) / (1 +
			2*math.Exp(-1/.18) + 2*math.Exp(-4/.18))},
	} {
		sum, variance := 0.0, 0.0
		for x := -c.reach; x <= c.reach; x++ {
			sum += c.pmf(x)
			variance += c.pmf(x) * float64(x) * float64(x)
		}
		if math.Abs(sum-1) > 1e-12 || math.Abs(variance/c.want-1) > 1e-7 {
			t.Errorf("%s: sum %v, variance %v, want %v", c.name, sum, variance, c.want)
		}
	}
}

// rat returns a·2^e.
func rat(a uint64, e int) *big.Rat {
	r := new(big.Rat).SetInt(new(big.Int).SetUint64(a))
	if e < 0 {
		return r.Quo(r, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(-e))))
	}
	return r.Mul(r, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(e))))
}

// inside reports lo ≤ x ≤ hi, NaN and infinities being no bound.
func inside(x *big.Rat, lo, hi float64) bool {
	l, h := new(big.Rat).SetFloat64(lo), new(big.Rat).SetFloat64(hi)
	return (l == nil || l.Cmp(x) <= 0) && (h == nil || x.Cmp(h) <= 0)
}
