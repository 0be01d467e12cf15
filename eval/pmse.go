package eval

import (
	"fmt"
	"math"
)

// PMSEResult is the propensity score mean squared error, beside what chance alone
// would make of it.
type PMSEResult struct {
	PMSE float64
	// (k−1)·(1−c)²·c/N, for synthetic rows drawn from the distribution of the real rows at hand; k
	// weights, the intercept included, that do not depend on others
	Expected float64
	// PMSE/Expected: about 1 for such rows, 1/(1−c), that is 2 at equal sizes, for a fresh sample
	// of the population, more if the tables differ
	Ratio float64
	Fit   *Logistic // real = negative, synthetic = positive
}

// PMSE tells how well a logistic regression of main effects, without penalty,
// separates synthetic rows from real ones: with p_i the fitted probability that
// row i of all N rows is synthetic and c the share that is, it is (1/N)·Σ(p_i − c)².
//
// Name PMSE. Alias pMSE, propensity score (synthpop's utility.gen, SDNist). Range
// 0 to c(1−c), at most .25; goal: 0, or a Ratio of 1 to 2. Source: Snoke, Raab,
// Nowok, Dibben & Slavkovic 2018, JRSS A 181(3), section 3.1 and theorem 1.
//
// The matrices must have the same features: make the one of the synthetic table
// with [Matrix.Like]. A category that only one of the tables has pulls the
// propensity of its rows to 0 or 1, and the fit stops when it no longer gains.
func PMSE(real, synthetic *Matrix) (PMSEResult, error) {
	n, features := real.Dims()
	m, other := synthetic.Dims()
	if features != other {
		return PMSEResult{},
			fmt.Errorf("eval: matrices of %d and of %d features: %w", features, other, ErrTables)
	}
	y := make([]bool, n+m)
	for i := n; i < n+m; i++ {
		y[i] = true
	}
	both := stack{real, synthetic}
	fit, err := fitLogistic(both, y, LogisticOptions{C: math.Inf(1)})
	if err != nil {
		return PMSEResult{}, err
	}
	total := float64(n + m)
	c := float64(m) / total
	out := PMSEResult{Fit: fit}
	for _, x := range []*Matrix{real, synthetic} {
		for _, s := range fit.Scores(x) {
			d := sigmoid(s) - c
			out.PMSE += d * d
		}
	}
	out.PMSE /= total
	weights := 0
	for _, w := range fit.Weights {
		if w != 0 {
			weights++
		}
	}
	if !narrow(both) {
		// The other solver spreads weights over features that depend on each other: at least one
		// too many for each column.
		for _, b := range real.blocks {
			if b.value == nil {
				weights--
			}
		}
	}
	if weights > 0 {
		out.Expected = float64(weights) * (1 - c) * (1 - c) * c / total
		out.Ratio = out.PMSE / out.Expected
	}
	return out, nil
}

// stack is one matrix above another, without copying either.
type stack struct{ top, bottom *Matrix }

func (s stack) Dims() (rows, features int) { return s.top.rows + s.bottom.rows, s.top.width }

func (s stack) MulTo(dst, w []float64) {
	s.top.MulTo(dst[:s.top.rows], w)
	s.bottom.MulTo(dst[s.top.rows:], w)
}

func (s stack) TMulTo(dst, r []float64) {
	s.top.TMulTo(dst, r[:s.top.rows])
	below := make([]float64, len(dst))
	s.bottom.TMulTo(below, r[s.top.rows:])
	addScaled(dst, 1, below)
}

func (s stack) gramTo(dst, d []float64) {
	s.top.gramTo(dst, d[:s.top.rows])
	s.bottom.gramTo(dst, d[s.top.rows:])
}

func (s stack) diagonalTo(dst, d []float64) {
	s.top.diagonalTo(dst, d[:s.top.rows])
	s.bottom.diagonalTo(dst, d[s.top.rows:])
}

func (s stack) pairCells() int { return s.top.pairCells() }
