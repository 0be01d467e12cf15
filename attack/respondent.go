package attack

import (
	"context"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Collect is the name of an answer of 'decoy collect', as [Respondent] audits it.
const Collect = "collect"

// Respondent is one answer to a form, with the local claim of its ε, and the two rows that answers
// tell apart best: the first code in every column, and the last. In every question one is the first
// cell and the other the last, and e^ε is how much likelier the one row makes an answer that names
// its own cell and not the other's, whichever question was drawn and however it is answered. answer
// gives the cells that an answer about a table of one row names, of so many; errors are its own.
func Respondent(
	s *schema.Schema, epsilon float64,
	answer func(ctx context.Context, t *table.Table) (named []int, cells int, err error),
) (Mechanism, *Pair, error) {
	claim, err := ClaimOf(accountant.Budget{Epsilon: epsilon}, accountant.ReplaceOne,
		accountant.Composition{{Event: accountant.Laplace{Epsilon: epsilon}, Count: 1}})
	if err != nil {
		return Mechanism{}, nil, err
	}
	pair, err := Neighbours(s, accountant.ReplaceOne, Rare, 0)
	if err != nil {
		return Mechanism{}, nil, err
	}
	pair.Name = "one row"
	pair.In = pair.In.Select([]int{pair.In.Rows() - 1})
	pair.Out = pair.Out.Select([]int{0})
	pair.Strong, pair.Strength = pair.In, 1
	return Mechanism{Name: Collect, Claim: claim,
		Run: func(ctx context.Context, t *table.Table) ([]float64, error) {
			named, cells, err := answer(ctx, t)
			score := 0.0
			for _, cell := range named {
				switch cell {
				case 0:
					score--
				case cells - 1:
					score++
				}
			}
			return []float64{score}, err
		}}, pair, nil
}
