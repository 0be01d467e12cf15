package accountant

import (
	"math"
	"math/big"
)

// This file is about ε-DP steps, which filters do not pay for, and what they cost beside those.

// pureSteps is what of a composition is ε-DP, or that but for a probability.
type pureSteps struct {
	some      bool
	sum, leak upward
	n         int
	equal     float64 // the ε of all n steps; NaN if they differ

	selections    upward // which may be Gaussian events, too, with this μ²
	selectionsMu2 float64
}

func (p *pureSteps) add(c Charge) {
	p.some = true
	switch e := c.Event.(type) {
	case Laplace:
		p.step(c.Count, e.Epsilon, 0)
	case Approx:
		p.step(c.Count, e.Epsilon, e.Delta)
	case Exponential:
		n := float64(c.Count)
		p.selections.add(n, e.Epsilon)
		p.selectionsMu2 += n * square(rangeMu(e.Epsilon))
	}
}

// bound is [Composition.Epsilon] of the steps, and of Gaussian events of μ² together.
func (p *pureSteps) bound(mu2, delta float64) (Bound, error) {
	best := Bound{Epsilon: math.Inf(1), Delta: delta}
	leak := p.leak.sum()
	if leak > delta { // also where λ > 1, of which the next line knows nothing
		return Bound{}, unbounded(delta)
	}
	rest := (delta - leak) / (1 - leak)
	if rest < MinDelta {
		rest = 0
	}
	consider := func(mu2, pure float64) {
		e, method := GDPEpsilon(math.Sqrt(mu2), rest), MethodGDP
		if mu2 == 0 {
			method = methodBasic
		}
		if e > 0 && pure > 0 {
			e = math.Nextafter(e+pure, math.Inf(1))
		} else {
			e += pure
		}
		if e < best.Epsilon {
			best.Epsilon, best.Slack, best.Method = e, e, method
		}
	}
	var all upward
	all.Add(&p.sum.Float, &p.selections.Float)
	consider(mu2, all.sum())
	if p.selectionsMu2 > 0 {
		consider(mu2+p.selectionsMu2, p.sum.sum())
	}
	if p.equal > 0 {
		e := responsesEpsilon(mu2+p.selectionsMu2, p.n, p.equal, rest, best.Epsilon)
		best.Epsilon, best.Slack = e, min(best.Slack, e)
	}
	switch {
	case math.IsInf(best.Epsilon, 1):
		return Bound{}, unbounded(delta)
	case mu2 > 0 && all.sum() == 0:
		best.Slack = gdpSlack * best.Epsilon
	case delta == 0:
		best.Slack = 0 // randomised response with each ε reaches the sum
	}
	return best, nil
}

// upward adds exactly, and rounds the sum away from zero.
type upward struct{ big.Float }

func (u *upward) add(n, x float64) {
	const exact = 2200 // bits, of every sum of products of float64s
	product := new(big.Float).SetPrec(exact).Mul(big.NewFloat(n), big.NewFloat(x))
	u.SetPrec(exact).Add(&u.Float, product)
}

func (u *upward) sum() float64 {
	x, accuracy := u.Float64()
	if accuracy == big.Below {
		x = math.Nextafter(x, math.Inf(1))
	}
	return x
}

func (p *pureSteps) step(n int, epsilon, delta float64) {
	p.sum.add(float64(n), epsilon)
	p.leak.add(float64(n), delta)
	if epsilon > 0 && (p.n == 0 || epsilon == p.equal) {
		p.n, p.equal = p.n+n, epsilon
	} else if epsilon > 0 {
		p.equal = math.NaN()
	}
}

// maxResponses bounds the calls whose losses are added up one by one.
const maxResponses = 1 << 14

// responsesEpsilon returns the ε at delta of n calls of one ε₀-DP event beside μ-GDP: a sum over
// the losses of n randomised responses, the largest of all such calls (Kairouz, Oh, Viswanath
// 2017, theorem 3.3, which is μ = 0),
//
//	δ(ε) = Σ_j C(n, j)·p^(n−j)·(1 − p)^j·δ_μ(ε − (n − 2j)·ε₀),   p = e^ε₀/(1 + e^ε₀)
//
// It is the upper end of a bisection below most, which is returned where that is no better. Losses
// and the sum are rounded up: the error of a weight is a relative 1e-10 at most. Of unlikely losses
// δ_μ is taken to be 1.
func responsesEpsilon(mu2 float64, n int, epsilon, delta, most float64) float64 {
	if n > maxResponses || delta == 0 { // without δ the sum of all is reached
		return most
	}
	yes, no := -math.Log1p(math.Exp(-epsilon)), -epsilon-math.Log1p(math.Exp(-epsilon))
	all, _ := math.Lgamma(float64(n + 1))
	weights, losses := make([]float64, n+1), make([]float64, n+1)
	for j := range weights {
		some, _ := math.Lgamma(float64(j + 1))
		others, _ := math.Lgamma(float64(n - j + 1))
		weights[j] = math.Exp(all - some - others + float64(n-j)*yes + float64(j)*no)
		losses[j] = math.Nextafter(float64(n-2*j)*epsilon, math.Inf(1))
	}
	mu := math.Sqrt(mu2) * roundUp
	within := func(x float64) bool {
		sum := 0.0
		for j, w := range weights {
			if w > 1e-18*delta {
				w *= GDPDelta(mu, x-losses[j])
			}
			sum += w
		}
		return sum*(1+1e-9) <= delta
	}
	if math.IsInf(most, 1) || !within(most) {
		return most
	}
	if within(0) {
		return 0
	}
	return bisectUp(0, most, within)
}

// maxCalls bounds the calls of one charge that are taken from pure steps one by one.
const maxCalls = 1 << 16

// takePure takes calls that are ε-DP from the step that was begun last while they fit, and then
// from a new one: the smallest of those that are large enough.
func (r *Reservation) takePure(c Charge) bool {
	cost := pureCost(c.Event)
	if !(cost > 0) || c.Count > maxCalls {
		return false
	}
	after := r.Clone()
	for range c.Count {
		if cost > after.step {
			smallest := math.Inf(1)
			for e, n := range after.left {
				if l, ok := e.(Laplace); ok && n > 0 && l.Epsilon >= cost {
					smallest = min(smallest, l.Epsilon)
				}
			}
			if math.IsInf(smallest, 1) {
				return false
			}
			after.left[Laplace{smallest}]--
			after.step = smallest
		}
		rest := after.step - cost
		if after.step-rest < cost { // it was rounded up (Dekker 1971: the difference is exact)
			rest = math.Nextafter(rest, 0)
		}
		after.step = rest
	}
	*r = *after
	return true
}

// pureCost is the ε of a call that is ε-DP, and 0 of any other.
func pureCost(e Event) float64 {
	switch e := e.(type) {
	case Laplace:
		return e.Epsilon
	case Exponential:
		return e.Epsilon
	case Approx:
		if e.Delta == 0 {
			return e.Epsilon
		}
	}
	return 0
}
