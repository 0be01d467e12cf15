package attack

import (
	"math"
	"testing"
)

func TestExposure(t *testing.T) {
	others := []float64{-1, -2, -3, -4, -5, -6, math.Inf(-1)}
	for _, c := range []struct{ canary, want float64 }{
		{0, 3}, {-1.5, 2}, {-1, 2}, {-3.5, 1}, {math.Inf(-1), 0},
	} {
		got, err := Exposure(c.canary, others)
		if err != nil || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("canary %v: %v, %v, want %v", c.canary, got, err, c.want)
		}
	}
	// of one that was not seen, each rank is as likely: the mean of log₂|R| − log₂ rank
	mean, n := 0., 4096
	for rank := 1; rank <= n; rank++ {
		mean += (math.Log2(float64(n)) - math.Log2(float64(rank))) / float64(n)
	}
	if mean > 1/math.Ln2 || mean < 1.43 {
		t.Errorf("mean exposure %v", mean)
	}
	for _, bad := range [][]float64{{math.NaN()}, {0, math.NaN()}} {
		if _, err := Exposure(bad[0], bad[1:]); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}
