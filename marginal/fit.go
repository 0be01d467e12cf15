package marginal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Options of Fit; the zero value is the default.
type Options struct {
	Iterations int                   // cap on the iterations; 0 = 1000, rarely reached
	Total      float64               // known number of rows, ≥ 1; 0 = estimate it from the measurements, by inverse variance
	Shrink     float64               // strength of the pull towards independent columns, see Fit; 0 = 1; .001 is nearly least squares, and slow
	Progress   func(done, total int) // optional; called with iterations, at most ten times a second, from Fit's goroutine
	MaxCells   int                   // limit on the cells of the junction tree, and of an answer; 0 = 1e8, at most 2³¹-1
	Warm       *Model                // optional: a model of the same columns that Fit made; saves time, does not move the result by more than the tolerance
}

const (
	defaultIterations = 1000
	defaultMaxCells   = 100_000_000
	maxColumns        = 10_000
	maxCodes          = 1 << 16
)

// Fit estimates a model from measurements of columns of the given sizes (codes
// per column, 1 to 65536).
//
// With y the measured counts, σ their standard deviations, n the number of
// rows and p a distribution over all columns, it looks for the p that fits,
//
//	Σ_m ‖(n·M_m(p) − y_m)/σ_m‖²  small,
//
// and is no further from independent columns than the data ask for: plain least
// squares would fit the noise in every sparse table (on the adult table its
// two-way error is up to a quarter larger, see TestAdult). It takes three steps
// of the Bregman iteration
//
//	p_k = argmin_p ½ Σ_i (n·p_i − y_i)²/(w_i·σ̂) + n·KL(p ‖ …)   dually
//	θ_k = argmin_θ n·log Z(θ) − ⟨θ, y⟩ + ½ Σ_i w_i (θ_i − θ_{k−1,i})²
//
// over the log potentials θ of the measured cells i, where p ∝ exp Σ_i θ_i, from
// θ_0 = independent columns with the measured one-way counts, and
// w_i = 3·Shrink·σ_i·(σ_i/σ̄)^¼, σ̄ the geometric mean of σ. (Osher, Burger,
// Goldfarb, Xu, Yin, An iterative regularization method, MMS 2005; each step is
// an implicit Euler step of the mirror descent of McKenna, Sheldon and Miklau,
// ICML 2019.) Each step has one solution, so the result does not depend on the
// order of the measurements or the start.
//
// A step is solved by L-BFGS until five iterations lower the dual objective by
// less than 1e-5·n: that objective is n times a Kullback-Leibler divergence, so
// what is left is about .002 in total variation over all columns jointly, far
// below the noise.
//
// Sets of columns measured several times are averaged by inverse variance.
// The estimated number of rows is at least 1. Columns in no measurement are
// uniform and independent. The result is the same on any number of processors.
//
// Errors: arguments out of range; a junction tree over MaxCells (ErrTooLarge);
// ctx's error when it is cancelled, noticed within one iteration.
func Fit(ctx context.Context, sizes []int, ms []Measurement, o Options) (*Model, error) {
	if err := o.check(sizes, ms); err != nil {
		return nil, err
	}
	n := o.Total
	if n == 0 {
		n = total(ms)
	}
	e, err := newEstimator(sizes, targets(sizes, ms), n, o.Shrink, o.MaxCells)
	if err != nil {
		return nil, err
	}
	if o.Warm != nil {
		e.start = o.Warm.path
	}
	last := time.Now()
	err = e.run(ctx, o.Iterations, func(done int) {
		if o.Progress != nil && time.Since(last) >= 100*time.Millisecond {
			last = time.Now()
			o.Progress(done, o.Iterations)
		}
	})
	if err != nil {
		return nil, err
	}
	m := newModel(e.prop.tree, e.prop.tables(), n, o.MaxCells)
	m.path = e.path
	return m, nil
}

// check validates the arguments of Fit and fills in the defaults.
func (o *Options) check(sizes []int, ms []Measurement) error {
	if len(sizes) == 0 || len(sizes) > maxColumns {
		return fmt.Errorf("marginal: %d columns, want 1 to %d", len(sizes), maxColumns)
	}
	for c, s := range sizes {
		if s < 1 || s > maxCodes {
			return fmt.Errorf("marginal: column %d has %d codes, want 1 to %d", c, s, maxCodes)
		}
	}
	for i := range ms {
		if err := ms[i].check(sizes); err != nil {
			return fmt.Errorf("marginal: measurement %d: %w", i, err)
		}
	}
	if o.Total != 0 && !(o.Total >= 1 && o.Total <= math.MaxFloat64) {
		return fmt.Errorf("marginal: total %v, want ≥ 1 and finite, or 0 to estimate it", o.Total)
	}
	if o.Total == 0 && len(ms) == 0 {
		return errors.New("marginal: neither a total nor a measurement to estimate it from")
	}
	if !(o.Shrink >= 0) || math.IsInf(o.Shrink, 1) {
		return fmt.Errorf("marginal: shrink %v, want > 0 and finite, or 0 for the default", o.Shrink)
	}
	if o.Iterations < 0 || o.MaxCells < 0 || o.MaxCells > maxCells {
		return fmt.Errorf("marginal: %d iterations, %d cells: want ≥ 0, and cells at most %d", o.Iterations, o.MaxCells, maxCells)
	}
	if o.Warm != nil && !slices.Equal(o.Warm.tree.sizes, sizes) {
		return errors.New("marginal: the model to start from has other columns")
	}
	if o.Iterations == 0 {
		o.Iterations = defaultIterations
	}
	if o.Shrink == 0 {
		o.Shrink = 1
	}
	if o.MaxCells == 0 {
		o.MaxCells = defaultMaxCells
	}
	return nil
}
