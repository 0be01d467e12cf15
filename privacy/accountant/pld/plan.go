package pld

import (
	"math"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// plan is a composition prepared for the grid.
type plan struct {
	steps    []step
	count    float64                        // of steps
	logMGFs  []func(lambda float64) float64 // ln E[e^{λL}] of the events: rdp.go
	leak     float64                        // the probability that some step tells all
	orders   int                            // of a pair of neighbours that samples tell apart
	mu       float64                        // of Gaussians and filters
	gaussian bool                           // all is: its closed formula is exact
	fits     bool                           // some grid may hold it
}

// step is an event, count times: a pair, in both orders if they differ, or atoms beside a leak.
type step struct {
	pairs       []pair
	atoms       []atom
	leak, count float64
}

// newPlan joins equal events, and all Gaussians and filters to one Gaussian of the same μ.
func newPlan(c accountant.Composition, adj accountant.Adjacency) *plan {
	p := &plan{orders: 1}
	mu2, counts, kinds := 0.0, map[accountant.Event]int{}, []accountant.Event{}
	for _, charge := range c {
		n := float64(charge.Count)
		switch e := charge.Event.(type) {
		case accountant.Gaussian:
			mu2 += n / (e.NoiseMultiplier * e.NoiseMultiplier)
			continue
		case accountant.GDPFilter:
			mu2 += n * e.Mu * e.Mu
			continue
		case accountant.SubsampledGaussian:
			if e.Rate == 1 { // every unit is in the sample
				scale := 1.0
				if adj == accountant.ReplaceOne {
					scale = 4
				}
				mu2 += scale * n / (e.NoiseMultiplier * e.NoiseMultiplier)
				continue
			}
		}
		if counts[charge.Event] == 0 {
			kinds = append(kinds, charge.Event)
		}
		counts[charge.Event] += charge.Count
	}
	p.mu, p.gaussian, p.fits = math.Sqrt(mu2), len(kinds) == 0, !math.IsInf(mu2, 1)
	if mu2 > 0 {
		p.add(1, gaussianMGF(mu2), step{pairs: []pair{gaussianPair{p.mu}}, count: 1})
	}
	for _, e := range kinds {
		n := float64(counts[e])
		switch e := e.(type) {
		case accountant.SubsampledGaussian:
			q, mu := e.Rate, 1/e.NoiseMultiplier
			pairs := []pair{removePair{q, mu}, addPair{q, mu}}
			if adj == accountant.ReplaceOne {
				pairs = []pair{replacePair{q, mu}}
			}
			p.orders, p.fits = len(pairs), p.fits && mu <= 15 // or the likelihood ratio overflows
			p.add(n, sampleMGF(q, mu, adj), step{pairs: pairs, count: n})
		case accountant.Laplace:
			p.add(n, responseMGF(e.Epsilon), step{atoms: responseAtoms(e.Epsilon), count: n})
		case accountant.Approx:
			p.leak += n * math.Log1p(-e.Delta)
			p.add(n, responseMGF(e.Epsilon),
				step{atoms: responseAtoms(e.Epsilon), leak: e.Delta, count: n})
		case accountant.Exponential:
			p.fits = p.fits && e.Epsilon <= maxRange
			p.add(n, rangeMGF(e.Epsilon), rangeBlocks(min(e.Epsilon, maxRange), counts[e])...)
		}
	}
	p.fits, p.leak = p.fits && p.count < 1e12, -math.Expm1(p.leak)
	return p
}

func (p *plan) add(n float64, logMGF func(lambda float64) float64, steps ...step) {
	p.logMGFs = append(p.logMGFs, func(lambda float64) float64 { return n * logMGF(lambda) })
	p.steps = append(p.steps, steps...)
	for _, s := range steps {
		p.count += s.count
	}
}

// terms returns the PLDs on the grid h, or false if it is too fine for one of them. tail is the
// probability that one event may lose at each end.
func (p *plan) terms(order int, h, tail float64) (terms []pld, ok bool) {
	for _, s := range p.steps {
		var d pld
		if s.pairs != nil {
			d, ok = discretize(s.pairs[min(order, len(s.pairs)-1)], h, tail, s.count)
		} else {
			d, ok = onGrid(s.atoms, h, s.count)
			for i := range d.mass {
				d.mass[i] *= 1 - s.leak
			}
			d.inf = s.leak
		}
		if !ok {
			return nil, false
		}
		terms = append(terms, d)
	}
	return terms, true
}

// profiles composes the plan in each order of neighbours: upper bounds that are tight about delta,
// with the tilt lambda. One that no grid can hold is +∞.
//
// The grid adds about fineness·ε at δ = 1e-9: ΣD of [profile] stays below t ≈ 3.7·h√n there, and ε
// is 5 times the standard deviation of the privacy loss, √(Rényi divergence of order 2), or more.
func (p *plan) profiles(delta, lambda float64) (out []profile) {
	h := fineness * 1.35 * math.Sqrt(p.logMGF(1)/p.count)
	tail := math.Max(1e-300, 1e-10*delta/p.count)
	for order := range p.orders {
		out = append(out, p.profile(order, math.Max(1e-12, h), lambda, tail))
	}
	return out
}

// profile is that on a grid of step h, or a wider one where that does not fit.
func (p *plan) profile(order int, h, lambda, tail float64) profile {
	for i := 0; i < 40 && p.fits; i++ {
		factor := 2.0
		if terms, ok := p.terms(order, h, tail); ok {
			var c profile
			if c, factor, ok = compose(terms, h, lambda); ok {
				return c
			}
		}
		h *= factor
	}
	return profile{inf: 1}
}
