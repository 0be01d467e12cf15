package eval

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
)

// ErrFit is wrapped by every error about a classifier that cannot be trained as asked.
var ErrFit = errors.New("cannot train")

// logistic is a fitted logistic regression: a weight for each feature, of which the last is the
// intercept. The log odds of a row x being positive are weights·x.
type logistic []float64

const (
	newtonSteps = 100
	// squared Newton decrement at which the step just taken was the last: the next would change
	// weights by less than 1e-8 of their standard error
	newtonTolerance = 1e-16
)

// design is what the solver needs of a design matrix, the last feature of which is 1 in every row.
// The products are those of [matrix].
type design interface {
	dims() (rows, features int)
	mulTo(dst, w []float64)
	tmulTo(dst, r []float64)
	diagonalTo(dst, d []float64)
}

// fitLogistic minimises Σ_i log(1 + exp(−y_i·w·x_i)) + ‖w‖²/(2C) with y = ±1; the intercept is not
// penalised, and C = +Inf means no penalty. This is scikit-learn's LogisticRegression with
// penalty l2, whose default is C = 1. It uses Newton steps (iteratively reweighted least squares),
// by conjugate gradients, on one processor; the same input gives the same weights.
//
// Without a penalty, where features depend on each other linearly, the scores are determined but
// not the weights, and weights that run away because the classes can be separated stop when the fit
// no longer improves. Labels of one class give an error that wraps [ErrOneClass].
func fitLogistic(x design, y []bool, c float64) (logistic, error) {
	positives, err := bothClasses(y)
	if err != nil {
		return nil, err
	}
	_, features := x.dims()
	f := newLogLoss(x, y, 1/c)
	out := make(logistic, features)
	out[features-1] = math.Log(float64(positives) / float64(len(y)-positives))
	f.minimise(out)
	return out, nil
}

// scores returns the log odds of every row of x, which must have the features that the regression
// was fitted on (see [newMatrix]).
func (l logistic) scores(x design) []float64 {
	rows, _ := x.dims()
	out := make([]float64, rows)
	x.mulTo(out, l)
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

// logLoss is the penalised logistic loss.
type logLoss struct {
	x       design
	y       []bool
	penalty []float64 // λ = 1/C of each feature; 0 of the constant one

	// of every row, at the weights last evaluated
	margin    []float64 // w·x
	residual  []float64 // probability − label
	curvature []float64 // probability·(1 − probability)
}

func newLogLoss(x design, y []bool, lambda float64) *logLoss {
	rows, features := x.dims()
	f := &logLoss{x: x, y: y, penalty: make([]float64, features), margin: make([]float64, rows),
		residual: make([]float64, rows), curvature: make([]float64, rows)}
	for k := range features - 1 {
		f.penalty[k] = lambda
	}
	return f
}

// value evaluates the loss at w and keeps what the derivatives need.
func (f *logLoss) value(w []float64) float64 {
	f.x.mulTo(f.margin, w)
	loss := 0.0
	for i, m := range f.margin {
		e := math.Exp(-math.Abs(m)) // in (0, 1]
		f.curvature[i] = e / ((1 + e) * (1 + e))
		f.residual[i] = 1 / (1 + e)
		if m < 0 {
			f.residual[i] = e / (1 + e)
		}
		if f.y[i] {
			f.residual[i]--
			m = -m
		}
		loss += max(m, 0) + math.Log1p(e) // log(1 + exp(m))
	}
	for k, v := range w {
		loss += f.penalty[k] / 2 * v * v
	}
	return loss
}

// gradientTo stores the gradient at the weights last evaluated, w.
func (f *logLoss) gradientTo(dst, w []float64) {
	f.x.tmulTo(dst, f.residual)
	for k, v := range w {
		dst[k] += f.penalty[k] * v
	}
}

// minimise takes Newton steps from w, and halves a step until the loss falls by a tenth of what its
// slope promises. Where the steps run out, the last weights are still usable for scoring.
func (f *logLoss) minimise(w []float64) {
	gradient, next := make([]float64, len(w)), make([]float64, len(w))
	loss := f.value(w)
	for range newtonSteps {
		f.gradientTo(gradient, w)
		step := f.newtonStep(gradient)
		slope := floats.Dot(gradient, step) // the squared Newton decrement
		if !(slope > 0) {
			return
		}
		size, below := 1.0, 0.0
		for ; ; size /= 2 {
			below = f.value(floats.AddScaledTo(next, w, -size, step))
			// Near the minimum the promised fall drowns in rounding: accept what is as good.
			if below <= loss-size*slope/10 || slope <= 1e-9*loss && below <= loss*(1+1e-14) {
				break
			}
			if size < 1e-9 {
				return
			}
		}
		copy(w, next)
		// A fit that runs away to separate the classes keeps a slope but gains next to nothing.
		gain := loss - below
		loss = below
		if slope <= newtonTolerance || f.penalty[0] == 0 && gain <= 1e-13*math.Abs(loss) {
			return
		}
	}
}

// newtonStep solves H·step = gradient by conjugate gradients, scaled by the diagonal of H and as
// exactly as the distance to the minimum deserves (Nocedal & Wright 2006, algorithm 7.1). H is
// never built.
func (f *logLoss) newtonStep(gradient []float64) []float64 {
	n := len(gradient)
	diagonal, rows := make([]float64, n), make([]float64, len(f.curvature))
	f.x.diagonalTo(diagonal, f.curvature)
	floats.Add(diagonal, f.penalty)
	product := func(dst, v []float64) {
		f.x.mulTo(rows, v)
		floats.Mul(rows, f.curvature)
		f.x.tmulTo(dst, rows)
		for k, p := range f.penalty {
			dst[k] += p * v[k]
		}
	}
	scaled := func(dst, r []float64) {
		for i, d := range diagonal {
			dst[i] = 0
			if d > 0 {
				dst[i] = r[i] / d
			}
		}
	}
	step, residual, bent := make([]float64, n), make([]float64, n), make([]float64, n)
	z, direction := make([]float64, n), make([]float64, n)
	copy(residual, gradient)
	scaled(z, residual)
	copy(direction, z)
	rz := floats.Dot(residual, z)
	target := rz * min(.25, rz) // ‖r‖ ≤ min(½, ‖g‖)·‖g‖ in the scaled norm: quadratic convergence
	for range 10 * n {
		if rz <= max(target, 1e-18) {
			break
		}
		product(bent, direction)
		bend := floats.Dot(direction, bent)
		if !(bend > 0) {
			break
		}
		floats.AddScaled(step, rz/bend, direction)
		floats.AddScaled(residual, -rz/bend, bent)
		scaled(z, residual)
		next := floats.Dot(residual, z)
		floats.AddScaledTo(direction, z, next/rz, direction)
		rz = next
	}
	return step
}
