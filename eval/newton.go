package eval

import "math"

// logLoss is the penalised logistic loss at weights w: first the features, then the intercept.
type logLoss struct {
	x      design
	y      []bool
	lambda float64 // 1/C; 0 = no penalty
	w      []float64

	margin    []float64 // w·x + b of every row at the weights last evaluated
	residual  []float64 // probability − label
	curvature []float64 // probability·(1 − probability)
}

// value evaluates the loss at w and keeps what the derivatives need.
func (f *logLoss) value(w []float64) float64 {
	p := len(w) - 1
	f.x.mulTo(f.margin, w[:p])
	loss := 0.0
	for i, m := range f.margin {
		m += w[p]
		e := math.Exp(-math.Abs(m)) // in (0, 1]
		probability := 1 / (1 + e)
		if m < 0 {
			probability = e / (1 + e)
		}
		f.curvature[i] = e / ((1 + e) * (1 + e))
		if f.y[i] {
			m = -m
			f.residual[i] = probability - 1
		} else {
			f.residual[i] = probability
		}
		loss += max(m, 0) + math.Log1p(e) // log(1 + exp(m))
	}
	return loss + f.lambda/2*dot(w[:p], w[:p])
}

// gradientTo stores the gradient at the weights last evaluated, w.
func (f *logLoss) gradientTo(dst, w []float64) {
	p := len(w) - 1
	f.x.tmulTo(dst[:p], f.residual)
	addScaled(dst[:p], f.lambda, w[:p])
	dst[p] = 0
	for _, r := range f.residual {
		dst[p] += r
	}
}

// minimise takes Newton steps from f.w, and halves a step until the loss falls by a tenth of what
// its slope promises.
func minimise(f *logLoss) (steps int, converged bool) {
	gradient, next := make([]float64, len(f.w)), make([]float64, len(f.w))
	loss := f.value(f.w)
	for steps < newtonSteps {
		f.gradientTo(gradient, f.w)
		step := newtonStep(f, gradient)
		slope := dot(gradient, step) // the squared Newton decrement
		if !(slope > 0) {
			return steps, true
		}
		var below float64
		for size := 1.0; ; size /= 2 {
			copy(next, f.w)
			addScaled(next, -size, step)
			below = f.value(next)
			if below <= loss-size*slope/10 {
				break
			}
			// Near the minimum the promised fall drowns in rounding: accept what is as good.
			if slope <= 1e-9*loss && below <= loss*(1+1e-14) {
				break
			}
			if size < 1e-9 {
				f.value(f.w)
				return steps, false
			}
		}
		steps++
		copy(f.w, next)
		// A fit that runs away to separate the classes keeps a slope but gains next to nothing.
		gain := loss - below
		loss = below
		if slope <= newtonTolerance || f.lambda == 0 && gain <= 1e-13*math.Abs(loss) {
			return steps, true
		}
	}
	return steps, false
}

// newtonStep solves H·step = gradient by conjugate gradients, scaled by the
// diagonal of H and as exactly as the distance to the minimum deserves
// (Nocedal & Wright 2006, algorithm 7.1). H is never built.
func newtonStep(f *logLoss, gradient []float64) []float64 {
	n := len(gradient)
	p := n - 1
	diagonal := make([]float64, n)
	f.x.diagonalTo(diagonal[:p], f.curvature)
	for i := range p {
		diagonal[i] += f.lambda
	}
	for _, c := range f.curvature {
		diagonal[p] += c
	}
	product := func(dst, v []float64) {
		rows := make([]float64, len(f.curvature))
		f.x.mulTo(rows, v[:p])
		sum := 0.0
		for i, c := range f.curvature {
			rows[i] = c * (rows[i] + v[p])
			sum += rows[i]
		}
		f.x.tmulTo(dst[:p], rows)
		addScaled(dst[:p], f.lambda, v[:p])
		dst[p] = sum
	}
	scaled := func(dst, r []float64) {
		for i, d := range diagonal {
			dst[i] = 0
			if d > 0 {
				dst[i] = r[i] / d
			}
		}
	}
	step, residual, z, product1 := make([]float64, n), make([]float64, n), make([]float64, n),
		make([]float64, n)
	copy(residual, gradient)
	scaled(z, residual)
	direction := append([]float64(nil), z...)
	rz := dot(residual, z)
	target := rz * min(.25, rz) // ‖r‖ ≤ min(½, ‖g‖)·‖g‖ in the scaled norm: quadratic convergence
	for range 10 * n {
		if rz <= max(target, 1e-18) {
			break
		}
		product(product1, direction)
		bend := dot(direction, product1)
		if !(bend > 0) {
			break
		}
		alpha := rz / bend
		addScaled(step, alpha, direction)
		addScaled(residual, -alpha, product1)
		scaled(z, residual)
		next := dot(residual, z)
		for i := range direction {
			direction[i] = z[i] + next/rz*direction[i]
		}
		rz = next
	}
	return step
}
