package eval

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/table"
)

// BoostingOptions sets gradient boosting. The zero value is usable.
type BoostingOptions struct {
	Drop    []string // columns not to use, the label among them
	Trees   int      // default 150
	Rate    float64  // share of each tree's values that is kept, in (0, 1], default .1
	Leaves  int      // of a tree, default 31
	MinRows int      // in a leaf, default 20
	Penalty float64  // λ on leaf values, default 1
}

// Boosting is a fitted sum of trees.
type Boosting struct {
	binning *binning
	start   float64
	trees   []tree
}

// FitBoosting trains trees one after the other on the gradient and the curvature
// of the logistic loss (Friedman 2001, Annals of Statistics 29; the second-order
// form of Chen & Guestrin 2016, arXiv 1603.02754), splitting histograms of codes
// best leaf first (Ke et al. 2017, LightGBM), as scikit-learn's
// HistGradientBoostingClassifier does. Nothing is drawn at random. Numbers split
// by order, with missing on either side, categories by any partition. Errors are
// those of [FitLogistic].
func FitBoosting(t *table.Table, y []bool, o BoostingOptions) (*Boosting, error) {
	b, rows, err := prepare(t, y, o.Drop)
	if err != nil {
		return nil, err
	}
	if o.Trees == 0 {
		o.Trees = 150
	}
	if o.Rate == 0 {
		o.Rate = .1
	}
	if o.Leaves == 0 {
		o.Leaves = 31
	}
	if o.MinRows == 0 {
		o.MinRows = 20
	}
	if o.Penalty == 0 {
		o.Penalty = 1
	}
	if o.Trees < 0 || !(o.Rate > 0 && o.Rate <= 1) || o.Leaves < 2 || o.MinRows < 0 ||
		!(o.Penalty > 0) || math.IsInf(o.Penalty, 1) {
		return nil, fmt.Errorf("eval: boosting with %d trees, rate %v, %d leaves of %d rows, "+
			"penalty %v: out of range: %w",
			o.Trees, o.Rate, o.Leaves, o.MinRows, o.Penalty, ErrFit)
	}
	n := t.Rows()
	positives := 0
	for _, l := range y {
		if l {
			positives++
		}
	}
	out := &Boosting{binning: b, start: math.Log(float64(positives) / float64(n-positives))}
	score, all := make([]float64, n), make([]uint32, n)
	for i := range score {
		score[i] = out.start
	}
	g := &grower{binning: b, rows: rows, gradient: make([]float64, n), weight: make([]float64, n),
		options: treeOptions{leaves: o.Leaves, minRows: float64(o.MinRows), penalty: o.Penalty,
			smooth: 10}}
	for range o.Trees {
		for i, l := range y {
			p := sigmoid(score[i])
			g.gradient[i], g.weight[i] = p-indicator(l), p*(1-p)
			all[i] = uint32(i)
		}
		grown := g.grow(all)
		for k := range grown {
			grown[k].value *= o.Rate
		}
		for i := range score {
			score[i] += grown.at(rows, i)
		}
		out.trees = append(out.trees, grown)
	}
	return out, nil
}

// Scores returns the log odds of every row of a table with the columns of the
// one trained on.
func (b *Boosting) Scores(t *table.Table) ([]float64, error) {
	rows, err := b.binning.rows(t)
	if err != nil {
		return nil, err
	}
	return sumTrees(b.trees, rows, t.Rows(), b.start), nil
}
