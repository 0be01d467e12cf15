package stats

import (
	"context"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// ran is a result on fresh rows, which is not sealed: that is most of the time of a run.
func ran(t testing.TB, f Statistic, seed uint64, n int, epsilon float64, blocks int) *Validated {
	t.Helper()
	b := budget
	b.Epsilon = epsilon
	mu := stattest.Must(accountant.MuFor(b))
	s := stattest.Must(privacy.Open(context.Background(), privacy.FromTable(people(t, n, seed)),
		privacy.Options{Budget: b, Plan: pool(mu)}))
	o := Validation{Statistic: f, Blocks: blocks}
	r := stattest.Must(o.compute(context.Background(), s, mu, func(string, float64) {}))
	if left := s.Left().Mu2; blocks == 0 && left < 0 {
		t.Errorf("the filter has %v", left)
	}
	return r
}

// TestDirectIsTheStatistic: at a budget at which there is no noise to speak of, a mean and a
// quantile from counts are those of the rows in which the cell is not missing.
func TestDirectIsTheStatistic(t *testing.T) {
	tab := people(t, 3000, 5)
	for _, text := range []string{"mean:x", "mean:y", "mean:died", "quantile:x,0.5", "quantile:y,0.1",
		"quantile:y,0.9", "quantile:x,0", "quantile:x,1", "quantile:died,0.3"} {
		f := parsed(t, text, tab)
		r := ran(t, f, 5, 3000, 1e3, 0)
		if want := f.Of(tab); math.Abs(r.Estimate-want) > .51 || r.Blocks != 0 ||
			text[0] == 'm' && math.Abs(r.Estimate-want) > .01 {
			t.Errorf("%s: %v, want %v", text, r.Estimate, want)
		}
		if !(r.Low <= r.Estimate && r.Estimate <= r.High) || r.Rows < 2700 || r.Rows > 3001 {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// TestCoverage. Null: intervals miss the population's value in at most 5 % of runs. Of 80 runs on
// fresh rows at most 16 miss but for a chance of 1e-6 (binomial). A mean's that is half as wide
// misses at least 7 times, so that the whole one is not idle.
func TestCoverage(t *testing.T) {
	tab := people(t, 1, 1)
	for _, tt := range []struct {
		text      string
		n, blocks int
		epsilon   float64
		low, high float64 // the population's values: all of them are right
	}{
		{"mean:died", 500, 60, 1, died, died}, {"mean:x", 1000, 0, .3, 9.5, 9.5},
		{"mean:x", 100, 0, 1, 9.5, 9.5}, {"quantile:x,0.5", 1000, 0, 1, 9, 10},
		{"quantile:y,0.9", 300, 0, 10, 41, 41},
	} {
		f := parsed(t, tt.text, tab)
		miss, half, wide := 0, 0, 0.
		for k := range 80 {
			r := ran(t, f, uint64(k)+1000, tt.n, tt.epsilon, tt.blocks)
			if r.Low > tt.high || r.High < tt.low {
				miss++
			}
			if math.Abs(r.Estimate-tt.low) > (r.High-r.Low)/4 {
				half++
			}
			wide += (r.High - r.Low) / 80
		}
		t.Logf("%+v: %d of 80 miss, of half the width %d, width %.3g", tt, miss, half, wide)
		if miss > 16 || tt.text[0] == 'm' && half < 7 {
			t.Errorf("%+v: %d of 80 miss, of half the width %d", tt, miss, half)
		}
	}
}

// TestDirectNoise. Null: the mean's noise has the standard deviation that the result states, which
// is that of adding up values: √(m² + (1 − m)²)/n·1/μ widths. 150 runs on the same rows; at a
// false-alarm rate of 1e-6 the ratio of variances is in .53 to 1.68 (χ² with 149 degrees), and that
// of noise of half or double the scale is not.
func TestDirectNoise(t *testing.T) {
	tab := people(t, 2000, 9)
	f := parsed(t, "mean:x", tab)
	truth, sum, stated := f.Of(tab), 0., 0.
	for range 150 {
		r := ran(t, f, 9, 2000, 1, 0)
		sum += (r.Estimate - truth) * (r.Estimate - truth) / 150
		stated += r.Noise * r.Noise / 150
	}
	if ratio := sum / stated; ratio < .53 || ratio > 1.68 {
		t.Errorf("the variance of the noise is %v times the stated one", ratio)
	}
	mu := stattest.Must(accountant.MuFor(budget))
	want := 19. / 2000 * math.Sqrt(.5) / (mu * math.Sqrt(1-squareShare))
	if got := math.Sqrt(stated); math.Abs(got/want-1) > .05 {
		t.Errorf("noise of %v, want %v", got, want)
	}
}

// TestDirectBeatsBlocks: the intervals for which the counts are there.
func TestDirectBeatsBlocks(t *testing.T) {
	tab := people(t, 1, 1)
	for _, text := range []string{"mean:x", "quantile:x,0.5"} {
		f := parsed(t, text, tab)
		direct, blocks := ran(t, f, 7, 2000, 1, 0), ran(t, f, 7, 2000, 1, 2000/f.Rows)
		if got, than := direct.High-direct.Low, blocks.High-blocks.Low; got > than/3 {
			t.Errorf("%s: an interval of %v, with blocks %v", text, got, than)
		}
	}
	f := parsed(t, "mean:x", tab).WithRange(5, 15)
	if r := ran(t, f, 7, 2000, 1, 0); r.Blocks == 0 {
		t.Error("a range of results is for blocks")
	}
}
