package mwem

import (
	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
)

// graph fits a graphical model to one-way marginals, then to the marginals that are picked. A
// marginal may be picked while the junction tree with it stays within the limit of cells.
func (r *run) graph() (*marginal.Model, *marginal.Grouping, error) {
	r.progress.Report("measuring columns", 0)
	oneWay := make([]marginal.Measurement, r.columns)
	for c := range oneWay {
		counts, err := r.s.Measure(privacy.Marginal{Cols: []int{c}}, r.oneWay)
		if err != nil {
			return nil, nil, err
		}
		oneWay[c] = measurement([]int{c}, counts, r.oneWay)
		r.log = append(r.log, map[string]any{"columns": r.names([]int{c}), "sigma": r.oneWay})
	}
	groups, err := marginal.NewGrouping(r.sizes, oneWay, 2)
	if err != nil {
		return nil, nil, err
	}
	sizes := groups.Sizes()
	var ms []marginal.Measurement
	for _, m := range oneWay {
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
		var candidates []privacy.Candidate
		var items []int
		for i, it := range r.items {
			cells, err := marginal.TreeCells(sizes,
				append(cliques[:len(cliques):len(cliques)], it.Cols))
			if err != nil || cells > r.cfg.MaxCells {
				continue
			}
			c := privacy.Candidate{Query: grouped(groups, it.Cols), Estimate: make([]float64,
				int(cellsOf(sizes, it.Cols))), Weight: it.Weight}
			if err := model.MarginalTo(c.Estimate, it.Cols); err != nil {
				continue // an answer that needs more memory than the model: whether is public
			}
			c.Penalty = min(r.penalty(len(c.Estimate)), 1<<27)
			items, candidates = append(items, i), append(candidates, c)
		}
		if len(items) == 0 {
			break
		}
		best, err := r.s.Select(candidates, r.epsilon)
		if err != nil {
			return nil, nil, err
		}
		counts, err := r.s.Measure(candidates[best].Query, r.sigma)
		if err != nil {
			return nil, nil, err
		}
		r.note(items[best], r.sigma)
		cols := r.items[items[best]].Cols
		cliques, ms = append(cliques, cols), append(ms, measurement(cols, counts, r.sigma))
		if model, err = marginal.Fit(r.ctx, sizes, ms, marginal.Options{Warm: model}); err != nil {
			return nil, nil, err
		}
	}
	return model, groups, nil
}

// grouped is the marginal over groups of codes.
func grouped(g *marginal.Grouping, cols []int) privacy.Marginal {
	m := privacy.Marginal{Cols: cols}
	for _, c := range cols {
		m.Groups = append(m.Groups, g.Groups(c))
	}
	return m
}

// measurement is a noisy marginal as package marginal takes it.
func measurement(cols []int, counts []int64, sigma float64) marginal.Measurement {
	m := marginal.Measurement{Cols: cols, Sigma: sigma, Counts: make([]float64, len(counts))}
	for i, c := range counts {
		m.Counts[i] = float64(c)
	}
	return m
}
