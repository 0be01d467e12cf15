package eval

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Quantiles sums up distances or ratios.
type Quantiles struct{ P05, Median, Mean float64 }

func quantilesOf(x []float64) Quantiles {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	mean, _ := moments(x)
	return Quantiles{quantile(sorted, .05), quantile(sorted, .5), mean}
}

// ClosestResult is the distances of synthetic rows to the closest training rows
// and, as the yardstick, to the closest of as many holdout rows.
type ClosestResult struct {
	Train, Holdout Quantiles // DCR: distance to the closest record
	// NNDR: distance to the closest over distance to the second closest
	TrainRatio, HoldoutRatio         Quantiles
	TrainDistances, HoldoutDistances []float64 // DCR of every synthetic row
	// share of synthetic rows closer to a training row than to any holdout row, ties half
	CloserToTrain float64
	// training and holdout rows, after drawing a sample of the larger
	Rows int
}

// Closest measures the distances of synthetic rows to the closest record of the
// training table and of a holdout (DCR), and the ratio of the closest to the
// second closest (NNDR): copies have small distances and, near outliers, small
// ratios. Two records at the same place give the ratio 1, since neither stands out.
//
// Name DCR. Alias DCR (MOSTLY AI, SynthEval), Distance to Closest Record. Range 0
// up; goal: that of a holdout of the same size.
// Name NNDR. Alias NNDR (MOSTLY AI, SynthEval). Range 0 to 1; goal: that of a
// holdout of the same size.
// Name DCRShare. Alias DCR share (MOSTLY AI), CloserToTrain here. Range 0 to 1;
// goal: .5. Source of all three: Platzer & Reutterer 2021, arXiv 2104.00635.
//
// The larger of the two real tables is cut to the size of the smaller by a draw
// from the public seed: in a larger one the closest row is closer. Both need two rows.
func Closest(train, holdout, synthetic *Points, seed uint64) (ClosestResult, error) {
	if train.n < 2 || holdout.n < 2 {
		return ClosestResult{},
			fmt.Errorf("eval: closest records among %d and %d rows, it takes 2: %w", train.n,
				holdout.n, ErrTables)
	}
	if err := sameSpace(train, holdout, synthetic); err != nil {
		return ClosestResult{}, err
	}
	out := ClosestResult{Rows: min(train.n, holdout.n)}
	var second [2][]float64
	var err error
	if out.TrainDistances, second[0],
		err = Nearest(synthetic, train.sample(out.Rows, seed)); err != nil {
		return ClosestResult{}, err
	}
	if out.HoldoutDistances, second[1],
		err = Nearest(synthetic, holdout.sample(out.Rows, seed)); err != nil {
		return ClosestResult{}, err
	}
	for i, d := range out.TrainDistances {
		switch h := out.HoldoutDistances[i]; {
		case d < h:
			out.CloserToTrain++
		case d == h:
			out.CloserToTrain += .5
		}
	}
	out.CloserToTrain /= float64(synthetic.n)
	out.Train, out.Holdout = quantilesOf(out.TrainDistances), quantilesOf(out.HoldoutDistances)
	out.TrainRatio, out.HoldoutRatio = quantilesOf(ratios(out.TrainDistances, second[0])),
		quantilesOf(ratios(out.HoldoutDistances, second[1]))
	return out, nil
}

// ratios divides the distances to the closest by those to the second closest.
func ratios(first, second []float64) []float64 {
	out := make([]float64, len(first))
	for i, d := range first {
		out[i] = 1
		if second[i] > 0 {
			out[i] = d / second[i]
		}
	}
	return out
}

// DCROverfittingProtection is min(1, 2·(1 − s)), s being the share of synthetic
// rows that are strictly closer to a training row than to any holdout row.
//
// Name DCROverfittingProtection. Alias DCROverfittingProtection (SDMetrics).
// Range 0 to 1; goal: 1. Source: SDMetrics documentation,
// DCROverfittingProtection; its distance is [Gower]'s. Unlike there, the larger
// of the two real tables is cut to the size of the smaller, see [Closest].
func DCROverfittingProtection(train, holdout, synthetic *Points, seed uint64) (float64, error) {
	c, err := Closest(train, holdout, synthetic, seed)
	if err != nil {
		return 0, err
	}
	closer := 0
	for i, d := range c.TrainDistances {
		if d < c.HoldoutDistances[i] {
			closer++
		}
	}
	return min(1, 2*(1-float64(closer)/float64(synthetic.n))), nil
}

// DCRBaselineProtection is the median distance of synthetic rows to the closest
// real row, as a share of that of as many rows drawn uniformly from the domain,
// and at most 1.
//
// Name DCRBaselineProtection. Alias DCRBaselineProtection (SDMetrics). Range 0 to
// 1; goal: none, utility pulls it below 1; near 0 is copying. Source: SDMetrics
// documentation, DCRBaselineProtection; its distance is [Gower]'s.
//
// The domain of a table is the public schema: categories with equal chances,
// numbers uniform over the range, never missing (SDMetrics takes it from the
// real rows); that of numbers is from their least to their greatest real value.
// If even the random rows are at median 0 there is nothing to compare with,
// an error that wraps [ErrTables].
func DCRBaselineProtection(real, synthetic *Points, seed uint64) (float64, error) {
	if err := sameSpace(real, synthetic); err != nil {
		return 0, err
	}
	ours, _, err := Nearest(synthetic, real)
	if err != nil {
		return 0, err
	}
	random, _, err := Nearest(real.uniform(synthetic.n, seed), real)
	if err != nil {
		return 0, err
	}
	baseline := quantilesOf(random).Median
	if baseline == 0 {
		return 0, fmt.Errorf("eval: random rows are as close to real rows as can be: %w", ErrTables)
	}
	return min(1, quantilesOf(ours).Median/baseline), nil
}

// uniform draws n points from the domain of p.
func (p *Points) uniform(n int, seed uint64) *Points {
	u := rand.New(rand.NewPCG(seed, 1))
	out := &Points{n: n, dim: p.dim, space: p.space, x: make([]float64, n*p.dim)}
	for k := range p.dim {
		draw := p.drawer(k, u)
		for i := range n {
			out.x[i*p.dim+k] = draw()
		}
	}
	return out
}

// drawer returns a function that draws coordinate k.
func (p *Points) drawer(k int, u *rand.Rand) func() float64 {
	if p.space.columns == nil {
		low, high := p.x[k], p.x[k]
		for i := range p.n {
			low, high = min(low, p.x[i*p.dim+k]), max(high, p.x[i*p.dim+k])
		}
		return func() float64 { return low + (high-low)*u.Float64() }
	}
	c := p.space.columns[k]
	if !c.numeric() {
		n := c.size
		if c.missing >= 0 && n > 1 {
			n-- // missing is the last code
		}
		return func() float64 { return float64(u.IntN(n)) }
	}
	place := places(c)[:len(c.mid)]
	return func() float64 {
		// A uniform place, moved to the nearest that a row of the table can have.
		x := u.Float64()
		i, _ := slices.BinarySearch(place, x)
		if i == len(place) || i > 0 && x-place[i-1] < place[i]-x {
			i--
		}
		return place[i]
	}
}
