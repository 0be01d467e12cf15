package attack

import (
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/collect"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Collect is the name of an answer of 'decoy collect', as [Gate] audits it.
const Collect = "collect"

// respondent is one answer to a form, with the local claim of its ε, and the two rows that answers
// tell apart best: the first code in every column, and the last. In every question one is the first
// cell and the other the last, and e^ε is how much likelier the one row makes an answer that names
// its own cell and not the other's, whichever question was drawn and however it is answered.
func respondent(s *schema.Schema, b accountant.Budget) (Mechanism, *Pair, error) {
	form, err := collect.NewForm(s, b.Epsilon)
	if err != nil {
		return Mechanism{}, nil, err
	}
	b.Delta = 0
	claim, err := ClaimOf(b, accountant.ReplaceOne,
		accountant.Composition{{Event: accountant.Laplace{Epsilon: b.Epsilon}, Count: 1}})
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
			a, _, err := form.Answer(ctx, privacy.FromTable(t), collect.Options{})
			if err != nil {
				return nil, fmt.Errorf("attack: %s: %w", Collect, err)
			}
			cells, _, _ := a.Odds()
			score := 0.0
			for _, cell := range a.Named {
				switch cell {
				case 0:
					score--
				case cells - 1:
					score++
				}
			}
			return []float64{score}, nil
		}}, pair, nil
}
