package mwem

import (
	"context"
	"errors"
	"math"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
)

// Fit picks, measures and fits, round by round.
func (p *plan) Fit(ctx context.Context, s *privacy.Session, progress synth.Progress) (synth.Model,
	error) {
	r := &run{plan: p, ctx: ctx, s: s, progress: progress, sizes: p.w.Schema().Sizes()}
	var model *marginal.Model
	groups := marginal.NoGroups(r.sizes)
	var err error
	switch p.algorithm {
	case Graph:
		model, groups, err = r.graph()
	case Paper:
		model, err = r.paper()
	default:
		model, err = r.dense()
	}
	if err != nil {
		return synth.Model{}, err
	}
	return synth.Model{Params: &release.Marginal{Model: model, Grouping: groups},
		Settings: r.settings()}, nil
}

// run is one fit.
type run struct {
	*plan
	ctx      context.Context
	s        *privacy.Session
	progress synth.Progress
	sizes    []int
	n        float64 // noisy number of rows, at least 1
	log      []any   // what was measured, for the settings
}

// errNothing ends the rounds: no further query can be measured within the limit of cells. That is
// public knowledge.
var errNothing = errors.New("nothing can be measured")

// countRows buys the number of rows.
func (r *run) countRows() error {
	r.progress.Report("counting the rows", 0)
	n, err := r.measure(privacy.Total{}, r.total)
	r.n = max(1, n)
	return err
}

// measure buys one count, with the noise of the plan.
func (r *run) measure(q privacy.Query, scale float64) (float64, error) {
	measure := r.s.Measure
	if r.laplace {
		measure = r.s.MeasureLaplace
	}
	counts, err := measure(q, scale)
	if err != nil {
		return 0, err
	}
	return float64(counts[0]), nil
}

// tableRound reports whether round t of the plan measures a marginal: those rounds are spread
// evenly.
func (p *plan) tableRound(t int) bool {
	rounds := p.tables + p.counts
	return (t+1)*p.tables/rounds > t*p.tables/rounds
}

// start begins round t.
func (r *run) start(t int) error {
	r.progress.Report("picking and measuring queries", float64(t)/float64(r.tables+r.counts))
	return r.ctx.Err()
}

// pickCount lets the gate pick, among the counts that may be measured, the one worst answered by
// probability.
func (r *run) pickCount(may func(i int) bool, probability func(i int) float64) (int, error) {
	var candidates []privacy.Candidate
	var items []int
	for i, it := range r.items {
		if it.IsCount() && may(i) {
			items = append(items, i)
			candidates = append(candidates, privacy.Candidate{Query: privacy.Where{Expr: it.Where},
				Estimate: []float64{r.n * probability(i)}, Weight: it.Weight})
		}
	}
	if len(items) == 0 {
		return 0, errNothing
	}
	best, err := r.s.Select(candidates, r.epsilon)
	if err != nil {
		return 0, err
	}
	return items[best], nil
}

// measureCount measures item i.
func (r *run) measureCount(i int) (y, sigma float64, err error) {
	y, err = r.measure(privacy.Where{Expr: r.items[i].Where}, r.count)
	r.note(i, r.deviation(r.count))
	return y, r.deviation(r.count), err
}

// penalty is the L1 error that noise alone leaves in a marginal.
func (r *run) penalty(cells int) float64 { return math.Sqrt(2/math.Pi) * r.sigma * float64(cells) }

// note keeps a measurement for the settings: `decoy queries answer` takes standard errors from it.
func (r *run) note(i int, sigma float64) {
	it := r.items[i]
	m := map[string]any{"columns": r.names(it.Columns()), "sigma": sigma}
	if it.IsCount() {
		m["query"] = it.Name
	}
	r.log = append(r.log, m)
}

func (r *run) names(cols []int) []any {
	names := make([]any, len(cols))
	for k, c := range cols {
		names[k] = r.w.Schema().Columns[c].Name
	}
	return names
}

func (r *run) settings() map[string]any {
	noise := "gaussian"
	if r.laplace {
		noise = "laplace"
	}
	return map[string]any{"algorithm": r.algorithm, "rounds": r.tables + r.counts,
		"queries": len(r.items), "left_out": r.leftOut,
		"count_noise": noise, "select_epsilon": r.epsilon, "measured": r.log}
}

// dense fits a product of dense components.
func (r *run) dense() (*marginal.Model, error) {
	if err := r.countRows(); err != nil {
		return nil, err
	}
	f, err := newFactored(r.sizes, r.items, r.cfg.MaxCells)
	if err != nil {
		return nil, err
	}
	for t := range r.tables + r.counts {
		if err := r.start(t); err != nil {
			return nil, err
		}
		var item int
		var y []float64
		var sigma float64
		if r.tableRound(t) {
			item, y, err = r.denseTable(f)
			sigma = r.sigma
		} else {
			y = make([]float64, 1)
			if item, err = r.pickCount(f.fits,
				func(i int) float64 { return f.answer(i)[0] }); err == nil {
				y[0], sigma, err = r.measureCount(item)
			}
		}
		if err == errNothing {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := f.add(item, y, sigma, r.n, r.cfg.Shrink, r.cfg.Sweeps); err != nil {
			return nil, err
		}
	}
	var cliques [][]int
	var tables [][]float64
	for i, c := range f.comps {
		cliques, tables = append(cliques, c.cols), append(tables, f.views[i].weights)
	}
	return marginal.FromTables(r.sizes, cliques, tables, r.n)
}

// denseTable picks and measures a marginal.
func (r *run) denseTable(f *factored) (item int, y []float64, err error) {
	var candidates []privacy.Candidate
	var items []int
	for i, it := range r.items {
		if it.IsCount() || !f.fits(i) {
			continue
		}
		estimate := make([]float64, 0, int(cellsOf(r.sizes, it.Cols)))
		for _, x := range f.answer(i) {
			estimate = append(estimate, r.n*x)
		}
		items = append(items, i)
		candidates = append(candidates, privacy.Candidate{
			Query: privacy.Marginal{Cols: it.Cols}, Estimate: estimate, Weight: it.Weight,
			Penalty: min(r.penalty(len(estimate)), 1<<27)})
	}
	if len(items) == 0 {
		return 0, nil, errNothing
	}
	best, err := r.s.Select(candidates, r.epsilon)
	if err != nil {
		return 0, nil, err
	}
	counts, err := r.s.Measure(candidates[best].Query, r.sigma)
	if err != nil {
		return 0, nil, err
	}
	for _, c := range counts {
		y = append(y, float64(c))
	}
	r.note(items[best], r.sigma)
	return items[best], y, nil
}

// paper is the algorithm of the paper: one update a round, the average of the iterates.
func (r *run) paper() (*marginal.Model, error) {
	if err := r.countRows(); err != nil {
		return nil, err
	}
	f, err := newFactored(r.sizes, r.items, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	c, v := f.comps[0], f.views[0]
	average := make([]float64, len(v.weights))
	every := func(int) bool { return true }
	for t := range r.counts {
		if err := r.start(t); err != nil {
			return nil, err
		}
		i, err := r.pickCount(every, func(i int) float64 { return f.answer(i)[0] })
		if err != nil {
			return nil, err
		}
		y, sigma, err := r.measureCount(i)
		if err != nil {
			return nil, err
		}
		c.add(i, r.items[i].Columns(), f.partsOf(i), []float64{y}, sigma)
		c.update(i, y/r.n-f.answer(i)[0])
		v.look(c)
		for k, x := range v.weights {
			average[k] += x
		}
	}
	return marginal.FromTables(r.sizes, [][]int{c.cols}, [][]float64{average}, r.n)
}

// update multiplies the cells of a measured count by exp(gap/2), gap = (measured − present)/n, and
// normalises: the rule of the paper.
func (c *component) update(item int, gap float64) {
	for _, m := range c.measured {
		if m.item != item {
			continue
		}
		factor, z := math.Exp(gap/2), 0.0
		for k, g := range m.group {
			if g >= 0 {
				c.mass[k] *= factor
			}
			z += c.mass[k]
		}
		c.normalise(z)
	}
}
