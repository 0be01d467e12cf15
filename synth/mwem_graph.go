package synth

import (
	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
)

// graph fits a graphical model to one-way marginals, then to the marginals that are picked. A
// marginal may be picked while the junction tree with it stays within the limit of cells.
func (r *mwemRun) graph() (*marginal.Model, *marginal.Grouping, error) {
	r.progress.Report("measuring columns", 0)
	oneWay, err := measureColumns(r.s, r.oneWay)
	if err != nil {
		return nil, nil, err
	}
	groups, err := marginal.NewGrouping(r.sizes, oneWay, 2)
	if err != nil {
		return nil, nil, err
	}
	sizes := groups.Sizes()
	var ms []marginal.Measurement
	for _, m := range oneWay {
		r.released = append(r.released, m)
		ms = append(ms, groups.GroupMeasurement(m))
	}
	model, err := marginal.Fit(r.ctx, sizes, ms, marginal.Options{})
	if err != nil {
		return nil, nil, err
	}
	var cliques [][]int
	for t := range r.tables {
		if err := r.start(t); err != nil {
			return nil, nil, err
		}
		var candidates []mwemCandidate
		for i, it := range r.items {
			cells, err := marginal.TreeCells(sizes,
				append(cliques[:len(cliques):len(cliques)], it.Cols))
			if err != nil || cells > r.cfg.MaxCells {
				continue
			}
			c := mwemCandidate{privacy.Candidate{Query: Grouped(groups, it.Cols...),
				Estimate: make([]float64, int(cellsOf(sizes, it.Cols))), Weight: it.Weight}, i}
			if err := model.MarginalTo(c.Estimate, it.Cols); err != nil {
				continue // an answer that needs more memory than the model: whether is public
			}
			c.Penalty = r.penalty(len(c.Estimate))
			candidates = append(candidates, c)
		}
		best, err := r.pick(candidates)
		if err == errNothing {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		m, err := measureOne(r.s, best.Query.(privacy.Marginal), r.sigma)
		if err != nil {
			return nil, nil, err
		}
		r.released = append(r.released, m)
		m.Groups = nil
		cliques, ms = append(cliques, m.Cols), append(ms, m)
		if model, err = marginal.Fit(r.ctx, sizes, ms, marginal.Options{Warm: model}); err != nil {
			return nil, nil, err
		}
	}
	return model, groups, nil
}
