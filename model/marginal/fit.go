package marginal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Options of Fit; the zero value is the default.
type Options struct {
	// cap on the iterations; 0 = 2000, rarely reached; each of the three steps gets a third
	Iterations int
	// known number of rows, ≥ 1; 0 = estimate it from the measurements, by inverse variance
	Total float64
	// optional; called at each hundredth of the iterations, from Fit's goroutine
	Progress func(done, total int)
	// optional: what merged the columns' codes; a group of many is expected to hold more rows
	Grouping *Grouping
	// optional: a model of the same columns that Fit made; saves time, does not move the result by
	// more than the tolerance
	Warm *Model
}

const (
	defaultIterations = 2000
	mostCells         = 100_000_000 // of the junction tree, and of an answer
	maxColumns        = 10_000
	maxCodes          = 1 << 16
)

// Fit estimates a model from measurements of columns of the given sizes (codes per column, 1 to
// 65536; at most 10 000 columns).
//
// Symbols: y the measured counts, σ their standard deviations, n the number of rows, p a
// distribution over all columns, M_m(p) its marginal over the columns of measurement m. The usual
// estimate is the p of largest entropy among those that minimise
//
//	Σ_m ‖(n·M_m(p) − y_m)/σ_m‖².
//
// In sparse tables that fits the noise: on the adult table its two-way error is up to a quarter
// larger than this one's. Fit stops short of it, by three steps of a Bregman iteration
// in the log potentials θ of the measured cells (p ∝ exp Σ_i θ_i):
//
//	θ_k = argmin_θ  n·log Z(θ) − ⟨θ, y⟩ + ½ Σ_i w_i (θ_i − θ_{k−1,i})²,
//
// from θ_0 = independent columns with the one-way counts that are to be expected (see expected),
// which stand for the measured ones, where w_i = 3·σ_i; next to nothing, with y_i = 0, for a
// cell that a rule leaves empty (emptyCells). In the end the columns' own terms are fitted alone,
// to the counts that all measurements of the column give together: without bias for columns of a
// few codes (columnCounts, run). Cells far above the noise end up within a fraction of σ of their
// measurement; cells that the noise drowns stay near what the other cells predict. (Osher, Burger,
// Goldfarb, Xu, Yin, An iterative regularization method for total variation-based image
// restoration, MMS 2005, with the Kullback-Leibler divergence. The steps are implicit Euler steps
// of the mirror descent flow of McKenna, Sheldon and Miklau, ICML 2019.) Every step has exactly one
// solution, so the result depends neither on the order of the measurements nor on the start.
//
// A step is solved by L-BFGS until five iterations lower the objective, which is n times a
// Kullback-Leibler divergence plus a constant, by less than 1e-4·n. What is then left is .0002
// to .0004 in total variation, the mean over all pairs of columns, in models of aim of adult (ε
// = 1 and 10), support2 (10) and 10⁶ rows (1). At ε = 1 the distance from the table is .02209 on
// adult and .06397 on acs_ma2019; with a bound a hundredth as large .02206 and .06398, in 2 to 3
// times as many passes. With one a tenth as large, mirror descent with line search needed 10
// times as long for the same two-way error at σ = 2, 5 times at 20, and as long from 60 up when
// it was told where to stop, without which it goes on to fit the noise; accelerated mirror
// descent lay between.
//
// Measurements of one set of columns are averaged by inverse variance. The number of rows, if it
// is not given, is [Total]. Columns in no measurement are uniform and independent. The result is
// the same on any number of processors.
//
// Errors: an argument out of range; a junction tree of too many cells (errTooLarge); ctx's error
// when it is cancelled, noticed within an iteration.
func Fit(ctx context.Context, sizes []int, ms []Measurement, o Options) (*Model, error) {
	if err := o.check(sizes, ms); err != nil {
		return nil, err
	}
	n := o.Total
	if n == 0 {
		n = Total(ms)
	}
	e, err := newEstimator(sizes, targets(sizes, ms), n, o)
	if err != nil {
		return nil, err
	}
	if o.Warm != nil {
		e.start = o.Warm.path
	}
	err = e.run(ctx, o.Iterations, func(done int) {
		if o.Progress != nil && done%max(1, o.Iterations/100) == 0 {
			o.Progress(done, o.Iterations)
		}
	})
	if err != nil {
		return nil, err
	}
	m := newModel(e.prop.tree, e.prop.tables(), n)
	m.path = e.path
	return m, nil
}

// check validates the arguments of Fit and fills in the defaults.
func (o *Options) check(sizes []int, ms []Measurement) error {
	if len(sizes) == 0 || len(sizes) > maxColumns {
		return fmt.Errorf("%d columns, want 1 to %d", len(sizes), maxColumns)
	}
	for c, s := range sizes {
		if s < 1 || s > maxCodes {
			return fmt.Errorf("column %d has %d codes, want 1 to %d", c, s, maxCodes)
		}
	}
	for i := range ms {
		if err := ms[i].Check(sizes); err != nil {
			return fmt.Errorf("measurement %d: %w", i, err)
		}
	}
	switch {
	case o.Total == 0 && len(ms) == 0:
		return errors.New("neither a total nor a measurement to estimate it from")
	case o.Total != 0 && !(o.Total >= 1 && o.Total <= math.MaxFloat64),
		o.Iterations < 0:
		return fmt.Errorf("total %v, %d iterations", o.Total, o.Iterations)
	case o.Grouping != nil && !slices.Equal(o.Grouping.Sizes(), sizes),
		o.Warm != nil && !slices.Equal(o.Warm.tree.sizes, sizes):
		return errors.New("the grouping, or the model to start from, has other columns")
	}
	o.Iterations = cmp.Or(o.Iterations, defaultIterations)
	return nil
}
