package wgan

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/privacy"
)

// TestAsSeen: what is added to a standard deviation is that of a mean over half a batch of generated rows, as many batches show it; what is known badly stays as
// it is, and what is not measured stays so.
func TestAsSeen(t *testing.T) {
	for name, c := range map[string]Config{"residual": {}, "blocks": {Mode: Blocks}, "two layers": {Hidden: []int{8, 6}, Slope: .2}, "scaled": {Encoder: scaled}} {
		c.Preset, c.Batch, c.Steps = Small, 64, 2
		f, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		s, b := numbers(), accountant.Budget{Epsilon: 2, Delta: 1e-6}
		p, err := f.Plan(s, privacy.NeighboursOf(s, 0), b)
		if err != nil {
			t.Fatal(err)
		}
		session, err := privacy.Open(context.Background(), privacy.FromTable(numbersTable(t, s, 500)), privacy.Options{Budget: b, Plan: p.Composition()})
		if err != nil {
			t.Fatal(err)
		}
		train, err := p.(*plan).start(&purse{s: session, state: &state{}})
		if err != nil {
			t.Fatal(err)
		}
		n, cells := len(train.critic.Parameters()), train.encoder.Inputs()
		predict := predictor{}
		if c.Mode == Residual {
			w, _ := train.critic.Layer(0)
			predict = predictor{make([]float64, len(w)), make([]float64, len(w))}
			for k := range predict.weights {
				predict.weights[k] = .01 * float64(k%7)
				if c.Hidden == nil {
					predict.output[k] = .02 * float64(k%5)
				}
			}
		}
		const large = 1e3
		gradient, inputs := make([]float32, n), make([]float32, cells)
		gradient[1], inputs[0] = large, float32(math.Inf(1))
		train.asSeen(gradient, inputs, predict)
		// The same from half batches, one at a time.
		half := c.Batch / 2
		tutor := train.critic.NewTutor(half)
		sum, square := make([]float64, n+cells), make([]float64, n+cells)
		const batches = 4000
		for i := 0; i < batches; {
			x := train.seen(&train.folded, train.fake.Forward(train.u))
			for from := 0; from+half <= x.Rows && i < batches; from, i = from+half, i+1 {
				part := kernels.Dense(half, x.Cols, x.Data[from*x.Cols:(from+half)*x.Cols])
				got, _ := tutor.Gradient(part)
				v := make([]float64, n+cells)
				for k, g := range got {
					v[k] = float64(g)
				}
				for r := range half {
					for c, cell := range part.Row(r) {
						v[n+c] += float64(cell) / float64(half)
					}
				}
				predict.takeOff(v[:n], v[n:])
				for k, x := range v {
					sum[k] += x
					square[k] += x * x
				}
			}
		}
		// Null: 15·(estimate/truth)² is chi-square of 15 degrees of freedom in each coordinate, about: the ratio is within [.2, 2.2] but for one in 10⁷, and 1 on average.
		all, compared := append(slices.Clone(gradient), inputs...), 0
		total := 0.
		for k, sd := range all {
			want := math.Sqrt(max(0, square[k]/batches-sum[k]/batches*sum[k]/batches))
			if k == 1 || k == n || want < 1e-4 { // means of float32
				continue
			}
			ratio := float64(sd) / want
			if ratio > 2.2 || ratio < .2 {
				t.Errorf("%s, coordinate %d: %v, want about %v", name, k, sd, want)
			}
			total += ratio * ratio
			compared++
		}
		if mean := total / float64(compared); compared < n/3 || mean < .8 || mean > 1.25 {
			t.Errorf("%s: variances are %v times what they should be, in the mean of %d of %d", name, mean, compared, len(all))
		}
		if gradient[1] != large || !math.IsInf(float64(inputs[0]), 1) {
			t.Errorf("%s: %v and %v, want them as they were", name, gradient[1], inputs[0])
		}
	}
}
