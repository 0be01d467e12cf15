package privacy

import (
	"fmt"
	"slices"

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
func (s *session) Total(sigma float64) (int64, error) {
	g, err := noise.NewRoundedGaussian(sigma)
	if err != nil {
		return 0, err
	}
	return s.releaseInt(call{"number of rows", ask("total").floats(sigma), once(s.nb.TotalEvent(sigma)), nil}, func() (int64, error) {
		return int64(s.data().Rows()) + g.Sample(s.src), nil
	})
}

// Counts returns the marginal m, each cell plus independent round(N(0, sigma²)): a rounded Gaussian mechanism, exactly GDP with
// μ = Δ₂/σ (docs/claims/counts.md). Event: [Neighbours.CountsEvent].
func (s *session) Counts(m Marginal, sigma float64) (Noisy, error) {
	g, err := noise.NewRoundedGaussian(sigma)
	if err != nil {
		return Noisy{}, err
	}
	m = m.clone()
	c, err := s.counter(m)
	if err != nil {
		return Noisy{}, fmt.Errorf("privacy: a marginal: %w", err)
	}
	question := ask("counts").marginals(m).floats(sigma)
	counts, err := s.releaseInts(call{m.describe(), question, once(s.nb.CountsEvent(sigma)), nil}, c.merged, func() ([]int64, error) {
		counts := c.count(s.data())
		g.AddTo(counts, s.src)
		return counts, nil
	})
	if err != nil {
		return Noisy{}, err
	}
	return Noisy{Marginal: m, Counts: counts, Sigma: sigma}, nil
}

// Answer returns the number of rows that satisfy the predicate plus discrete Laplace noise of the given scale
// (docs/claims/answer.md). Event: [Neighbours.AnswerEvent].
func (s *session) Answer(p table.Predicate, scale float64) (int64, error) {
	lap, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		return 0, err
	}
	sizes := s.schema.Sizes()
	question := ask("answer").floats(scale)
	p = slices.Clone(p)
	for i, c := range p {
		if c.Column < 0 || c.Column >= len(sizes) || len(c.Allow) != sizes[c.Column] {
			return 0, fmt.Errorf("privacy: a condition of the predicate does not fit column %d of the schema", c.Column)
		}
		p[i].Allow = slices.Clone(c.Allow)
		question.text(fmt.Sprint(c.Column, c.Allow))
	}
	return s.releaseInt(call{"a count", question, once(s.nb.AnswerEvent(scale)), nil}, func() (int64, error) {
		return s.data().CountWhere(p) + lap.Sample(s.src), nil
	})
}

// clone shares no memory with m.
func (m Marginal) clone() Marginal {
	m.Cols, m.Groups = slices.Clone(m.Cols), slices.Clone(m.Groups)
	for i, g := range m.Groups {
		m.Groups[i] = slices.Clone(g)
	}
	return m
}

// describe is the marginal in a few words.
func (m Marginal) describe() string {
	const most = 8
	text := "counts of columns"
	if len(m.Cols) == 1 {
		text = "counts of column"
	}
	for i, c := range m.Cols {
		if i == most {
			return fmt.Sprintf("%s and %d more", text, len(m.Cols)-most)
		}
		text += fmt.Sprintf(" %d", c+1)
	}
	return text
}
