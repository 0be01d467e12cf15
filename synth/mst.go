package synth

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// maxPairCells is the most cells of a pair that MST may measure; larger pairs are not candidates
// for the tree.
const maxPairCells = 1 << 23

// MST is the MST method (McKenna, Miklau, Sheldon, "Winning the NIST Contest", 2021, arXiv
// 2108.04978): measure every one-way marginal, choose a spanning tree of column pairs that the
// one-way marginals explain worst, measure those pairs, and fit a graphical model to all
// measurements.
//
// Against the paper: noise is the rounded Gaussian, the budget is composed in Gaussian DP instead
// of zCDP, and sampling keeps rounding errors out of the pairs.
type MST struct {
	gaussian
	// share of the budget (in ρ) for one-way marginals; default 0.5
	OneWayShare float64 `mapstructure:"one_way_share" default:"0.5" min:"1e-6" max:"1"`
	// share for choosing the tree; default 0.1; the rest measures the pairs
	SelectShare float64 `mapstructure:"select_share" default:"0.1" min:"1e-6" max:"1"`
	// codes with a noisy count below this many σ are merged before pairs are measured; default 2
	GroupSigmas float64 `mapstructure:"group_sigmas" default:"2" min:"1e-6" max:"100"`
	// of the estimation; 0 = the default of package marginal
	Iterations int `mapstructure:"iterations" min:"0" max:"1e9"`
}

// Name is "mst".
func (*MST) Name() string { return "mst" }

func (m *MST) check() error {
	if m.OneWayShare+m.SelectShare >= 1 {
		return fmt.Errorf("shares %v and %v must add up to less than 1", m.OneWayShare, m.SelectShare)
	}
	return nil
}

// plan is the noise of a fit.
type mstPlan struct {
	cfg     MST
	schema  *schema.Schema
	nb      privacy.Neighbours
	columns int
	mu2     float64                // that is left of the filter
	oneWay  float64                // σ of a one-way marginal, in rows
	pair    float64                // σ of a pair
	epsilon float64                // of one selection
	known   []marginal.Measurement // of columns, from before
}

// Plan divides what is left of the filter.
func (m *MST) Plan(t Terms) (Plan, error) {
	p := &mstPlan{cfg: *m, schema: t.Schema, nb: t.Neighbours, columns: len(t.Schema.Columns),
		mu2: t.Left.Mu2, known: t.Known}
	p.divide()
	return p, nil
}

// Drawable fits mst on an open session, for what it may spend of that: a model to draw rows of.
func Drawable(
	ctx context.Context, s *privacy.Session, left accountant.Account, p func(string, float64),
) (release.Params, error) {
	m, err := Checked(&MST{})
	if err != nil {
		return nil, err
	}
	plan, err := m.Plan(Terms{Schema: s.Schema(), Neighbours: s.Neighbours(), Left: left})
	if err != nil {
		return nil, err
	}
	fitted, err := plan.Fit(ctx, s, p)
	return fitted.Params, err
}

// viewable has nothing against any view.
func (*MST) viewable() error { return nil }

// Unseen has nothing against columns of which only the names are known.
func (*MST) Unseen([]string) (target string, err error) { return "", nil }

// divide splits the filter's μ² between d one-way marginals, d − 1 selections and d − 1 pairs. The
// shares of the settings are of ρ, where a selection counts ε²/8; its μ²/2 is about π/2 times that.
func (p *mstPlan) divide() {
	d, edges := float64(p.columns), float64(p.columns-1)
	one, sel := p.cfg.OneWayShare, p.cfg.SelectShare
	if p.columns == 1 {
		one, sel = 1, 0
	}
	pair := 1 - one - sel
	whole := p.mu2 / (one + math.Pi/2*sel + pair) * (1 - 1e-9) // the filter rounds against us
	unit := p.nb.MeasureEvent(privacy.Marginal{}, 1).(accountant.Gaussian).NoiseMultiplier
	p.oneWay = 1 / (unit * math.Sqrt(whole*one/d))
	if p.columns > 1 {
		p.pair = 1 / (unit * math.Sqrt(whole*pair/edges))
		p.epsilon = accountant.ExponentialFor(math.Sqrt(whole * math.Pi / 2 * sel / edges))
	}
}

// pairs are the pairs that are not too large.
func (p *mstPlan) pairs() (pairs [][]int) {
	codes := p.schema.Sizes()
	for i := range codes {
		for j := i + 1; j < len(codes); j++ {
			if codes[i] <= maxPairCells/codes[j] {
				pairs = append(pairs, []int{i, j})
			}
		}
	}
	return pairs
}

// Fit is the algorithm of the paper:
//
//  1. measure all one-way marginals, and merge rare codes;
//  2. select a spanning tree of pairs: edge by edge, by the exponential mechanism on
//     ‖M_e(D) − M_e(p)‖₁ where p is the model of independent columns;
//  3. measure the pairs of the tree;
//  4. estimate the model from all measurements. What is sampled from it is post-processing.
func (p *mstPlan) Fit(
	ctx context.Context, s *privacy.Session, progress Progress,
) (out Model, err error) {
	progress.Report("measuring columns", 0)
	counts, err := s.MeasureAll(columnQueries(p.columns), p.oneWay)
	if err != nil {
		return out, err
	}
	asked := columnsMeasured(counts, p.oneWay)
	groups, ms, err := grouped(s.Schema().Sizes(), joined(asked, p.known), p.cfg.GroupSigmas)
	if err != nil {
		return out, err
	}
	independent, err := marginal.Fit(ctx, groups.Sizes(), ms, marginal.Options{Grouping: groups})
	if err != nil {
		return out, err
	}
	edges, err := p.tree(ctx, s, groups, independent, progress)
	if err != nil {
		return out, err
	}
	for i, e := range edges {
		progress.Report("measuring pairs", float64(i)/float64(len(edges)))
		m, err := measureOne(s, Grouped(groups, e...), p.pair)
		if err != nil {
			return out, err
		}
		asked = append(asked, m)
		m.Groups = nil
		ms = append(ms, m)
	}
	model, err := marginal.Fit(ctx, groups.Sizes(), ms,
		marginal.Options{Iterations: p.cfg.Iterations, Grouping: groups, Progress: func(done, total int) {
			progress.Report("fitting the model", float64(done)/float64(total))
		}})
	out.Params = &release.Marginal{Model: model, Grouping: groups, Measured: asked}
	out.Settings = p.settings(edges)
	return out, err
}

// tree selects the edges, by Kruskal's algorithm: each joins two parts of the forest. What can only
// be joined by pairs with too many cells stays apart.
func (p *mstPlan) tree(
	ctx context.Context, s *privacy.Session, groups *marginal.Grouping, independent *marginal.Model,
	progress Progress,
) (edges [][]int, err error) {
	sizes := groups.Sizes()
	var candidates []privacy.Candidate
	for _, e := range p.pairs() {
		estimate := make([]float64, sizes[e[0]]*sizes[e[1]])
		if err := independent.MarginalTo(estimate, e); err != nil {
			return nil, err
		}
		candidates = append(candidates,
			privacy.Candidate{Query: Grouped(groups, e...), Estimate: estimate})
	}
	parts := newForest(p.columns)
	for len(edges) < p.columns-1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		progress.Report("choosing pairs", float64(len(edges))/float64(p.columns-1))
		candidates = slices.DeleteFunc(candidates, func(c privacy.Candidate) bool {
			return !parts.joins(c.Query.(privacy.Marginal).Cols)
		})
		if len(candidates) == 0 {
			break
		}
		best, err := s.Select(candidates, p.epsilon)
		if err != nil {
			return nil, err
		}
		e := candidates[best].Query.(privacy.Marginal).Cols
		edges = append(edges, e)
		parts.join(e)
	}
	return edges, nil
}

// forest is, for each column, the part of the forest that its edges make.
type forest []int

func newForest(columns int) forest {
	f := make(forest, columns)
	for c := range f {
		f[c] = c
	}
	return f
}

// joins says whether a pair joins two parts.
func (f forest) joins(pair []int) bool { return f[pair[0]] != f[pair[1]] }

// join adds an edge between all columns of a set.
func (f forest) join(cols []int) {
	for _, c := range cols[1:] {
		from := f[c]
		for i := range f {
			if f[i] == from {
				f[i] = f[cols[0]]
			}
		}
	}
}

func (p *mstPlan) settings(edges [][]int) map[string]any {
	names := make([]any, len(edges))
	for i, e := range edges {
		names[i] = columnNames(p.schema, e)
	}
	return map[string]any{
		"one_way_sigma": p.oneWay, "pair_sigma": p.pair, "select_epsilon": p.epsilon,
		"group_sigmas": p.cfg.GroupSigmas, "tree": names,
	}
}
