package stats

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/decoy-dp/decoy/data/table"
)

// regression is that of a target on columns: numbers as they are, two values as 0 and 1, categories
// as one indicator for each but the first. Rows with a missing cell are left out.
type regression struct {
	target   column
	from     []column
	logistic bool
}

const (
	maxWidth = 200 // coefficients, with the intercept
	newton   = 25  // steps of a logistic regression at most
)

// width is the number of coefficients: the intercept, then those of each column.
func (r regression) width() int {
	n := 1
	for _, c := range r.from {
		if c.values != nil {
			n++
		} else {
			n += max(0, c.size-1)
		}
	}
	return n
}

// first is the coefficient of the first column, NaN if it is not determined.
func (r regression) first(t *table.Table) float64 {
	width := r.width()
	var x, y []float64
	for i := range t.Rows() {
		code := int(t.Column(r.target.at).At(i))
		row, ok := r.row(t, i)
		if code < r.target.size && ok {
			x, y = append(x, row...), append(y, r.target.values[code])
		}
	}
	if len(y) <= width {
		return math.NaN()
	}
	rows, b := mat.NewDense(len(y), width, x), mat.NewVecDense(width, nil)
	weights, rest := make([]float64, len(y)), mat.NewVecDense(len(y), nil)
	for range newton {
		var score, step mat.VecDense
		score.MulVec(rows, b)
		for i := range y {
			weights[i] = 1
			rest.SetVec(i, y[i]-score.AtVec(i))
			if r.logistic {
				p := 1 / (1 + math.Exp(-score.AtVec(i)))
				weights[i] = p * (1 - p)
				rest.SetVec(i, y[i]-p)
			}
		}
		step.ReuseAsVec(width)
		if !solve(&step, rows, weights, rest) {
			return math.NaN()
		}
		b.AddVec(b, &step)
		if !r.logistic || mat.Norm(&step, math.Inf(1)) < 1e-9 {
			return b.AtVec(1)
		}
	}
	return math.NaN() // the classes can be told apart: there is no maximum
}

// row is a row of the design matrix, and whether no cell is missing.
func (r regression) row(t *table.Table, i int) (x []float64, ok bool) {
	x = append(x, 1)
	for _, c := range r.from {
		code := int(t.Column(c.at).At(i))
		switch {
		case code == c.size:
			return nil, false
		case c.values != nil:
			x = append(x, c.values[code])
		default:
			x = append(x, make([]float64, max(0, c.size-1))...)
			if code > 0 {
				x[len(x)-c.size+code] = 1
			}
		}
	}
	return x, true
}

// solve sets dst to the solution of (XᵀWX) dst = Xᵀ rest, and reports whether there is one.
func solve(dst *mat.VecDense, x *mat.Dense, w []float64, rest *mat.VecDense) bool {
	n, width := x.Dims()
	normal, right := mat.NewSymDense(width, nil), mat.NewVecDense(width, nil)
	right.MulVec(x.T(), rest)
	for i := range n {
		normal.SymRankOne(normal, w[i], x.RowView(i))
	}
	var c mat.Cholesky
	return c.Factorize(normal) && c.Cond() < 1e12 && c.SolveVecTo(dst, right) == nil
}
