package eval

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/data/table"
)

const maxBins = 256 // of a column that trees split on

// bins are what the codes of a column become for trees.
type bins struct {
	size    int
	ordered bool // they are in the order of the numbers; missing, if any, is the last
	missing int  // its bin, or −1
}

// binning decides the bins from the rows to train on. Columns of more than 256 codes lose some:
// numbers share bins of about equally many rows, the rarest categories share the last.
func binning(t *table.Table, drop []string) ([]bins, encoder[uint8], error) {
	var out []bins
	e, err := newEncoder(t, drop, func(at int, c column) []uint8 {
		b := bins{ordered: c.numeric(), missing: -1}
		var group []int
		group, b.size = c.joined(t.Counts(at), maxBins)
		if b.ordered && c.values < c.size {
			b.missing = b.size - 1
		}
		out = append(out, b)
		bin := make([]uint8, c.size)
		for code, g := range group {
			bin[code] = uint8(g)
		}
		return bin
	})
	return out, e, err
}

// boostingOptions sets gradient boosting.
type boostingOptions struct {
	treeOptions
	trees int     // one after the other
	rate  float64 // share of each tree's values that is kept, in (0, 1]
}

// usualBoosting is that of [GradientBoosting].
var usualBoosting = boostingOptions{trees: 150, rate: .1,
	treeOptions: treeOptions{leaves: 31, minRows: 20, penalty: 1, smooth: 10}}

// fitBoosting trains trees one after the other on the gradient and the curvature of the logistic
// loss (Friedman 2001, Annals of Statistics 29; the second-order form of Chen & Guestrin 2016,
// arXiv 1603.02754), splitting histograms of codes best leaf first (Ke et al. 2017, LightGBM), as
// scikit-learn's HistGradientBoostingClassifier does. Nothing is drawn at random. Numbers split by
// order, with missing on either side, categories by any partition; columns in drop are not used. y
// is the probability of each row to be positive: 0 or 1, or a soft label. Errors are those of
// [Task.Train].
func fitBoosting(
	t *table.Table, y []float64, drop []string, o boostingOptions,
) (Classifier, error) {
	columns, e, err := binning(t, drop)
	if err != nil {
		return nil, err
	}
	n := t.Rows()
	if len(y) != n {
		return nil, fmt.Errorf("%d labels for %d rows: %w", len(y), n, ErrFit)
	}
	rate := stat.Mean(y, nil)
	if !(rate > 0 && rate < 1) {
		return nil, fmt.Errorf("a share of %v of the labels are positive: %w", rate,
			ErrOneClass)
	}
	rows, err := e.encode(t)
	if err != nil {
		return nil, err
	}
	start := math.Log(rate / (1 - rate))
	score, all := make([]float64, n), make([]uint32, n)
	for i := range score {
		score[i] = start
	}
	g := &grower{bins: columns, rows: rows, gradient: make([]float64, n), weight: make([]float64, n),
		options: o.treeOptions}
	trees := make([]tree, o.trees)
	for at := range trees {
		for i, label := range y {
			p := sigmoid(score[i])
			g.gradient[i], g.weight[i], all[i] = p-label, p*(1-p), uint32(i)
		}
		grown := g.grow(all)
		for k := range grown {
			grown[k].value *= o.rate
		}
		for i := range score {
			score[i] += grown.at(rows, i)
		}
		trees[at] = grown
	}
	return func(t *table.Table) ([]float64, error) {
		rows, err := e.encode(t)
		if err != nil {
			return nil, err
		}
		return sumTrees(trees, rows, t.Rows(), start), nil
	}, nil
}

// sumTrees adds the values of all trees to start, for every row.
func sumTrees(trees []tree, rows [][]uint8, n int, start float64) []float64 {
	out := slices.Repeat([]float64{start}, n)
	const block = 1000
	inParallel((n+block-1)/block, func() func(int) {
		return func(at int) {
			part := out[at*block : min(n, (at+1)*block)]
			for _, t := range trees {
				for i := range part {
					part[i] += t.at(rows, at*block+i)
				}
			}
		}
	})
	return out
}
