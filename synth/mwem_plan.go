package synth

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/model/workload"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// plan is a fit: what is picked from, how often, and the noise.
type mwemPlan struct {
	cfg     MWEM
	nb      privacy.Neighbours
	w       *workload.Workload
	items   []workload.Item // that can be measured; columns of a marginal in increasing order
	graph   bool            // all items of the workload are marginals
	rounds  int             // each picks and measures an item
	counts  bool            // all items are counts
	laplace bool
	columns int
	leftOut int // items that are too large to be measured

	oneWay  float64 // σ of a one-way marginal, in rows (of a graph)
	total   float64 // σ of the number of rows, or the scale of Laplace noise (of a histogram)
	epsilon float64 // of one pick
	sigma   float64 // of a marginal's cell
	count   float64 // σ of a count, or the scale of Laplace noise
}

// choose settles the form, the items and the rounds.
func (p *mwemPlan) choose() error {
	p.columns, p.graph, p.counts = len(p.w.Schema().Columns), true, true
	sizes := p.w.Schema().Sizes()
	for _, it := range p.w.Items() {
		p.graph = p.graph && !it.IsCount()
		if cellsOf(sizes, it.Columns()) > float64(min(p.cfg.MaxCells, privacy.MaxCells)) {
			p.leftOut++
			continue
		}
		if !it.IsCount() {
			it.Cols, p.counts = it.Columns(), false
		}
		p.items = append(p.items, it)
	}
	if len(p.items) == 0 {
		return fmt.Errorf("mwem: every query of the workload spans more than %d cells: %w",
			p.cfg.MaxCells, ErrConfig)
	}
	cells := cellsOf(sizes, named(p.items))
	if !p.graph && cells > float64(p.cfg.MaxCells) {
		return fmt.Errorf("mwem: a workload with counts needs one histogram of all columns that it "+
			"names, %.4g cells; the limit is %d: name fewer columns, or marginals only: %w", cells,
			p.cfg.MaxCells, ErrConfig)
	}
	if p.rounds = p.cfg.Rounds; p.rounds == 0 {
		p.rounds = 30
		if p.graph {
			p.rounds = 2 * p.columns
		}
		p.rounds = min(p.rounds, len(p.items))
	}
	return nil
}

// cellsOf is the number of cells of a table over cols.
func cellsOf(sizes, cols []int) float64 {
	cells := 1.0
	for _, c := range cols {
		cells *= float64(sizes[c])
	}
	return cells
}

// pay settles the noise. Of μ² the parts have their shares. With a pure step the noise is
// Laplace's, and of ε the parts have what gives them their shares of zCDP: the roots, and a
// selection twice that, as it counts ε²/8 and not ε²/2.
func (p *mwemPlan) pay(left accountant.Account) {
	rounds, first := float64(p.rounds), mwemTotalShare
	k := float64(max(1, p.nb.MaxRowsPerUnit))
	unit := k
	if p.nb.Adjacency == accountant.ReplaceOne {
		unit *= math.Sqrt2
	}
	if p.graph {
		first = oneWayShare
	}
	pick, each := p.cfg.SelectShare/rounds, (1-first-p.cfg.SelectShare)/rounds
	one := math.Sqrt(left.Mu2) * (1 - 1e-9) // the account rounds against us
	p.epsilon = accountant.ExponentialFor(one * math.Sqrt(pick))
	if p.laplace = left.Epsilon > 0; p.laplace {
		one = left.Epsilon * (1 - 1e-9) /
			(math.Sqrt(first) + rounds*(2*math.Sqrt(pick)+math.Sqrt(each)))
		p.epsilon = 2 * one * math.Sqrt(pick)
	}
	p.oneWay = unit / one * math.Sqrt(float64(p.columns)/first)
	p.total, p.count = k/(one*math.Sqrt(first)), k/(one*math.Sqrt(each))
	p.sigma = unit / k * p.count
}

// deviation is the standard deviation of the noise of a count at scale x.
func (p *mwemPlan) deviation(x float64) float64 {
	if p.laplace {
		return math.Sqrt2 * x
	}
	return x
}
