package privacy

import (
	"fmt"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/schema"
)

// Kinds returns the number of rows whose cell in a column has each class of package schema (schema.Classify), plus independent
// round(N(0, sigma²)): the cells of a public partition of all texts, so a marginal like any other (docs/claims/kinds.md).
// Event: [Neighbours.MeasureEvent].
func (s *textSession) Kinds(column int, sigma float64) ([]int64, error) {
	return s.partition("classes", column, sigma, int(schema.Classes), func(text []byte) (int, bool) { return int(schema.Classify(text)), true })
}

// Magnitudes returns the number of rows whose cell in a column is a value of a numeric kind and falls into each of the public cells of
// schema.Magnitudes, plus independent round(N(0, sigma²)). Other cells are not counted (docs/claims/magnitudes.md). Event:
// [Neighbours.MeasureEvent].
func (s *textSession) Magnitudes(column int, m schema.Magnitudes, sigma float64) ([]int64, error) {
	if m.Len() == 0 {
		return nil, fmt.Errorf("privacy: %+v are no magnitudes", m)
	}
	return s.partition(fmt.Sprintf("magnitudes of kind %v, %d a power", m.Kind, m.PerPower), column, sigma, m.Len(), m.Of)
}

// partition counts the rows of a column in n disjoint cells, given by a public rule.
func (s *textSession) partition(what string, column int, sigma float64, n int, cell func(text []byte) (int, bool)) ([]int64, error) {
	g, err := noise.NewRoundedGaussian(sigma)
	if err != nil {
		return nil, err
	}
	if err := s.column(column); err != nil {
		return nil, err
	}
	c := call{fmt.Sprintf("%s of column %d", what, column+1), ask(what).ints(int64(column)).floats(sigma), once(s.s.nb.MeasureEvent(Marginal{}, sigma)), nil}
	return s.s.releaseInts(c, n, func() ([]int64, error) {
		counts := s.texts().cols[column].cellCounts(n, cell)
		g.AddTo(counts, s.s.src)
		return counts, nil
	})
}

// cellCounts is the number of rows in each of n cells.
func (c textColumn) cellCounts(n int, cell func(text []byte) (int, bool)) []int64 {
	counts := make([]int64, n)
	for i, rows := range c.counts() {
		if at, ok := cell([]byte(c.of[i])); ok {
			counts[at] += rows
		}
	}
	return counts
}
