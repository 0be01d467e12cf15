package gan

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/kernels"
)

// deepSnapshot makes random targets for a random critic.
func deepSnapshot(t *testing.T, e *Encoder, seed uint64, predicts bool,
	hidden ...int) DeepSnapshot {
	t.Helper()
	u := testRand(seed)
	c, err := NewCritic(e, CriticOptions{Hidden: hidden, Slope: .2}, u)
	if err != nil {
		t.Fatal(err)
	}
	n := len(c.Parameters())
	s := DeepSnapshot{Critic: c, Means: normals(u, n, .3), SDs: make([]float32, n)}
	for i := range s.SDs {
		s.SDs[i] = float32(.5 + u.Float64())
	}
	s.SDs[1] = float32(math.Inf(1))
	if predicts {
		s.Predict, s.MeanInputs, s.SDInputs = normals(u, e.Inputs()*hidden[0], .5),
			normals(u, e.Inputs(), .3), make([]float32, e.Inputs())
		fill(s.SDInputs, .7)
	}
	return s
}

// slow is the loss by its definition: from the gradient of the mean of D on either half.
func (r *DeepReplay) slow(x kernels.Matrix, picks []int) float64 {
	half, total := x.Rows/2, 0.
	for _, pick := range picks {
		m := &r.snapshots[pick]
		var residuals [2][]float64
		for side := range 2 {
			part := rows(x, side*half, half)
			g, _ := m.Critic.NewTutor(half).Gradient(part)
			mean := make([]float32, x.Cols)
			columnSums(mean, part)
			for k, v := range g {
				y := float64(v - m.Means[k])
				if k < len(m.Predict) {
					y -= float64(m.Predict[k]*mean[k/m.Critic.sizes[1]]) / float64(half)
				}
				residuals[side] = append(residuals[side], y*float64(m.SDs[k]))
			}
			for i, v := range mean {
				residuals[side] = append(residuals[side],
					(float64(v)/float64(half)-float64(m.MeanInputs[i]))*float64(m.SDInputs[i]))
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

// TestDeepReplayGradient compares loss and gradient with the definition and its differences, for
// one to three hidden layers.
func TestDeepReplayGradient(t *testing.T) {
	e := testEncoder(t, testSizes...)
	const batch = 10
	for _, hidden := range [][]int{{6}, {6, 4}, {5, 7, 3}} {
		u := testRand(31)
		r := NewDeepReplay(deepSnapshot(t, e, 1, false, hidden...).Critic)
		for k := range uint64(3) {
			if err := r.Add(deepSnapshot(t, e, 2+k, k > 0, hidden...)); err != nil {
				t.Fatal(err)
			}
		}
		g, err := NewGenerator(e, GeneratorOptions{Latent: 3, Hidden: 5}, u)
		if err != nil {
			t.Fatal(err)
		}
		x, dst, picks := g.NewPass(batch, Head{}).Forward(u), kernels.New(batch, e.Cells()),
			[]int{2, 0, 1, 2}
		got := r.GradientTo(dst, x, picks)
		if want := r.slow(x, picks); math.Abs(got-want) > 1e-5*math.Abs(want) {
			t.Errorf("%v: loss %v, by the definition %v", hidden, got, want)
		}
		differences(t, "deep replay", x.Data, append([]float32(nil), dst.Data...), 1e-3, .01,
			func() float64 { return r.slow(x, picks) })
	}
}

// TestDeepReplayIsReplay: with one hidden layer and tables it is the loss and the gradient of
// Replay.
func TestDeepReplayIsReplay(t *testing.T) {
	u := testRand(32)
	e := testEncoder(t, testSizes...)
	const units, batch = 6, 10
	s := deepSnapshot(t, e, 5, true, units)
	deep, flat := NewDeepReplay(s.Critic), NewReplay(e, units, .2)
	w, b := s.Critic.Layer(0)
	out, _ := s.Critic.Layer(1)
	s.SDs[len(s.SDs)-1] = float32(math.Inf(1)) // Replay leaves the last bias out
	if err := deep.Add(s); err != nil {
		t.Fatal(err)
	}
	n := len(w)
	if err := flat.Add(Snapshot{Slope: .2, Weights: w, Bias: b, Output: out,
		PredictWeights: s.Predict, MeanInputs: s.MeanInputs, SDInputs: s.SDInputs,
		MeanWeights: s.Means[:n], MeanBias: s.Means[n:][:units], MeanOut: s.Means[n+units:][:units],
		SDWeights: s.SDs[:n], SDBias: s.SDs[n:][:units],
		SDOut: s.SDs[n+units:][:units]}); err != nil {
		t.Fatal(err)
	}
	if err := deep.SetTables(e, someTables(e, .7)); err != nil {
		t.Fatal(err)
	}
	if err := flat.SetTables(e, someTables(e, .7)); err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(e, GeneratorOptions{Latent: 3, Hidden: 5}, u)
	if err != nil {
		t.Fatal(err)
	}
	x := g.NewPass(batch, Head{Hard: true}).Forward(u)
	got, want := kernels.New(batch, e.Cells()), kernels.New(batch, e.Cells())
	a, c := deep.GradientTo(got, x, []int{0}), flat.GradientTo(want, x, []int{0})
	if math.Abs(a-c) > 1e-5*math.Abs(c) {
		t.Errorf("loss %v, of Replay %v", a, c)
	}
	near(t, "gradient", got.Data, want.Data, 1e-5)
}

func TestDeepReplayRefuses(t *testing.T) {
	e := testEncoder(t, testSizes...)
	r := NewDeepReplay(deepSnapshot(t, e, 1, false, 4, 3).Critic)
	for name, change := range map[string]func(*DeepSnapshot){
		"deviation of 0":    func(s *DeepSnapshot) { s.SDs[2] = 0 },
		"deviation is none": func(s *DeepSnapshot) { s.SDInputs[2] = float32(math.NaN()) },
		"mean is none":      func(s *DeepSnapshot) { s.Means[2] = float32(math.NaN()) },
		"infinite weight": func(
			s *DeepSnapshot) {
			s.Critic.Parameters()[3] = float32(math.Inf(1))
		},
		"measures nothing": func(s *DeepSnapshot) {
			fill(s.SDs,
				float32(math.Inf(1)))
			fill(s.SDInputs, float32(math.Inf(1)))
		},
	} {
		s := deepSnapshot(t, e, 7, true, 4, 3)
		change(&s)
		if err := r.Add(s); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, s := range map[string]DeepSnapshot{
		"another shape": deepSnapshot(t, e, 7, true, 4, 4), "fewer means": {Critic: r.shape,
			Means: make([]float32, 3)},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			_ = r.Add(s)
		}()
	}
	if r.Len() != 0 {
		t.Errorf("%d snapshots are kept", r.Len())
	}
}
