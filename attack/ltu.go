package attack

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// LTU is the leave-two-unlabelled attacker (Pedersen et al., "LTU attacker for membership
// inference", Algorithms 15(7) 254, 2022) against a method: in each round two rows of the table are
// drawn, a fair coin says which of them goes with all others into a fit, and the attacker, who
// knows all rows, both candidates and the model, says which. He compares how many rows the model
// has in the cells of each candidate with how many the other rows account for.
//
// Under (ε, δ)-DP with replace-one neighbours, which is what the method is run under, he is right
// with probability at most e^ε/(1 + e^ε) + δ in every round, and [Guesses] bounds ε. The table must
// be public or test data, with at least 3 rows and no id column.
func LTU(
	ctx context.Context, f synth.Fitter, t *table.Table, b accountant.Budget, o Options,
) (Result, error) {
	if err := o.fill(100); err != nil {
		return Result{}, err
	}
	if err := attackable(t, 3); err != nil {
		return Result{}, err
	}
	run, _, _, err := fitter(f, t.Schema(), accountant.ReplaceOne, b)
	if err != nil {
		return Result{}, err
	}
	all := newMargins(t.Schema().Sizes())
	all.addTable(t)
	var right atomic.Int64
	err = o.each(ctx, o.Runs, func(ctx context.Context, _ int) error {
		ok, err := ltuRound(ctx, run, t, all)
		if ok {
			right.Add(1)
		}
		return err
	}, func(done int) { o.Progress(done, o.Runs) })
	if err != nil {
		return Result{}, err
	}
	return guessed(f.Name(), Guesses{o.Runs, o.Runs, int(right.Load())}, b, o.Confidence), nil
}

// ltuRound is one round: whether the attacker is right.
func ltuRound(ctx context.Context, run fitted, t *table.Table, all *margins) (bool, error) {
	rows := rand.Perm(t.Rows())
	in, out := rows[0], rows[1]
	params, err := run(ctx, t.Select(slices.Delete(rows, 1, 2)))
	if err != nil {
		return false, err
	}
	seen := sampled(params, all.sizes)
	rowIn, rowOut := rowOf(t, in), rowOf(t, out)
	// Where the candidates share a cell it says nothing; elsewhere the other rows account for all
	// but one of all rows.
	score := seen.excess(all, rowIn, evenly) - seen.excess(all, rowOut, evenly)
	return score > 0 || score == 0 && rand.IntN(2) == 0, nil
}

// evenly weights all cells alike.
func evenly(set, cell int) float64 { return 1 }
