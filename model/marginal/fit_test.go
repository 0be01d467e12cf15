package marginal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// estimatorFor plans a fit without checking.
func estimatorFor(t testing.TB, sizes []int, ms []Measurement) *estimator {
	t.Helper()
	e := stattest.Must(newEstimator(sizes, targets(sizes, ms), Total(ms), Options{}))
	return e
}

func fit(t testing.TB, sizes []int, ms []Measurement, o Options) *Model {
	t.Helper()
	m := stattest.Must(Fit(context.Background(), sizes, ms, o))
	return m
}

// answers returns the model's counts over cols.
func answers(t testing.TB, m *Model, cols ...int) []float64 {
	t.Helper()
	v := make([]float64, int(cellsOf(m.Sizes(), cols)))
	if err := m.MarginalTo(v, cols); err != nil {
		t.Fatal(err)
	}
	return v
}

// distance is half the sum of absolute differences over n rows.
func distance(a, b []float64, n float64) (d float64) {
	for i := range a {
		d += math.Abs(a[i]-b[i]) / 2 / n
	}
	return d
}

func TestGradient(t *testing.T) {
	u := rand.New(rand.NewPCG(20, 1))
	for _, d := range domains {
		if len(d.cliques) == 0 {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			e := estimatorFor(t, d.sizes, simulate(d.sizes, d.cliques, 100, 5, u))
			n := e.prop.dim
			x, grad, diag, g := make([]float64, n), make([]float64, n), make([]float64, n),
				make([]float64, n)
			for i := range x {
				x[i] = e.center[i] + u.NormFloat64()
			}
			e.value(grad, diag, x)
			for i := range x {
				if (diag[i] == 0) != (e.weight[i] == 0) || diag[i] < 0 {
					t.Errorf("cell %d: diagonal %v with weight %v", i, diag[i], e.weight[i])
				}
				if e.weight[i] == 0 || i > 50 {
					continue
				}
				const h = 1e-5
				at := x[i]
				x[i] = at + h
				up := e.value(g, diag, x)
				x[i] = at - h
				down := e.value(g, diag, x)
				x[i] = at
				if got, want := grad[i], (up-down)/(2*h); math.Abs(got-want) > 1e-5*(1+
					math.Abs(want)) {
					t.Errorf("cell %d: gradient %v, by differences %v", i, got, want)
				}
			}
		})
	}
}

func TestObjectiveFallsAndStops(t *testing.T) {
	u := rand.New(rand.NewPCG(21, 1))
	for _, d := range domains {
		if len(d.cliques) == 0 {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			e := estimatorFor(t, d.sizes, simulate(d.sizes, d.cliques, 1000, 5, u))
			l := newLBFGS(e.prop.dim, leastPairs)
			copy(l.x, e.center)
			before := math.Inf(1)
			steps := 0
			err := l.minimize(context.Background(), e.value, 1e-12*e.n, 5, func() bool {
				if l.f > before {
					t.Errorf("iteration %d raised the objective from %v to %v", steps, before, l.f)
				}
				before = l.f
				steps++
				return steps < 5000
			})
			if err != nil {
				t.Fatal(err)
			}
			// The one solution: a vanishing gradient. Curvature is at least the smallest weight.
			e.value(l.grad, l.diag, l.x)
			gap := 0.0
			for i, g := range l.grad {
				if e.weight[i] > 0 {
					gap += g * g / (2 * e.weight[i])
				}
			}
			if gap > 1e-4*e.n {
				t.Errorf("after %d iterations the objective may still fall by %.3g of n = %.0f",
					steps, gap, e.n)
			}
		})
	}
}

// TestFitRecovers: without noise the model has the measured marginals, and where several models do
// it is the one of largest entropy, which for a decomposable set of cliques is the product of the
// cliques over the separators.
func TestFitRecovers(t *testing.T) {
	u := rand.New(rand.NewPCG(22, 1))
	for _, d := range domains {
		if len(d.cliques) == 0 {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			truth, j := randomModel(t, d.sizes, d.cliques, 1, u)
			truth.total = 5000
			var ms []Measurement
			for _, q := range d.cliques {
				ms = append(ms, Measurement{Cols: q, Counts: answers(t, truth, q...), Sigma: 0.01})
			}
			m := fit(t, d.sizes, ms, Options{})
			if math.Abs(m.Total()-5000) > 1e-6 {
				t.Errorf("total %v, want 5000", m.Total())
			}
			for _, cols := range allSubsets(len(d.sizes), len(d.sizes)) {
				if len(d.sizes) > 5 && len(cols) > 3 {
					continue
				}
				want := j.marginal(cols)
				for i := range want {
					want[i] *= 5000
				}
				if e := distance(answers(t, m, cols...), want, 5000); e > 2e-3 {
					t.Errorf("columns %v: total variation %.2g from the model that was measured",
						cols, e)
				}
			}
		})
	}
}

func TestFitIsInvariant(t *testing.T) {
	u := rand.New(rand.NewPCG(23, 1))
	sizes := []int{3, 4, 2, 5, 3}
	cliques := [][]int{{0, 1}, {1, 2, 3}, {3, 4}, {4, 0}, {2}, {0}, {1, 2}}
	ms := simulate(sizes, cliques, 2000, 15, u)
	want := fit(t, sizes, ms, Options{})

	t.Run("order of measurements", func(t *testing.T) {
		shuffled := slices.Clone(ms)
		u.Shuffle(len(shuffled), func(i, k int) {
			shuffled[i], shuffled[k] = shuffled[k],
				shuffled[i]
		})
		got := fit(t, sizes, shuffled, Options{})
		for _, cols := range allSubsets(5, 3) {
			if e := distance(answers(t, got, cols...), answers(t, want, cols...), 2000); e > 1e-9 {
				t.Errorf("columns %v: %.2g apart", cols, e)
			}
		}
	})
	t.Run("order of columns in a measurement", func(t *testing.T) {
		turned := slices.Clone(ms)
		for i, m := range ms {
			cols := slices.Clone(m.Cols)
			slices.Reverse(cols)
			counts := make([]float64, len(m.Counts))
			transpose(counts, m.Counts, sizes, m.Cols, cols)
			turned[i] = Measurement{Cols: cols, Counts: counts, Sigma: m.Sigma}
		}
		got := fit(t, sizes, turned, Options{})
		for _, cols := range allSubsets(5, 3) {
			if e := distance(answers(t, got, cols...), answers(t, want, cols...), 2000); e > 1e-9 {
				t.Errorf("columns %v: %.2g apart", cols, e)
			}
		}
	})
	t.Run("numbers of columns", func(t *testing.T) {
		perm := []int{3, 0, 4, 2, 1} // new number of old column
		newSizes := make([]int, 5)
		for c, s := range sizes {
			newSizes[perm[c]] = s
		}
		rename := func(cols []int) []int {
			out := make([]int, len(cols))
			for i, c := range cols {
				out[i] = perm[c]
			}
			return out
		}
		renamed := slices.Clone(ms)
		for i := range renamed {
			renamed[i].Cols = rename(ms[i].Cols)
		}
		got := fit(t, newSizes, renamed, Options{})
		for _, cols := range allSubsets(5, 3) {
			// Another order of elimination and of sums: equal up to the tolerance of the fit.
			if e := distance(answers(t, got, rename(cols)...), answers(t, want, cols...),
				2000); e > 1e-3 {
				t.Errorf("columns %v: %.2g apart", cols, e)
			}
		}
	})
	t.Run("the same measurement in two parts", func(t *testing.T) {
		// y with σ is the inverse-variance mean of y+a with σ√2 and y−a with σ√2.
		parts := slices.Clone(ms)
		a := ms[0]
		plus, minus := slices.Clone(a.Counts), slices.Clone(a.Counts)
		for i := range plus {
			plus[i] += float64(i)
			minus[i] -= float64(i)
		}
		parts[0] = Measurement{Cols: a.Cols, Counts: plus, Sigma: a.Sigma * math.Sqrt2}
		parts = append(parts, Measurement{Cols: a.Cols, Counts: minus, Sigma: a.Sigma * math.Sqrt2})
		got := fit(t, sizes, parts, Options{})
		for _, cols := range allSubsets(5, 3) {
			if e := distance(answers(t, got, cols...), answers(t, want, cols...), 2000); e > 1e-9 {
				t.Errorf("columns %v: %.2g apart", cols, e)
			}
		}
	})
}

// TestFitUsesSigmas: a cell that is known badly does not pull.
func TestFitUsesSigmas(t *testing.T) {
	m := fit(t, []int{4}, []Measurement{
		{Cols: []int{0}, Counts: []float64{100, 200, 300, 9000}, Sigmas: []float64{1, 1, 1, 1e6}},
	}, Options{Total: 1000})
	want := []float64{100, 200, 300, 400}
	if got := answers(t, m, 0); distance(got, want, 1000) > 0.005 {
		t.Errorf("counts %.1f, want about %.1f", got, want)
	}
}

// TestFitWarm: a warm start moves the result by no more than the tolerance and takes fewer
// iterations, also when cliques have come and gone.
func TestFitWarm(t *testing.T) {
	sizes, ms := treeProblem()
	ctx := context.Background()
	count := func(ms []Measurement, warm *Model) (*Model, int) {
		e := estimatorFor(t, sizes, ms)
		if warm != nil {
			e.start = warm.path
		}
		its := 0
		if err := e.run(ctx, 10_000, func(int) { its++ }); err != nil {
			t.Fatal(err)
		}
		m := newModel(e.prop.tree, e.prop.tables(), e.n)
		m.path = e.path
		return m, its
	}
	old, _ := count(ms[:len(ms)-1], nil)
	cold, coldIts := count(ms[1:], nil)
	warm, warmIts := count(ms[1:], old)
	for _, cols := range [][]int{{0, 1}, {3, 9}, {2, 5}, {12, 14}} {
		if e := distance(answers(t, cold, cols...), answers(t, warm, cols...),
			cold.Total()); e > 2e-3 {
			t.Errorf("columns %v: warm and cold start are %.2g apart", cols, e)
		}
	}
	if warmIts > coldIts*2/3 {
		t.Errorf("%d iterations from a warm start, %d from a cold one", warmIts, coldIts)
	}
	t.Logf("%d iterations cold, %d warm", coldIts, warmIts)

	decoded := &Model{}
	b := stattest.Must(old.MarshalBinary())
	if err := decoded.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	fit(t, sizes, ms, Options{Warm: decoded, Iterations: 3}) // nothing to start from: no harm
}

func TestFitOnAnyNumberOfProcessors(t *testing.T) {
	sizes, ms := binaryProblem(16) // one clique of 65536 cells: two goroutines
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := fit(t, sizes, ms, Options{Iterations: 20})
	runtime.GOMAXPROCS(2)
	two := fit(t, sizes, ms, Options{Iterations: 20})
	for i := range one.p {
		if !slices.Equal(one.p[i], two.p[i]) {
			t.Fatalf("clique %d differs between one and two processors", i)
		}
	}
}

func TestTotal(t *testing.T) {
	for _, c := range []struct {
		name string
		ms   []Measurement
		want float64
	}{
		{"one", []Measurement{{Counts: []float64{3, 4}, Sigma: .2}}, 7},
		{"noise alone", []Measurement{{Counts: []float64{0}, Sigma: 100}}, 100 * math.Sqrt(2/math.Pi)},
		{"variance of a sum grows with the cells", []Measurement{
			{Counts: []float64{12}, Sigma: .1},         // 12, variance .01
			{Counts: []float64{5, 5, 5, 5}, Sigma: .1}, // 20, variance .04
		}, (12 + 20.0/4) / (1 + 1.0/4)},
		{"sigma per cell", []Measurement{
			{Counts: []float64{12}, Sigma: .1},
			{Counts: []float64{5, 15}, Sigmas: []float64{math.Sqrt(.03), .1}},
		}, (12 + 20.0/4) / (1 + 1.0/4)},
		{"never below one", []Measurement{{Counts: []float64{-40, 4}, Sigma: 2}}, 1},
	} {
		if got := Total(c.ms); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	m := fit(t, []int{2}, []Measurement{{Cols: []int{0}, Counts: []float64{30, 10}, Sigma: 1}},
		Options{Total: 80})
	if got := answers(t, m, 0); m.Total() != 80 || math.Abs(got[0]+got[1]-80) > 1e-9 {
		t.Errorf("known total: %v, counts %v", m.Total(), got)
	}
}

func TestUnmeasuredColumnsAreUniform(t *testing.T) {
	for _, ms := range [][]Measurement{nil, {{Cols: nil, Counts: []float64{90}, Sigma: 1}}} {
		o := Options{}
		if ms == nil {
			o.Total = 90
		}
		m := fit(t, []int{3, 2}, ms, o)
		for _, x := range answers(t, m, 1, 0) {
			if math.Abs(x-15) > 1e-9 {
				t.Errorf("%d measurements: cell %v, want 15", len(ms), x)
			}
		}
	}
}

// TestFitHardInputs: nothing but finite, non-negative answers that sum to the total, whatever the
// noise did.
func TestFitHardInputs(t *testing.T) {
	for _, c := range []struct {
		name string
		ms   []Measurement
	}{
		{"all negative",
			[]Measurement{{Cols: []int{0, 1}, Counts: []float64{-5, -9, -1, -7, -2, -3},
				Sigma: 3}}},
		{"all zero", []Measurement{{Cols: []int{0, 1}, Counts: make([]float64, 6), Sigma: 3}}},
		{"contradictory and sure of it", []Measurement{
			{Cols: []int{0}, Counts: []float64{1e6, 0}, Sigma: 1e-6},
			{Cols: []int{0, 1}, Counts: []float64{0, 0, 0, 1e6, 1e6, 1e6}, Sigma: 1e-6},
		}},
		{"sigma from 1e-6 to 1e6", []Measurement{
			{Cols: []int{0}, Counts: []float64{40, 60}, Sigma: 1e-6},
			{Cols: []int{0, 1}, Counts: []float64{1e5, -1e6, 0, 9e5, 7e5, 1}, Sigma: 1e6},
		}},
		{"as sure as may be", []Measurement{{Cols: []int{0}, Counts: []float64{1e60, .5},
			Sigma: 1e-60}}},
		{"as unsure as may be", []Measurement{{Cols: []int{1}, Counts: []float64{1e60, -1e60, 1},
			Sigma: 1e60}}},
		{"huge counts", []Measurement{{Cols: []int{1, 0}, Counts: []float64{1e15, 0, 1e15, 0, 1,
			1e12}, Sigma: 1e3}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fit(t, []int{2, 3}, c.ms, Options{})
			sum := 0.0
			for _, x := range answers(t, m, 0, 1) {
				if !(x >= 0) || math.IsInf(x, 1) {
					t.Errorf("a count of %v", x)
				}
				sum += x
			}
			if math.Abs(sum-m.Total()) > 1e-9*m.Total() || m.Total() < 1 {
				t.Errorf("counts sum to %v, total %v", sum, m.Total())
			}
		})
	}
}

func TestFitRefuses(t *testing.T) {
	good := Measurement{Cols: []int{0}, Counts: []float64{1, 2}, Sigma: 1}
	other := fit(t, []int{3}, nil, Options{Total: 5})
	for _, c := range []struct {
		name  string
		sizes []int
		ms    []Measurement
		o     Options
		want  string
	}{
		{"no columns", nil, nil, Options{Total: 5}, "0 columns"},
		{"too many columns", make([]int, maxColumns+1), nil, Options{Total: 5}, "10001 columns"},
		{"no codes", []int{0}, nil, Options{Total: 5}, "column 0 has 0 codes"},
		{"too many codes", []int{1<<16 + 1}, nil, Options{Total: 5}, "65537 codes"},
		{"nothing known", []int{2}, nil, Options{}, "neither"},
		{"total below one", []int{2}, nil, Options{Total: 0.5}, "total 0.5"},
		{"total NaN", []int{2}, nil, Options{Total: math.NaN()}, "total NaN"},
		{"total infinite", []int{2}, nil, Options{Total: math.Inf(1)}, "total +Inf"},
		{"iterations", []int{2}, nil, Options{Total: 5, Iterations: -1}, "-1 iterations"},
		{"other columns to start from", []int{2}, nil, Options{Total: 5, Warm: other},
			"other columns"},
		{"column out of range", []int{2}, []Measurement{good, {Cols: []int{1}, Counts: []float64{1},
			Sigma: 1}}, Options{}, "measurement 1: columns [1], want"},
		{"negative column", []int{2}, []Measurement{{Cols: []int{-1}, Counts: []float64{1},
			Sigma: 1}}, Options{}, "columns [-1], want"},
		{"column twice", []int{2}, []Measurement{{Cols: []int{0, 0}, Counts: make([]float64, 4),
			Sigma: 1}}, Options{}, "columns [0 0], want different ones"},
		{"too few counts", []int{2}, []Measurement{{Cols: []int{0}, Counts: []float64{1},
			Sigma: 1}}, Options{}, "1 counts for 2 cells"},
		{"NaN count", []int{2}, []Measurement{{Cols: []int{0}, Counts: []float64{1, math.NaN()},
			Sigma: 1}}, Options{}, "count 1"},
		{"infinite count", []int{2},
			[]Measurement{{Cols: []int{0}, Counts: []float64{math.Inf(1), 1}, Sigma: 1}},
			Options{}, "count 0"},
		{"no sigma", []int{2}, []Measurement{{Cols: []int{0}, Counts: []float64{1, 2}}}, Options{},
			"sigma of cell 0 is 0"},
		{"negative sigma", []int{2}, []Measurement{{Cols: []int{0}, Counts: []float64{1, 2},
			Sigmas: []float64{1, -1}}}, Options{}, "sigma of cell 1 is -1"},
		{"tiny sigma", []int{2}, []Measurement{{Cols: []int{0}, Counts: []float64{1, 2},
			Sigma: 1e-61}}, Options{}, "sigma of cell 0 is 1e-61, want 1e-60 to 1e+60"},
		{"infinite sigma", []int{2}, []Measurement{{Cols: []int{0}, Counts: []float64{1, 2},
			Sigma: math.Inf(1)}}, Options{}, "sigma"},
		{"too few sigmas", []int{2}, []Measurement{{Cols: []int{0}, Counts: []float64{1, 2},
			Sigmas: []float64{1}}}, Options{}, "1 sigmas for 2 counts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Fit(context.Background(), c.sizes, c.ms, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestFitCancelAndProgress(t *testing.T) {
	sizes, ms := treeProblem()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(ctx, sizes, ms, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before the start: %v", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	big, bigMs := binaryProblem(16)
	calls := 0
	_, err := Fit(ctx, big, bigMs, Options{Iterations: 100,
		Progress: func(done, total int) {
			calls++
			if done != calls || total != 100 {
				t.Errorf("progress %d of %d", done, total)
			}
			if calls == 2 {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled on the way: %v", err)
	}
	if calls != 2 {
		t.Errorf("%d calls of Progress, want 2", calls)
	}
}

func TestMarginalToRefuses(t *testing.T) {
	m := fit(t, []int{3, 2}, nil, Options{Total: 6})
	for _, cols := range [][]int{{2}, {-1}, {0, 0}} {
		if err := m.MarginalTo(make([]float64, 9), cols); err == nil {
			t.Errorf("columns %v: no error", cols)
		}
	}
	func() {
		defer func() {
			if r := recover(); r == nil || !strings.HasPrefix(fmt.Sprint(r), "marginal: ") {
				t.Errorf("a table of the wrong length: panic %v", r)
			}
		}()
		m.MarginalTo(make([]float64, 5), []int{0, 1})
	}()
	sizes := []int{1100, 100, 1000}
	large := fit(t, sizes, []Measurement{
		{Cols: []int{0, 1}, Counts: make([]float64, 110_000), Sigma: 1},
		{Cols: []int{1, 2}, Counts: make([]float64, 100_000), Sigma: 1},
	}, Options{Total: 6, Iterations: 3})
	err := large.MarginalTo(make([]float64, 1_100_000), []int{0, 2})
	if !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "1.1e+08 terms") {
		t.Errorf("an answer of more terms than possible: %v", err)
	}
}

// TestSum: the sum over other columns is the column's own table, with the noise of as many cells.
func TestSum(t *testing.T) {
	m := Measurement{Cols: []int{2, 0}, Counts: []float64{1, 2, 3, 4, 5, 6}, Sigma: 2}
	sizes := []int{3, 9, 2}
	for at, want := range [][]float64{{6, 15}, {5, 7, 9}} {
		got := m.Sum(sizes, at)
		if !slices.Equal(got.Counts, want) || !slices.Equal(got.Cols, m.Cols[at:at+1]) {
			t.Errorf("column %d: %v of %v, want %v", at, got.Counts, got.Cols, want)
		}
		if math.Abs(got.Noise()-m.Noise()) > 1e-12 || math.Abs(m.Noise()-2*math.Sqrt(6)) > 1e-12 {
			t.Errorf("column %d: noise %v of all cells, want %v", at, got.Noise(), m.Noise())
		}
	}
}
