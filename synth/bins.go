package synth

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/bins"
	"github.com/decoy-dp/decoy/ranges"
	"github.com/decoy-dp/decoy/schema"
)

// WithBins is f for schemas with bought bins (bins: dp): in the same session, before the fit, each
// such column is measured as a tree of counts over its fine grid (package ranges), bins of about
// equal counts are cut, the session goes over to them ([bins.Merge]), and f fits on
// the coarser table. A column's tree alone would cost its share of ε at the budget's δ; f gets all
// that the exact composition leaves. For a schema without bought bins it is f.
// (docs/claims/bins.md)
//
// What f plans must depend on the sizes of the columns only, not on where the edges are.
func WithBins(f Fitter, s *schema.Schema) Fitter {
	if len(s.Buys()) == 0 {
		return f
	}
	return binned{f}
}

type binned struct{ Fitter }

// binPlan is the purchase of bins and the fit behind it.
type binPlan struct {
	Plan     // of the fit, on bins of even width: what it costs does not depend on where they are
	fitter   Fitter
	nb       privacy.Neighbours
	budget   accountant.Budget // of the fit
	trees    []binTree
	declared *schema.Schema
}

// binTree is the purchase of the bins of one column.
type binTree struct {
	column int
	name   string
	bins   int
	tree   *ranges.Tree
	sigma  float64 // of each level, in rows
}

// Plan plans the trees, and f with the rest of the budget.
func (b binned) Plan(
	s *schema.Schema, nb privacy.Neighbours, budget accountant.Budget,
) (Plan, error) {
	if err := budget.Validate(); err != nil {
		return nil, err
	}
	if budget.Delta == 0 {
		return nil, fmt.Errorf(
			"synth: bins: dp are bought with Gaussian noise, which needs delta > 0: %w",
			accountant.ErrBudgetRange)
	}
	p := &binPlan{fitter: b.Fitter, nb: nb, budget: budget, declared: s}
	codecs, err := s.Codecs()
	if err != nil {
		return nil, err
	}
	var even [][]int
	for _, i := range s.Buys() {
		c := codecs[i].Column()
		_, leaves := codecs[i].Grid()
		tree, err := ranges.New(leaves)
		if err != nil {
			return nil, err
		}
		mu, err := calibrate.Mu(accountant.Budget{Epsilon: c.BuyShare * budget.Epsilon,
			Delta: budget.Delta})
		if err != nil {
			return nil, fmt.Errorf("synth: the share of column %q: %w", c.Name, err)
		}
		one := nb.MeasureEvent(privacy.Marginal{}, 1).(accountant.Gaussian).NoiseMultiplier // 1/Δ₂
		t := binTree{column: i, name: c.Name, bins: c.BuyBins, tree: tree,
			sigma: math.Sqrt(float64(tree.Height())) / (mu * one)}
		p.trees = append(p.trees, t)
		var starts []int
		for k := range t.bins {
			starts = append(starts, k*leaves/t.bins)
		}
		even = append(even, starts)
	}
	placeholder, err := s.Bought(even)
	if err != nil {
		return nil, err
	}
	return p, p.share(placeholder, budget)
}

// share finds the greatest budget of the fit, within half a per cent, at which trees and fit
// together are within the whole.
func (p *binPlan) share(s *schema.Schema, whole accountant.Budget) error {
	spent := 0.0
	for _, c := range p.purchase() {
		z := c.Event.(accountant.Gaussian).NoiseMultiplier
		spent += float64(c.Count) / (z * z)
	}
	mu, err := calibrate.Mu(whole)
	if err != nil {
		return err
	}
	guess := .9 * whole.Epsilon
	if spent < mu*mu {
		// exact if all noise is Gaussian
		guess = accountant.GDPEpsilon(math.Sqrt(mu*mu-spent), whole.Delta)
	}
	best, over := 0.0, whole.Epsilon
	guesses := []float64{guess * (1 - 1e-6), guess * .995, guess * 1.005}
	for len(guesses) > 0 || over-best > .005*whole.Epsilon || best == 0 {
		next := (best + over) / 2
		if len(guesses) > 0 {
			next, guesses = guesses[0], guesses[1:]
			if next <= best || next >= over {
				continue
			}
		} else if next < 1e-6*whole.Epsilon {
			return fmt.Errorf("synth: the shares of bins: dp leave nothing for the fit: %w",
				accountant.ErrBudgetRange)
		}
		fits, err := p.try(s, accountant.Budget{Epsilon: next, Delta: whole.Delta}, whole)
		if err != nil {
			return err
		}
		if fits {
			best = next
		} else {
			over = next
		}
	}
	return nil
}

// try plans the fit with a part of the budget, and takes the plan if all is within the whole.
func (p *binPlan) try(s *schema.Schema, part, whole accountant.Budget) (bool, error) {
	plan, err := p.fitter.Plan(s, p.nb, part)
	if err != nil {
		return false, err
	}
	cost, err := PriceOf(plan).Epsilon(append(p.purchase(), plan.Composition()...),
		whole.Delta, p.nb.Adjacency)
	if err != nil || cost.Epsilon > whole.Epsilon {
		return false, err
	}
	p.Plan, p.budget = plan, part
	return true, nil
}

// Price is that of the fit.
func (p *binPlan) Price() accountant.Pricer { return PriceOf(p.Plan) }

// purchase is the events of the trees.
func (p *binPlan) purchase() accountant.Composition {
	var c accountant.Composition
	for _, t := range p.trees {
		c = append(c, accountant.Charge{Event: p.nb.MeasureEvent(privacy.Marginal{}, t.sigma),
			Count: t.tree.Height()})
	}
	return c
}

// Composition is the trees and the fit.
func (p *binPlan) Composition() accountant.Composition {
	return append(p.purchase(), p.Plan.Composition()...)
}

// Forecast adds the noise of the trees to that of the fit.
func (p *binPlan) Forecast() Forecast {
	f := p.Plan.Forecast()
	f.Noise = slices.Clone(f.Noise)
	for _, t := range p.trees {
		f.Noise = append(f.Noise, Noise{What: fmt.Sprintf("level of counts for the bins of %q",
			t.name), Count: t.tree.Height(), Sigma: t.sigma})
	}
	return f
}

// Fit buys the bins and fits on them.
func (p *binPlan) Fit(ctx context.Context, s *privacy.Session, progress Progress) (Model, error) {
	var starts [][]int
	for i, t := range p.trees {
		if err := ctx.Err(); err != nil {
			return Model{}, err
		}
		progress.Report("buying bins", float64(i)/float64(len(p.trees)))
		cuts, err := t.buy(s)
		if err != nil {
			return Model{}, err
		}
		starts = append(starts, cuts)
	}
	bought, err := p.declared.Bought(starts)
	if err != nil {
		return Model{}, err
	}
	plan, err := p.fitter.Plan(bought, p.nb, p.budget)
	if err != nil {
		return Model{}, err
	}
	if !slices.Equal(plan.Composition(), p.Plan.Composition()) {
		return Model{}, fmt.Errorf(
			"synth: method %s plans other mechanisms for other edges: it cannot be used with bins: dp",
			p.fitter.Name())
	}
	if err := bins.Merge(s, bought); err != nil {
		return Model{}, err
	}
	return plan.Fit(ctx, s, progress)
}

// buy measures every level of the tree and cuts bins of about equal counts. A missing cell is
// counted in a group of its own, which is not used.
func (t binTree) buy(s *privacy.Session) ([]int, error) {
	codes, leaves, height := s.Schema().Sizes()[t.column], t.tree.Leaves(), t.tree.Height()
	missing := len(s.Schema().Columns[t.column].Missing) > 0
	levels := make([][]float64, height)
	for l := range levels {
		groups := t.tree.Groups(l + 1)
		last := groups[leaves-1]
		for len(groups) < codes { // a last cell that cannot start a bin goes with the one before it
			groups = append(groups, last)
		}
		if missing {
			groups[codes-1] = last + 1
		}
		m := privacy.Marginal{Cols: []int{t.column}, Groups: [][]uint16{groups}}
		counts, err := s.Measure(m, t.sigma)
		if err != nil {
			return nil, err
		}
		levels[l] = make([]float64, t.tree.Nodes(l+1))
		for i := range levels[l] {
			levels[l][i] = float64(counts[i])
		}
	}
	c, err := t.tree.Infer(levels)
	if err != nil {
		return nil, err
	}
	return c.NonNegative().Bins(t.bins), nil
}
