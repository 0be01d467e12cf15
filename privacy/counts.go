package privacy

import (
	"fmt"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/table"
)

// MaxCells is the most cells that one marginal of [Session.Counts] or [Session.Select] may have.
const MaxCells = 1 << 27

// Marginal names the disjoint cells of a contingency table over some columns of the schema. The codes of a column may be merged
// into groups, which the caller chose from public or already noised knowledge; a row is still in exactly one cell.
type Marginal struct {
	Cols   []int      // distinct columns, in any order
	Groups [][]uint16 // nil, or one entry a column: nil, or the group of each code, groups numbered from 0 without gaps
}

// Noisy is a marginal measured under DP. It is public.
type Noisy struct {
	Marginal
	Counts []int64 // row-major, last column fastest; may be negative
	Sigma  float64 // standard deviation of the noise in each cell
}

// Total returns the number of rows plus round(N(0, sigma²)): a rounded Gaussian, exactly GDP with μ = k/σ
// (docs/claims/total.md). Event: [Neighbours.TotalEvent].
func (s *Session) Total(l label, sigma float64) (int64, error) {
	g, err := noise.NewRoundedGaussian(sigma)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.charge(l, s.nb.TotalEvent(sigma)); err != nil {
		return 0, err
	}
	return int64(s.data().Rows()) + g.Sample(s.src), nil
}

// Counts returns the marginal m, each cell plus independent round(N(0, sigma²)): a rounded Gaussian mechanism, exactly GDP with
// μ = Δ₂/σ (docs/claims/counts.md). Event: [Neighbours.CountsEvent].
func (s *Session) Counts(l label, m Marginal, sigma float64) (Noisy, error) {
	g, err := noise.NewRoundedGaussian(sigma)
	if err != nil {
		return Noisy{}, err
	}
	c, err := s.counter(m)
	if err != nil {
		return Noisy{}, fmt.Errorf("privacy: %s: %w", l, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.charge(l, s.nb.CountsEvent(sigma)); err != nil {
		return Noisy{}, err
	}
	counts := c.count(s.data())
	g.AddTo(counts, s.src)
	return Noisy{Marginal: m, Counts: counts, Sigma: sigma}, nil
}

// Answer returns the number of rows that satisfy the predicate plus discrete Laplace noise of the given scale
// (docs/claims/answer.md). Event: [Neighbours.AnswerEvent].
func (s *Session) Answer(l label, p table.Predicate, scale float64) (int64, error) {
	lap, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		return 0, err
	}
	sizes := s.schema.Sizes()
	for _, c := range p {
		if c.Column < 0 || c.Column >= len(sizes) || len(c.Allow) != sizes[c.Column] {
			return 0, fmt.Errorf("privacy: %s: a condition of the predicate does not fit column %d of the schema", l, c.Column)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.charge(l, s.nb.AnswerEvent(scale)); err != nil {
		return 0, err
	}
	return s.data().CountWhere(p) + lap.Sample(s.src), nil
}
