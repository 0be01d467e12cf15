package pld

import (
	"math"

	"github.com/decoy-dp/decoy/accountant"
)

// accuracy is how hard a composition of privacy-loss distributions tries. Every setting gives a
// valid upper bound.
type accuracy struct {
	slack float64 // the grid is chosen so that its part of Bound.Slack is about slack·ε, see plan.grid
	// k·m² for a bounded-range game of k ≥ 14 calls, m points in ε: the relative error of the variance
	// is about 1/m²
	work  float64
	lower bool // compute the lower bound that Slack needs
}

var (
	fine   = accuracy{slack: 0.002, work: 14e3, lower: true}
	search = accuracy{slack: 0.002, work: 14e3} // the same upper bound as fine
)

// direction is which of the two orders of a pair of neighbours is composed; only a subsampled
// Gaussian under add-remove tells them apart.
type direction uint8

const (
	remove direction = iota
	add
)

// side says how bounded-range events are put on the grid. From above, for the claim, by V_k. From
// below, for its slack, by mechanisms that exist: one group adapts, by the lower side of its V_k,
// and all others keep t at this share of their ε.
type side float64

const above side = 0

// shares are the sides tried from below: the best t is near ε/2 for many calls and near ε for few.
var shares = []side{.57, .75, .95}

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
	// the group of bounded-range events that adapts, from below; one only, since C_k V_j is above
	// V_{k+j}
	adapts accountant.Event
}

// rangeBlock is k bounded-range events, count times.
type rangeBlock struct {
	count        float64
	above, below []atom
}

// newPlan reports false for a composition that no grid can hold.
func newPlan(
	c accountant.Composition, delta float64, adj accountant.Adjacency, acc accuracy,
) (*plan, bool) {
	p := &plan{adj: adj, ranges: map[accountant.Event][]rangeBlock{}}
	p.rest, p.mu = merged(c, adj)
	n, weight := 1.0, 0.0
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
			blocks := rangeBlocks(e.Epsilon, charge.Count, acc)
			p.ranges[e] = blocks
			if w := e.Epsilon * e.Epsilon * float64(charge.Count); len(blocks) == 1 &&
				blocks[0].count == 1 && e.Epsilon >= minRange && w > weight {
				p.adapts, weight = e, w
			}
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
func rangeBlocks(epsilon float64, k int, acc accuracy) []rangeBlock {
	epsilon = math.Max(epsilon, minRange)
	size := max(1, min(maxBlock, int(3*maxRange/epsilon)-2, k))
	var blocks []rangeBlock
	for _, b := range []struct{ k, count int }{{size, k / size}, {k % size, 1}} {
		if b.k == 0 {
			continue
		}
		m := int(math.Sqrt(acc.work / float64(b.k) * math.Max(1, 14/float64(b.k))))
		game := newRangeGame(epsilon, b.k, m)
		block := rangeBlock{count: float64(b.count), above: game.upper()}
		if acc.lower {
			block.below = game.lower()
		}
		blocks = append(blocks, block)
	}
	return blocks
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

// terms returns the PLDs on the grid h, or false if it is too fine for one of them.
func (p *plan) terms(h float64, dir direction, from side) ([]pld, bool) {
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
			case dir == remove:
				pr = removePair{e.Rate, 1 / e.NoiseMultiplier}
			default:
				pr = addPair{e.Rate, 1 / e.NoiseMultiplier}
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
			switch {
			case from == above:
				for _, b := range p.ranges[e] {
					keep(onGrid(b.above, h, b.count))
				}
			case p.adapts == e:
				keep(onGrid(p.ranges[e][0].below, h, 1))
			default:
				keep(onGrid(rangeAtoms(e.Epsilon, float64(from)), h, count))
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

// rangeAtoms are the losses of one bounded-range mechanism with a fixed t.
func rangeAtoms(epsilon, share float64) []atom {
	t := share * epsilon
	p := math.Expm1(t-epsilon) / math.Expm1(-epsilon)
	return []atom{{t, p}, {t - epsilon, 1 - p}}
}

// profiles composes the plan in every direction that matters, on a grid near h, or wider where that
// does not fit.
func (p *plan) profiles(h, lambda float64, from side) ([]profile, bool) {
	directions := []direction{remove}
	if p.adj == accountant.AddRemove {
		for _, charge := range p.rest {
			if _, ok := charge.Event.(accountant.SubsampledGaussian); ok {
				directions = []direction{remove, add}
			}
		}
	}
	for range 40 {
		profiles, factor := []profile{}, 1.0
		for _, dir := range directions {
			terms, ok := p.terms(h, dir, from)
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

// grid returns the step for which the grid's part of the slack (see profile.lower) is about
// acc.slack·ε at δ = 1e-9: there t ≈ 3.7·h√n, and ε is 5 times the standard deviation of the
// privacy loss, √(Rényi divergence of order 2), or more. It depends on the composition alone, so
// that Epsilon and Delta read the same profile.
func (p *plan) grid(rdp2 float64, acc accuracy) float64 {
	return acc.slack * 1.35 * math.Sqrt(rdp2/p.steps())
}
