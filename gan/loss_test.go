package gan

import (
	"testing"

	"github.com/decoy-dp/decoy/internal/matrix"
)

// TestGradientOf compares the gradient of a squared loss with its differences, and with Gradient
// where every derivative is 1/rows.
func TestGradientOf(t *testing.T) {
	u := testRand(1)
	c, err := NewCritic(testEncoder(t, 3, 4), CriticOptions{Hidden: []int{5, 4}, Slope: .2}, u)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 6
	x, tutor := matrix.Dense(rows, 7, normals(u, rows*7, 1)), NewTutor(c, rows)
	got := append([]float32(nil), tutor.GradientOf(x,
		func(int, float32) float32 { return 1. / rows })...)
	want, _ := tutor.Gradient(x)
	near(t, "the mean", got, want, 1e-5)
	squares := func() (l float64) {
		tutor.GradientOf(x, func(i int, score float32) float32 {
			l += float64(score-float32(i)) * float64(score-float32(i)) / 2
			return 0
		})
		return l
	}
	copy(got, tutor.GradientOf(x, func(i int, score float32) float32 { return score - float32(i) }))
	differences(t, "squares", c.Parameters(), got, 1e-3, .01, squares)
}
