package gan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/internal/stattest"
)

type (
	Critic        = critic.Critic
	Encoder       = critic.Encoder
	CriticOptions = critic.Options
)

var NewCritic, NewEncoderOf = critic.New, critic.NewEncoderOf

var testSizes = []int{3, 2, 5, 1, 4}

func testEncoder(t testing.TB, sizes ...int) *Encoder {
	t.Helper()
	e := stattest.Must(NewEncoderOf(sizes))
	return e
}

func testRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 77)) }

// normals returns n normal numbers times scale.
func normals(u *rand.Rand, n int, scale float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(scale * u.NormFloat64())
	}
	return x
}

// differences compares a gradient with central differences of loss along random directions of x.
// Kinks make single ones wrong, so the median of the relative errors is what counts.
func differences(
	t *testing.T, name string, x, gradient []float32, step float64, tolerance float64,
	loss func() float64,
) {
	t.Helper()
	u := testRand(99)
	var errors []float64
	for range 15 {
		d := normals(u, len(x), 1)
		want := 0.
		for i, g := range gradient {
			want += float64(g) * float64(d[i])
		}
		before := append([]float32(nil), x...)
		move := func(by float64) float64 {
			for i := range x {
				x[i] = before[i] + float32(by*float64(d[i]))
			}
			defer copy(x, before)
			return loss()
		}
		got := (move(step) - move(-step)) / (2 * step)
		errors = append(errors, math.Abs(got-want)/(math.Abs(want)+1e-6))
	}
	slices.Sort(errors)
	if m := errors[len(errors)/2]; !(m < tolerance) {
		t.Errorf("%s: median relative error of the gradient %.3g, want < %.3g", name, m, tolerance)
	}
}

func TestGeneratorGradient(t *testing.T) {
	u := testRand(1)
	g, err := NewGenerator(testEncoder(t, testSizes...), GeneratorOptions{Latent: 7, Hidden: 11}, u)
	stattest.Check(t, err)
	p := g.NewPass(13, Head{})
	weights := normals(u, 13*g.encoder.Cells(), 1)
	p.Forward(u)
	loss := func() float64 {
		sum := 0.
		for i, x := range p.forward().Data {
			sum += float64(x) * float64(weights[i])
		}
		return sum
	}
	loss()
	gradient := append([]float32(nil), p.Backward(matrix.Dense(13, g.encoder.Cells(),
		append([]float32(nil), weights...)))...)
	differences(t, "generator", g.Parameters(), gradient, 1e-3, .01, loss)
}
