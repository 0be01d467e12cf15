package eval

import (
	"math"
	"testing"
)

// TestCombine compares with reference values, computed apart.
func TestCombine(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }
	mean, variance, freedom := Combine([]float64{.50, .54, .47, .52, .49},
		[]float64{4e-4, 5e-4, 4.5e-4, 4e-4, 5e-4}, 1000, 1000)
	if !near(mean, .504) || !near(variance, 4.26e-4) || !near(freedom, .9459560893) {
		t.Errorf("%v, %v, %v", mean, variance, freedom)
	}
	_, variance, freedom = Combine([]float64{.5, .5}, []float64{4e-4, 6e-4}, 500, 1000)
	if !near(variance, 2.5e-4) || !math.IsInf(freedom, 1) { // T would be negative
		t.Errorf("equal estimates: %v, %v", variance, freedom)
	}
	_, variance, _ = Combine([]float64{math.NaN(), 1}, []float64{1, 1}, 1, 1)
	if !math.IsNaN(variance) {
		t.Errorf("NaN: %v", variance)
	}
}
