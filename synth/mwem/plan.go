package mwem

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/workload"
)

// plan is a fit: what is picked from, how often, and the noise.
type plan struct {
	cfg       Config
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

func (f *Fitter) plan(
	w *workload.Workload, nb privacy.Neighbours, b accountant.Budget,
) (*plan, error) {
	p := &plan{cfg: f.cfg, nb: nb, w: w, algorithm: f.cfg.Algorithm,
		columns: len(w.Schema().Columns)}
	if err := p.choose(); err != nil {
		return nil, err
	}
	var found []*plan
	for _, laplace := range []bool{false, true} {
		q := *p
		q.laplace = laplace
		if !laplace && b.Delta == 0 || laplace && (p.tables > 0 || p.algorithm == graph) {
			continue
		}
		scale, err := calibrate.Scale(b, nb.Adjacency,
			func(scale float64) accountant.Composition { return q.at(scale).Composition() },
			pld.RDP, pld.Epsilon)
		if err != nil {
			return nil, fmt.Errorf("mwem: %w", err)
		}
		found = append(found, q.at(scale))
	}
	if len(found) == 0 {
		return nil, fmt.Errorf(
			"mwem: marginals are measured with Gaussian noise, which needs delta > 0: %w",
			accountant.ErrBudgetRange)
	}
	// Whichever noise of a count has the smaller variance.
	return slices.MinFunc(found, func(a, b *plan) int {
		return int(math.Copysign(1, a.variance()-b.variance()))
	}), nil
}

// variance is that of the noise of a count.
func (p *plan) variance() float64 {
	if p.laplace {
		return 2 * p.count * p.count
	}
	return p.count * p.count
}

// choose settles the form, the items and the rounds.
func (p *plan) choose() error {
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
			"cannot fit; use dense: %w", counts, synth.ErrConfig)
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
					err, synth.ErrConfig)
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
			p.cfg.MaxCells, synth.ErrConfig)
	}
	cells := cellsOf(sizes, named(p.items))
	if p.algorithm != graph && cells > float64(p.cfg.MaxCells) {
		return fmt.Errorf("mwem: the algorithm %s needs one histogram of all columns that the workload "+
			"names, %.4g cells; the limit is %d: name fewer columns, or marginals only, which the "+
			"algorithm graph fits: %w", p.algorithm, cells, p.cfg.MaxCells, synth.ErrConfig)
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

// at is the plan whose composition is (1/scale²)-zCDP, were its parts composed in ρ. A Gaussian
// with multiplier z is 1/(2z²)-zCDP, an exponential mechanism ε²/8, a Laplace mechanism at most
// ε²/2.
func (p *plan) at(scale float64) *plan {
	q := *p
	rounds, first := float64(p.tables+p.counts), totalShare
	k := float64(max(1, p.nb.MaxRowsPerUnit))
	unit := k
	if p.nb.Adjacency == accountant.ReplaceOne {
		unit *= math.Sqrt2
	}
	if p.algorithm == graph {
		first = oneWayShare
		q.oneWay = unit * scale * math.Sqrt(float64(p.columns)/(2*first))
	}
	q.total = k * scale / math.Sqrt(2*first)
	measure := scale * math.Sqrt(rounds/(2*(1-first-p.cfg.SelectShare)))
	q.sigma, q.count = unit*measure, k*measure
	q.epsilon = math.Sqrt(8*p.cfg.SelectShare/rounds) / scale
	return &q
}

// Price is by privacy-loss distributions: picks and measurements by Laplace noise are many small
// losses.
func (p *plan) Price() accountant.Pricer { return pld.Epsilon }

// Composition is what is measured first, the picks, and the measurements.
func (p *plan) Composition() accountant.Composition {
	var c accountant.Composition
	add := func(ev accountant.Event, n int) {
		if n > 0 {
			c = append(c, accountant.Charge{Event: ev, Count: n})
		}
	}
	switch {
	case p.algorithm == graph:
		add(p.nb.MeasureEvent(privacy.Marginal{}, p.oneWay), p.columns)
	case p.laplace:
		add(p.nb.LaplaceEvent(privacy.Where{}, p.total), 1)
	default:
		add(p.nb.MeasureEvent(privacy.Total{}, p.total), 1)
	}
	// picks of marginals and of counts are the same event
	add(p.nb.SelectEvent(p.epsilon), p.tables+p.counts)
	add(p.nb.MeasureEvent(privacy.Marginal{}, p.sigma), p.tables)
	if p.laplace {
		add(p.nb.LaplaceEvent(privacy.Where{}, p.count), p.counts)
	} else {
		add(p.nb.MeasureEvent(privacy.Where{}, p.count), p.counts)
	}
	return c
}

// Joints are the marginals of the workload; other forms than graph also count single queries.
func (p *plan) Joints() [][]int {
	if p.algorithm != graph {
		return nil
	}
	var sets [][]int
	for _, it := range p.items {
		sets = append(sets, it.Cols)
	}
	return synth.Joints(p.columns, sets)
}

// Forecast assumes the largest distribution that the plan allows.
func (p *plan) Forecast() synth.Forecast {
	f := synth.Forecast{}
	if p.algorithm == graph {
		f.Noise = append(f.Noise, synth.Noise{What: "one-way marginal", Count: p.columns,
			Sigma: p.oneWay})
	} else {
		f.Noise = append(f.Noise, synth.Noise{What: "number of rows", Count: 1,
			Sigma: p.deviation(p.total)})
	}
	f.Noise = append(f.Noise, synth.Noise{What: "query selection", Count: p.tables + p.counts,
		Eps: p.epsilon})
	if p.tables > 0 {
		f.Noise = append(f.Noise, synth.Noise{What: "marginal", Count: p.tables, Sigma: p.sigma})
	}
	if p.counts > 0 {
		f.Noise = append(f.Noise, synth.Noise{What: "count", Count: p.counts,
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
func (p *plan) deviation(x float64) float64 {
	if p.laplace {
		return math.Sqrt2 * x
	}
	return x
}
