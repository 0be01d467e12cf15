package synth

import (
	"context"
	"math"

	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// treeRounds is how many rounds there are for each pair that joins columns.
const treeRounds = 1.2

// iterations of the estimation after a round; the last estimation runs until it has converged.
const iterations = 15

// l1 is E|N(0, 1)|: the L1 error that noise of standard deviation σ brings to n cells is l1·σ·n.
var l1 = math.Sqrt(2 / math.Pi)

// Fit is the algorithm of the paper. D is the private table, M_r its marginal over the columns r,
// n_r the number of cells, p̂ the model, W⁺ the downward closure of the workload with weights w:
//
//	p̂ ← estimate from all one-way marginals                                      (algorithm 4)
//	while there is budget left:
//	    C ← the r in W⁺ with which the junction tree stays within its share of the memory
//	    select r in C by the exponential mechanism with ε_t and the score
//	        w_r·(‖M_r(D) − M_r(p̂)‖₁ − √(2/π)·σ_t·n_r)            (less noise here: scored)
//	    measure y ← M_r(D) + N(0, σ_t²)
//	    estimate p̂ from all measurements
//	    anneal: if M_r(p̂) moved by √(2/π)·σ_t·n_r or less, double what a round spends (the paper
//	        quadruples it); where less than two rounds are left, spend it all    (algorithm 3)
//
// Its steps are marked in the code. Beside them stands what differs from the paper. Where noise is
// large, rounds choose pairs that join columns until all hang together, as MST does: of few tables
// that stand out of the noise, one that says again what others say is lost.
func (p *aimPlan) Fit(
	ctx context.Context, s *privacy.Session, progress Progress,
) (out Model, err error) {
	f := &aimFit{aimPlan: p, session: s, ctx: ctx, total: p.mu2 * (1 - 1e-9),
		sizes: s.Schema().Sizes(), parts: newForest(len(p.schema.Columns))}
	progress.Report("measuring columns", 0)
	if err = f.columns(); err != nil {
		return out, err
	}
	if err = f.estimate(3 * iterations); err != nil {
		return out, err
	}
	rounds, choice := f.rounds(), f.choice(f.small)
	if f.small {
		rounds = treeRounds * float64(len(f.sizes)-1)
	}
	f.step = (f.total - f.used) / rounds
	var candidates, batch []aimCandidate // batch: measured since the last estimate
	for last := len(f.sizes) == 1; !last; {
		progress.Report("choosing and measuring", f.used/f.total)
		if err = ctx.Err(); err != nil {
			return out, err
		}
		spend, left := f.step, f.total-f.used
		if left < 1e-6*f.total {
			break
		}
		if last = left < 2*f.step; last { // anneal
			spend = left
		}
		forChoice, forTable := choice*spend, (1-choice)*spend
		sigma := p.sigma(forTable)
		// The share of the memory that the tree may have is that of the budget which is used in the
		// paper, its square here: large trees early cost time and bring nothing.
		memory := math.Pow((f.used+spend)/f.total, 2)
		if len(batch) == 0 {
			candidates = f.candidates(sigma, memory) // C
		}
		if len(candidates) == 0 {
			if err = f.remeasure(); err != nil {
				return out, err
			}
			break
		}
		offered, joining := f.joining(candidates)
		k, err := s.Select(f.scored(offered, sigma),
			accountant.ExponentialFor(math.Sqrt(forChoice))) // select
		if err != nil {
			return out, err
		}
		f.used += forChoice
		best := offered[k]
		f.parts.join(best.cols)
		if err := f.measure(best.cols, best.level, forTable); err != nil { // measure
			return out, err
		}
		if last {
			break
		}
		// More marginals are measured before the model is estimated anew late, when one moves little.
		// Two-way errors on adult, support2 and nltcs at ε = 10 are as with one.
		if batch = append(batch, best); len(batch) < 1+len(f.chosen)/16 {
			if candidates = f.still(candidates, best, memory); len(candidates) > 0 {
				continue
			}
		}
		if err := f.estimate(iterations); err != nil { // estimate
			return out, err
		}
		if f.drowned(batch, sigma) && !joining { // anneal
			f.step *= 2
		}
		batch = nil
	}
	progress.Report("fitting the model", 0)
	if err = f.estimate(0); err != nil {
		return out, err
	}
	return Model{Params: &release.Marginal{Model: f.model, Grouping: f.groups,
		Measured: f.released}, Settings: f.settings()}, nil
}

// aimFit is a run of a plan.
type aimFit struct {
	*aimPlan
	session *privacy.Session
	ctx     context.Context

	total, used float64 // μ², of the filter
	step        float64 // what a round spends
	sizes       []int   // codes of each column
	groups      *marginal.Grouping
	groupSizes  []int
	fine        resolutions
	closure     []wanted
	small       bool   // noise is large beside the rows
	parts       forest // of the columns, joined by the chosen pairs
	ms          []marginal.Measurement
	tables      [][]int                              // column sets of ms
	beside      func(cols []int, cells float64) bool // whether the tree of these and cols has no more
	model       *marginal.Model
	turn        int   // of the sets of columns that are candidates
	chosen      []any // for the settings of the model
	favoured    []any // columns, where nobody names a target and noise is large
	released    []marginal.Measurement
}

// measure spends mu2 on a table, less if there is less left.
func (f *aimFit) measure(cols []int, level int, mu2 float64) error {
	if mu2 = math.Min(mu2, f.total-f.used); mu2 < 1e-6*f.total {
		return nil
	}
	runs, _ := f.fine.of(cols, level, f.groupSizes)
	m, err := measureOne(f.session, f.marginalOf(cols, runs), f.sigma(mu2))
	if err != nil {
		return err
	}
	f.used += mu2
	f.released = append(f.released, m)
	m.Groups = runs // of the grouped codes
	f.ms = append(f.ms, m)
	f.tables = append(f.tables, cols)
	f.beside = marginal.Beside(f.groupSizes, f.tables)
	f.chosen = append(f.chosen, columnNames(f.schema, cols))
	return nil
}

// remeasure spends what is left on the columns, where no table fits or stands out of the noise.
func (f *aimFit) remeasure() error {
	left := f.total - f.used
	if left < 1e-3*f.total {
		return nil
	}
	ms, err := f.measureColumns(left / f.total * (1 - 1e-9))
	for _, m := range ms {
		f.ms = append(f.ms, f.groups.GroupMeasurement(m))
	}
	return err
}

// estimate fits the model; 0 iterations: until it has converged.
func (f *aimFit) estimate(iterations int) error {
	m, err := marginal.Fit(f.ctx, f.groupSizes, f.ms, marginal.Options{Iterations: iterations,
		Warm: f.model, Grouping: f.groups})
	if err == nil {
		f.model = m
	}
	return err
}

func (f *aimFit) settings() map[string]any {
	spent := f.used / f.total
	out := map[string]any{
		"workload": f.cfg.Workload, "target": f.cfg.Target, "memory_mb": f.cfg.MemoryMB,
		"pool_mu": math.Sqrt(f.mu2),
		"spent":   math.Round(1e4*spent) / 1e4, "one_way_sigma": f.ms[0].Sigma, "marginals": f.chosen,
	}
	if len(f.favoured) > 0 {
		out["favoured"] = f.favoured
	}
	return out
}
