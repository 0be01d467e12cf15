package accountant

import (
	"fmt"
	"math"
)

// Charge is Count calls of one event.
type Charge struct {
	Event Event
	Count int // 1 to 2⁴⁰
}

// maxCount keeps sums of counts from overflowing.
const maxCount = 1 << 40

func (c Charge) validate() error {
	if err := validate(c.Event); err != nil {
		return err
	}
	if c.Count < 1 || c.Count > maxCount {
		return fmt.Errorf("accountant: %s: count %d must be from 1 to %d: %w", eventName(c.Event), c.Count, maxCount, ErrEvent)
	}
	return nil
}

// Composition is a multiset of events. The program may choose the order in which it calls them, and their queries, from earlier outputs; see
// the package comment. The empty composition costs nothing.
// In JSON: [{"event":"gaussian","noise_multiplier":3.7,"count":15}, ...]; an unknown key or event is an error.
type Composition []Charge

// Validate reports the first invalid charge as ErrEvent.
func (c Composition) Validate() error {
	for _, charge := range c {
		if err := charge.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (c Composition) validate(adj Adjacency) error {
	if err := adj.Validate(); err != nil {
		return err
	}
	return c.Validate()
}

// Bound is a proven upper bound on the cost of a composition: it is (Epsilon, Delta)-DP.
type Bound struct {
	Epsilon float64
	Delta   float64
	Method  string // "gdp", "pld", "rdp" or "basic"
	// Slack is proven too: Epsilon − Slack ≤ ε* ≤ Epsilon, where ε* is the smallest ε at this Delta that holds for every choice of
	// mechanisms with these events.
	Slack float64
}

// The methods of a Bound.
const (
	methodGDP   = "gdp"
	methodPLD   = "pld"
	methodRDP   = "rdp"
	methodBasic = "basic"
)

// Epsilon returns the best bound on ε at delta, 0 ≤ delta < 1: the closed form of GDP for Gaussian events alone, else the smallest of the numerical
// composition of privacy-loss distributions (PLD), Rényi DP (which includes zCDP) and the basic sum. The errors are ErrBudgetRange (delta), ErrEvent
// (an invalid event or adjacency) and ErrUnbounded (no finite ε at this delta: a Gaussian at δ = 0, or Approx events that spend more).
func (c Composition) Epsilon(delta float64, adj Adjacency) (Bound, error) {
	return c.epsilon(delta, adj, fine)
}

// Upper is Epsilon without the Slack, for less work.
func (c Composition) Upper(delta float64, adj Adjacency) (Bound, error) {
	return c.epsilon(delta, adj, search)
}

func (c Composition) epsilon(delta float64, adj Adjacency, acc accuracy) (Bound, error) {
	if err := c.validate(adj); err != nil {
		return Bound{}, err
	}
	if !(delta >= 0 && delta < 1) {
		return Bound{}, fmt.Errorf("accountant: delta %v must be from 0 to below 1: %w", delta, ErrBudgetRange)
	}
	if mu, ok := c.gdp(adj); ok && mu > 0 && delta > 0 {
		if epsilon := GDPEpsilon(mu, delta); !math.IsInf(epsilon, 1) {
			return Bound{Epsilon: epsilon, Delta: delta, Method: methodGDP, Slack: gdpSlack * epsilon}, nil
		}
	}
	best := Bound{Epsilon: math.Inf(1), Delta: delta, Method: methodBasic}
	if sum, leak := c.basic(); leak <= delta {
		best.Epsilon, best.Slack = sum, sum
	}
	if delta == 0 {
		best.Slack = 0 // randomised response with each ε reaches the sum
	}
	if rest := (delta - c.leak()) / (1 - c.leak()); rest > 0 { // what the Approx events leave
		rdp, alpha := c.pure().rdpEpsilon(rest, adj)
		best = better(best, Bound{Epsilon: math.Max(0, rdp), Delta: delta, Method: methodRDP})
		best = c.pldEpsilon(best, alpha-1, adj, acc)
	}
	if math.IsInf(best.Epsilon, 1) {
		return Bound{}, fmt.Errorf("accountant: the events have no finite epsilon at delta %v: %w", delta, ErrUnbounded)
	}
	return best, nil
}

// Delta returns the best bound on δ at epsilon, 0 ≤ epsilon < ∞. A δ of 1 says nothing. The errors are those of Epsilon.
func (c Composition) Delta(epsilon float64, adj Adjacency) (Bound, error) {
	return c.delta(epsilon, adj, fine)
}

func (c Composition) delta(epsilon float64, adj Adjacency, acc accuracy) (Bound, error) {
	if err := c.validate(adj); err != nil {
		return Bound{}, err
	}
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return Bound{}, fmt.Errorf("accountant: epsilon %v must be finite and not negative: %w", epsilon, ErrBudgetRange)
	}
	if mu, ok := c.gdp(adj); ok && mu > 0 {
		return Bound{Epsilon: epsilon, Delta: GDPDelta(mu, epsilon), Method: methodGDP, Slack: gdpSlack * epsilon}, nil
	}
	leak := c.leak()
	if sum, _ := c.basic(); sum <= epsilon {
		return Bound{Epsilon: epsilon, Delta: leak, Method: methodBasic, Slack: epsilon - sum}, nil
	}
	logDelta, alpha := c.pure().rdpDelta(epsilon, adj)
	rdp := math.Min(1, math.Exp(logDelta))
	best := Bound{Epsilon: epsilon, Delta: leak + (1-leak)*rdp, Method: methodRDP, Slack: epsilon}
	return c.pldDelta(best, alpha, adj, acc), nil
}

// gdpSlack is the relative slack of the closed form: rounding only, for μ ≥ 1e-6.
const gdpSlack = 1e-6

// pldEpsilon returns the better of best and the bound by privacy-loss distributions, with its Slack. lambda is the tilt: the best Rényi order less 1.
func (c Composition) pldEpsilon(best Bound, lambda float64, adj Adjacency, acc accuracy) Bound {
	best.Slack = best.Epsilon // the true ε is not negative
	if best.Epsilon == 0 || math.IsInf(best.Epsilon, 1) {
		return best
	}
	p, ok := c.newPlan(best.Delta, adj, acc)
	if !ok {
		return best
	}
	h := p.grid(c.pure().rdp(2, adj), acc)
	curves, ok := p.curves(h, lambda, above)
	if !ok {
		return best
	}
	upper := highest(curves, best.Delta)
	best = better(best, Bound{Epsilon: upper, Delta: best.Delta, Method: methodPLD})
	best.Slack = best.Epsilon
	if acc.lower {
		best.Slack = best.Epsilon - math.Min(best.Epsilon, p.lowest(curves, h, lambda, best.Delta))
	}
	return best
}

// highest returns the largest of the curves' ε at delta.
func highest(curves []curve, delta float64) float64 {
	epsilon := 0.0
	for _, c := range curves {
		epsilon = math.Max(epsilon, c.upper(delta))
	}
	return epsilon
}

// pldDelta returns the better of best and the bound by privacy-loss distributions.
func (c Composition) pldDelta(best Bound, alpha float64, adj Adjacency, acc accuracy) Bound {
	p, ok := c.newPlan(best.Delta, adj, acc)
	if !ok {
		return best
	}
	h := p.grid(c.pure().rdp(2, adj), acc)
	curves, ok := p.curves(h, alpha-1, above)
	if !ok {
		return best
	}
	upper := 0.0
	for _, c := range curves {
		upper = math.Max(upper, c.delta(best.Epsilon))
	}
	if upper < best.Delta {
		best.Delta, best.Method = upper, methodPLD
	}
	if acc.lower {
		best.Slack = best.Epsilon - math.Min(best.Epsilon, p.lowest(curves, h, alpha-1, best.Delta))
	}
	return best
}

// lowest returns an ε below which the composition is not (ε, delta)-DP in the worst case.
func (p *plan) lowest(upper []curve, h, lambda, delta float64) float64 {
	if len(p.ranges) == 0 {
		return lowestOf(upper, delta)
	}
	lowest, tries := 0.0, shares
	if _, ok := p.ranges[p.adapts]; ok && len(p.ranges) == 1 {
		tries = shares[:1] // nothing keeps its t
	}
	for _, share := range tries {
		if curves, ok := p.curves(h, lambda, share); ok {
			lowest = math.Max(lowest, lowestOf(curves, delta))
		}
	}
	return lowest
}

// lowestOf returns the largest of the curves' lower ε at delta.
func lowestOf(curves []curve, delta float64) float64 {
	epsilon := 0.0
	for _, c := range curves {
		epsilon = math.Max(epsilon, c.lower(delta))
	}
	return epsilon
}

// better returns the bound with the smaller ε, the first if they are equal.
func better(a, b Bound) Bound {
	if b.Epsilon < a.Epsilon {
		return b
	}
	return a
}

// basic returns Σε and the probability that some Approx event leaks, if all events are pure or Approx; else +Inf.
func (c Composition) basic() (epsilon, leak float64) {
	for _, charge := range c {
		e, ok := eventEpsilon(charge.Event)
		if a, approx := charge.Event.(Approx); approx {
			e, ok = a.Epsilon, true
		}
		if !ok {
			return math.Inf(1), c.leak()
		}
		epsilon += float64(charge.Count) * e
	}
	return epsilon, c.leak()
}

// leak returns 1 − ∏(1 − δ) over the Approx events: an (ε, δ)-DP mechanism is a post-processing of an event that tells all with probability δ and is
// else ε-DP (Kairouz, Oh, Viswanath 2017).
func (c Composition) leak() float64 {
	sum := 0.0
	for _, charge := range c {
		if a, ok := charge.Event.(Approx); ok {
			sum += float64(charge.Count) * math.Log1p(-a.Delta)
		}
	}
	return -math.Expm1(sum)
}

// pure returns the composition with δ = 0 in its Approx events.
func (c Composition) pure() Composition {
	pure := make(Composition, len(c))
	for i, charge := range c {
		if a, ok := charge.Event.(Approx); ok {
			charge.Event = Approx{Epsilon: a.Epsilon}
		}
		pure[i] = charge
	}
	return pure
}

// Rho returns ρ such that the composition is ρ-zCDP: the sum over the events. ErrNoRho if one has none: a subsampled Gaussian, or Approx with δ > 0.
func (c Composition) Rho() (float64, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, charge := range c {
		rho, ok := eventRho(charge.Event)
		if !ok {
			return 0, fmt.Errorf("accountant: %s: %w", eventName(charge.Event), ErrNoRho)
		}
		sum += float64(charge.Count) * rho
	}
	return sum, nil
}
