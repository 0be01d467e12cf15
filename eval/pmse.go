package eval

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/decoy-dp/decoy/table"
)

// PMSEResult is the propensity score mean squared error, beside what chance alone would make of it.
type PMSEResult struct {
	PMSE float64
	// (k−1)·(1−c)²·c/N, for synthetic rows drawn from the distribution of the real rows at hand; k
	// weights, the intercept included, that do not depend on others
	Expected float64
	// PMSE/Expected: about 1 for such rows, 1/(1−c), that is 2 at equal sizes, for a fresh sample
	// of the population, more if the tables differ
	Ratio float64
}

// PMSE tells how well a logistic regression of main effects, without penalty,
// separates synthetic rows from real ones: with p_i the fitted probability that
// row i of all N rows is synthetic and c the share that is, it is (1/N)·Σ(p_i − c)².
//
// Name PMSE. Alias pMSE, propensity score (synthpop's utility.gen, SDNist). Range
// 0 to c(1−c), at most .25; goal: 0, or a Ratio of 1 to 2. Source: Snoke, Raab,
// Nowok, Dibben & Slavkovic 2018, JRSS A 181(3), section 3.1 and theorem 1.
//
// A category that only one of the tables has pulls the propensity of its rows to
// 0 or 1, and the fit stops when it no longer gains. Errors wrap [ErrTables].
func PMSE(real, synthetic *table.Table) (PMSEResult, error) {
	x, err := newMatrix(nil, real, synthetic)
	if err != nil {
		return PMSEResult{}, err
	}
	out, _, err := pmse(x, real.Rows())
	if err != nil {
		return out, err
	}
	weights := independent(x, real, synthetic)
	if weights > 0 {
		n, m := float64(real.Rows()), float64(synthetic.Rows())
		out.Expected = float64(weights) * n * n * m / math.Pow(n+m, 4)
		out.Ratio = out.PMSE / out.Expected
	}
	return out, nil
}

// widest is the most features of which the dependence is looked at.
const widest = 512

// independent is how many weights, besides the intercept, do not depend on others: the rank of the
// features of all rows, less one as those of a column add up to 1. Of more than widest features it
// is what it would be if nothing else depended on anything.
func independent(x *matrix, real, synthetic *table.Table) int {
	occur, at := make([]int64, x.width), make([]int, x.width) // at: among those that do
	n := 0
	for _, b := range x.blocks {
		count := occur[b.first : b.first+b.column.size]
		real.CountTo(count, []int{b.position})
		synthetic.CountTo(count, []int{b.position})
		for code, rows := range count {
			if at[b.first+code] = n; rows > 0 {
				n++
			}
		}
	}
	if n > widest {
		return n - len(x.blocks)
	}
	gram := mat.NewSymDense(n, nil)
	for f, rows := range occur {
		if rows > 0 {
			gram.SetSym(at[f], at[f], 1)
		}
	}
	for i, a := range x.blocks {
		for _, b := range x.blocks[:i] {
			both := make([]int64, a.column.size*b.column.size)
			real.CountTo(both, []int{a.position, b.position})
			synthetic.CountTo(both, []int{a.position, b.position})
			for k, rows := range both {
				if f, g := a.first+k/b.column.size, b.first+k%b.column.size; rows > 0 {
					gram.SetSym(at[f], at[g], float64(rows)/math.Sqrt(float64(occur[f])*float64(occur[g])))
				}
			}
		}
	}
	var eigen mat.EigenSym
	rank := -1
	if eigen.Factorize(gram, false) {
		for _, v := range eigen.Values(nil) {
			if v > 1e-9 {
				rank++
			}
		}
	}
	return rank
}

// pmse fits the regression (the first n rows are real, the others synthetic, the positive class)
// and sums up its propensities.
func pmse(x design, n int) (PMSEResult, *logistic, error) {
	rows, _ := x.dims()
	y := make([]bool, rows)
	for i := n; i < rows; i++ {
		y[i] = true
	}
	fit, err := fitLogistic(x, y, math.Inf(1))
	if err != nil {
		return PMSEResult{}, nil, err
	}
	c := float64(rows-n) / float64(rows)
	var out PMSEResult
	for _, s := range fit.scores(x) {
		d := sigmoid(s) - c
		out.PMSE += d * d
	}
	out.PMSE /= float64(rows)
	return out, fit, nil
}
