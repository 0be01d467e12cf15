package synth

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/ranges"
	"github.com/decoy-dp/decoy/schema"
)

// WithBins is f for schemas with bought bins (bins: dp): in the same session, before the fit, each
// such column is measured as a tree of counts over its fine grid (package ranges), bins that follow
// the counts are cut, the session goes over to them ([privacy.Session.MergeBins]), and f fits on
// the coarser table. A column's tree alone would cost its share of ε at the budget's δ; those of
// columns without a share take treeShare of the μ² of the budget together. For a schema without
// bought bins it is f. (docs/claims/bins.md)
//
// A [Continuer] goes on with what is left of one filter, and takes the trees for measurements of
// its own. Of other methods, what f plans must depend on the sizes of the columns only, not on
// where the edges are; f gets all that the exact composition leaves.
func WithBins(f Fitter, s *schema.Schema) Fitter {
	if len(s.Buys()) == 0 {
		return f
	}
	return binned{f}
}

type binned struct{ Fitter }

// treeShare is what the trees of columns that state no share take together of the budget's μ²; a
// cut must stand out by cutSigmas standard deviations. Chosen on adult, bank, support2 and
// creditcard_sub at ε = 1 (docs/benchmarks.md).
const (
	treeShare = 0.3
	cutSigmas = 1.5
)

// Adaptive is the schema as f fits it: bins that nobody asked for are bought
// ([schema.Schema.BuyDefaults]) if f is a [Continuer] that is configured so that it can go on.
// Other methods answer or are configured with questions about bins that they must know.
func Adaptive(f Fitter, s *schema.Schema) *schema.Schema {
	if _, ok := continues(f, s); ok {
		return s.BuyDefaults()
	}
	return s
}

// continues is f if it can go on in a session that has bought bins.
func continues(f Fitter, s *schema.Schema) (Continuer, bool) {
	c, ok := f.(Continuer)
	if ok {
		_, err := c.Unseen(s.Names())
		ok = err == nil
	}
	return c, ok
}

// binPlan is the purchase of bins and the fit behind it.
type binPlan struct {
	Plan     // of the fit, on bins of even width: what it costs does not depend on where they are
	fitter   Fitter
	nb       privacy.Neighbours
	budget   accountant.Budget // of the fit, if it does not go on
	filter   float64           // its μ, if it does
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
	whole, err := calibrate.Mu(budget)
	if err != nil {
		return nil, err
	}
	free := 0 // columns without a share
	for _, i := range s.Buys() {
		if s.Columns[i].BuyShare == 0 {
			free++
		}
	}
	var even [][]int
	spent, trees := 0.0, map[int]*ranges.Tree{}
	for _, i := range s.Buys() {
		c := codecs[i].Column()
		_, leaves := codecs[i].Grid()
		tree, ok := trees[leaves]
		if !ok {
			if tree, err = ranges.New(leaves); err != nil {
				return nil, err
			}
			trees[leaves] = tree
		}
		mu := whole * math.Sqrt(treeShare/float64(max(free, 1)))
		if c.BuyShare > 0 {
			mu, err = calibrate.Mu(accountant.Budget{Epsilon: c.BuyShare * budget.Epsilon,
				Delta: budget.Delta})
		}
		if err != nil {
			return nil, fmt.Errorf("synth: the share of column %q: %w", c.Name, err)
		}
		spent += mu * mu
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
	if c, ok := continues(b.Fitter, placeholder); ok {
		p.filter = whole
		p.Plan, err = c.Continue(placeholder, nb, math.Sqrt(whole*whole-spent), nil)
		return p, err
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

// Composition is the trees and the fit, or the filter that both are charged to.
func (p *binPlan) Composition() accountant.Composition {
	if p.filter > 0 {
		return accountant.Composition{{Event: accountant.GDPFilter{Mu: p.filter}, Count: 1}}
	}
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
	var known []marginal.Measurement
	for i, t := range p.trees {
		if err := ctx.Err(); err != nil {
			return Model{}, err
		}
		progress.Report("buying bins", float64(i)/float64(len(p.trees)))
		noise := cutSigmas * t.sigma
		if p.filter == 0 { // the plan has so many bins
			noise = 0
		}
		cuts, counts, err := t.buy(s, noise)
		if err != nil {
			return Model{}, err
		}
		starts, known = append(starts, cuts), append(known, counts)
	}
	bought, err := p.declared.Bought(starts)
	if err != nil {
		return Model{}, err
	}
	if err := s.MergeBins(bought); err != nil {
		return Model{}, err
	}
	plan, err := p.rest(s, bought, known)
	if err != nil {
		return Model{}, err
	}
	return plan.Fit(ctx, s, progress)
}

// rest is the plan of the fit on the bought bins.
func (p *binPlan) rest(
	s *privacy.Session, bought *schema.Schema, known []marginal.Measurement,
) (Plan, error) {
	if p.filter > 0 {
		mu := math.Sqrt(s.FilterLeft()) * (1 - 1e-9)
		return p.fitter.(Continuer).Continue(bought, p.nb, mu, known)
	}
	plan, err := p.fitter.Plan(bought, p.nb, p.budget)
	if err == nil && !slices.Equal(plan.Composition(), p.Plan.Composition()) {
		err = fmt.Errorf(
			"synth: method %s plans other mechanisms for other edges: it cannot be used with bins: dp",
			p.fitter.Name())
	}
	return plan, err
}

// buy measures every level of the tree, cuts bins, and gives the counts of these with their noise.
// Missing cells are counted in a group of their own on each level.
func (t binTree) buy(
	s *privacy.Session, noise float64,
) (cuts []int, m marginal.Measurement, err error) {
	codes, leaves, height := s.Schema().Sizes()[t.column], t.tree.Leaves(), t.tree.Height()
	missing := len(s.Schema().Columns[t.column].Missing) > 0
	levels, lost := make([][]float64, height), 0.0
	for l := range levels {
		groups := t.tree.Groups(l + 1)
		last := groups[leaves-1]
		for len(groups) < codes { // a last cell that cannot start a bin goes with the one before it
			groups = append(groups, last)
		}
		if missing {
			groups[codes-1] = last + 1
		}
		counts, err := s.Measure(privacy.Marginal{Cols: []int{t.column},
			Groups: [][]uint16{groups}}, t.sigma)
		if err != nil {
			return nil, m, err
		}
		levels[l] = make([]float64, t.tree.Nodes(l+1))
		for i := range levels[l] {
			levels[l][i] = float64(counts[i])
		}
		if missing {
			lost += float64(counts[last+1]) / float64(height)
		}
	}
	c, err := t.tree.Infer(levels)
	if err != nil {
		return nil, m, err
	}
	cuts = c.NonNegative().Bins(t.bins, noise)
	m.Cols = []int{t.column}
	for i, lo := range cuts {
		hi := leaves
		if i+1 < len(cuts) {
			hi = cuts[i+1]
		}
		rows, variance := c.Range(lo, hi)
		m.Counts, m.Sigmas = append(m.Counts, rows), append(m.Sigmas, t.sigma*math.Sqrt(variance))
	}
	if missing {
		m.Counts = append(m.Counts, lost)
		m.Sigmas = append(m.Sigmas, t.sigma/math.Sqrt(float64(height)))
	}
	return cuts, m, nil
}
