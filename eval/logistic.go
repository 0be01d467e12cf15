package eval

import (
	"errors"
	"fmt"
	"math"
)

// ErrFit is wrapped by every error about a classifier that cannot be trained as asked.
var ErrFit = errors.New("cannot train")

// LogisticOptions sets the penalty of a logistic regression.
type LogisticOptions struct {
	C float64 // inverse strength of the penalty, > 0, may be +Inf for none; default 1
}

// Logistic is a fitted logistic regression: the log odds of a row x being
// positive are Intercept + Weights·x.
type Logistic struct {
	Weights    []float64 // one a feature
	Intercept  float64
	Iterations int // Newton steps taken
	// false when the steps ran out: the last weights, still usable for scoring, are kept
	Converged bool
}

const (
	newtonSteps = 100
	// squared Newton decrement at which the step just taken was the last: the next would change
	// weights by less than 1e-8 of their standard error
	newtonTolerance = 1e-16
	// up to here the Hessian is built and factored (p³/3 multiplications); above, conjugate
	// gradients
	directFeatures = 512
	directCells    = 1 << 22 // and only while no pair of columns has more code pairs than this
)

// FitLogistic minimises Σ_i log(1 + exp(−y_i·(w·x_i + b))) + ‖w‖²/(2C) with
// y = ±1; the intercept b is not penalised. This is scikit-learn's
// LogisticRegression with penalty l2, whose default is C = 1 too. It uses Newton
// steps (iteratively reweighted least squares), exact for few features and by
// conjugate gradients for many, on one processor; the same input gives the same
// weights.
//
// Without a penalty, where features depend on each other linearly, the scores are determined but
// not the weights, and weights that run away because the classes can be separated stop when the fit
// no longer improves. Labels of one class give an error that wraps [ErrOneClass]; a wrong C or
// number of labels one that wraps [ErrFit].
func FitLogistic(x *Matrix, y []bool, o LogisticOptions) (*Logistic, error) {
	return fitLogistic(x, y, o)
}

// design is what the solver needs of a design matrix. The products are those of
// [Matrix].
type design interface {
	Dims() (rows, features int)
	MulTo(dst, w []float64)
	TMulTo(dst, r []float64)
	gramTo(dst, d []float64)
	diagonalTo(dst, d []float64)
	pairCells() int
}

// narrow reports whether x is small enough for the direct solver, which gives
// features that depend on earlier ones the weight 0.
func narrow(x design) bool {
	_, features := x.Dims()
	return features <= directFeatures && x.pairCells() <= directCells
}

func fitLogistic(x design, y []bool, o LogisticOptions) (*Logistic, error) {
	rows, features := x.Dims()
	if o.C == 0 {
		o.C = 1
	}
	if !(o.C > 0) {
		return nil, fmt.Errorf("eval: C is %v, it must be above 0: %w", o.C, ErrFit)
	}
	if len(y) != rows {
		return nil, fmt.Errorf("eval: %d labels for %d rows: %w", len(y), rows, ErrFit)
	}
	positives := 0
	for _, l := range y {
		if l {
			positives++
		}
	}
	if positives == 0 || positives == rows {
		return nil, fmt.Errorf("eval: %d of %d labels are positive: %w", positives, rows,
			ErrOneClass)
	}
	f := &logLoss{x: x, y: y, lambda: 1 / o.C, w: make([]float64, features+1),
		margin: make([]float64, rows), residual: make([]float64, rows),
		curvature: make([]float64, rows)}
	f.w[features] = math.Log(float64(positives) / float64(rows-positives))
	solver := newtonConjugate
	if narrow(x) {
		solver = newtonDirect
	}
	out := &Logistic{}
	out.Iterations, out.Converged = minimise(f, solver)
	out.Weights, out.Intercept = f.w[:features], f.w[features]
	return out, nil
}

// Scores returns the log odds of every row of x, which must have the features
// that the regression was fitted on (see [Matrix.Like]).
func (l *Logistic) Scores(x *Matrix) []float64 {
	rows, features := x.Dims()
	if features != len(l.Weights) {
		panic(fmt.Sprintf("eval: Logistic.Scores: %d features, fitted on %d", features,
			len(l.Weights)))
	}
	out := make([]float64, rows)
	x.MulTo(out, l.Weights)
	for i := range out {
		out[i] += l.Intercept
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
