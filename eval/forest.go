package eval

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/table"
)

// forestOptions sets a random forest.
type forestOptions struct {
	drop    []string // columns not to use, the label among them
	trees   int
	minRows int    // different rows in a leaf
	columns int    // drawn for every split; 0: the root of their number
	seed    uint64 // public; the same seed gives the same forest on any number of processors
}

// forest is a fitted random forest.
type forest struct {
	binning *binning
	trees   []tree
}

// fitForest trains a random forest (Breiman 2001, Machine Learning 45): every tree sees as many
// rows as there are, drawn with replacement, and every split a few columns; a row's score is the
// mean over trees of the share of positives in its leaf. It splits codes: numbers by order, with
// missing on either side, categories by any partition. Errors are those of [Task.Train].
func fitForest(t *table.Table, y []bool, o forestOptions) (*forest, error) {
	b, rows, _, err := prepare(t, y, o.drop)
	if err != nil {
		return nil, err
	}
	if o.columns == 0 {
		o.columns = max(1, int(math.Round(math.Sqrt(float64(len(rows))))))
	}
	n := t.Rows()
	f := &forest{binning: b, trees: make([]tree, o.trees)}
	inParallel(o.trees, func() func(int) {
		gradient, weight := make([]float64, n), make([]float64, n)
		g := &grower{binning: b, rows: rows, gradient: gradient, weight: weight,
			options: treeOptions{leaves: math.MaxInt, minRows: float64(o.minRows),
				columns: o.columns, smooth: 1, middle: true}}
		drawn := make([]uint32, 0, n)
		return func(k int) {
			g.u = rand.New(rand.NewPCG(o.seed, uint64(k)))
			clear(weight)
			for range n {
				weight[g.u.IntN(n)]++
			}
			drawn = drawn[:0]
			for i, times := range weight {
				gradient[i] = 0
				if y[i] {
					gradient[i] = -times
				}
				if times > 0 {
					drawn = append(drawn, uint32(i))
				}
			}
			f.trees[k] = g.grow(drawn)
		}
	})
	return f, nil
}

// scores returns the mean share of positives over the trees for every row of a
// table with the columns of the one trained on.
func (f *forest) scores(t *table.Table) ([]float64, error) {
	rows, err := f.binning.rows(t)
	if err != nil {
		return nil, err
	}
	out := sumTrees(f.trees, rows, t.Rows(), 0)
	for i := range out {
		out[i] /= float64(len(f.trees))
	}
	return out, nil
}

// sumTrees adds the values of all trees to start, for every row.
func sumTrees(trees []tree, rows [][]uint8, n int, start float64) []float64 {
	out := make([]float64, n)
	const block = 1000
	inParallel((n+block-1)/block, func() func(int) {
		return func(at int) {
			part := out[at*block : min(n, (at+1)*block)]
			for i := range part {
				part[i] = start
			}
			for _, t := range trees {
				for i := range part {
					part[i] += t.at(rows, at*block+i)
				}
			}
		}
	})
	return out
}

// prepare checks what all trees need, bins the rows and counts the positives.
func prepare(
	t *table.Table, y []bool, drop []string,
) (b *binning, rows [][]uint8, positives int, err error) {
	if b, err = newBinning(t, drop); err != nil {
		return nil, nil, 0, err
	}
	if len(y) != t.Rows() {
		return nil, nil, 0, fmt.Errorf("eval: %d labels for %d rows: %w", len(y), t.Rows(), ErrFit)
	}
	if positives, err = bothClasses(y); err != nil {
		return nil, nil, 0, err
	}
	rows, err = b.rows(t)
	return b, rows, positives, err
}
