package stats

import (
	"context"
	"errors"
	"math"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// Counted are noisy numbers of rows, with the standard error that all of them have.
type Counted struct {
	Counts []int64
	StdErr float64
}

// Count counts the rows for which each of some expressions holds, with discrete Laplace noise of
// one scale: the least with which all of them cost the budget, whose δ may be 0. Errors before the
// reservation have spent nothing; the session is nil then.
func Count(
	ctx context.Context, rows *privacy.Rows, asked []table.Expr, r Run[Counted],
) (Counted, *privacy.Session, error) {
	s := rows.Schema()
	if _, err := table.CompileExprs(s.Sizes(), asked); err != nil || len(asked) == 0 {
		return Counted{}, nil, errors.Join(err, errors.New("count: questions that no row answers"))
	}
	nb := privacy.NeighboursOf(s, r.Adjacency)
	at := func(scale float64) accountant.Composition {
		return accountant.Composition{{Event: nb.LaplaceEvent(privacy.Where{}, scale), Count: len(asked)}}
	}
	scale, err := accountant.ScaleFor(r.Budget, nb.Adjacency, at)
	if err != nil {
		return Counted{}, nil, err
	}
	q := math.Exp(-1 / scale)
	return r.buy(ctx, rows, "count", at(scale), func(s *privacy.Session) (Counted, error) {
		out := Counted{StdErr: math.Sqrt(2*q) / (1 - q)}
		for _, x := range asked {
			n, err := s.MeasureLaplace(privacy.Where{Expr: x}, scale)
			if err != nil {
				return out, err
			}
			out.Counts = append(out.Counts, n[0])
		}
		return out, nil
	})
}
