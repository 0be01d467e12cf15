package marginal

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// How Fit shrinks; chosen on the adult and nltcs tables for σ from 2 to 600 rows, where every
// choice is within 2 % of the best for each σ.
const (
	bregmanSteps = 3    // more give 1 % less error for a third more time each
	stopGain     = 1e-4 // of n, in stopWindow iterations
	stopWindow   = 5
	leastCount   = 1e-3 // of the start, in rows
	firm         = 0.01 // of a weight: as good as none
	settleShare  = 20   // of the iterations, columns by themselves have one in so many at most
	settleGain   = 0.1  // in units of log likelihood, in settleWindow iterations
	settleWindow = 2
)

// An estimator minimises
//
//	G(θ) = n·log Z(θ) − ⟨θ, y⟩ + ½ Σ_i w_i (θ_i − c_i)²
//
// over the log potentials of the measured cells, for one centre c after another. w_i is
// 3·σ_i, and next to nothing for cells that are empty by a rule. The counts y of a column
// by itself are what all tables that hold the column say together, and are met in the end (run).
// Columns that nothing was measured of have a term all the same, fixed at the start's.
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
	terms  []term
	theta  [bregmanSteps][]float32
}

// newEstimator plans for the targets ts; n is the number of rows.
func newEstimator(
	sizes []int, ts []target, n float64, o Options,
) (*estimator, error) {
	cols := make([][]int, 0, len(ts)+len(sizes))
	tables := make([]resolution, 0, cap(cols))
	for _, t := range ts {
		cols = append(cols, t.cols)
		tables = append(tables, t.resolution)
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
	for c, k := range oneWay {
		off := e.prop.terms[k].off
		y, start, sigma := columnCounts(sizes, ts, c, n, o.Grouping)
		for v, x := range start {
			e.center[off+v] = math.Log(math.Max(x, leastCount) / n)
			e.y[off+v] = math.Max(y[v], leastCount)
			e.weight[off+v] = bregmanSteps * sigma[v]
		}
	}
	e.prop.run(e.mu, e.center) // independent columns
	for i, t := range ts {
		if slices.Contains(oneWay, i) {
			continue
		}
		off := e.prop.terms[i].off
		for k, empty := range emptyCells(t.y, t.sigma, e.mu[off:], n, sizesOf(t.sizes, t.cols)) {
			e.weight[off+k] = bregmanSteps * t.sigma[k]
			if e.y[off+k] = t.y[k]; empty {
				e.y[off+k] = 0
				e.weight[off+k] *= firm
			}
		}
	}
	return e, nil
}

// A column of at most fewCodes codes, the noise of whose counts is together at most littleNoise of
// the rows, has no code that is likelier than its counts say. Elsewhere expected counts are so much
// closer to the real ones that pairs are, too (by 5 to 15 % on heart_cleveland, 303 rows, ε = 1
// and .3); in the cohorts pairs are within 2 % either way.
const (
	fewCodes    = 8
	littleNoise = 0.4
)

// columnCounts are the counts that column c is to have, the expected ones and the standard
// deviations of what is measured on it, weighted by inverse variance, which has no bias. The first
// are the closest counts that are not negative and of sum n, or the expected ones. Where nothing is
// measured codes are equal, and sigma is 0.
func columnCounts(
	sizes []int, ts []target, c int, n float64, g *Grouping,
) (y, start, sigma []float64) {
	k := sizes[c]
	y = slices.Repeat([]float64{n / float64(k)}, k)
	variance := slices.Repeat([]float64{math.Inf(1)}, k)
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
			squares := slices.Clone(t.sigma)
			floats.Mul(squares, t.sigma)
			join(y, variance, groups, project(t.sizes, factor{t.cols, t.y}, []int{c}).v,
				project(t.sizes, factor{t.cols, squares}, []int{c}).v)
		}
	}
	if sigma = make([]float64, k); math.IsInf(variance[0], 1) {
		return y, y, sigma
	}
	for i, v := range variance {
		sigma[i] = math.Sqrt(v)
	}
	var codes []float64 // that each count stands for
	if g != nil && len(g.columns[c].rare) > 0 {
		codes = slices.Repeat([]float64{1}, k)
		codes[k-1] = float64(len(g.columns[c].rare))
	}
	start = expected(y, sigma, codes, n)
	if k > fewCodes || math.Sqrt(2/math.Pi)*floats.Sum(sigma) > littleNoise*n {
		return start, start, sigma
	}
	floats.MulTo(variance, sigma, sigma)
	closest(y, variance, n)
	return y, start, sigma
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
//
// In the end it lets the columns' own terms meet their counts, with all others as they are, as
// iterative proportional fitting does. Were columns left as soft as other cells, rare codes would
// gain: in log potentials noise that is positive lifts a small cell more than noise that is
// negative lowers it, and over many pairs that adds up. And in a large table the steps before it,
// which stop where pairs come no closer, leave a code off by more than its noise.
func (e *estimator) run(ctx context.Context, iterations int, step func(done int)) error {
	cells := 0
	for i := range e.prop.cliques {
		cells += len(e.prop.cliques[i].table)
	}
	l := newLBFGS(e.prop.dim, min(max(leastPairs, cells/(8*e.prop.dim)), mostPairs))
	done := 0
	e.path = &path{tables: e.tables, terms: e.prop.terms}
	for k := range bregmanSteps {
		copy(l.x, e.center)
		if e.start != nil {
			e.guess(l.x, k)
		}
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
		for _, x := range l.x {
			e.path.theta[k] = append(e.path.theta[k], float32(x))
		}
	}
	for k, tm := range e.prop.terms {
		share := 0.0
		if t := e.tables[k]; len(t.cols) == 1 && t.groups == nil {
			share = firm
		}
		floats.Scale(share, e.weight[tm.off:tm.off+tm.cells])
	}
	most := iterations / settleShare
	err := l.minimize(ctx, e.value, settleGain, settleWindow, func() bool {
		most--
		return most >= 0
	})
	e.prop.run(e.mu, l.x)
	return err
}

// guess overwrites the free terms of x that the start has a value for at step k.
func (e *estimator) guess(x []float64, k int) {
	for j, table := range e.start.tables {
		for i, tm := range e.prop.terms {
			if table.compare(e.tables[i]) != 0 || e.weight[tm.off] == 0 {
				continue
			}
			for i := range tm.cells {
				x[tm.off+i] = float64(e.start.theta[k][e.start.terms[j].off+i])
			}
		}
	}
}
