package gan

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// someMeasurement makes random targets for a random critic.
func someMeasurement(
	t testing.TB, e *Encoder, seed uint64, predicts bool, hidden ...int,
) Measurement {
	t.Helper()
	u := testRand(seed)
	c := stattest.Must(NewCritic(e, CriticOptions{Hidden: hidden, Slope: .2}, u))
	for _, layer := range c.Network().Layers {
		copy(layer.Bias, normals(u, len(layer.Bias), .5))
	}
	n := len(c.Parameters())
	m := Measurement{Critic: c, Means: normals(u, n, .3), SDs: make([]float32, n)}
	for i := range m.SDs {
		m.SDs[i] = float32(.5 + u.Float64())
	}
	m.SDs[1] = float32(math.Inf(1))
	if predicts {
		weights := e.Cells() * hidden[0]
		m.Predict, m.MeanInputs, m.SDInputs = normals(u, weights, .5),
			normals(u, e.Cells(), .3), make([]float32, e.Cells())
		fill(m.SDInputs, .7)
		if len(hidden) == 1 {
			m.PredictOut = normals(u, weights, .5)
		}
	}
	return m
}

func fill(x []float32, v float32) {
	for i := range x {
		x[i] = v
	}
}

// slow is the loss by its definition: from the gradient of the mean of D on either half.
func (h *History) slow(x Matrix, picks []int) float64 {
	half, total := x.Rows/2, 0.
	for _, pick := range picks {
		m := &h.list[pick]
		weights := len(m.Predict)
		var residuals [2][]float64
		for side := range 2 {
			part := rows(x, side*half, half)
			g, _ := NewTutor(m.Critic, half).Gradient(part)
			mean := make([]float32, x.Cols)
			columnSums(mean, part)
			for i := range mean {
				mean[i] /= float32(half)
			}
			for k, v := range g[:len(g)-1] {
				y := float64(v - m.Means[k])
				if k < weights {
					y -= float64(m.Predict[k] * mean[k/h.units])
				}
				if j := k - weights - h.units; j >= 0 && h.upper == nil {
					for i, v := range mean {
						y -= float64(m.PredictOut[i*h.units+j] * v)
					}
				}
				residuals[side] = append(residuals[side], y*float64(m.SDs[k]))
			}
			for i, v := range mean {
				residuals[side] = append(residuals[side],
					float64(v-m.MeanInputs[i])*float64(m.SDInputs[i]))
			}
		}
		sum := 0.
		for k, a := range residuals[0] {
			sum += a * residuals[1][k]
		}
		total += sum / float64(m.count) / float64(len(picks))
	}
	return total
}

// TestHistoryGradient compares loss and gradient with the definition and its differences, for one
// to three hidden layers.
func TestHistoryGradient(t *testing.T) {
	e := testEncoder(t, testSizes...)
	const batch = 10
	for _, hidden := range [][]int{{6}, {6, 4}, {5, 7, 3}} {
		u := testRand(31)
		h := NewHistory(someMeasurement(t, e, 1, false, hidden...).Critic)
		for k := range uint64(3) {
			stattest.Check(t, h.Add(someMeasurement(t, e, 2+k, k > 0, hidden...)))
		}
		g := stattest.Must(NewGenerator(e, GeneratorOptions{Latent: 3, Hidden: 5}, u))
		dst, picks := matrix.New(batch, e.Cells()), []int{2, 0, 1, 2}
		compare := func(what string, x Matrix) {
			got := h.GradientTo(dst, x, picks)
			if want := h.slow(x, picks); math.Abs(got-want) > 2e-5*math.Abs(want) {
				t.Errorf("%v, %s: loss %v, by the definition %v", hidden, what, got, want)
			}
		}
		compare("hard", g.NewPass(batch, Head{Hard: true}).Forward(u))
		x := g.NewPass(batch, Head{}).Forward(u)
		compare("relaxed", x)
		differences(t, "history", x.Data, append([]float32(nil), dst.Data...), 1e-3, .01,
			func() float64 { return h.slow(x, picks) })
		few := append([]float32(nil), dst.Data...)
		h.GradientTo(dst, x, picks[:1]) // other shapes, and back
		h.GradientTo(dst, x, picks)
		near(t, "again", few, dst.Data, 0)
	}
}

func TestHistoryRefuses(t *testing.T) {
	e := testEncoder(t, testSizes...)
	for _, hidden := range [][]int{{4}, {4, 3}} {
		h := NewHistory(someMeasurement(t, e, 1, false, hidden...).Critic)
		for name, change := range map[string]func(*Measurement){
			"deviation of 0":    func(m *Measurement) { m.SDs[2] = 0 },
			"deviation is none": func(m *Measurement) { m.SDInputs[2] = float32(math.NaN()) },
			"mean is none":      func(m *Measurement) { m.Means[2] = float32(math.NaN()) },
			"infinite weight": func(m *Measurement) {
				m.Critic.Parameters()[3] = float32(math.Inf(1))
			},
			"measures nothing": func(m *Measurement) {
				fill(m.SDs[:len(m.SDs)-1], float32(math.Inf(1)))
				fill(m.SDInputs, float32(math.Inf(1)))
			},
		} {
			m := someMeasurement(t, e, 7, true, hidden...)
			change(&m)
			stattest.Fails(t, h.Add(m), "%s: accepted", name)
		}
		odd := matrix.New(3, e.Cells())
		for name, call := range map[string]func(){
			"another shape": func() { _ = h.Add(someMeasurement(t, e, 7, true, 4, 4)) },
			"fewer means": func() {
				_ = h.Add(Measurement{Critic: h.shape,
					Means: odd.Data[:3]})
			},
			"odd batch": func() { h.GradientTo(odd, odd, []int{0}) },
		} {
			stattest.Panics(t, call, "%s", name)
		}
		if h.Len() != 0 {
			t.Errorf("%d measurements are kept", h.Len())
		}
	}
}
