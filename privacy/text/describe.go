package text

import (
	"fmt"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/schema"
)

// Kinds returns the number of rows whose cell in a column has each class of package schema
// (schema.Classify), plus independent round(N(0, sigma²)): the cells of a public partition of all
// texts, so a marginal like any other (docs/claims/kinds.md). Event:
// [privacy.Neighbours.MeasureEvent].
func (s *session) Kinds(column int, sigma float64) ([]int64, error) {
	return s.partition(
		"classes", column, sigma, int(schema.Classes),
		func(text []byte) (int, bool) { return int(schema.Classify(text)), true },
	)
}

// Magnitudes returns the number of rows whose cell in a column is a value of a numeric kind and
// falls into each of the public cells of schema.Magnitudes, plus independent round(N(0, sigma²)).
// Other cells are not counted (docs/claims/magnitudes.md). Event:
// [privacy.Neighbours.MeasureEvent].
func (s *session) Magnitudes(column int, m schema.Magnitudes, sigma float64) ([]int64, error) {
	if m.Len() == 0 {
		return nil, fmt.Errorf("privacy: %+v are no magnitudes", m)
	}
	return s.partition(
		fmt.Sprintf("magnitudes of kind %v, %d a power", m.Kind, m.PerPower), column, sigma, m.Len(),
		m.Of,
	)
}

// partition counts the rows of a column in n disjoint cells, given by a public rule.
func (s *session) partition(
	what string, column int, sigma float64, n int, cell func(text []byte) (int, bool),
) ([]int64, error) {
	g, err := noise.NewRoundedGaussian(sigma)
	if err != nil {
		return nil, err
	}
	if err := s.column(column); err != nil {
		return nil, err
	}
	c := access.Call{
		What: fmt.Sprintf("%s of column %d", what, column+1),
		Of:   access.Ask(what).Ints(int64(column)).Floats(sigma),
		Cost: access.Once(s.Neighbours().MeasureEvent(privacy.Marginal{}, sigma)),
	}
	return access.RunInts(s.s, c, n, func(in access.Rows) ([]int64, error) {
		counts := s.texts().cols[column].cellCounts(n, cell)
		g.AddTo(counts, in.Source)
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
