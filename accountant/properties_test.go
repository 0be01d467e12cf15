package accountant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// randomEvent draws an event whose PLD is quick.
func randomEvent(u *rand.Rand) Event {
	switch u.IntN(6) {
	case 0:
		return Gaussian{2 + 10*u.Float64()}
	case 1:
		return SubsampledGaussian{.05 + .9*u.Float64(), 3 + 3*u.Float64()}
	case 2:
		return DiscreteGaussian{1 + 4*u.Float64(), 1 + u.Int64N(4)}
	case 3:
		return Laplace{.02 + .3*u.Float64()}
	case 4:
		return Exponential{.02 + .5*u.Float64()}
	}
	return Approx{.1 * u.Float64(), 1e-7 * u.Float64()}
}

func randomComposition(u *rand.Rand) Composition {
	var c Composition
	for range 1 + u.IntN(4) {
		c = append(c, Charge{randomEvent(u), 1 + u.IntN(6)})
	}
	return c
}

// noisier returns the same plan with a fifth more noise in every event.
func noisier(c Composition) Composition {
	var out Composition
	for _, charge := range c {
		switch e := charge.Event.(type) {
		case Gaussian:
			charge.Event = Gaussian{e.NoiseMultiplier * 1.2}
		case SubsampledGaussian:
			charge.Event = SubsampledGaussian{e.Rate / 1.2, e.NoiseMultiplier}
		case DiscreteGaussian:
			charge.Event = DiscreteGaussian{e.NoiseMultiplier * 1.2, e.Sensitivity}
		case Laplace:
			charge.Event = Laplace{e.Epsilon / 1.2}
		case Exponential:
			charge.Event = Exponential{e.Epsilon / 1.2}
		case Approx:
			charge.Event = Approx{e.Epsilon / 1.2, e.Delta}
		}
		out = append(out, charge)
	}
	return out
}

// What must hold of any composition, whatever the true numbers are. A bound is compared with the proven lower end of another.
func TestCompositionProperties(t *testing.T) {
	t.Parallel()
	u := rand.New(rand.NewPCG(11, 12))
	for trial := range 24 {
		c := randomComposition(u)
		adj := []Adjacency{AddRemove, ReplaceOne}[trial%2]
		delta := math.Exp(-8 - 15*u.Float64())
		if c.leak() > delta/2 {
			delta = 2 * c.leak()
		}
		name := fmt.Sprintf("trial %d: %v at δ = %v, %v", trial, c, delta, adj)
		got := mustEpsilon(t, c, delta, adj)
		if !(got.Epsilon >= 0) || !(got.Slack >= 0) || got.Slack > got.Epsilon || got.Delta != delta {
			t.Errorf("%s: %+v", name, got)
		}
		low := got.Epsilon - got.Slack

		if got.Epsilon > 0 && got.Method == methodPLD && got.Slack > .05*got.Epsilon {
			t.Errorf("%s: slack %v of %v", name, got.Slack, got.Epsilon)
		}
		if rdp, _ := c.pure().rdpEpsilon((delta-c.leak())/(1-c.leak()), adj); got.Epsilon > math.Max(0, rdp) {
			t.Errorf("%s: %v, RDP %v", name, got.Epsilon, rdp)
		}
		// The order of the charges and how they are grouped do not matter.
		var split Composition
		for _, charge := range c {
			for range charge.Count {
				split = append(split, Charge{charge.Event, 1})
			}
		}
		u.Shuffle(len(split), func(i, j int) { split[i], split[j] = split[j], split[i] })
		if other := mustEpsilon(t, split, delta, adj); !near(other.Epsilon, got.Epsilon, 1e-9) {
			t.Errorf("%s: shuffled %v, was %v", name, other.Epsilon, got.Epsilon)
		}
		// One event more costs more; more noise costs less; replace-one costs at least add-remove.
		more := append(append(Composition(nil), c...), Charge{Laplace{.01}, 1})
		if got := mustEpsilon(t, more, delta, adj); got.Epsilon < low {
			t.Errorf("%s: one event more costs %v, less than %v", name, got.Epsilon, low)
		}
		if got2 := mustEpsilon(t, noisier(c), delta, adj); got2.Epsilon-got2.Slack > got.Epsilon {
			t.Errorf("%s: more noise costs %v, not %v", name, got2.Epsilon, got.Epsilon)
		}
		if other := mustEpsilon(t, c, delta, AddRemove); adj == ReplaceOne && other.Epsilon-other.Slack > got.Epsilon {
			t.Errorf("%s: add-remove costs %v, replace-one %v", name, other.Epsilon, got.Epsilon)
		}
		// δ(ε(δ)) is δ, up to the rounding of two tilts, and δ falls with ε.
		if got.Epsilon == 0 {
			continue
		}
		back := mustDelta(t, c, got.Epsilon, adj)
		if back.Delta > delta*(1+1e-3) {
			t.Errorf("%s: δ(ε(δ)) = %v", name, back.Delta)
		}
		if later := mustDelta(t, c, got.Epsilon*1.2, adj); later.Delta > back.Delta {
			t.Errorf("%s: δ grows with ε: %v, %v", name, back.Delta, later.Delta)
		}
		if back.Slack < 0 || back.Slack > back.Epsilon {
			t.Errorf("%s: %+v", name, back)
		}
	}
}

// model is a ledger as plain arithmetic: what Verify must accept.
type model struct {
	left  map[string]int // charges left, by run
	open  map[string]bool
	used  map[string]bool
	sure  map[string]bool // reserved under a strict limit
	spent map[string]float64
	limit float64
}

// Random histories, half of them with a forbidden step: Verify accepts exactly those that the model allows.
func TestVerifyAgainstModel(t *testing.T) {
	u := rand.New(rand.NewPCG(13, 14))
	event := Gaussian{10}
	refused := 0
	for trial := range 400 {
		m := model{left: map[string]int{}, open: map[string]bool{}, used: map[string]bool{}, sure: map[string]bool{}, spent: map[string]float64{}, limit: math.Inf(1)}
		es, legal, strict := []Entry{openLine()}, true, false
		for range 14 {
			run := fmt.Sprint(u.IntN(4))
			_, known := m.left[run]
			switch u.IntN(8) {
			case 0:
				m.limit = 2 + float64(u.IntN(8))
				e := limitLine(Budget{m.limit, 1e-4}, RuleBasic)
				strict = u.IntN(2) == 0
				e.Strict = strict
				es = append(es, e)
			case 1, 2, 3:
				sum := 2.0
				for _, s := range m.spent {
					sum += s
				}
				if ok := !known && sum <= m.limit; !ok && u.IntN(10) > 0 {
					continue
				} else if !ok {
					legal = false
				}
				e := reserveLine(run)
				e.Budget, e.Composition = &Budget{2, 1e-9}, Composition{{event, 2}, {event, 1}}
				es = append(es, e)
				m.left[run], m.open[run], m.spent[run], m.sure[run] = 3, true, 2, strict
			case 4, 5, 6:
				n := 1 + u.IntN(2)
				if ok := m.open[run] && m.left[run] >= n; !ok && u.IntN(20) > 0 {
					continue
				} else if !ok {
					legal = false
				}
				es = append(es, chargeLine(run, event, n))
				m.left[run] -= n
				m.used[run] = true
			case 7:
				status := []string{StatusDone, StatusVoid}[u.IntN(2)]
				if ok := m.open[run] && !(status == StatusVoid && m.used[run]); !ok && u.IntN(20) > 0 {
					continue
				} else if !ok {
					legal = false
				}
				es = append(es, closeLine(run, status))
				m.open[run] = false
				if status == StatusVoid && !m.sure[run] {
					m.spent[run] = 0
				}
			}
			if !legal {
				break
			}
		}
		l := seal(es)
		if err := l.Verify(); (err == nil) != legal {
			t.Fatalf("trial %d: Verify says %v, the model %v:\n%s", trial, err, legal, lines(t, l))
		}
		if !legal {
			refused++
		}
	}
	if refused < 40 || refused > 360 {
		t.Errorf("%d of 400 histories are forbidden: the test has lost its balance", refused)
	}
}
