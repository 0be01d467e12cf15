package synth

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// numbers is a schema of two numeric columns, of 9 and 5 codes, and one of two categories.
func numbers() *schema.Schema {
	return &schema.Schema{Columns: []schema.Column{
		{Name: "a", Kind: schema.Integer, Min: 0, Max: 8}, {Name: "b", Kind: schema.Integer, Min: 0,
			Max: 4}, {Name: "c", Kind: schema.Categorical, Categories: []string{"x", "y"}},
	}}
}

// numbersTable has n rows with b = a/2 and c = whether a > 4, but for one row in ten.
func numbersTable(t testing.TB, s *schema.Schema, n int) *table.Table {
	t.Helper()
	u := rand.New(rand.NewPCG(1, 2))
	cols := []table.Codes{{U8: make([]uint8, n)}, {U8: make([]uint8, n)}, {U8: make([]uint8, n)}}
	for i := range n {
		a := u.IntN(9)
		b := a / 2
		if u.IntN(10) == 0 {
			b = u.IntN(5)
		}
		cols[0].U8[i], cols[1].U8[i], cols[2].U8[i] = uint8(a), uint8(b), uint8(a/5)
	}
	tab := stattest.Must(table.FromColumns(s, cols, nil))
	return tab
}

// TestAsSeen: what is added to a standard deviation is that of a mean over half a batch of
// generated rows, as many batches show it; what is known badly stays as it is, and what is not
// measured stays so.
func TestAsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and slow under the race detector")
	}
	for name, c := range map[string]WGAN{"residual": {}, "box": {Mode: "box"},
		"two layers": {Hidden: []int{8, 6}}} {
		c.Steps = 2
		f := checked(&c)
		s, b := numbers(), accountant.Budget{Epsilon: 2, Delta: 1e-6}
		p := stattest.Must(NewPlan(f, schema.One(s), privacy.NeighboursOf(s, 0), b))
		session := stattest.Must(privacy.Open(context.Background(), privacy.FromTable(numbersTable(t, s,
			500)), privacy.Options{Budget: b, Plan: p.Reserve, Price: p.Price}))
		open := p.Plan.(*wganPlan)
		train := stattest.Must(open.start(open.source(context.Background(), session, nil)))
		n, cells := len(train.critic.Parameters()), train.critic.Encoder().Cells()
		predict := predictor{}
		if c.Mode == "" {
			w := train.critic.Network().Layers[0].Weights
			predict = predictor{make([]float64, len(w)), make([]float64, len(w))}
			for k := range predict.weights {
				predict.weights[k] = .01 * float64(k%7)
				if c.Hidden == nil {
					predict.output[k] = .02 * float64(k%5)
				}
			}
		}
		const large, calls = 1e3, 20
		added := make([]float64, n+cells) // to the variance, in the mean of the calls
		for range calls {
			gradient, inputs := make([]float32, n), make([]float32, cells)
			gradient[1], inputs[0] = large, float32(math.Inf(1))
			train.asSeen(gradient, inputs, predict)
			for k, sd := range append(slices.Clone(gradient), inputs...) {
				added[k] += float64(sd) * float64(sd) / calls
			}
			if gradient[1] != large || !math.IsInf(float64(inputs[0]), 1) {
				t.Errorf("%s: %v and %v, want them as they were", name, gradient[1], inputs[0])
			}
		}
		// The same from half batches, one at a time.
		const half = batch / 2
		tutor := gan.NewTutor(train.critic, half)
		sum, square := make([]float64, n+cells), make([]float64, n+cells)
		const batches = 1000
		for i := 0; i < batches; {
			x := train.fake.Forward(train.u)
			for from := 0; from+half <= x.Rows && i < batches; from, i = from+half, i+1 {
				part := matrix.Dense(half, x.Cols, x.Data[from*x.Cols:(from+half)*x.Cols])
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
		// Null: each estimate is that of 20·15 degrees of freedom, about: its relative standard
		// deviation is .08, and the truth's .05, so that a ratio is out of these bounds at six of
		// them. A variance of the whole batch, or of one row, is.
		compared := 0
		for k, got := range added {
			want := square[k]/batches - sum[k]/batches*sum[k]/batches
			if k == 1 || k == n || want < 1e-8 { // means of float32
				continue
			}
			if ratio := got / want; ratio > 1.6 || ratio < .55 {
				t.Errorf("%s, coordinate %d: variance %v, want about %v", name, k, got, want)
			}
			compared++
		}
		if compared < n/3 {
			t.Errorf("%s: %d of %d coordinates vary", name, compared, n+cells)
		}
	}
}
