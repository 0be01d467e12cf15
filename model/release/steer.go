package release

import (
	"math/rand/v2"

	"github.com/decoy-dp/decoy/model/marginal"
)

// How rows are steered (package marginal). One sweep is nearly as good as three here, for the
// rows of a model are close to its pairs before.
const (
	beta = 32
	// lift is the least probability of a code given the row's other codes, beside its share of all
	// rows, with which steering gives the code to the row. However much less likely codes are
	// lacking, such rows would be ones that cannot be (docs/aim.md has the figures). A row keeps such
	// a code, else there would be no exceptions left; only where it is less likely than seldom, as
	// noise makes it, another is drawn.
	lift, seldom = .3, .03
	// steeredCells is the most cells of a row that is steered: their square is counted.
	steeredCells = 1 << 12
	// pairRows is how many rows are drawn to count pairs, and countedPairs how many pairs of their
	// columns, at most.
	pairRows     = 300_000
	countedPairs = 1 << 29
	// steeredRows and steeredPairs bound how many rows of a block are steered, and how many pairs of
	// their columns: the others, of which there are many, are as chance has them.
	steeredRows  = 1 << 14
	steeredPairs = 1 << 26
)

// pairsOf counts the pairs of rows that are drawn with a seed of their own.
func pairsOf(sizes []int, sample func(n int, u *rand.Rand) [][]uint16) *marginal.Pairs {
	u := rand.New(rand.NewPCG(seedStream, pairRows))
	return marginal.CountPairs(sizes, sample(min(pairRows, countedPairs/(len(sizes)*len(sizes))), u))
}

// steer changes rows of groups of codes towards the pairs of the model, of which many are in none
// of its cliques, and so left to chance.
func (p *Marginal) steer(groups [][]uint16, u *rand.Rand) {
	first, cells := min(steeredRows, max(1, steeredPairs/(len(groups)*len(groups)))), 0
	for _, n := range p.Model.Sizes() {
		cells += n
	}
	if len(p.Model.Cliques()) < 2 || cells > steeredCells {
		return
	}
	p.once.Do(func() {
		p.pairs = pairsOf(p.Model.Sizes(), p.Model.Sample).Meet(p.Model)
		p.given = p.Model.Conditionals()
	})
	of := func(dst []float32, i, k int) {
		p.given.To(dst, groups, i, k)
		shares, sum, own := p.pairs.Ones[p.pairs.Offsets[k]:], float32(0), int(groups[k][i])
		for _, q := range dst {
			sum += q
		}
		rare := func(c int, x float32) bool { return dst[c] < float32(x*float32(sum*shares[c])) }
		for code := range dst {
			if code != own && (rare(own, lift) && !rare(own, seldom) || rare(code, lift)) {
				dst[code] = 0
			}
		}
	}
	marginal.NewSteering(p.pairs, u).Rows(groups, []float64{beta}, first, of)
}
