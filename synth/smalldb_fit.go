package synth

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
)

// Fit is the algorithm of the paper, with a noisy number of rows n in place of the exact one:
//
//	Y ← all multisets of m rows of the domain, m enough for the error alpha
//	draw y in Y by the exponential mechanism, score −max over queries q of |q(D) − (n/m)·q(y)|
//
// The model is the distribution of y, for n rows.
func (p *smallPlan) Fit(
	ctx context.Context, s *privacy.Session, progress Progress,
) (Model, error) {
	var fitted Model
	progress.Report("counting the rows", 0)
	if err := ctx.Err(); err != nil {
		return fitted, err
	}
	count, err := s.MeasureLaplace(privacy.Total{}, p.total)
	if err != nil {
		return fitted, err
	}
	n := max(1, float64(count[0]))
	copies, err := p.choose(ctx, s, n, progress)
	if err != nil {
		return fitted, err
	}
	cols := make([]int, len(p.sizes))
	for i := range cols {
		cols[i] = i
	}
	model, err := marginal.FromFactors(p.sizes, [][]int{cols}, [][]float64{copies}, n)
	if err != nil {
		return fitted, err
	}
	fitted.Params = &release.Marginal{Model: model, Grouping: marginal.NoGroups(p.sizes)}
	fitted.Settings = map[string]any{
		"rows": p.rows, "candidates": p.candidates, "queries": len(p.queries), "alpha": p.cfg.Alpha,
		"select_epsilon": p.epsilon,
		// Dwork, Roth 2014, theorem 4.2: besides alpha·n, with probability 95 %, in rows.
		"choice_error": 2 * float64(max(1, p.nb.MaxRowsPerUnit)) / p.epsilon *
			(math.Log(float64(p.candidates)) + math.Log(20)),
	}
	return fitted, nil
}

// choose draws a multiset and returns how often it holds each cell of the domain.
func (p *smallPlan) choose(
	ctx context.Context, s *privacy.Session, n float64, progress Progress,
) ([]float64, error) {
	progress.Report("scoring multisets", 0)
	seen := 0
	answers := func(yield func([]float64) bool) {
		for _, y := range p.multisets(n) {
			if seen++; seen&0xffff == 0 {
				progress.Report("scoring multisets", float64(seen)/float64(p.candidates))
				if ctx.Err() != nil {
					// too few candidates: the gate gives up, which depends on the user, not on the
					// rows
					return
				}
			}
			if !yield(y) {
				return
			}
		}
	}
	queries := make([]privacy.Query, len(p.queries))
	for i, x := range p.queries {
		queries[i] = privacy.Where{Expr: x}
	}
	best, err := s.SelectDatabase(queries, p.candidates, answers, p.epsilon)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	for copies := range p.multisets(n) {
		if best--; best < 0 {
			return slices.Clone(copies), nil
		}
	}
	panic("smalldb: the enumeration is shorter than it was")
}

// multisets enumerates every multiset of p.rows cells of the domain, as the copies of each cell,
// with its answers to the queries scaled to n rows. Both slices are used again for the next.
func (p *smallPlan) multisets(n float64) iter.Seq2[[]float64, []float64] {
	return func(yield func(copies, answers []float64) bool) {
		cells := len(p.members)
		copies := make([]float64, cells)
		sums := make([][]float64, cells+1) // answers of the first cells
		for i := range sums {
			sums[i] = make([]float64, len(p.queries))
		}
		unit := n / float64(p.rows)
		var fill func(cell, left int) bool
		fill = func(cell, left int) bool {
			from, to := 0, left
			if cell == cells-1 {
				from = left
			}
			for c := from; c <= to; c++ {
				copies[cell] = float64(c)
				sum, before, x := sums[cell+1], sums[cell], unit*float64(c)
				for i, one := range p.members[cell] {
					sum[i] = before[i] + float64(x*one)
				}
				if c == left { // nothing is left for the cells behind
					clear(copies[cell+1:])
					if !yield(copies, sums[cell+1]) {
						return false
					}
				} else if !fill(cell+1, left-c) {
					return false
				}
			}
			return true
		}
		fill(0, p.rows)
	}
}
