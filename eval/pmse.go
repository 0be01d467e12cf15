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
	x, _, err := newMatrix(nil, real, synthetic)
	if err != nil {
		return PMSEResult{}, err
	}
	out, _, err := pmse(x, real.Rows())
	if err != nil {
		return out, err
	}
	if weights := x.rank() - 1; weights > 0 {
		n, m := float64(real.Rows()), float64(synthetic.Rows())
		out.Expected = float64(weights) * n * n * m / math.Pow(n+m, 4)
		out.Ratio = out.PMSE / out.Expected
	}
	return out, nil
}

// widest is the most features of which the dependence is looked at.
const widest = 512

// rank is how many features do not depend on others: the constant one is the sum of those of each
// column. Of more than widest features it is what it would be if nothing else depended on anything.
func (m *matrix) rank() int {
	columns := m.features[:len(m.features)-1]
	n, at := 0, make([]int, m.width) // the features that occur, counted from 1 column by column
	for _, features := range columns {
		for _, f := range features {
			if at[f] == 0 {
				n++
				at[f] = n
			}
		}
	}
	if n > widest {
		return n - len(columns) + 1
	}
	both := make([]float64, n*n) // rows that have two features
	for j, second := range columns {
		for _, first := range columns[:j+1] {
			for i, f := range first {
				both[(at[f]-1)*n+at[second[i]]-1]++
			}
		}
	}
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, both[i*n+j]/math.Sqrt(both[i*n+i]*both[j*n+j]))
		}
	}
	var eigen mat.EigenSym
	rank := 0
	if eigen.Factorize(gram, false) {
		for _, v := range eigen.Values(nil) {
			rank += int(indicator(v > 1e-9))
		}
	}
	return rank
}

// pmse fits the regression (the first n rows are real, the others synthetic, the positive class)
// and sums up its propensities.
func pmse(x design, n int) (PMSEResult, logistic, error) {
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
		out.PMSE += d * d / float64(rows)
	}
	return out, fit, nil
}
