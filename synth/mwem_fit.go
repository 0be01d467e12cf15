package synth

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"

	"github.com/decoy-dp/decoy/workload"
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
// The forms differ in the update: see the package's comment.
func (p *mwemPlan) Fit(
	ctx context.Context, s *privacy.Session, progress Progress,
) (out Model, err error) {
	r := &mwemRun{mwemPlan: p, ctx: ctx, s: s, progress: progress, sizes: p.w.Schema().Sizes()}
	params := &release.Marginal{Grouping: marginal.NoGroups(r.sizes)}
	if p.algorithm == graph {
		params.Model, params.Grouping, err = r.graph()
		params.Measured = r.released
	} else {
		params.Model, err = r.dense()
	}
	return Model{Params: params, Settings: r.settings()}, err
}

// dense fits one histogram. Columns that no query speaks of stay uniform.
func (r *mwemRun) dense() (*marginal.Model, error) {
	r.progress.Report("counting the rows", 0)
	n, err := r.measureOne(privacy.Total{}, r.total)
	if err != nil {
		return nil, err
	}
	r.n = max(1, n)
	h, err := newHistogram(r.sizes, r.items)
	if err != nil {
		return nil, err
	}
	var average []float64
	for t := range r.tables + r.counts {
		if err := r.start(t); err != nil {
			return nil, err
		}
		best, err := r.pick(r.candidates(h, r.tableRound(t)))
		if err != nil {
			return nil, err
		}
		y, sigma, err := r.measure(best)
		if err != nil {
			return nil, err
		}
		if r.algorithm == paper {
			average = h.update(best.item, y[0], r.n, average)
		} else {
			h.add(best.item, y, sigma)
			h.fit(r.n)
		}
	}
	cliques, tables := [][]int{h.cols}, [][]float64{h.weights}
	if r.algorithm == paper {
		tables[0] = average
	}
	for c, n := range r.sizes {
		if !slices.Contains(h.cols, c) {
			cliques = append(cliques, []int{c})
			tables = append(tables, slices.Repeat([]float64{1}, n))
		}
	}
	return marginal.FromTables(r.sizes, cliques, tables, r.n)
}

// mwemRun is one fit.
type mwemRun struct {
	*mwemPlan
	ctx      context.Context
	s        *privacy.Session
	progress Progress
	sizes    []int
	n        float64                // noisy number of rows, at least 1
	released []marginal.Measurement // of the graph, which the model keeps
	log      []any                  // what else was measured, for the settings
}

// errNothing ends the rounds of a graph: no further query can be measured within the limit of
// cells. That is public knowledge.
var errNothing = errors.New("nothing can be measured")

// tableRound reports whether round t of the plan measures a marginal: those rounds are spread
// evenly.
func (p *mwemPlan) tableRound(t int) bool {
	rounds := p.tables + p.counts
	return (t+1)*p.tables/rounds > t*p.tables/rounds
}

// start begins round t.
func (r *mwemRun) start(t int) error {
	r.progress.Report("picking and measuring queries", float64(t)/float64(r.tables+r.counts))
	return r.ctx.Err()
}

// candidate is an item that a round may pick.
type mwemCandidate struct {
	privacy.Candidate
	item int
}

// candidates are the marginals, or the counts.
func (r *mwemRun) candidates(h *histogram, tables bool) (out []mwemCandidate) {
	for i, it := range r.items {
		if it.IsCount() == tables {
			continue
		}
		c := mwemCandidate{privacy.Candidate{Query: queryOf(it), Weight: it.Weight}, i}
		for _, x := range h.answers[i] {
			c.Estimate = append(c.Estimate, r.n*x)
		}
		if tables {
			c.Penalty = r.penalty(len(c.Estimate))
		}
		out = append(out, c)
	}
	return out
}

func queryOf(it workload.Item) privacy.Query {
	if it.IsCount() {
		return privacy.Where{Expr: it.Where}
	}
	return privacy.Marginal{Cols: it.Cols}
}

// pick lets the gate pick the candidate that is worst answered.
func (r *mwemRun) pick(candidates []mwemCandidate) (best mwemCandidate, err error) {
	if len(candidates) == 0 {
		return best, errNothing
	}
	list := make([]privacy.Candidate, len(candidates))
	for i, c := range candidates {
		list[i] = c.Candidate
	}
	k, err := r.s.Select(list, r.epsilon)
	if err != nil {
		return best, err
	}
	return candidates[k], nil
}

// measure buys the answer to the picked item.
func (r *mwemRun) measure(best mwemCandidate) (y []float64, sigma float64, err error) {
	if m, ok := best.Query.(privacy.Marginal); ok {
		measured, err := measureOne(r.s, m, r.sigma)
		r.note(best.item, r.sigma)
		return measured.Counts, r.sigma, err
	}
	n, err := r.measureOne(best.Query, r.count)
	r.note(best.item, r.deviation(r.count))
	return []float64{n}, r.deviation(r.count), err
}

// measureOne buys one count, with the noise of the plan.
func (r *mwemRun) measureOne(q privacy.Query, scale float64) (float64, error) {
	var counts []int64
	var err error
	if r.laplace {
		counts, err = r.s.MeasureLaplace(q, scale)
	} else {
		counts, err = r.s.Measure(q, scale)
	}
	if err != nil {
		return 0, err
	}
	return float64(counts[0]), nil
}

// penalty is the L1 error that noise alone leaves in a marginal.
func (r *mwemRun) penalty(cells int) float64 {
	return min(math.Sqrt(2/math.Pi)*r.sigma*float64(cells), 1<<27)
}

// note keeps a measurement for the settings: `decoy queries answer` takes standard errors from it.
func (r *mwemRun) note(i int, sigma float64) {
	it := r.items[i]
	m := map[string]any{"columns": columnNames(r.w.Schema(), it.Columns()), "sigma": sigma}
	if it.IsCount() {
		m["query"] = it.Name
	}
	r.log = append(r.log, m)
}

func (r *mwemRun) settings() map[string]any {
	noise := "gaussian"
	if r.laplace {
		noise = "laplace"
	}
	return map[string]any{"algorithm": r.algorithm, "rounds": r.tables + r.counts,
		"queries": len(r.items), "left_out": r.leftOut,
		"count_noise": noise, "select_epsilon": r.epsilon, "measured": r.log}
}
