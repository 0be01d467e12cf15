package synth

import (
	"context"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// RunPlan is a run of a method on paper: what it reserves, and the fit. For schemas with bought
// bins (bins: dp) they come first, from the same account: each such column is measured as a tree
// of counts over its fine grid (marginal.Tree), bins that follow the counts are cut, the session
// goes over to them ([privacy.Session.MergeBins]), and the method plans with what is left, for
// the coarser table. A column's tree alone would cost its share of ε at the budget's δ; those of
// columns without a share take treeShare of the μ² of the budget together. (docs/claims/bins.md)
type RunPlan struct {
	Plan
	Reserve accountant.Composition // what a session must reserve
	Price   accountant.Pricer      // of that; nil: closed formulas
}

// binned is the purchase of bins and the fit behind it.
type binned struct {
	Plan   // of the fit, for bins of even width
	fitter Fitter
	trees  []binTree
	bought func(starts [][]int) (*schema.Schema, error) // with these bins
}

// treeShare is what the trees of columns that state no share take together of the budget's μ²; a
// cut must stand out by cutSigmas standard deviations. Chosen on adult, bank, support2 and
// creditcard_sub at ε = 1 (cmd/bench/figures/tried.tsv).
const (
	treeShare = 0.3
	cutSigmas = 1.5
)

// NewPlan plans a run on tables within a budget. nb is the relation of rows of the first table.
func NewPlan(
	f Fitter, tables *schema.Linked, nb privacy.Neighbours, b accountant.Budget,
) (*RunPlan, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	s := tables.Tables[0].Schema
	p, buy := &RunPlan{}, &binned{fitter: f, bought: s.Bought}
	t, before, err := Terms{Schema: s, Neighbours: nb}, 0., error(nil)
	if len(s.Buys()) > 0 {
		if t.Schema, before, err = buy.plan(s, nb, b); err != nil {
			return nil, err
		}
	}
	if p.Reserve, p.Price, err = f.Reserve(t, b, before); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	t.Left = accountant.NewReservation(p.Reserve).Left()
	t.Left.Mu2 = max(0, (t.Left.Mu2-before)*(1-1e-9))
	if p.Plan, err = planOf(f, tables, t); len(buy.trees) > 0 {
		buy.Plan, p.Plan = p.Plan, buy
	}
	return p, err
}

// Adaptive is the schema as f fits it: bins that nobody asked for are bought
// ([schema.Schema.BuyDefaults]) if f is a [Continuer] as it is configured. Other methods answer or
// are configured with questions about bins that they must know.
func Adaptive(f Fitter, l *schema.Linked) *schema.Linked {
	if c, ok := f.(Continuer); ok {
		if _, err := c.Unseen(l.Tables[0].Schema.Names()); err == nil {
			return l.BuyDefaults()
		}
	}
	return l
}

// binTree is the purchase of the bins of one column.
type binTree struct {
	column int
	name   string
	bins   int
	tree   *marginal.Tree
	sigma  float64 // of each level, in rows
}

// plan plans the trees, and returns the schema with bins of even width and the μ² of all.
func (p *binned) plan(
	s *schema.Schema, nb privacy.Neighbours, b accountant.Budget,
) (even *schema.Schema, spent float64, err error) {
	if b.Delta == 0 {
		return nil, 0, fmt.Errorf(
			"bins: dp are bought with Gaussian noise, which needs delta > 0: %w",
			accountant.ErrBudgetRange)
	}
	codecs, err := s.Codecs()
	if err != nil {
		return nil, 0, err
	}
	whole, err := accountant.MuFor(b)
	if err != nil {
		return nil, 0, err
	}
	free := 0 // columns without a share
	for _, i := range s.Buys() {
		if s.Columns[i].BuyShare == 0 {
			free++
		}
	}
	one := nb.MeasureEvent(privacy.Marginal{}, 1).(accountant.Gaussian).NoiseMultiplier // 1/Δ₂
	var starts [][]int
	for _, i := range s.Buys() {
		c := codecs[i].Column()
		_, leaves := codecs[i].Grid()
		tree, err := marginal.NewTree(leaves)
		if err != nil {
			return nil, 0, err
		}
		mu := whole * math.Sqrt(treeShare/float64(max(free, 1)))
		if c.BuyShare > 0 {
			mu, err = accountant.MuFor(accountant.Budget{Epsilon: c.BuyShare * b.Epsilon, Delta: b.Delta})
		}
		if err != nil {
			return nil, 0, fmt.Errorf("the share of column %q: %w", c.Name, err)
		}
		spent += mu * mu
		p.trees = append(p.trees, binTree{column: i, name: c.Name, bins: c.BuyBins, tree: tree,
			sigma: math.Sqrt(float64(tree.Height())) / (mu * one) * (1 + 1e-9)})
		var at []int
		for k := range c.BuyBins {
			at = append(at, k*leaves/c.BuyBins)
		}
		starts = append(starts, at)
	}
	if spent > whole*whole*(1-1e-6) {
		return nil, 0, fmt.Errorf("the shares of bins: dp leave nothing for the fit: %w",
			accountant.ErrBudgetRange)
	}
	even, err = s.Bought(starts)
	return even, spent, err
}

// Forecast adds the noise of the trees to that of the fit. Another engine cannot make them.
func (p *binned) Forecast(rows int) Forecast {
	f := p.Plan.Forecast(rows)
	f.Joints, f.Sums = nil, 0
	for _, t := range p.trees {
		f.Noise = append(f.Noise[:len(f.Noise):len(f.Noise)],
			Noise{What: fmt.Sprintf("level of counts for the bins of %q", t.name),
				Count: t.tree.Height(), Sigma: t.sigma})
	}
	return f
}

// Fit buys the bins, and fits on them.
func (p *binned) Fit(ctx context.Context, s *privacy.Session, progress Progress) (Model, error) {
	var starts [][]int
	var known []marginal.Measurement
	for i, t := range p.trees {
		if err := ctx.Err(); err != nil {
			return Model{}, err
		}
		progress.Report("buying bins", float64(i)/float64(len(p.trees)))
		cuts, counts, err := t.buy(s)
		if err != nil {
			return Model{}, err
		}
		starts, known = append(starts, cuts), append(known, counts)
	}
	bought, err := p.bought(starts)
	if err != nil {
		return Model{}, err
	}
	if err := s.MergeBins(bought); err != nil {
		return Model{}, err
	}
	plan, err := p.fitter.Plan(termsOf(s, known))
	if err != nil {
		return Model{}, err
	}
	return plan.Fit(ctx, s, progress)
}

// buy measures every level of the tree, cuts bins, and gives the counts of these with their noise.
// Missing cells are counted in a group of their own on each level.
func (t binTree) buy(
	s *privacy.Session,
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
		got, err := measureOne(s, privacy.Marginal{Cols: []int{t.column},
			Groups: [][]uint16{groups}}, t.sigma)
		if err != nil {
			return nil, m, err
		}
		levels[l] = got.Counts[:t.tree.Nodes(l+1)]
		if missing {
			lost += got.Counts[last+1] / float64(height)
		}
	}
	c, err := t.tree.Infer(levels)
	if err != nil {
		return nil, m, err
	}
	cuts = c.NonNegative().Bins(t.bins, cutSigmas*t.sigma)
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
