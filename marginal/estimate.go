package marginal

import (
	"context"
	"math"
	"slices"
)

// How Fit shrinks; chosen on the adult and nltcs tables for σ from 2 to 600 rows, where every
// choice is within 2 % of the best for each σ.
const (
	bregmanSteps = 3    // more give 1 % less error for a third more time each
	stopGain     = 1e-4 // of n, in stopWindow iterations
	stopWindow   = 5
	leastCount   = 1e-3 // of the start, in rows
)

// An estimator minimises
//
//	G(θ) = n·log Z(θ) − ⟨θ, y⟩ + ½ Σ_i w_i (θ_i − c_i)²
//
// over the log potentials of the measured cells, for one centre c after another. Columns without a
// one-way measurement have a one-way term all the same, fixed at the start's.
type estimator struct {
	prop   *propagator
	n      float64
	y      []float64
	weight []float64 // 0 = fixed
	center []float64
	mu     []float64    // marginals of the last value
	tables []resolution // of the terms
	start  *path        // optional guesses
	path   *path
}

// A path keeps the log potentials after each Bregman step, as a guess for the next fit: guesses
// need no precision.
type path struct {
	tables []resolution // of the terms
	theta  [bregmanSteps][][]float32
}

// newEstimator plans for the targets ts; n is the number of rows.
func newEstimator(
	sizes []int, ts []target, n float64, o Options,
) (*estimator, error) {
	cols := make([][]int, 0, len(ts)+len(sizes))
	tables := make([]resolution, 0, cap(cols))
	for _, t := range ts {
		cols = append(cols, t.cols)
		tables = append(tables, resolution{cols: t.cols, groups: t.groups})
	}
	oneWay := make([]int, len(sizes))
	for c := range sizes {
		oneWay[c] = slices.IndexFunc(tables, func(r resolution) bool {
			return len(r.cols) == 1 && r.cols[0] == c && r.groups == nil
		})
		if oneWay[c] < 0 {
			oneWay[c] = len(cols)
			cols = append(cols, []int{c})
			tables = append(tables, resolution{cols: []int{c}})
		}
	}
	tree, err := newJunctionTree(sizes, cols)
	if err != nil {
		return nil, err
	}
	e := &estimator{prop: newPropagator(tree, tables), n: n, tables: tables}
	v := func() []float64 { return make([]float64, e.prop.dim) }
	e.y, e.weight, e.center, e.mu = v(), v(), v(), v()
	for i, t := range ts {
		off := e.prop.terms[i].off
		copy(e.y[off:], t.y)
		for k, s := range t.sigma {
			e.weight[off+k] = bregmanSteps * o.Shrink * s
		}
	}
	for c, k := range oneWay {
		off := e.prop.terms[k].off
		for v, x := range startCounts(sizes, ts, c, n, o.Grouping.merged(c)) {
			e.center[off+v] = math.Log(x / n)
			e.y[off+v] = x
		}
	}
	return e, nil
}

// startCounts estimates the counts of column c from all that is measured on it, weighted by inverse
// variance: the expected ones, of which none is ruled out.
func startCounts(sizes []int, ts []target, c int, n float64, codes []float64) []float64 {
	k := sizes[c]
	y, variance := make([]float64, k), make([]float64, k)
	for i := range y {
		y[i], variance[i] = n/float64(k), math.Inf(1) // never measured
	}
	// Tables over runs of codes come last: they move the codes of a run together.
	for _, runs := range []bool{false, true} {
		for _, t := range ts {
			at := slices.Index(t.cols, c)
			if at < 0 || (t.groups != nil && t.groups[at] != nil) != runs {
				continue
			}
			var groups []uint16
			if runs {
				groups = t.groups[at]
			}
			squares := make([]float64, len(t.sigma))
			for i, s := range t.sigma {
				squares[i] = s * s
			}
			join(y, variance, groups, project(t.sizes, factor{t.cols, t.y}, []int{c}).v,
				project(t.sizes, factor{t.cols, squares}, []int{c}).v)
		}
	}
	if math.IsInf(variance[0], 1) {
		return y
	}
	for i := range variance {
		variance[i] = math.Sqrt(variance[i]) // from here on, a standard deviation
	}
	q := expected(y, variance, codes, n)
	for i := range q {
		q[i] = math.Max(q[i], leastCount)
	}
	return q
}

// value is G, an objective. The Hessian of n·log Z is n times the covariance of the cells'
// indicators; its diagonal is n·μ(1−μ).
func (e *estimator) value(grad, diag, x []float64) float64 {
	f := e.n * e.prop.run(e.mu, x)
	for i, t := range x {
		w := e.weight[i]
		if w == 0 {
			grad[i], diag[i] = 0, 0
			continue
		}
		d := t - e.center[i]
		m := e.n * e.mu[i]
		grad[i] = m - e.y[i] + w*d
		diag[i] = 1 / (m*(1-e.mu[i]) + w)
		f += 0.5*w*d*d - t*e.y[i]
	}
	return f
}

// run takes the Bregman steps, each with its share of the iterations and what those before left
// over, and leaves the model in the propagator. step is called before every iteration.
func (e *estimator) run(ctx context.Context, iterations int, step func(done int)) error {
	cells := 0
	for i := range e.prop.cliques {
		cells += len(e.prop.cliques[i].table)
	}
	l := newLBFGS(e.prop.dim, min(max(leastPairs, cells/(8*e.prop.dim)), mostPairs))
	done := 0
	e.path = &path{tables: e.tables}
	for k := range bregmanSteps {
		copy(l.x, e.center)
		e.guess(l.x, k)
		share := (k + 1) * iterations / bregmanSteps
		err := l.minimize(ctx, e.value, stopGain*e.n, stopWindow, func() bool {
			if done >= share {
				return false
			}
			done++
			step(done)
			return true
		})
		if err != nil {
			return err
		}
		copy(e.center, l.x)
		for _, tm := range e.prop.terms {
			theta := make([]float32, tm.cells)
			for i := range theta {
				theta[i] = float32(l.x[tm.off+i])
			}
			e.path.theta[k] = append(e.path.theta[k], theta)
		}
	}
	e.prop.run(e.mu, l.x)
	return nil
}

// guess overwrites the free terms of x that the start has a value for at step k.
func (e *estimator) guess(x []float64, k int) {
	if e.start == nil {
		return
	}
	for j, table := range e.start.tables {
		for i, tm := range e.prop.terms {
			if !table.equal(e.tables[i]) || e.weight[tm.off] == 0 {
				continue
			}
			for i, t := range e.start.theta[k][j] {
				x[tm.off+i] = float64(t)
			}
		}
	}
}
