package eval

import (
	"math"

	"github.com/decoy-dp/decoy/table"
)

// boostingOptions sets gradient boosting.
type boostingOptions struct {
	drop    []string  // columns not to use, the label among them
	trees   int       // one after the other
	rate    float64   // share of each tree's values that is kept, in (0, 1]
	leaves  int       // of a tree
	minRows int       // in a leaf
	penalty float64   // λ on leaf values
	soft    []float64 // of each row the probability of being positive, in place of its label
}

// usualBoosting is that of [GradientBoosting].
func usualBoosting(drop []string) boostingOptions {
	return boostingOptions{drop: drop, trees: 150, rate: .1, leaves: 31, minRows: 20, penalty: 1}
}

// boosting is a fitted sum of trees.
type boosting struct {
	binning *binning
	start   float64
	trees   []tree
}

// fitBoosting trains trees one after the other on the gradient and the curvature of the logistic
// loss (Friedman 2001, Annals of Statistics 29; the second-order form of Chen & Guestrin 2016,
// arXiv 1603.02754), splitting histograms of codes best leaf first (Ke et al. 2017, LightGBM), as
// scikit-learn's HistGradientBoostingClassifier does. Nothing is drawn at random. Numbers split by
// order, with missing on either side, categories by any partition. Errors are those of
// [Task.Train].
func fitBoosting(t *table.Table, y []bool, o boostingOptions) (*boosting, error) {
	b, rows, positives, err := prepare(t, y, o.drop)
	if err != nil {
		return nil, err
	}
	n := t.Rows()
	out := &boosting{binning: b, start: math.Log(float64(positives) / float64(n-positives))}
	score, all := make([]float64, n), make([]uint32, n)
	for i := range score {
		score[i] = out.start
	}
	g := &grower{binning: b, rows: rows, gradient: make([]float64, n), weight: make([]float64, n),
		options: treeOptions{leaves: o.leaves, minRows: float64(o.minRows), penalty: o.penalty,
			smooth: 10}}
	for range o.trees {
		for i, l := range y {
			p := sigmoid(score[i])
			g.gradient[i], g.weight[i] = p-indicator(l), p*(1-p)
			if o.soft != nil {
				g.gradient[i] = p - o.soft[i]
			}
			all[i] = uint32(i)
		}
		grown := g.grow(all)
		for k := range grown {
			grown[k].value *= o.rate
		}
		for i := range score {
			score[i] += grown.at(rows, i)
		}
		out.trees = append(out.trees, grown)
	}
	return out, nil
}

// scores returns the log odds of every row of a table with the columns of the one trained on.
func (b *boosting) scores(t *table.Table) ([]float64, error) {
	rows, err := b.binning.rows(t)
	if err != nil {
		return nil, err
	}
	return sumTrees(b.trees, rows, t.Rows(), b.start), nil
}
