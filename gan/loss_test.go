package gan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/internal/matrix"
)

// TestGradientOf compares the gradient of a squared loss with its differences, and with Gradient
// where every derivative is 1/rows.
func TestGradientOf(t *testing.T) {
	e, err := NewEncoderOf([]int{3, 4})
	if err != nil {
		t.Fatal(err)
	}
	u := rand.New(rand.NewPCG(1, 2))
	c, err := NewCritic(e, CriticOptions{Hidden: []int{5, 4}, Slope: .2}, u)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 6
	x, tutor := matrix.New(rows, 7), NewTutor(c, rows)
	for i := range x.Data {
		x.Data[i] = float32(u.Float64())
	}
	got := append([]float32(nil), tutor.GradientOf(x,
		func(int, float32) float32 { return 1. / rows })...)
	want, _ := tutor.Gradient(x)
	for k := range want {
		if math.Abs(float64(got[k]-want[k])) > 1e-5 {
			t.Fatalf("parameter %d: %v, Gradient says %v", k, got[k], want[k])
		}
	}
	loss := func() (l float64) {
		tutor.GradientOf(x, func(i int, score float32) float32 {
			l += float64(score-float32(i)) * float64(score-float32(i)) / 2
			return 0
		})
		return l
	}
	got = append(got[:0], tutor.GradientOf(x, func(i int,
		score float32) float32 {
		return score - float32(i)
	})...)
	for k := range c.Parameters() {
		const h = 1. / 512
		was := c.Parameters()[k]
		c.Parameters()[k] = was + h
		up := loss()
		c.Parameters()[k] = was - h
		down := loss()
		c.Parameters()[k] = was
		if want := (up - down) / (2 * h); math.Abs(float64(got[k])-want) > .02*(1+math.Abs(want)) {
			t.Errorf("parameter %d: %v, differences say %v", k, got[k], want)
		}
	}
}
