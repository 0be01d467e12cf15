package synth

import (
	"context"
	"errors"
	"slices"

	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/model/workload"
	"github.com/decoy-dp/decoy/privacy"
)

// Fit is the algorithm of the paper, with T rounds:
//
//	n ← a noisy number of rows; p ← uniform
//	in each round:
//	    pick the query q of the workload with the largest |q(D) − n·q(p)|, by the exponential
//	    mechanism
//	    measure m ← q(D) + noise
//	    update p(x) ← p(x)·exp(q(x)·(m/n − q(p))/2), and normalise
//	the answer is the average of the p of all rounds
//
// For what takes the place of the update and of the average see [MWEM].
func (p *mwemPlan) Fit(
	ctx context.Context, s *privacy.Session, progress Progress,
) (out Model, err error) {
	r := &mwemRun{mwemPlan: p, ctx: ctx, s: s, progress: progress, sizes: p.w.Schema().Sizes()}
	params := &release.Marginal{Grouping: marginal.NoGroups(r.sizes)}
	if p.graph {
		err = r.fitGraph(params)
	} else {
		params.Model, err = r.fitHistogram()
	}
	return Model{Params: params, Settings: r.settings()}, err
}

// mwemRun is one fit.
type mwemRun struct {
	*mwemPlan
	ctx      context.Context
	s        *privacy.Session
	progress Progress
	sizes    []int
	log      []any // what was measured besides the graph, for the settings
}

// fitHistogram fits one histogram. Columns that no query speaks of stay uniform.
func (r *mwemRun) fitHistogram() (*marginal.Model, error) {
	r.progress.Report("counting the rows", 0)
	n, err := r.number(privacy.Total{}, r.total)
	if err != nil {
		return nil, err
	}
	n = max(1, n)
	h, err := newHistogram(r.sizes, r.items)
	if err != nil {
		return nil, err
	}
	for t := range r.rounds {
		item, m, err := r.round(t, func(i int, it workload.Item) (privacy.Query, []float64) {
			var expected []float64
			for _, x := range h.answers[i] {
				expected = append(expected, n*x)
			}
			if it.IsCount() {
				return privacy.Where{Expr: it.Where}, expected
			}
			return privacy.Marginal{Cols: it.Cols}, expected
		})
		if err != nil {
			return nil, err
		}
		// for the settings: `decoy queries answer` takes standard errors from it
		it := r.items[item]
		note := map[string]any{"columns": columnNames(r.w.Schema(), it.Columns()), "sigma": m.Sigma}
		if it.IsCount() {
			note["query"] = it.Name
		}
		r.log = append(r.log, note)
		h.add(item, m.Counts, m.Sigma)
		h.fit(n)
	}
	cliques, tables := [][]int{h.cols}, [][]float64{h.p}
	for c, n := range r.sizes {
		if !slices.Contains(h.cols, c) {
			cliques = append(cliques, []int{c})
			tables = append(tables, slices.Repeat([]float64{1}, n))
		}
	}
	return marginal.FromFactors(r.sizes, cliques, tables, n)
}

// fitGraph fits a graphical model to one-way marginals, then to the marginals that are picked. A
// marginal may be picked while the junction tree with it stays within the limit of cells.
func (r *mwemRun) fitGraph(out *release.Marginal) error {
	r.progress.Report("measuring columns", 0)
	counts, err := r.s.MeasureAll(columnQueries(len(r.sizes)), r.oneWay)
	if err != nil {
		return err
	}
	columns := columnsMeasured(counts, r.oneWay)
	groups, ms, err := grouped(r.sizes, columns, 2)
	if err != nil {
		return err
	}
	sizes := groups.Sizes()
	out.Grouping, out.Measured = groups, columns
	if out.Model, err = marginal.Fit(r.ctx, sizes, ms, marginal.Options{}); err != nil {
		return err
	}
	var cliques [][]int
	for t := range r.rounds {
		fits := marginal.Beside(sizes, cliques)
		_, m, err := r.round(t, func(_ int, it workload.Item) (privacy.Query, []float64) {
			if !fits(it.Cols, float64(r.cfg.MaxCells)) {
				return nil, nil
			}
			expected := make([]float64, int(cellsOf(sizes, it.Cols)))
			if out.Model.MarginalTo(expected, it.Cols) != nil {
				return nil, nil // an answer that needs more memory than the model: whether is public
			}
			return Grouped(groups, it.Cols...), expected
		})
		if errors.Is(err, errNothing) {
			return nil
		}
		if err != nil {
			return err
		}
		out.Measured = append(out.Measured, m)
		m.Groups = nil
		cliques, ms = append(cliques, m.Cols), append(ms, m)
		out.Model, err = marginal.Fit(r.ctx, sizes, ms, marginal.Options{Warm: out.Model})
		if err != nil {
			return err
		}
	}
	return nil
}

// errNothing ends the rounds of a graph: no further query can be measured within the limit of
// cells. That is public knowledge.
var errNothing = errors.New("nothing can be measured")

// round lets the gate pick the item of round t that is worst answered, and buys its answer. offer
// has the query of an item and what is expected of it; nil for one that cannot be picked.
func (r *mwemRun) round(
	t int, offer func(i int, it workload.Item) (privacy.Query, []float64),
) (item int, m marginal.Measurement, err error) {
	r.progress.Report("picking and measuring queries", float64(t)/float64(r.rounds))
	if err := r.ctx.Err(); err != nil {
		return 0, m, err
	}
	var items []int
	var candidates []privacy.Candidate
	for i, it := range r.items {
		query, expected := offer(i, it)
		if query == nil {
			continue
		}
		noise := r.sigma
		if it.IsCount() {
			noise = r.deviation(r.count)
		}
		// The penalty is the L1 error that noise alone leaves.
		items, candidates = append(items, i), append(candidates, privacy.Candidate{Query: query,
			Estimate: expected, Weight: it.Weight, Penalty: min(l1*noise*float64(len(expected)), 1<<27)})
	}
	if len(items) == 0 {
		return 0, m, errNothing
	}
	k, err := r.s.Select(candidates, r.epsilon)
	if err != nil {
		return 0, m, err
	}
	if q, ok := candidates[k].Query.(privacy.Marginal); ok {
		m, err = measureOne(r.s, q, r.sigma)
		return items[k], m, err
	}
	n, err := r.number(candidates[k].Query, r.count)
	return items[k], marginal.Measurement{Counts: []float64{n}, Sigma: r.deviation(r.count)}, err
}

// number buys one count, with the noise of the plan.
func (r *mwemRun) number(q privacy.Query, scale float64) (float64, error) {
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

func (r *mwemRun) settings() map[string]any {
	return map[string]any{"rounds": r.rounds, "queries": len(r.items), "left_out": r.leftOut,
		"algorithm":      map[bool]string{true: "graph", false: "dense"}[r.graph],
		"count_noise":    map[bool]string{true: "laplace", false: "gaussian"}[r.laplace],
		"select_epsilon": r.epsilon, "measured": r.log}
}
