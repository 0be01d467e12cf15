package pld

import (
	"math"

	"github.com/decoy-dp/decoy/accountant"
)

const (
	// fineness is about the share of ε that the grid may add, see plan.grid.
	fineness = 0.002
	// rangeWork is k·m² for a bounded-range game of k ≥ 14 calls, m points in ε: the relative error of
	// the variance is about 1/m².
	rangeWork = 14e3
)

// merged returns the composition with equal events joined, in the order of their first appearance,
// and all Gaussians and filters as one Gaussian of the same μ.
func merged(
	c accountant.Composition, adj accountant.Adjacency,
) (rest accountant.Composition, mu float64) {
	mu2, at := 0.0, map[accountant.Event]int{}
	for _, charge := range c {
		switch e := charge.Event.(type) {
		case accountant.Gaussian:
			mu2 += float64(charge.Count) / (e.NoiseMultiplier * e.NoiseMultiplier)
			continue
		case accountant.GDPFilter:
			mu2 += float64(charge.Count) * e.Mu * e.Mu
			continue
		case accountant.SubsampledGaussian:
			if e.Rate == 1 { // every unit is in the sample
				scale := 1.0
				if adj == accountant.ReplaceOne {
					scale = 4
				}
				mu2 += scale * float64(charge.Count) / (e.NoiseMultiplier * e.NoiseMultiplier)
				continue
			}
		}
		if i, ok := at[charge.Event]; ok {
			rest[i].Count += charge.Count
			continue
		}
		at[charge.Event] = len(rest)
		rest = append(rest, charge)
	}
	return rest, math.Sqrt(mu2)
}

// gdp returns μ if the composition is exactly μ-GDP.
func gdp(c accountant.Composition, adj accountant.Adjacency) (mu float64, ok bool) {
	rest, mu := merged(c, adj)
	return mu, len(rest) == 0
}

// plan is a composition prepared for the grid.
type plan struct {
	rest   accountant.Composition
	mu     float64 // of the Gaussian events together
	adj    accountant.Adjacency
	tail   float64 // probability that one event may lose at each end
	ranges map[accountant.Event][]rangeBlock
}

// rangeBlock is k bounded-range events, count times.
type rangeBlock struct {
	count float64
	atoms []atom
}

// newPlan reports false for a composition that no grid can hold.
func newPlan(
	c accountant.Composition, delta float64, adj accountant.Adjacency,
) (*plan, bool) {
	p := &plan{adj: adj, ranges: map[accountant.Event][]rangeBlock{}}
	p.rest, p.mu = merged(c, adj)
	n := 1.0
	for _, charge := range p.rest {
		n += float64(charge.Count)
		switch e := charge.Event.(type) {
		case accountant.SubsampledGaussian:
			if e.NoiseMultiplier < 1.0/15 { // the likelihood ratio would overflow
				return nil, false
			}
		case accountant.Exponential:
			if e.Epsilon > maxRange {
				return nil, false
			}
			p.ranges[e] = rangeBlocks(e.Epsilon, charge.Count)
		}
	}
	p.tail = math.Max(1e-300, 1e-10*delta/n)
	return p, n < 1e12
}

const (
	// maxRange is the largest ε of a bounded-range event on the grid: e^{(k+2)ε} must not overflow for
	// one call or more.
	maxRange = 200
	// minRange is the smallest: a mechanism of a smaller range has this one too, and the rounding of
	// p_t is an ulp of 1/ε.
	minRange = 1e-6
)

// rangeBlocks splits k bounded-range events into blocks of at most maxBlock, with (size + 2)·ε at
// most 3·maxRange.
func rangeBlocks(epsilon float64, k int) []rangeBlock {
	epsilon = math.Max(epsilon, minRange)
	size := max(1, min(maxBlock, int(3*maxRange/epsilon)-2, k))
	var blocks []rangeBlock
	for _, b := range []struct{ k, count int }{{size, k / size}, {k % size, 1}} {
		if b.k == 0 {
			continue
		}
		blocks = append(blocks, rangeBlock{float64(b.count), gameOf(epsilon, b.k).upper()})
	}
	return blocks
}

// gameOf is that of k calls, of as many points as they are worth.
func gameOf(epsilon float64, k int) *rangeGame {
	m := int(math.Sqrt(rangeWork / float64(k) * math.Max(1, 14/float64(k))))
	return newRangeGame(epsilon, k, m)
}

// steps is the number of PLDs that the grid composes.
func (p *plan) steps() float64 {
	n := 0.0
	if p.mu > 0 {
		n++
	}
	for _, charge := range p.rest {
		if blocks, ok := p.ranges[charge.Event]; ok {
			for _, b := range blocks {
				n += b.count
			}
		} else {
			n += float64(charge.Count)
		}
	}
	return n
}

// terms returns the PLDs on the grid h, or false if it is too fine for one of them. Of the two
// orders of a pair of neighbours, added is that in which the second has the unit.
func (p *plan) terms(h float64, added bool) ([]pld, bool) {
	var terms []pld
	fits := true
	keep := func(d pld, ok bool) {
		terms = append(terms, d)
		fits = fits && ok
	}
	if p.mu > 0 {
		keep(discretize(gaussianPair{p.mu}, h, p.tail, 1))
	}
	for _, charge := range p.rest {
		count := float64(charge.Count)
		switch e := charge.Event.(type) {
		case accountant.SubsampledGaussian:
			var pr pair
			switch {
			case p.adj == accountant.ReplaceOne:
				pr = replacePair{e.Rate, 1 / e.NoiseMultiplier}
			case added:
				pr = addPair{e.Rate, 1 / e.NoiseMultiplier}
			default:
				pr = removePair{e.Rate, 1 / e.NoiseMultiplier}
			}
			keep(discretize(pr, h, p.tail, count))
		case accountant.Laplace:
			keep(onGrid(responseAtoms(e.Epsilon), h, count))
		case accountant.Approx:
			d, ok := onGrid(responseAtoms(e.Epsilon), h, count)
			for i := range d.mass {
				d.mass[i] *= 1 - e.Delta
			}
			d.inf = e.Delta
			keep(d, ok)
		case accountant.Exponential:
			for _, b := range p.ranges[e] {
				keep(onGrid(b.atoms, h, b.count))
			}
		default:
			return nil, false
		}
		if !fits {
			return nil, false
		}
	}
	return terms, fits
}

// profiles composes the plan on a grid near h, or wider where that does not fit: in both orders of
// a pair where a subsampled Gaussian under add-remove tells them apart.
func (p *plan) profiles(h, lambda float64) ([]profile, bool) {
	orders := []bool{false}
	for _, charge := range p.rest {
		_, subsampled := charge.Event.(accountant.SubsampledGaussian)
		if subsampled && p.adj == accountant.AddRemove {
			orders = []bool{false, true}
		}
	}
	for range 40 {
		profiles, factor := []profile{}, 1.0
		for _, added := range orders {
			terms, ok := p.terms(h, added)
			if !ok {
				factor = 2
				break
			}
			c, wider, ok := compose(terms, h, lambda)
			if !ok {
				factor = wider
				break
			}
			profiles = append(profiles, c)
		}
		if factor == 1 {
			return profiles, true
		}
		h *= factor
	}
	return nil, false
}

// grid returns the step for which the grid adds about fineness·ε at δ = 1e-9: ΣD of [profile] stays
// below t ≈ 3.7·h√n there, and ε is 5 times the standard deviation of the privacy loss, √(Rényi
// divergence of order 2), or more. It depends on the composition alone, so that Epsilon and Delta
// read the same profile.
func (p *plan) grid(rdp2 float64) float64 {
	return fineness * 1.35 * math.Sqrt(rdp2/p.steps())
}
