package eval

import (
	"math"
	"testing"
)

// TestCombine compares with reference values, computed apart.
func TestCombine(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }
	got := Combine([]float64{.50, .54, .47, .52, .49}, []float64{4e-4, 5e-4, 4.5e-4, 4e-4, 5e-4},
		1000, 1000)
	if !near(got.Estimate, .504) || !near(got.Variance, 4.26e-4) ||
		!near(got.Freedom, .9459560893) {
		t.Errorf("%+v", got)
	}
	got = Combine([]float64{.5, .5}, []float64{4e-4, 6e-4}, 500, 1000) // T would be negative
	if !near(got.Variance, 2.5e-4) || !math.IsInf(got.Freedom, 1) {
		t.Errorf("equal estimates: %+v", got)
	}
	if got := Combine([]float64{math.NaN(), 1}, []float64{1, 1}, 1, 1); !math.IsNaN(got.Variance) {
		t.Errorf("NaN: %+v", got)
	}
}
