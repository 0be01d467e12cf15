package attack

import (
	"cmp"
	"context"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// Distance attacks a synthetic table of any origin by the distance to the closest record: rows that
// are nearer to a synthetic row are taken for training rows. Training and holdout rows are paired
// at random, and of each pair the attacker must say which was in.
//
// The claim under test is (ε, δ)-DP with replace-one neighbours for the budget. If training and
// holdout rows were split at random, each pair has a fair coin of its own, and the one-run theorem
// ([Guesses]) makes the bound on ε valid for one synthetic table, however the rows depend on each
// other through it. The larger of the two real tables is cut to the size of the smaller. Confidence
// is in (0, 1), .95 if 0. Errors are those of package eval for tables that cannot be compared.
func Distance(
	train, holdout, synthetic *table.Table, b accountant.Budget, confidence float64,
) (Result, error) {
	confidence = cmp.Or(confidence, .95)
	if err := checkConfidence(confidence); err != nil {
		return Result{}, err
	}
	to, err := eval.TablePoints(synthetic, eval.Gower)
	if err != nil {
		return Result{}, err
	}
	n := min(train.Rows(), holdout.Rows())
	var nearness [2][]float64 // of training and holdout rows
	for side, t := range []*table.Table{train, holdout} {
		points, err := eval.TablePoints(t.Select(rand.Perm(t.Rows())[:n]), eval.Gower)
		if err != nil {
			return Result{}, err
		}
		nearest, _, err := eval.Nearest(points, to)
		if err != nil {
			return Result{}, err
		}
		for _, d := range nearest {
			nearness[side] = append(nearness[side], -d)
		}
	}
	right := 0
	for i, in := range nearness[0] {
		if out := nearness[1][i]; in > out || in == out && rand.IntN(2) == 0 {
			right++
		}
	}
	r := guessed("", Guesses{n, n, right}, b, confidence)
	return r, r.score(nearness[1], nearness[0])
}

// DistanceOf is [Distance] against a method: the rows of a table are split in two halves at random,
// the method is fitted once to the one under replace-one, as many synthetic rows are drawn, and the
// attacker must tell the halves apart. The table must be public or test data, with at least 2 rows
// and no id column.
func DistanceOf(
	ctx context.Context, f synth.Fitter, t *table.Table, b accountant.Budget, confidence float64,
) (Result, error) {
	if err := attackable(t, 2); err != nil {
		return Result{}, err
	}
	s, n := t.Schema(), t.Rows()/2
	run, _, _, err := fitter(f, s, accountant.ReplaceOne, b)
	if err != nil {
		return Result{}, err
	}
	order := rand.Perm(t.Rows())
	train := t.Select(order[:n])
	params, err := run(ctx, train)
	if err != nil {
		return Result{}, err
	}
	drawn := params.Sample(n, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
	synthetic, err := table.FromColumns(s, codesOf(drawn, s.Sizes()), nil)
	if err != nil {
		return Result{}, err
	}
	r, err := Distance(train, t.Select(order[n:2*n]), synthetic, b, confidence)
	r.Mechanism = f.Name()
	return r, err
}
