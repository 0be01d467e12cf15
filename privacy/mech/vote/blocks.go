package vote

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// This file releases the mean of what any program computes on disjoint blocks of a table:
// subsample-and-aggregate. Source: Nissim, Raskhodnikova, Smith 2007 (STOC).

// Statistic is what is computed on each block. All of it but what Of sees is public.
type Statistic struct {
	Name string // says which program it is
	// results are cut to this range; one that is NaN, or of a program that panics, is its middle
	Lower, Upper float64
	// Of computes one number from the rows of a block, which may be none. It depends on nothing else,
	// is called from several goroutines, and keeps and writes nothing.
	Of func(block *table.Table) float64
}

// Mean is what [Blocks] releases. It is public.
type Mean struct {
	Mean float64 // of the blocks' results, plus noise: it may lie outside of the range
	// mean square of how far results are from the middle of the range, in half widths: 0 to 1 plus
	// noise
	Square float64
}

// steps is the grid of results: the width of the range, and the greatest square, in steps.
const steps = 1 << 20

// BlockEvents are the two events of [Blocks]. One unit is in one block, under both relations and
// whatever its rows, and moves the sum of the results by one width of the range at most, and the
// sum of the squares by 1 (docs/claims/blocks.md).
func BlockEvents(mean, square float64) accountant.Composition {
	return accountant.Composition{
		{Event: accountant.Gaussian{NoiseMultiplier: mean}, Count: 1},
		{Event: accountant.Gaussian{NoiseMultiplier: square}, Count: 1},
	}
}

// Blocks splits the units of the session's table into k blocks at random, as [Split] does,
// once in a session, computes the statistic on each, and releases the mean of the results with
// noise of standard deviation mean·(Upper − Lower)/k, and their mean square with square/k
// (docs/claims/blocks.md). A context that ends before all blocks are done ends it at no cost. Cost:
// [BlockEvents].
func Blocks(
	ctx context.Context, s *privacy.Session, k int, f Statistic, mean, square float64,
) (Mean, error) {
	fail := func(err error) (Mean, error) { return Mean{}, fmt.Errorf("blocks: %w", err) }
	if !(f.Lower < f.Upper) || math.IsInf(f.Upper-f.Lower, 0) {
		return fail(fmt.Errorf("results from %v to %v are no finite range", f.Lower, f.Upper))
	}
	var add [2]*noise.RoundedGaussian
	for i, sigma := range []float64{mean, square} {
		var err error
		if add[i], err = noise.NewRoundedGaussian(sigma * steps); err != nil {
			return fail(err)
		}
	}
	results := make([]*ofBlock, max(0, min(k, MaxShards)))
	split, err := Split(s, k, func(i int) Teacher[struct{}] {
		results[i] = &ofBlock{ctx: ctx, of: f, value: steps / 2}
		return results[i]
	})
	if err != nil {
		return Mean{}, err
	}
	if err := errors.Join(split.Train(struct{}{}), ctx.Err()); err != nil {
		return Mean{}, err // and no result that the context has cut short is used
	}
	c := access.Call{What: "mean over blocks", Cost: BlockEvents(mean, square),
		Of: access.Ask("blocks").Text(f.Name).Ints(int64(k)).Floats(f.Lower, f.Upper, mean, square)}
	sums, err := access.ReleaseInts(s, c, 2, func(rows access.Rows) ([]int64, error) {
		sums := make([]int64, 2)
		for _, r := range results {
			sums[0] += r.value
			sums[1] += squareOf(r.value)
		}
		sums[0] += add[0].Sample(rows.Source)
		sums[1] += add[1].Sample(rows.Source)
		return sums, nil
	})
	if err != nil {
		return Mean{}, err
	}
	n := float64(k) * steps
	return Mean{Mean: f.Lower + (f.Upper-f.Lower)*(float64(sums[0])/n), Square: float64(sums[1]) / n},
		nil
}

// squareOf is the square of how far a value is from the middle, in half widths: 0 to steps.
func squareOf(value int64) int64 {
	d := 2*value - steps // −2²⁰ to 2²⁰
	return d * d / steps
}

// ofBlock is what the statistic is on one block: a teacher who is not asked to vote.
type ofBlock struct {
	ctx   context.Context
	of    Statistic
	value int64 // on the grid, from 0 to steps; the middle until the program has come back
}

// Train computes the result.
func (r *ofBlock) Train(block *table.Table, _ struct{}) {
	if r.ctx.Err() == nil {
		r.value = r.of.onGrid(r.of.Of(block))
	}
}

// VotesTo leaves all questions at class 0.
func (r *ofBlock) VotesTo([]uint8, struct{}) {}

// onGrid is a result on the grid, from 0 to steps, whatever it is.
func (f Statistic) onGrid(x float64) int64 {
	if math.IsNaN(x) {
		return steps / 2
	}
	x = max(f.Lower, min(f.Upper, x))
	return max(0, min(steps, int64(math.Round((x-f.Lower)/(f.Upper-f.Lower)*steps))))
}
