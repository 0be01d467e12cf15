package logistic

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

// The columns of gatetest.Schema have 2, 3 and 4 codes.
var (
	binary = Problem{Columns: []int{1, 2}, Target: 0, Classes: []int{0, 1}}
	merged = Problem{Columns: []int{0, 1}, Target: 2, Classes: []int{1, -1, 0, 1}}
	multi  = Problem{Columns: []int{0, 1}, Target: 2, Classes: []int{2, 0, 1, 3}}
)

const (
	none  = 16 * noise.MinScale / exact // no noise, in effect
	exact = 1 << gradientBits
)

// saturated are weights that make most residuals whole.
func saturated(u *rand.Rand, n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = float64(u.IntN(3)-1) * maxWeight
	}
	return w
}

// naive is the sum of gradients by its formula, in floating point.
func naive(p Problem, t *table.Table, w []float64) []float64 {
	sizes := t.Schema().Sizes()
	cells, outputs := p.Cells(sizes), p.Outputs()
	out := make([]float64, len(w))
	for i := range t.Rows() {
		class := p.Classes[t.Column(p.Target).At(i)]
		if class < 0 {
			continue
		}
		var active []int
		at := 0
		for _, c := range p.Columns {
			active = append(active, at+int(t.Column(c).At(i)))
			at += sizes[c]
		}
		e, sum := make([]float64, outputs), 0.
		for o := range e {
			for _, a := range active {
				e[o] += w[o*cells+a]
			}
			e[o] = math.Exp(e[o])
			sum += e[o]
		}
		for o := range e {
			r := e[o] / sum
			if outputs == 1 {
				r = e[0]/(1+e[0]) - float64(class)
			} else if o == class {
				r--
			}
			for _, a := range active {
				out[o*cells+a] += r
			}
		}
	}
	return out
}

// TestGradientIsTheFormula: without noise, the release is the gradient of the loss.
func TestGradientIsTheFormula(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(1500), nil)
	for _, p := range []Problem{binary, merged, multi} {
		nb := mechtest.Relations[0]
		s := mechtest.On(t, tab, 0, accountant.Charge{Event: GradientEvent(nb, p, none), Count: 1})
		w := make([]float64, p.Cells(tab.Schema().Sizes())*p.Outputs())
		for i := range w {
			w[i] = 2 * u.NormFloat64()
		}
		got := stattest.Must(Gradient(s, p, w, none))
		for i, want := range naive(p, tab, w) {
			if math.Abs(got[i]-want) > 1500*4./exact {
				t.Errorf("%v: coordinate %d is %v, want %v", p.Classes, i, got[i], want)
			}
		}
	}
}

// TestGradientSensitivity: sums of neighbouring tables are no further apart than the event says,
// at any weights and under every relation; adding a unit attains that.
func TestGradientSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	sch := gatetest.Schema("", 0)
	for _, nb := range mechtest.Relations {
		for _, p := range []Problem{binary, merged, multi} {
			delta := 1 / GradientEvent(nb, p, 1).(accountant.Gaussian).NoiseMultiplier
			far := 0.
			for range 4000 {
				w := saturated(u, p.Cells(sch.Sizes())*p.Outputs())
				if u.IntN(4) == 0 {
					for i := range w {
						w[i] = 3 * u.NormFloat64()
					}
				}
				at := stattest.Must(fixed(w))
				a, b := gatetest.PairOf(u, nb.Adjacency, nb.MaxRowsPerUnit)
				one, other := make([]int64, len(w)), make([]int64, len(w))
				p.sumTo(one, gatetest.Table(t, sch, a, nil), 0, len(a), at, gradientBits)
				p.sumTo(other, gatetest.Table(t, sch, b, nil), 0, len(b), at, gradientBits)
				norm := 0.
				for i := range one {
					d := float64(one[i]-other[i]) / exact
					norm += d * d
				}
				far = max(far, math.Sqrt(norm))
			}
			least := delta * (1 - 1e-9)
			if nb.Adjacency == accountant.ReplaceOne { // rows with opposite residuals differ in a column
				least = delta * .7
			}
			if far > delta || far < least {
				t.Errorf("%v, %v: sums move by up to %v, the event says %v", nb, p.Classes, far, delta)
			}
		}
	}
}

func TestSmallTables(t *testing.T) {
	p := Problem{Columns: []int{0}, Target: 1, Classes: []int{0, 1}}
	event := func(nb privacy.Neighbours) accountant.Event { return GradientEvent(nb, p, none) }
	mechtest.RunSmall(t, []mechtest.SmallRow{{
		Mechanism: "Gradient",
		Of: func(s *mechtest.Small) gatetest.Value {
			o := mechtest.On(s.T, s.Table, s.NB.Adjacency, accountant.Charge{Event: event(s.NB), Count: 1})
			g, err := Gradient(o, p, []float64{maxWeight, -maxWeight}, none)
			return gatetest.One[float64](s)(g, err)
		},
		Claim: gatetest.GaussianClaim(none, event), Norm: gatetest.L2,
		Most: func(nb privacy.Neighbours) float64 {
			if nb.Adjacency == accountant.ReplaceOne { // with one column the two are in two cells
				return math.Sqrt(.5)
			}
			return 1
		},
	}, smallMinimum(p)}, "Gradient", "Minimum")
}

// TestGradientNoise. Null: (released − true)/σ is standard normal, up to a grid of 2⁻²⁰; 400
// releases of every coordinate, false-alarm rate 1e-6. A scale 30 % off must be rejected.
func TestGradientNoise(t *testing.T) {
	const n, sigma = 400, 3.
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(60), nil)
	event := GradientEvent(mechtest.Relations[0], multi, sigma)
	s := mechtest.On(t, tab, 0, accountant.Charge{Event: event, Count: n})
	w := make([]float64, multi.Cells(tab.Schema().Sizes())*multi.Outputs())
	truth := naive(multi, tab, w)
	var draws []float64
	for range n {
		got := stattest.Must(Gradient(s, multi, w, sigma))
		for i := range got {
			draws = append(draws, (got[i]-truth[i])/sigma)
		}
	}
	normal := func(sd float64) func(float64) float64 {
		return func(x float64) float64 { return math.Erfc(-x/(sd*math.Sqrt2)) / 2 }
	}
	if stat, limit, ok := stattest.KolmogorovSmirnov(draws, normal(1)); !ok {
		t.Errorf("distance %v over %v", stat, limit)
	}
	for _, wrong := range []float64{.7, 1.3} {
		if _, _, ok := stattest.KolmogorovSmirnov(draws, normal(wrong)); ok {
			t.Errorf("%v times the noise is accepted", wrong)
		}
	}
}

// TestGradientRefuses: what does not fit is refused at no cost, and so is a call beyond the plan.
func TestGradientRefuses(t *testing.T) {
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(20), nil)
	event := GradientEvent(mechtest.Relations[0], binary, 2)
	s := mechtest.On(t, tab, 0, accountant.Charge{Event: event, Count: 1})
	w := make([]float64, 7)
	with := func(f func(p *Problem)) Problem {
		p := binary
		f(&p)
		return p
	}
	for name, p := range map[string]Problem{
		"no columns":       with(func(p *Problem) { p.Columns = nil }),
		"the target":       with(func(p *Problem) { p.Columns = []int{0, 1} }),
		"an order":         with(func(p *Problem) { p.Columns = []int{2, 1} }),
		"a column twice":   with(func(p *Problem) { p.Columns = []int{1, 1} }),
		"no such column":   with(func(p *Problem) { p.Columns = []int{1, 3} }),
		"no such target":   with(func(p *Problem) { p.Target = -1 }),
		"classes of other": with(func(p *Problem) { p.Classes = []int{0, 1, 1} }),
		"one class":        with(func(p *Problem) { p.Classes = []int{0, 0} }),
		"no class":         with(func(p *Problem) { p.Classes = []int{-1, -1} }),
		"class -2":         with(func(p *Problem) { p.Classes = []int{0, -2} }),
		"a gap": {Columns: []int{0, 1}, Target: 2,
			Classes: []int{0, 2, 3, 3}},
	} {
		if _, err := Gradient(s, p, w, 2); err == nil || errors.Is(err, privacy.ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, bad := range map[string]struct {
		w     []float64
		sigma float64
	}{
		"weights": {w[1:], 2}, "a large weight": {[]float64{0, 0, 0, 0, 0, 0, 4097}, 2},
		"NaN":   {[]float64{0, 0, 0, 0, 0, 0, math.NaN()}, 2},
		"sigma": {w, math.Inf(1)}, "no noise": {w, 0}, "less noise": {w, 1.9},
	} {
		stattest.Fails(t, stattest.Err(Gradient(s, binary, bad.w, bad.sigma)), "%s is accepted", name)
	}
	stattest.Passes(t, stattest.Err(Gradient(s, binary, w, 2)), "the planned call")
	stattest.Wraps(t, stattest.Err(Gradient(s, binary, w, 2)), privacy.ErrPlan,
		"a call beyond the plan")
}
