package gan

import (
	"flag"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/internal/stattest"
)

var long = flag.Bool("long", false, "run the graph tests for 10 000 steps")

// near fails unless a and b agree to a relative error of tolerance in the Euclidean norm.
func near(t *testing.T, name string, a, b []float32, tolerance float64) {
	t.Helper()
	difference, size := 0., 0.
	for i := range a {
		difference += math.Pow(float64(a[i]-b[i]), 2)
		size += math.Pow(float64(b[i]), 2)
	}
	if !(math.Sqrt(difference/size) <= tolerance) {
		t.Errorf("%s: relative difference %.3g, want at most %.3g", name,
			math.Sqrt(difference/size), tolerance)
	}
}

// TestGeneratorGraph: Gorgonia and the hand-written pass agree on rows and gradients, also after
// the parameters moved, and with either head. Before they have, every unit's input is 0 at a row
// without latent noise, where ReLU has its kink. No layer is of whole vectors.
func TestGeneratorGraph(t *testing.T) {
	for _, hard := range []bool{false, true} {
		u := testRand(3)
		g, err := NewGenerator(testEncoder(t, testSizes...), GeneratorOptions{Latent: 9, Hidden: 15}, u)
		stattest.Check(t, err)
		p := g.NewPass(33, Head{Hard: hard})
		graph := p.Graph()
		for range 3 {
			p.Forward(u)
			clear(p.z.Row(32))
			rows := p.forward()
			down := matrix.Dense(33, rows.Cols, normals(u, len(rows.Data), 1))
			want, got, err := graph.Gradient(down)
			stattest.Check(t, err)
			near(t, "rows", p.soft.Data, got.Data, 1e-5)
			near(t, "gradient", p.Backward(down), want, 1e-5)
			for i := range g.parameters {
				g.parameters[i] -= .01 * want[i]
			}
		}
		graph.Close()
	}
}

// TestCriticGraph: the same for the critic's mean score and its penalty, of two sides, one or none;
// at a row of zeros, too, where units are at their kink before biases have moved.
func TestCriticGraph(t *testing.T) {
	for name, o := range map[string]struct {
		hidden   []int
		weight   float32
		oneSided bool
	}{"one layer": {[]int{8}, 2.5, false}, "three layers": {[]int{8, 12, 6}, 2.5, false},
		"one side": {[]int{8, 6}, 2.5, true}, "no penalty": {[]int{8, 6}, 0, false}} {
		u := testRand(4)
		e := testEncoder(t, testSizes...)
		c := stattest.Must(NewCritic(e, CriticOptions{Hidden: o.hidden, Slope: .2}, u))
		for _, layer := range c.Views(c.Parameters()) {
			for i := range layer.Weights {
				layer.Weights[i] += float32(.3 * u.NormFloat64())
			}
		}
		const batch = 15
		tutor, graph := NewTutor(c, batch), NewCriticGraph(c, batch, o.weight, o.oneSided)
		for range 3 {
			rows, mixed := matrix.Dense(batch, e.Cells(), normals(u, batch*e.Cells(), 1)),
				matrix.Dense(batch, e.Cells(), normals(u, batch*e.Cells(), 1))
			clear(rows.Row(batch - 1))
			clear(mixed.Row(batch - 1))
			want, wantMean, wantPenalty, err := graph.Gradient(rows, mixed)
			stattest.Check(t, err)
			got, mean := tutor.Gradient(rows)
			penalty := 0.
			if o.weight > 0 {
				penalty = tutor.AddPenalty(mixed, o.weight, o.oneSided)
			}
			near(t, name, got, want, 1e-5)
			if math.Abs(mean-wantMean) > 1e-4 || math.Abs(penalty-wantPenalty) > 1e-4*wantPenalty {
				t.Errorf("%s: mean %v and penalty %v, Gorgonia %v and %v", name, mean, penalty,
					wantMean, wantPenalty)
			}
			for i := range c.Parameters() {
				c.Parameters()[i] -= .01 * want[i]
			}
		}
		graph.Close()
	}
}

// TestCriticGraphAtRest: where the critic does not change with its row the penalty's gradient is
// finite, and nothing.
func TestCriticGraphAtRest(t *testing.T) {
	e := testEncoder(t, testSizes...)
	c := stattest.Must(NewCritic(e, CriticOptions{Hidden: []int{4}}, testRand(6)))
	for j := range views(c, c.Parameters())[0].B {
		views(c, c.Parameters())[0].B[j] = -100 // no unit is active
	}
	x := matrix.New(4, e.Cells())
	for _, oneSided := range []bool{false, true} {
		graph := NewCriticGraph(c, 4, 1, oneSided)
		got, _, _, err := graph.Gradient(x, x)
		stattest.Check(t, err)
		for k, v := range got[:len(got)-1] { // the last bias moves the mean score
			if v != 0 {
				t.Fatalf("one-sided %v, parameter %d: %v", oneSided, k, v)
			}
		}
		graph.Close()
	}
}

// TestMemory: a reused graph, and a hand-written training, hold as much memory after many steps as
// after a few.
func TestMemory(t *testing.T) {
	steps := 300
	if *long {
		steps = 10000
	}
	u := testRand(5)
	e := testEncoder(t, testSizes...)
	g, _ := NewGenerator(e, GeneratorOptions{Latent: 4, Hidden: 8}, u)
	c, _ := NewCritic(e, CriticOptions{Hidden: []int{6}, Slope: .2}, u)
	p := g.NewPass(8, Head{})
	graph, critic := p.Graph(), NewCriticGraph(c, 8, 1, false)
	defer graph.Close()
	defer critic.Close()
	r := NewHistory(c)
	stattest.Check(t, r.Add(someMeasurement(t, e, 6, false, 6)))
	adam, down := matrix.NewAdam(len(g.parameters), .5, .9), matrix.New(8, e.Cells())
	var early, late runtime.MemStats
	for k := range steps {
		rows := p.Forward(u)
		r.GradientTo(down, rows, []int{0})
		if _, _, err := graph.Gradient(down); err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := critic.Gradient(rows, rows); err != nil {
			t.Fatal(err)
		}
		adam.Update(g.parameters, p.Backward(down), 1e-3)
		if k == 100 {
			runtime.GC()
			runtime.ReadMemStats(&early)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&late)
	if late.HeapAlloc > early.HeapAlloc+256<<10 {
		t.Errorf("%d bytes after 100 steps, %d after %d", early.HeapAlloc, late.HeapAlloc, steps)
	}
}

// TestParallel: trainings in parallel give what they give alone, to the last bit, with graphs that
// are built anew: a continued run depends on it. Run with -race it also shows that they share
// nothing.
func TestParallel(t *testing.T) {
	e := testEncoder(t, testSizes...)
	train := func(seed uint64) []float32 {
		u := testRand(seed)
		g, _ := NewGenerator(e, GeneratorOptions{Latent: 4, Hidden: 8}, u)
		c, _ := NewCritic(e, CriticOptions{Hidden: []int{6}, Slope: .2}, u)
		p, tutor, r := g.NewPass(8, Head{Hard: seed%2 == 0}), NewTutor(c, 8), NewHistory(c)
		soft := g.NewPass(8, Head{})
		graph, critic := soft.Graph(), NewCriticGraph(c, 8, 1, false)
		defer graph.Close()
		defer critic.Close()
		adam, down := matrix.NewAdam(len(g.parameters), .5, .9), matrix.New(8, e.Cells())
		adamC := matrix.NewAdam(len(c.Parameters()), .5, .9)
		for k := range 20 {
			if k%5 == 0 {
				stattest.Passes(t, r.Add(someMeasurement(t, e, seed, false, 6)), "")
			}
			rows := p.Forward(u)
			gradient, _ := tutor.Gradient(rows)
			tutor.AddPenalty(rows, 1, true)
			adamC.Update(c.Parameters(), gradient, .01)
			r.GradientTo(down, rows, []int{u.IntN(r.Len()), u.IntN(r.Len())})
			adam.Update(g.parameters, p.Backward(down), .01)
			if gradient, _, _, err := critic.Gradient(rows, rows); err != nil {
				t.Error(err)
			} else {
				adamC.Update(c.Parameters(), gradient, .01)
			}
			soft.Forward(u)
			if gradient, _, err := graph.Gradient(down); err != nil {
				t.Error(err)
			} else {
				adam.Update(g.parameters, gradient, .01)
			}
		}
		return append(append([]float32(nil), g.parameters...), c.Parameters()...)
	}
	const n = 4
	var alone, together [n][]float32
	for k := range n {
		alone[k] = train(uint64(k))
	}
	var group sync.WaitGroup
	for k := range n {
		group.Go(func() { together[k] = train(uint64(k)) })
	}
	group.Wait()
	for k := range n {
		for i, w := range alone[k] {
			if w != together[k][i] {
				t.Fatalf("training %d, parameter %d: %v alone, %v beside others", k, i, w,
					together[k][i])
			}
		}
	}
}
