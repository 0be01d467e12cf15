package eval

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Quantiles sums up distances or ratios.
type Quantiles struct{ P05, Median, Mean float64 }

func quantilesOf(x []float64) Quantiles {
	sorted := slices.Sorted(slices.Values(x))
	return Quantiles{quantile(sorted, .05), quantile(sorted, .5), stat.Mean(x, nil)}
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
// Name DCR. Alias DCR (MOSTLY AI, SynthEval), Distance to Closest Record. Range 0 up; goal: that of
// a holdout of the same size. Name NNDR. Alias NNDR (MOSTLY AI, SynthEval). Range 0 to 1; goal:
// that of a holdout of the same size. Name DCRShare. Alias DCR share (MOSTLY AI), CloserToTrain
// here; SDMetrics' DCROverfittingProtection is 2·(1 − share), at most 1. Range 0 to 1; goal: .5.
// Source of all three: Platzer & Reutterer 2021, arXiv 2104.00635.
//
// The larger of the two real tables is cut to the size of the smaller by a draw
// from the public seed: in a larger one the closest row is closer. Both need two rows. Of holdout,
// which may be nil, nothing is measured then.
func Closest(train, holdout, synthetic *Points, seed uint64) (ClosestResult, error) {
	out := ClosestResult{Rows: train.n}
	for _, real := range []*Points{train, holdout} {
		if real == nil {
			continue
		}
		if out.Rows = min(out.Rows, real.n); out.Rows < 2 {
			return out, fmt.Errorf("eval: closest records among %d rows, it takes 2: %w", real.n,
				ErrTables)
		}
		if err := sameSpace(real, synthetic); err != nil {
			return out, err
		}
	}
	distances := func(real *Points) ([]float64, Quantiles, Quantiles) {
		first, second := nearest(synthetic, real.sample(out.Rows, seed), false)
		return first, quantilesOf(first), quantilesOf(ratios(first, second))
	}
	out.TrainDistances, out.Train, out.TrainRatio = distances(train)
	if holdout == nil {
		return out, nil
	}
	out.HoldoutDistances, out.Holdout, out.HoldoutRatio = distances(holdout)
	for i, d := range out.TrainDistances {
		h := out.HoldoutDistances[i]
		out.CloserToTrain += (indicator(d < h) + indicator(d <= h)) / 2
	}
	out.CloserToTrain /= float64(synthetic.n)
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
