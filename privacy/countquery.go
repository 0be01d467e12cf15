package privacy

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
)

// CountQuery returns the number of rows that satisfy query i plus round(N(0, sigma²)): a rounded Gaussian, exactly GDP with μ = k/σ
// (docs/claims/countquery.md). Event: [Neighbours.CountQueryEvent].
func (s *session) CountQuery(q *Queries, i int, sigma float64) (int64, error) {
	g, err := noise.NewRoundedGaussian(sigma)
	if err != nil {
		return 0, err
	}
	if err := q.has(s, i); err != nil {
		return 0, fmt.Errorf("privacy: a query: %w", err)
	}
	question := ask("count query").text(q.names[i]).floats(sigma)
	return s.releaseInt(call{"a query", question, once(s.nb.CountQueryEvent(sigma)), nil}, func() (int64, error) {
		return q.read()[i] + g.Sample(s.src), nil
	})
}

// CountQueryEvent is the event of [Session.CountQuery] at standard deviation sigma: a single count, Gaussian with Δ₂ = k.
func (nb Neighbours) CountQueryEvent(sigma float64) accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: down(sigma, nb.k())}
}
