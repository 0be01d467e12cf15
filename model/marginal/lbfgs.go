package marginal

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// An objective is a smooth convex function of a vector. It writes the gradient at x and a diagonal
// approximation of the inverse Hessian, entries > 0 or, with the gradient's, 0 for a fixed
// coordinate, and returns the value.
type objective func(grad, diag, x []float64) float64

// lbfgs minimises a convex function: the limited-memory BFGS method (Nocedal and Wright, Numerical
// Optimization, 2nd ed., algorithm 7.5) with the objective's diagonal as initial inverse Hessian,
// refreshed every iteration, and backtracking to sufficient decrease. It holds all memory.
type lbfgs struct {
	x, grad, diag    []float64 // the present point
	x1, grad1, diag1 []float64 // the trial point
	dir              []float64
	s, y             [][]float64 // differences of points and gradients, oldest first
	rho, alpha       []float64
	f                float64
}

// Of the differences of points and gradients, as many pairs are kept, within these bounds, as cost
// less than a pass of belief propagation: the more, the fewer iterations.
const (
	leastPairs = 8
	mostPairs  = 50
)

// newLBFGS is for n coordinates and a number of pairs.
func newLBFGS(n, pairs int) *lbfgs {
	v := func() []float64 { return make([]float64, n) }
	return &lbfgs{x: v(), grad: v(), diag: v(), x1: v(), grad1: v(), diag1: v(), dir: v(),
		alpha: make([]float64, pairs)}
}

// minimize starts from l.x and leaves the best point there. It stops when window iterations
// together have lowered the value by less than tol, when no step lowers it, when step returns false
// or when ctx is cancelled (the only error).
func (l *lbfgs) minimize(
	ctx context.Context, o objective, tol float64, window int, step func() bool,
) error {
	l.s, l.y, l.rho = l.s[:0], l.y[:0], l.rho[:0]
	l.f = o(l.grad, l.diag, l.x)
	var past []float64 // values of the last iterations
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !step() {
			return nil
		}
		past = append(past, l.f)
		if k := len(past) - 1 - window; k >= 0 && past[k]-l.f < tol {
			return nil
		}
		for !l.iterate(o) {
			if len(l.s) == 0 {
				return nil
			}
			l.s, l.y, l.rho = l.s[:0], l.y[:0], l.rho[:0] // once more along the gradient
		}
	}
}

// iterate takes one step and reports whether it lowered the value.
func (l *lbfgs) iterate(o objective) bool {
	slope := l.direction()
	if !(slope < 0) {
		return false
	}
	t, f := 1.0, 0.0
	for try := 0; ; try++ {
		if try == 40 {
			return false
		}
		floats.AddScaledTo(l.x1, l.x, t, l.dir)
		f = o(l.grad1, l.diag1, l.x1)
		if f <= l.f+1e-4*t*slope {
			break
		}
		// The minimum of the parabola through the two values and the slope, within bounds.
		q := -slope * t / (2 * ((f-l.f)/t - slope))
		if !(q > 0.1*t) {
			q = 0.1 * t
		}
		t = math.Min(q, 0.5*t)
	}
	var s, y []float64
	if len(l.s) < len(l.alpha) {
		s, y = make([]float64, len(l.x)), make([]float64, len(l.x))
	} else {
		s, y = l.s[0], l.y[0]
		l.s, l.y, l.rho = slices.Delete(l.s, 0, 1), slices.Delete(l.y, 0, 1), slices.Delete(l.rho, 0, 1)
	}
	floats.SubTo(s, l.x1, l.x)
	floats.SubTo(y, l.grad1, l.grad)
	if sy := floats.Dot(s, y); sy > 0 {
		l.s, l.y, l.rho = append(l.s, s), append(l.y, y), append(l.rho, 1/sy)
	}
	l.x, l.x1 = l.x1, l.x
	l.grad, l.grad1 = l.grad1, l.grad
	l.diag, l.diag1 = l.diag1, l.diag
	l.f = f
	return true
}

// direction computes the step and returns the slope along it.
func (l *lbfgs) direction() float64 {
	d := l.dir
	copy(d, l.grad)
	for k := len(l.s) - 1; k >= 0; k-- {
		l.alpha[k] = l.rho[k] * floats.Dot(l.s[k], d)
		floats.AddScaled(d, -l.alpha[k], l.y[k])
	}
	gamma := 1.0
	if n := len(l.s); n > 0 {
		yy := 0.0
		for i, y := range l.y[n-1] {
			yy += y * y * l.diag[i]
		}
		gamma = 1 / (l.rho[n-1] * yy)
	}
	for i, h := range l.diag {
		d[i] *= gamma * h
	}
	for k := range l.s {
		b := l.rho[k] * floats.Dot(l.y[k], d)
		floats.AddScaled(d, l.alpha[k]-b, l.s[k])
	}
	floats.Scale(-1, d)
	return floats.Dot(l.grad, d)
}
