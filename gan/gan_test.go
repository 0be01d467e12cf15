package gan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/internal/kernels"
)

var testSizes = []int{3, 2, 5, 1, 4}

func testEncoder(t testing.TB, sizes ...int) *Encoder {
	t.Helper()
	e, err := NewEncoderOf(sizes)
	if err != nil {
		t.Fatal(err)
	}
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
func differences(t *testing.T, name string, x, gradient []float32, step float64, tolerance float64,
	loss func() float64) {
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
	for i := range errors { // selection sort up to the median
		for j := i + 1; j < len(errors); j++ {
			if errors[j] < errors[i] {
				errors[i], errors[j] = errors[j], errors[i]
			}
		}
	}
	if m := errors[len(errors)/2]; !(m < tolerance) {
		t.Errorf("%s: median relative error of the gradient %.3g, want < %.3g", name, m, tolerance)
	}
}

func TestGeneratorGradient(t *testing.T) {
	u := testRand(1)
	g, err := NewGenerator(testEncoder(t, testSizes...), GeneratorOptions{Latent: 7, Hidden: 11}, u)
	if err != nil {
		t.Fatal(err)
	}
	p := g.NewPass(13, Head{Temperature: .7})
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
	gradient := append([]float32(nil), p.Backward(kernels.Dense(13, g.encoder.Cells(),
		append([]float32(nil), weights...)))...)
	differences(t, "generator", g.Parameters(), gradient, 1e-3, .01, loss)
}

// snapshot makes a random one for critic weights and targets.
func randomSnapshot(u *rand.Rand, cells, units int, slope float32) Snapshot {
	positive := func(n int) []float32 {
		x := normals(u, n, 1)
		for i := range x {
			x[i] = float32(math.Exp(float64(x[i])))
		}
		return x
	}
	s := Snapshot{Slope: slope, Weights: normals(u, cells*units, .5), Bias: normals(u, units, .5),
		Output:      normals(u, units, 1),
		MeanWeights: normals(u, cells*units, .3), MeanBias: normals(u, units, .3),
		MeanOut:   normals(u, units, .3),
		SDWeights: positive(cells * units), SDBias: positive(units), SDOut: positive(units)}
	s.SDWeights[0] = float32(math.Inf(1))
	return s
}

func TestReplayGradient(t *testing.T) {
	u := testRand(2)
	e := testEncoder(t, testSizes...)
	const units, batch = 6, 10
	r := NewReplay(e, units, .2)
	for k := range 3 {
		s := randomSnapshot(u, e.Cells(), units, .2)
		if k > 0 {
			s.PredictWeights, s.PredictOut = normals(u, len(s.Weights), .5),
				normals(u, len(s.Weights), .5)
			s.MeanInputs, s.SDInputs = normals(u, e.Cells(), .3), make([]float32, e.Cells())
			for i := range s.SDInputs {
				s.SDInputs[i] = .7
			}
		}
		if err := r.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	g, err := NewGenerator(e, GeneratorOptions{Latent: 3, Hidden: 5}, u)
	if err != nil {
		t.Fatal(err)
	}
	dst := kernels.New(batch, e.Cells())
	picks := []int{2, 0, 1}
	hard := g.NewPass(batch, Head{Hard: true}).Forward(u)
	if got, want := r.GradientTo(dst, hard, picks), r.slow(hard,
		picks); math.Abs(got-want) > 1e-5*math.Abs(want) {
		t.Errorf("loss of hard rows %v, by the definition %v", got, want)
	}
	sparse := append([]float32(nil), dst.Data...)
	hard.Data[0] += 1e-30 // no longer one-hot: dense products
	r.GradientTo(dst, hard, picks)
	near(t, "hard rows", sparse, dst.Data, 1e-5)
	x := g.NewPass(batch, Head{}).Forward(u)
	loss := r.GradientTo(dst, x, picks)
	if want := r.slow(x, picks); math.Abs(loss-want) > 1e-5*math.Abs(want) {
		t.Errorf("loss %v, by the definition %v", loss, want)
	}
	differences(t, "replay", x.Data, append([]float32(nil), dst.Data...), 1e-4, .01,
		func() float64 { return r.slow(x, picks) })
}

// slow is the loss by its definition, in float64.
func (r *Replay) slow(x kernels.Matrix, picks []int) float64 {
	half, total := x.Rows/2, 0.
	for _, pick := range picks {
		m := r.snapshots[pick]
		var residuals [2][]float64
		for side := range 2 {
			var out []float64
			add := func(target, inverse float32, mean float64) {
				out = append(out, (mean-float64(target))*float64(inverse))
			}
			n := float64(half)
			mean := make([]float64, r.cells)
			act, slope, weight := make([]float64, r.units), make([]float64, r.units),
				make([]float64, r.cells*r.units)
			for row := side * half; row < (side+1)*half; row++ {
				for i, v := range x.Row(row) {
					mean[i] += float64(v) / n
				}
				for j := range r.units {
					s := float64(m.Bias[j])
					for i, v := range x.Row(row) {
						s += float64(v) * float64(m.Weights[i*r.units+j])
					}
					p := 1.
					if s <= 0 {
						p = float64(r.slope)
					}
					act[j] += s * p / n
					slope[j] += p * float64(m.Output[j]) / n
					for i, v := range x.Row(row) {
						weight[i*r.units+j] += float64(v) * p * float64(m.Output[j]) / n
					}
				}
			}
			for i := range r.cells {
				add(m.MeanInputs[i], m.SDInputs[i], mean[i])
				for j := range r.units {
					k := i*r.units + j
					act[j] -= float64(m.PredictOut[k]) * mean[i]
					add(m.MeanWeights[k], m.SDWeights[k],
						weight[k]-float64(m.PredictWeights[k])*mean[i])
				}
			}
			for j := range r.units {
				add(m.MeanBias[j], m.SDBias[j], slope[j])
				add(m.MeanOut[j], m.SDOut[j], act[j])
			}
			residuals[side] = out
		}
		sum := 0.
		for k, a := range residuals[0] {
			sum += a * residuals[1][k]
		}
		total += sum / float64(m.count) / float64(len(picks))
	}
	return total
}
