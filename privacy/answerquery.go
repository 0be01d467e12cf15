package privacy

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
)

// AnswerQuery returns the number of rows that satisfy query i plus discrete Laplace noise of the given scale (docs/claims/answerquery.md):
// [Session.Answer] for any expression. Event: [Neighbours.AnswerQueryEvent].
func (s *session) AnswerQuery(q *Queries, i int, scale float64) (int64, error) {
	lap, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		return 0, err
	}
	if err := q.has(s, i); err != nil {
		return 0, fmt.Errorf("privacy: a query: %w", err)
	}
	question := ask("answer query").text(q.names[i]).floats(scale)
	return s.releaseInt(call{"a query", question, once(s.nb.AnswerQueryEvent(scale)), nil}, func() (int64, error) {
		return q.read()[i] + lap.Sample(s.src), nil
	})
}

// AnswerQueryEvent is the event of [Session.AnswerQuery] with noise of the given scale: a single count, Δ₁ = k.
func (nb Neighbours) AnswerQueryEvent(scale float64) accountant.Event {
	return accountant.Laplace{Epsilon: up(nb.k(), scale)}
}
