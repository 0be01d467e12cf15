package logistic

import (
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

var long = flag.Bool("long", false, "run the long form of some tests")

// still is noise on weights that cannot be seen.
const still = 1e-8

// smallMinimum is the mechanism of TestSmallTables: with a penalty that keeps the residual of a row
// near its start, which is half of the bound.
func smallMinimum(p Problem) mechtest.SmallRow {
	x := Perturbation{Penalty: 4, Output: still}
	event := func(nb privacy.Neighbours) accountant.Event { return MinimumEvent(nb, p, x) }
	return mechtest.SmallRow{
		Mechanism: "Minimum",
		Of: func(s *mechtest.Small) gatetest.Value {
			o := mechtest.On(s.T, s.Table, s.NB.Adjacency, accountant.Charge{Event: event(s.NB), Count: 1})
			w, err := Minimum(s.T.Context(), o, p, x)
			return gatetest.One[float64](s)(w, err)
		},
		Claim: gatetest.GaussianClaim(still, event), Norm: gatetest.L2,
		Most: func(nb privacy.Neighbours) float64 {
			if nb.Adjacency == accountant.ReplaceOne { // with one column the two are in two cells
				return .28
			}
			return .4
		},
	}
}

// slope is the gradient of the penalised loss at w, by its formula, in floating point.
func slope(p Problem, t *table.Table, penalty float64, w []float64) []float64 {
	g := naive(p, t, w)
	for i := range g {
		g[i] += penalty * w[i]
	}
	return g
}

// TestMinimumIsNear: whatever the rows, penalty and linear term, the gradient is within the gap
// where the descent ends. With -long there are more rows.
func TestMinimumIsNear(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 8))
	sizes := []int{0, 1, 40, 1500, 25_000}
	if *long {
		sizes[4] = 120_000
	}
	for _, rows := range sizes {
		tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(rows), nil)
		for _, p := range []Problem{binary, merged, multi} {
			// few passes over many rows
			for _, penalty := range map[bool][]float64{false: {.3, 20, 1e5}, true: {3000}}[rows > 1500] {
				b := make([]int64, p.Cells(tab.Schema().Sizes())*p.Outputs())
				for i := range b {
					b[i] = int64(30 * u.NormFloat64() * (1 << linearBits))
				}
				w := make([]float64, len(b))
				for i, x := range least(t, p, tab, penalty, b) {
					w[i] = math.Ldexp(float64(x), -weightBits)
				}
				g := slope(p, tab, penalty, w)
				for i := range g {
					g[i] += math.Ldexp(float64(b[i]), -linearBits)
				}
				if far := gatetest.L2(g); far > Gap-linearGap {
					t.Errorf("%d rows, penalty %v, %v: the gradient has norm %v", rows, penalty, p.Classes, far)
				}
			}
		}
	}
}

// TestMinimumSensitivity: minima of neighbouring tables are no further apart than the event says,
// under every relation, and it says Δ/Λ, with the gap twice.
func TestMinimumSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 10))
	sch := gatetest.Schema("", 0)
	for _, nb := range mechtest.Relations {
		for _, p := range []Problem{binary, merged, multi} {
			for _, penalty := range []float64{.5, 300} {
				event := MinimumEvent(nb, p, Perturbation{Penalty: penalty, Output: 1})
				moved := 1 / event.(accountant.Gaussian).NoiseMultiplier
				unit := float64(nb.MaxRowsPerUnit)
				if nb.Adjacency == accountant.ReplaceOne {
					unit *= 2
				}
				want := (unit*math.Sqrt(p.squared()) + 2*Gap) / penalty
				if moved < want || moved > want*(1+1e-9) {
					t.Errorf("%v, %v: Δ = %v, want %v", nb, p.Classes, moved, want)
				}
				far, none := 0., make([]int64, p.Cells(sch.Sizes())*p.Outputs())
				for range 100 {
					a, b := gatetest.PairOf(u, nb.Adjacency, nb.MaxRowsPerUnit)
					one := least(t, p, gatetest.Table(t, sch, a, nil), penalty, none)
					change := make([]float64, len(one))
					for i, x := range least(t, p, gatetest.Table(t, sch, b, nil), penalty, none) {
						change[i] = math.Ldexp(float64(x-one[i]), -weightBits)
					}
					far = max(far, gatetest.L2(change))
				}
				if far > moved || penalty == 300 && far < .35*moved {
					t.Errorf("%v, %v: minima move by up to %v, the event says %v", nb, p.Classes, far, moved)
				}
			}
		}
	}
}

// hockey is ∫ (p − e^ε·q)₊ of two densities on a grid of cells of that size, less what a sum over a
// grid may be wrong by.
func hockey(p, q []float64, cell, epsilon float64) float64 {
	sum := 0.
	for i := range p {
		sum += max(0, p[i]-math.Exp(epsilon)*q[i]) * cell
	}
	return sum
}

// twoClasses is the density of the minimum over n[0] and n[1] rows of the classes with one cell, on
// a grid from −reach to reach.
func twoClasses(n [2]int, x Perturbation, reach float64, points int) (p []float64, cell float64) {
	cell = 2 * reach / float64(points)
	for i := range points {
		w := (float64(i)+.5)*cell - reach
		s := 1 / (1 + math.Exp(-w))
		b := float64(n[0])*s - float64(n[1])*(1-s) + x.Penalty*w
		curvature := float64(n[0]+n[1])*s*(1-s) + x.Penalty
		p = append(p, math.Exp(-b*b/(2*x.Objective*x.Objective))*curvature/
			(x.Objective*math.Sqrt(2*math.Pi)))
	}
	return p, cell
}

// TestObjectiveDelta: the exact δ of objective perturbation, by integrals of the densities of the
// minimum, is never above the event's, for any two neighbouring tables of up to four rows of one
// cell, and comes near it.
func TestObjectiveDelta(t *testing.T) {
	one := Problem{Columns: []int{0}, Target: 1, Classes: []int{0, 1}}
	for _, c := range []struct {
		x     Perturbation
		least float64 // of exact δ by that of the event, at the best pair, under add-remove
	}{
		{Perturbation{Penalty: 40, Objective: 1}, .04}, {Perturbation{Penalty: 5, Objective: 2}, .1},
		{Perturbation{Penalty: 2, Objective: 8}, .15}, {Perturbation{Penalty: .1, Objective: 2}, .05},
	} {
		c.x.Output = 1e9 // the minimum is exact here
		reach := (4 + 10*c.x.Objective) / c.x.Penalty
		var tables [][2]int
		density, cell := map[[2]int][]float64{}, 0.
		for zeros := range 5 {
			for ones := range 5 - zeros {
				n := [2]int{zeros, ones}
				tables = append(tables, n)
				density[n], cell = twoClasses(n, c.x, reach, 8000)
				if sum := hockey(density[n], density[n], cell, math.Inf(-1)); math.Abs(sum-1) > 1e-6 {
					t.Fatalf("%v: a density with mass %v", n, sum)
				}
			}
		}
		for _, nb := range []privacy.Neighbours{
			{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1},
			{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 2},
			{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 1},
			{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 2},
		} {
			near, k := 0., nb.MaxRowsPerUnit
			for _, epsilon := range []float64{.02, .1, .3, .6, .9, 1.2, 2} {
				c.x.Epsilon = epsilon
				claim := MinimumEvent(nb, one, c.x).(accountant.Approx).Delta
				for _, a := range tables {
					for _, b := range tables {
						if !neighbouring(a, b, k, nb.Adjacency) || claim < 1e-7 {
							continue
						}
						exact := hockey(density[a], density[b], cell, epsilon)
						if exact > claim*(1+1e-4) {
							t.Errorf("%+v, %v, %v to %v: δ = %v, the event says %v", c.x, nb, a, b, exact, claim)
						}
						near = max(near, exact/claim)
					}
				}
			}
			if k == 1 && nb.Adjacency == accountant.AddRemove && near < c.least {
				t.Errorf("%+v, %v: δ is at most %v of the event's", c.x, nb, near)
			}
		}
	}
}

// neighbouring says whether tables of that many rows of two classes may differ by a unit of up to k
// rows: rows leave, and rows come.
func neighbouring(a, b [2]int, k int, adj accountant.Adjacency) bool {
	leave := max(0, a[0]-b[0]) + max(0, a[1]-b[1])
	come := max(0, b[0]-a[0]) + max(0, b[1]-a[1])
	if adj == accountant.ReplaceOne {
		return leave <= k && come <= k && leave+come > 0
	}
	return leave+come <= k && leave*come == 0 && leave+come > 0
}

// TestObjectiveDeltaOfThree is [TestObjectiveDelta] with three classes: tables of up to two rows.
func TestObjectiveDeltaOfThree(t *testing.T) {
	three := Problem{Columns: []int{0}, Target: 1, Classes: []int{0, 1, 2}}
	nb := privacy.Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1}
	const points = 70
	for _, x := range []Perturbation{{Penalty: 1, Objective: 3, Output: 1e9},
		{Penalty: .2, Objective: 1, Output: 1e9}} {
		reach := (2 + 6*x.Objective) / x.Penalty
		cell := 2 * reach / points
		density := func(classes ...int) (out []float64) {
			w := make([]float64, 3)
			for i := range points * points * points {
				sum := 0.
				for o, k := range []int{i % points, i / points % points, i / points / points} {
					w[o] = (float64(k)+.5)*cell - reach
					sum += math.Exp(w[o])
				}
				square, det, n := 0., 1., float64(len(classes))
				// det(ΛI + n(diag(p) − ppᵀ)) = ∏(Λ + n·p_o) · (1 − Σ n·p_o²/(Λ + n·p_o))
				rest := 1.
				for o := range w {
					p := math.Exp(w[o]) / sum
					b := x.Penalty*w[o] + n*p
					for _, c := range classes {
						if c == o {
							b--
						}
					}
					square += b * b
					det *= x.Penalty + n*p
					rest -= n * p * p / (x.Penalty + n*p)
				}
				out = append(out, math.Exp(-square/(2*x.Objective*x.Objective))*det*rest/
					math.Pow(x.Objective*math.Sqrt(2*math.Pi), 3))
			}
			return out
		}
		near := 0.
		none, zero, both := density(), density(0), density(0, 1)
		for _, epsilon := range []float64{.1, .4, .8, 1.5} {
			x.Epsilon = epsilon
			claim := MinimumEvent(nb, three, x).(accountant.Approx).Delta
			for _, pair := range [][2][]float64{{none, zero}, {zero, none}, {zero, both}, {both, zero}} {
				exact := hockey(pair[0], pair[1], cell*cell*cell, epsilon)
				if exact > claim*(1+1e-3) {
					t.Errorf("%+v: δ = %v, the event says %v", x, exact, claim)
				}
				near = max(near, exact/claim)
			}
		}
		if near < .03 {
			t.Errorf("%+v: δ is at most %v of the event's", x, near)
		}
	}
}

// TestObjectiveEvent: the formula for one row and for two, and that what covers the gap is charged.
func TestObjectiveEvent(t *testing.T) {
	x := Perturbation{Penalty: 30, Objective: 9, Output: .002, Epsilon: 1}
	delta := func(nb privacy.Neighbours, p Problem) float64 {
		return MinimumEvent(nb, p, x).(accountant.Approx).Delta
	}
	gdp := func(rows, mu, left float64) float64 {
		return accountant.GDPDelta(math.Hypot(rows*mu, 2*Gap/(30*.002)), left)
	}
	mu, left := math.Sqrt(2)/9, 1-math.Log(1+2./4/30)
	mu3, left3 := math.Sqrt(4)/9, 1-2*math.Log(1+2./3/30)
	three := Problem{Columns: []int{0, 1}, Target: 2, Classes: []int{0, 1, 2, -1}}
	for i, c := range []struct{ got, want float64 }{
		{delta(mechtest.Relations[0], binary), gdp(0, mu, left) + gdp(1, mu, left)},
		{delta(mechtest.Relations[2], binary),
			gdp(0, mu, left) + 2*gdp(1, mu, left) + gdp(2, mu, left)},
		{delta(privacy.Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 2}, binary),
			gdp(0, mu, 2*left-1) + 2*gdp(1, mu, 2*left-1) + gdp(2, mu, 2*left-1)},
		{delta(mechtest.Relations[0], three), gdp(0, mu3, left3) + 2*gdp(1, mu3, left3)},
	} {
		if c.got < c.want || c.got > c.want*(1+1e-6) {
			t.Errorf("%d: δ = %v, want %v", i, c.got, c.want)
		}
	}
}

// TestMinimumNoise. Null: of output perturbation (released − minimum)/σ is standard normal, and of
// objective perturbation −∇F(released)/σ is, with noise on the minimum that cannot be seen; 150
// releases of every coordinate, false-alarm rate 1e-6. A scale 30 % off must be rejected.
func TestMinimumNoise(t *testing.T) {
	const n, penalty = 150, 3.
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(60), nil)
	cells := multi.Cells(tab.Schema().Sizes()) * multi.Outputs()
	least := least(t, multi, tab, penalty, make([]int64, cells))
	for _, x := range []Perturbation{
		{Penalty: penalty, Output: 2}, {Penalty: penalty, Objective: 7, Output: 1e-3, Epsilon: 1e6},
	} {
		event := MinimumEvent(mechtest.Relations[0], multi, x)
		s := mechtest.On(t, tab, 0, accountant.Charge{Event: event, Count: n})
		var draws []float64
		for range n {
			got := stattest.Must(Minimum(t.Context(), s, multi, x))
			if x.Objective > 0 {
				for _, g := range slope(multi, tab, penalty, got) {
					draws = append(draws, -g/x.Objective)
				}
				continue
			}
			for i, w := range got {
				draws = append(draws, (w-math.Ldexp(float64(least[i]), -weightBits))/x.Output)
			}
		}
		normal := func(sd float64) func(float64) float64 {
			return func(x float64) float64 { return math.Erfc(-x/(sd*math.Sqrt2)) / 2 }
		}
		if stat, limit, ok := stattest.KolmogorovSmirnov(draws, normal(1)); !ok {
			t.Errorf("%+v: distance %v over %v", x, stat, limit)
		}
		for _, wrong := range []float64{.7, 1.3} {
			if _, _, ok := stattest.KolmogorovSmirnov(draws, normal(wrong)); ok {
				t.Errorf("%+v: %v times the noise is accepted", x, wrong)
			}
		}
	}
}

// TestMinimumCoversItsGap: of objective perturbation the minimum gets noise too.
func TestMinimumCoversItsGap(t *testing.T) {
	tab := gatetest.Table(t, gatetest.Schema("", 0), nil, nil)
	x := Perturbation{Penalty: 5e7, Objective: 1, Output: 100, Epsilon: 1e3}
	s := mechtest.On(t, tab, 0, accountant.Charge{
		Event: MinimumEvent(mechtest.Relations[0], binary, x), Count: 1,
	})
	w := stattest.Must(Minimum(t.Context(), s, binary, x))
	for i, x := range w { // below .001 with a probability of 1e-5
		for j := range i {
			if math.Abs(x) < .001 && math.Abs(w[j]) < .001 {
				t.Errorf("weights %v", w)
			}
		}
	}
}

// TestMinimumRefuses: what does not fit is refused at no cost, and so is a call beyond the plan.
func TestMinimumRefuses(t *testing.T) {
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(20), nil)
	good := Perturbation{Penalty: 2, Objective: 9, Output: 1, Epsilon: 1.3}
	s := mechtest.On(t, tab, 0, accountant.Charge{
		Event: MinimumEvent(mechtest.Relations[0], binary, good), Count: 1})
	inf, nan := math.Inf(1), math.NaN()
	for name, change := range map[string]func(x *Perturbation){
		"penalty 0": func(x *Perturbation) { x.Penalty = 0 },
		// at which the grid of weights may have no minimum
		"penalty for b":  func(x *Perturbation) { x.Objective = 64 * 2.1 },
		"small penalty":  func(x *Perturbation) { x.Penalty, x.Objective = 1./2048, 0 },
		"a huge penalty": func(x *Perturbation) { x.Penalty = 1 << 28 },

		"penalty inf": func(x *Perturbation) { x.Penalty = inf },
		"penalty NaN": func(x *Perturbation) { x.Penalty = nan },
		"negative b":  func(x *Perturbation) { x.Objective = -1 },
		"b of NaN":    func(x *Perturbation) { x.Objective = nan },
		"large b":     func(x *Perturbation) { x.Objective = 1 << 20 },
		"epsilon":     func(x *Perturbation) { x.Epsilon = nan },
		"epsilon < 0": func(x *Perturbation) { x.Epsilon = -1 },
		"no noise":    func(x *Perturbation) { x.Output = 0 },
		"large noise": func(x *Perturbation) { x.Output = 1 << 10 },
	} {
		x := good
		change(&x)
		if _, err := Minimum(t.Context(), s, binary, x); err == nil || errors.Is(err, privacy.ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, change := range []func(x *Perturbation){
		func(x *Perturbation) { x.Penalty = 1.9 }, func(x *Perturbation) { x.Output = .9 },
		func(x *Perturbation) { x.Objective = 0 }, func(x *Perturbation) { x.Epsilon = 1.2 },
	} {
		x := good
		change(&x)
		stattest.Wraps(t, stattest.Err(Minimum(t.Context(), s, binary, x)), privacy.ErrPlan,
			"%+v is not planned", x)
	}
	stattest.Fails(t, stattest.Err(Minimum(t.Context(), s, Problem{}, good)), "no problem is accepted")
	stattest.Passes(t, stattest.Err(Minimum(t.Context(), s, binary, good)), "the planned call")
	stattest.Wraps(t, stattest.Err(Minimum(t.Context(), s, binary, good)), privacy.ErrPlan,
		"a call beyond the plan")
	if got := s.Ledger().Runs()[0].Charged; len(got) != 1 {
		t.Errorf("charges in the ledger %v, want 1", got)
	}
}

// least is where the descent ends.
func least(t *testing.T, p Problem, tab *table.Table, penalty float64, b []int64) []int64 {
	t.Helper()
	w := stattest.Must(p.minimise(t.Context(), tab, penalty, b))
	return w
}

// looks counts how often it is asked whether it has ended.
type looks struct {
	context.Context
	n *atomic.Int64
}

func (l looks) Err() error            { l.n.Add(1); return l.Context.Err() }
func (l looks) Done() <-chan struct{} { l.n.Add(1); return l.Context.Done() }

// TestMinimumEndsWithItsContext: a minimum that takes days ends where its context does, with the
// error of that, and gives nothing; and nobody can count the steps by the looks at a context.
func TestMinimumEndsWithItsContext(t *testing.T) {
	slow := Perturbation{Penalty: 1. / (1 << 10), Output: 200}
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(20000), nil)
	p := binary
	composition := accountant.Charge{Event: MinimumEvent(mechtest.Relations[0], p, slow), Count: 2}
	s := mechtest.On(t, tab, 0, composition)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	w, err := Minimum(ctx, s, p, slow)
	if !errors.Is(err, context.Canceled) || w != nil {
		t.Errorf("weights %v, error %v", w, err)
	}
	stattest.Wraps(t, stattest.Err(Minimum(t.Context(), s, p, slow)), context.Canceled, "after that")
	var counts []int64
	for _, rows := range []int{0, 3, 1500} {
		tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(rows), nil)
		fast := Perturbation{Penalty: 1, Output: 200}
		composition := accountant.Charge{Event: MinimumEvent(mechtest.Relations[0], p, fast), Count: 1}
		l := looks{t.Context(), &atomic.Int64{}}
		stattest.Must(Minimum(l, mechtest.On(t, tab, 0, composition), p, fast))
		counts = append(counts, l.n.Load())
	}
	if counts[0] != counts[1] || counts[0] != counts[2] {
		t.Errorf("looks at the context of tables of 0, 3 and 1500 rows: %d", counts)
	}
}
