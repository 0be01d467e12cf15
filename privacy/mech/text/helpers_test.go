package text

import (
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

// of is a session on a column.
func of(c table.TextColumn) *session {
	return &session{opened: &opened{texts: func() *table.Texts {
		return &table.Texts{Columns: []table.TextColumn{c}}
	}}}
}

// classes are the counts of a column.
func classes(c table.TextColumn) []int64 {
	counts, _ := of(c).classes(0)
	return counts
}

// values are the noisy counts of a column, as a session releases them.
func values(
	c table.TextColumn, m schema.Magnitudes, g *noise.RoundedGaussian, threshold int64,
	src *noise.Source,
) ([]int64, []found) {
	w := Question{Magnitudes: m, Texts: true}
	e := valuesOf(c, w)
	found, _ := of(c).spell([]Question{w}, [][]other{e.addTo(g, threshold, src)}, columnRoom)
	return e.magnitudes, found[0]
}

// ask asks about one column; with δ for its texts too.
func ask(s *Session, column int, m schema.Magnitudes, d Selection) ([]int64, []Found, error) {
	held, err := s.Values([]Question{{column, m, d.Delta != 0}}, d)
	if err != nil {
		return nil, nil, err
	}
	return held[0].Magnitudes, held[0].Texts, nil
}

var (
	follows       = gatetest.Follows
	roundedNormal = gatetest.RoundedNormal
)

var relations = []privacy.Neighbours{
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1},
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 4},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 1},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 4},
}

// wide is a budget for tests that are not about the budget.
var wide = accountant.Budget{Epsilon: 1e12, Delta: 1e-9}

// gaussian plans n calls of a Gaussian mechanism for single rows.
func gaussian(sigma float64, n int) accountant.Composition {
	return accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: sigma}, Count: n}}
}
