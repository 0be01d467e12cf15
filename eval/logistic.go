package eval

import (
	"errors"
	"math"
)

// ErrFit is wrapped by every error about a classifier that cannot be trained as asked.
var ErrFit = errors.New("cannot train")

// logistic is a fitted logistic regression: the log odds of a row x being
// positive are intercept + weights·x.
type logistic struct {
	weights    []float64 // one a feature
	intercept  float64
	iterations int // Newton steps taken
	// false when the steps ran out: the last weights, still usable for scoring, are kept
	converged bool
}

const (
	newtonSteps = 100
	// squared Newton decrement at which the step just taken was the last: the next would change
	// weights by less than 1e-8 of their standard error
	newtonTolerance = 1e-16
)

// design is what the solver needs of a design matrix. The products are those of [matrix].
type design interface {
	dims() (rows, features int)
	mulTo(dst, w []float64)
	tmulTo(dst, r []float64)
	diagonalTo(dst, d []float64)
}

// fitLogistic minimises Σ_i log(1 + exp(−y_i·(w·x_i + b))) + ‖w‖²/(2C) with y = ±1; the intercept b
// is not penalised, and C = +Inf means no penalty. This is scikit-learn's LogisticRegression with
// penalty l2, whose default is C = 1. It uses Newton steps (iteratively reweighted least squares),
// by conjugate gradients, on one processor; the same input gives the same weights.
//
// Without a penalty, where features depend on each other linearly, the scores are determined but
// not the weights, and weights that run away because the classes can be separated stop when the fit
// no longer improves. Labels of one class give an error that wraps [ErrOneClass].
func fitLogistic(x design, y []bool, c float64) (*logistic, error) {
	rows, features := x.dims()
	positives, err := bothClasses(y)
	if err != nil {
		return nil, err
	}
	f := &logLoss{x: x, y: y, lambda: 1 / c, w: make([]float64, features+1),
		margin: make([]float64, rows), residual: make([]float64, rows),
		curvature: make([]float64, rows)}
	f.w[features] = math.Log(float64(positives) / float64(rows-positives))
	out := &logistic{}
	out.iterations, out.converged = minimise(f)
	out.weights, out.intercept = f.w[:features], f.w[features]
	return out, nil
}

// scores returns the log odds of every row of x, which must have the features
// that the regression was fitted on (see [matrix.like]).
func (l *logistic) scores(x design) []float64 {
	rows, _ := x.dims()
	out := make([]float64, rows)
	x.mulTo(out, l.weights)
	for i := range out {
		out[i] += l.intercept
	}
	return out
}

// sigmoid is 1/(1 + exp(−x)), without overflow.
func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}
