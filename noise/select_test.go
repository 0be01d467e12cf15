package noise

import (
	"fmt"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// softmax returns the probabilities of the exponential mechanism.
func softmax(scores []int64, lambda float64) []float64 {
	best := scores[0]
	for _, s := range scores {
		best = max(best, s)
	}
	p, sum := make([]float64, len(scores)), 0.0
	for i, s := range scores {
		p[i] = math.Exp(-lambda * (float64(best) - float64(s)))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// TestSelectLaw: null, the probabilities of the exponential mechanism, 50,000 choices; those at a
// lambda 30 % off are rejected, where lambda matters.
func TestSelectLaw(t *testing.T) {
	src := testSource(t)
	const lo, hi = math.MinInt64, math.MaxInt64
	for _, c := range []struct {
		name   string
		scores []int64
		lambda float64
		flat   bool
	}{
		{"small", []int64{3, 1, 4, 1, 5}, .5, false},
		{"integer exponents", []int64{0, 1, 2}, 1, false},
		{"negative scores", []int64{-10, -12, -11, -10}, .7, false},
		{"lambda 0", []int64{3, 1, 4, 1, 5}, 0, true},
		{"minus 0", []int64{hi, lo, 0}, math.Copysign(0, -1), true},
		{"ties", []int64{7, 7, 7}, 2, true},
		{"small lambda", []int64{0, 1_000_000, 2_000_000}, 1e-6, false},
		{"extreme scores", []int64{lo, 0, hi}, 0x1p-63, false},
		{"subnormal lambda", []int64{lo, 0, hi}, 5e-324, true},
		{"large gap wins nothing", []int64{5, lo, 5, -1 << 40}, 1, true},
		{"largest lambda", []int64{5, lo, 5, 4}, math.MaxFloat64, true},
	} {
		counts := make([]int64, len(c.scores))
		for range 50_000 {
			got := stattest.Must(Select(src, c.scores, c.lambda))
			counts[got]++
		}
		if s, th, ok := stattest.ChiSquare(counts, softmax(c.scores, c.lambda)); !ok {
			t.Errorf("%s: %v: %v > %v", c.name, counts, s, th)
		}
		if c.flat {
			continue
		}
		for _, wrong := range []float64{c.lambda * 1.3, c.lambda / 1.3} {
			if s, th, ok := stattest.ChiSquare(counts, softmax(c.scores, wrong)); ok {
				t.Errorf("%s: lambda %v fits: %v ≤ %v", c.name, wrong, s, th)
			}
		}
	}
}

func TestSelectCertain(t *testing.T) {
	src := testSource(t)
	for _, c := range []struct {
		name   string
		scores []int64
		lambda float64
		want   int
	}{
		{"one candidate", []int64{math.MinInt64}, 1, 0},
		{"one candidate, lambda 0", []int64{5}, 0, 0},
		{"extreme gap", []int64{math.MinInt64, math.MaxInt64}, 1, 1},
		{"overflowing exponent", []int64{math.MaxInt64, math.MinInt64}, math.MaxFloat64, 0},
		{"exponent above 64 bits", []int64{0, 1, 0}, 0x1p70, 1},
	} {
		for range 100 {
			if got, err := Select(src, c.scores, c.lambda); got != c.want || err != nil {
				t.Fatalf("%s: %d, %v", c.name, got, err)
			}
		}
	}
}

// TestSelectKeepsScores: the argument is not changed, and one good candidate in 10,000 is found.
func TestSelectKeepsScores(t *testing.T) {
	src, scores := testSource(t), make([]int64, 10_000)
	scores[1234] = 1000
	if got, err := Select(src, scores, 1); got != 1234 || err != nil {
		t.Errorf("chose %d, %v", got, err)
	}
	for i, s := range scores {
		if s != 0 && i != 1234 {
			t.Fatal("scores were changed")
		}
	}
}

func TestSelectErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		scores []int64
		lambda float64
	}{
		{"nil", nil, 1}, {"empty", []int64{}, 1}, {"NaN", []int64{1, 2}, math.NaN()}, {"negative",
			[]int64{1, 2}, -1e-300},
		{"Inf", []int64{1, 2}, math.Inf(1)}, {"−Inf", []int64{1}, math.Inf(-1)},
	} {
		stattest.Fails(t, stattest.Err(Select(NewSource(), c.scores, c.lambda)), "%s: no error", c.name)
	}
}

// TestKeepGap: null, a gap is kept with probability exp(−lambda·gap), on either side of the point
// and where the first digits of U leave it open.
func TestKeepGap(t *testing.T) {
	b := testSource(t).state()
	for _, c := range []struct {
		gap    uint64
		lambda float64
	}{
		{0, 1e300}, {7, 0}, {1, 1}, {3, .25}, {5, .5}, {1 << 60, 0x1p-61}, {1<<60 + 1, 0x1.8p-60},
		{1, 0x1p-100}, {3, 0x1p-65}, {math.MaxUint64, 0x1p-64},
	} {
		want := math.Exp(-float64(c.gap) * c.lambda)
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			checkRate(t, trials/10, want, func() bool { return b.keepGap(c.gap, c.lambda) })
		})
	}
	for range 100 { // beyond 64 bits
		if b.keepGap(math.MaxUint64, 1e300) || b.keepGap(1<<63, 0x1p63) {
			t.Fatal("an event of probability 0")
		}
	}
}

// TestKeepGapKeepsTheLastDigit: with γ half a unit of the first word above it, the next digit
// decides the first trial. Null: the event happens in ½ + ½·(at least ½ and less than all) of the
// cases; a decision by the first word alone makes it certain.
func TestKeepGapKeepsTheLastDigit(t *testing.T) {
	happened, n := 0, 0
	for number := uint64(0); n < 1000; number++ {
		b, first := peek(number)
		if first >= 1<<63 {
			continue
		}
		n++
		if b.keepGap(2*first+1, 0x1p-65) {
			happened++
		}
	}
	if happened < 500 || happened > 900 {
		t.Errorf("%d of %d", happened, n)
	}
}
