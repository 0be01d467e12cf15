package synth

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"

	"github.com/decoy-dp/decoy/workload"
)

// plan is a fit: what is picked from, how often, and the noise.
type mwemPlan struct {
	cfg       MWEM
	nb        privacy.Neighbours
	w         *workload.Workload
	items     []workload.Item // that can be measured; columns of a marginal in increasing order
	algorithm string
	tables    int // rounds that pick and measure a marginal
	counts    int // rounds that pick and measure a count
	laplace   bool
	columns   int
	leftOut   int // items that are too large to be measured

	oneWay  float64 // σ of a one-way marginal, in rows (graph)
	total   float64 // σ of the number of rows, or the scale of Laplace noise (paper, dense)
	epsilon float64 // of one pick
	sigma   float64 // of a marginal's cell
	count   float64 // σ of a count, or the scale of Laplace noise
}

// choose settles the form, the items and the rounds.
func (p *mwemPlan) choose() error {
	p.algorithm, p.columns = p.cfg.Algorithm, len(p.w.Schema().Columns)
	counts := 0
	for i := range p.w.Len() {
		if p.w.Item(i).IsCount() {
			counts++
		}
	}
	if p.algorithm == "" {
		p.algorithm = graph
		if counts > 0 {
			p.algorithm = dense
		}
	}
	if p.algorithm == graph && counts > 0 {
		return fmt.Errorf("mwem: %d items of the workload are counts, which the algorithm graph "+
			"cannot fit; use dense: %w", counts, ErrConfig)
	}
	sizes := p.w.Schema().Sizes()
	var heavy, light float64 // weight of marginals and counts
	for i := range p.w.Len() {
		it := p.w.Item(i)
		if cellsOf(sizes, it.Columns()) > float64(min(p.cfg.MaxCells, privacy.MaxCells)) {
			p.leftOut++
			continue
		}
		switch {
		case it.IsCount():
			light += it.Weight
			p.items = append(p.items, it)
		case p.algorithm == paper:
			cells, err := it.Counts(sizes, workload.MaxItems-len(p.items))
			if err != nil {
				return fmt.Errorf("mwem: each cell is a query of the algorithm paper: %w: %w",
					err, ErrConfig)
			}
			light += it.Weight
			p.items = append(p.items, cells...)
		default:
			it.Cols = slices.Sorted(slices.Values(it.Cols))
			heavy += it.Weight
			p.items = append(p.items, it)
		}
	}
	if len(p.items) == 0 {
		return fmt.Errorf("mwem: every query of the workload spans more than %d cells: %w",
			p.cfg.MaxCells, ErrConfig)
	}
	cells := cellsOf(sizes, named(p.items))
	if p.algorithm != graph && cells > float64(p.cfg.MaxCells) {
		return fmt.Errorf("mwem: the algorithm %s needs one histogram of all columns that the workload "+
			"names, %.4g cells; the limit is %d: name fewer columns, or marginals only, which the "+
			"algorithm graph fits: %w", p.algorithm, cells, p.cfg.MaxCells, ErrConfig)
	}
	rounds := p.cfg.Rounds
	if rounds == 0 {
		rounds = 30
		if p.algorithm == graph {
			rounds = 2 * p.columns
		}
		rounds = min(rounds, len(p.items))
	}
	// Rounds are divided between marginals and counts by the weights of the workload, publicly and
	// in advance.
	p.tables = int(math.Round(float64(rounds) * heavy / (heavy + light)))
	if heavy > 0 && light > 0 && rounds > 1 {
		p.tables = min(max(p.tables, 1), rounds-1)
	}
	p.counts = rounds - p.tables
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
	rounds, first := float64(p.tables+p.counts), mwemTotalShare
	k := float64(max(1, p.nb.MaxRowsPerUnit))
	unit := k
	if p.nb.Adjacency == accountant.ReplaceOne {
		unit *= math.Sqrt2
	}
	if p.algorithm == graph {
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

// Forecast assumes the largest distribution that the plan allows. The joints are the marginals of
// the workload; other forms than graph also count single queries.
func (p *mwemPlan) Forecast(int) Forecast {
	f := Forecast{}
	if p.algorithm == graph {
		f.Noise = append(f.Noise, Noise{What: "one-way marginal", Columns: 1, Count: p.columns,
			Sigma: p.oneWay})
		var sets [][]int
		for _, it := range p.items {
			sets = append(sets, it.Cols)
		}
		f.Joints = jointsOf(p.columns, sets)
	} else {
		f.Noise = append(f.Noise, Noise{What: "number of rows", Count: 1,
			Sigma: p.deviation(p.total)})
	}
	f.Noise = append(f.Noise, Noise{What: "query selection", Count: p.tables + p.counts,
		Eps: p.epsilon})
	if p.tables > 0 {
		f.Noise = append(f.Noise, Noise{What: "marginal", Columns: 2, Count: p.tables,
			Sigma: p.sigma})
	}
	if p.counts > 0 {
		f.Noise = append(f.Noise, Noise{What: "count", Count: p.counts,
			Sigma: p.deviation(p.count)})
	}
	sizes := p.w.Schema().Sizes()
	cells := cellsOf(sizes, named(p.items))
	rounds := float64(p.tables + p.counts)
	candidates := 0.0
	for _, it := range p.items {
		if !it.IsCount() {
			candidates += cellsOf(sizes, it.Cols)
		}
	}
	if p.algorithm == graph {
		pairs := 0.0 // measured tables as large as the average one
		for range p.tables {
			pairs += candidates / float64(len(p.items))
		}
		cells = min(4*pairs, float64(p.cfg.MaxCells))
	}
	f.MemoryBytes = int64(40*cells + 24*candidates)
	f.Seconds = rounds * (30e-9*cells + 10e-9*candidates + 1e-3)
	if p.algorithm == graph {
		// Measured on adult, bank, support2 and icu-severity (cmd/decoy, TestForecasts), within a
		// factor of 1.7: what a round costs grows more slowly than its candidates, as most of them
		// are answered from small parts of the graph.
		f.Seconds = 2.6 * math.Pow(rounds*candidates/1e6, .75)
	}
	return f
}

// deviation is the standard deviation of the noise of a count at scale x.
func (p *mwemPlan) deviation(x float64) float64 {
	if p.laplace {
		return math.Sqrt2 * x
	}
	return x
}
