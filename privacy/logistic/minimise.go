package logistic

import (
	"math"

	"github.com/decoy-dp/decoy/table"
)

const (
	// exactBits is the grid of residuals where gradients decide when a minimum has been reached: the
	// sum of 2^22 of them fits 61 bits, and rounding has moved it by 2^-17 at most.
	exactBits = 39
	// gapBits: gradients of norm 2^-gapBits·√m at most are as good as zero.
	gapBits    = 13
	maxNewton  = 200
	maxWeights = 2000 // of a minimiser, whose Hessian is factored
	gridStep   = 1.0 / (1 << weightBits)
)

// gap bounds ‖∇J‖ at what minimise returns: half of it is what minimise computes, the other half is
// more than rounding can have hidden (residuals, and products in float64, of 2^22 rows).
func (p Problem) gap() float64 { return math.Ldexp(math.Sqrt(p.squared()), -gapBits) }

// RowLimit is the most rows of which minimisers are found as exactly as the proofs ask: beyond it
// weights on their grid, or sums of rounded residuals, are too coarse.
func (p Problem) RowLimit(sizes []int) float64 {
	m, d := float64(len(p.Columns)), float64(p.Cells(sizes))
	return min(1<<22, math.Ldexp(1, 27)/math.Sqrt(m*d))
}

// minimise returns weights w on their grid with ‖∇J(w)‖ ≤ gap for
//
//	J(w) = Σ_rows ℓ(row, w) + λ/2·‖w‖² + b·w
//
// and two classes, by Newton steps on the norm of the gradient, which halve until it falls. J is
// λ-strongly convex, so that they come to its minimum; if they do not within the limits of numbers,
// the result is 0 and false. b may be nil.
func (p Problem) minimise(t *table.Table, lambda float64, b []float64) ([]int64, bool) {
	d := p.Cells(t.Schema().Sizes())
	w := make([]int64, d)
	if float64(t.Rows()) > p.RowLimit(t.Schema().Sizes()) {
		return w, false
	}
	g, size := p.gradientAt(t, lambda, b, w)
	for range maxNewton {
		if size <= p.gap()/2 {
			return w, true
		}
		step := g
		if !solve(p.hessian(t, lambda, w), step) {
			break
		}
		fell := false
		for scale := 1.0; scale > 1e-9 && !fell; scale /= 2 {
			next := make([]int64, d)
			for i := range next {
				x := float64(w[i]) - scale*step[i]/gridStep
				next[i] = int64(math.Round(max(-maxWeight/gridStep, min(maxWeight/gridStep, x))))
			}
			if tried, now := p.gradientAt(t, lambda, b, next); now <= (1-scale/4)*size {
				w, g, size, fell = next, tried, now, true
			}
		}
		if !fell {
			break
		}
	}
	return make([]int64, d), false
}

// gradientAt is ∇J at weights on their grid, and its norm.
func (p Problem) gradientAt(
	t *table.Table, lambda float64, b []float64, w []int64,
) ([]float64, float64) {
	sum := make([]int64, len(w))
	p.sumTo(sum, t, w, exactBits)
	g, squares := make([]float64, len(w)), 0.
	for i := range g {
		g[i] = math.Ldexp(float64(sum[i]), -exactBits) + lambda*float64(w[i])*gridStep
		if b != nil {
			g[i] += b[i]
		}
		squares += g[i] * g[i]
	}
	return g, math.Sqrt(squares)
}

// hessian is ∇²J, row after row; only a direction depends on it.
func (p Problem) hessian(t *table.Table, lambda float64, w []int64) []float64 {
	sizes := t.Schema().Sizes()
	d := len(w)
	h := make([]float64, d*d)
	for i := range d {
		h[i*d+i] = lambda
	}
	active := make([]int, len(p.Columns))
	target := t.Column(p.Target)
	for i := range t.Rows() {
		if p.Classes[target.At(i)] < 0 {
			continue
		}
		at, z := 0, int64(0)
		for k, c := range p.Columns {
			active[k] = at + int(t.Column(c).At(i))
			z += w[active[k]]
			at += sizes[c]
		}
		x := 1 / (1 + math.Exp(-float64(z)*gridStep))
		x *= 1 - x
		for k, a := range active {
			row := h[a*d : (a+1)*d]
			for _, b := range active[:k+1] {
				row[b] += x
			}
		}
	}
	return h
}

// solve sets x to H⁻¹·x by Cholesky's decomposition of the lower half of h, in place; false if h is
// not positive.
func solve(h, x []float64) bool {
	d := len(x)
	for i := range d {
		row := h[i*d : i*d+i+1]
		for j := range i {
			other := h[j*d : j*d+j+1]
			sum := row[j]
			for k, y := range other[:j] {
				sum -= row[k] * y
			}
			row[j] = sum / other[j]
		}
		for _, y := range row[:i] {
			row[i] -= y * y
		}
		if !(row[i] > 0) {
			return false
		}
		row[i] = math.Sqrt(row[i])
		for k, y := range row[:i] {
			x[i] -= y * x[k]
		}
		x[i] /= row[i]
	}
	for i := d - 1; i >= 0; i-- {
		x[i] /= h[i*d+i]
		for k := range i {
			x[k] -= h[i*d+k] * x[i]
		}
	}
	return true
}
