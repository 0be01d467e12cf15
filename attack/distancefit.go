package attack

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// DistanceOf is [Distance] against a method: the rows of a table are split in two halves at random,
// the method is fitted once to the one under replace-one, as many synthetic rows are drawn, and the
// attacker must tell the halves apart. The table must be public or test data, with at least 2 rows
// and no id column.
func DistanceOf(
	ctx context.Context, f synth.Fitter, t *table.Table, b accountant.Budget, confidence float64,
) (DistanceResult, error) {
	s, n := t.Schema(), t.Rows()/2
	switch {
	case s.Unit != "" || n < 1:
		return DistanceResult{},
			fmt.Errorf("attack: the table must have two rows at least, and no id column")
	case len(s.Buys()) > 0:
		return DistanceResult{}, fmt.Errorf("attack: %w", errBins)
	}
	run, _, _, err := fitter(f, s, accountant.ReplaceOne, b)
	if err != nil {
		return DistanceResult{}, err
	}
	order := rand.Perm(t.Rows())
	train := t.Select(order[:n])
	params, err := run(ctx, train)
	if err != nil {
		return DistanceResult{}, fmt.Errorf("attack: %s: %w", f.Name(), err)
	}
	drawn := params.Sample(n, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
	synthetic, err := table.FromColumns(s, codesOf(drawn, s.Sizes()), nil)
	if err != nil {
		return DistanceResult{}, fmt.Errorf("attack: %w", err)
	}
	return Distance(train, t.Select(order[n:2*n]), synthetic, b, confidence)
}
