package text

import (
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

// tiny is the noise: the least that the samplers take.
const tiny = noise.MinScale

type (
	small    = gatetest.Small[privacy.Neighbours]
	smallRow gatetest.SmallRow[privacy.Neighbours]
	value    = gatetest.Value
)

// smallTexts is one column of texts, the names of the cells.
func smallTexts(s *small, names []string) *Table {
	var cells []string
	var units []uint32
	for i, u := range s.Units {
		for _, c := range u {
			cells, units = append(cells, names[c]), append(units, uint32(i))
		}
	}
	if units == nil {
		units = []uint32{}
	}
	return textTable(cells, units, s.NB.MaxRowsPerUnit, nil)
}

// openSmall is a session on them.
func openSmall(s *small, names []string, e accountant.Event) *Session {
	s.T.Helper()
	return openText(
		s.T, smallTexts(s, names), s.NB.Adjacency, accountant.Composition{{Event: e, Count: 1}},
	)
}

// smallValues is the counts of the whole numbers, and of all other texts: those that reach the
// threshold are released, and only those that more than a unit's rows have.
func smallValues(s *small, names []string, d Selection) value {
	o := newFinder(s.T, smallTexts(s, names), s.NB.Adjacency)
	g := stattest.Must(noise.NewRoundedGaussian(d.Sigma))
	c, m := o.data.Columns[0], schema.Magnitudes{Kind: schema.Integer, PerPower: 1}
	texts := make([]float64, len(names))
	for i, n := range c.Counts() {
		if _, ok := m.Of([]byte(c.Texts[i])); !ok {
			texts[slices.Index(names, c.Texts[i])] = float64(n)
		}
	}
	magnitudes, found := values(c, m, g, SelectionThreshold(s.NB, d), o.src)
	for _, f := range found {
		if n := texts[slices.Index(names, string(f.Text))]; float64(f.Rows) != n ||
			n <= float64(s.NB.MaxRowsPerUnit) {
			s.T.Fatalf("%v: %q is released with %d rows, it has %v", s.NB, f.Text, f.Rows, n)
		}
	}
	for _, n := range magnitudes {
		texts = append(texts, float64(n))
	}
	return value{texts}
}

func smallRows() []smallRow {
	names := []string{"", "17", "x", "-2.5"}
	classes := func(adj privacy.Neighbours) accountant.Event {
		return adj.MeasureEvent(privacy.Marginal{}, tiny)
	}
	discovery := Selection{Sigma: tiny, Delta: 1e-9}
	return []smallRow{
		{"Kinds", "", func(s *small) value {
			return gatetest.One[int64](s)(openSmall(s, names, classes(s.NB)).Kinds(0, tiny))
		}, gatetest.GaussianClaim(tiny, classes), gatetest.L2, nil},
		{"Magnitudes", "", func(s *small) value {
			m := schema.Magnitudes{Kind: schema.Real, PerPower: 1}
			counts, _, err := ask(openSmall(s, names, classes(s.NB)), 0, m, Selection{Sigma: tiny})
			return gatetest.One[int64](s)(counts, err)
		}, gatetest.GaussianClaim(tiny, classes), gatetest.L2, nil},
		{"Parts", "", func(s *small) value {
			m := schema.Magnitudes{Kind: schema.Real, Edges: []float64{-3, 0, 17, 17.5}}
			counts, _, err := ask(openSmall(s, names, classes(s.NB)), 0, m, Selection{Sigma: tiny})
			return gatetest.One[int64](s)(counts, err)
		}, gatetest.GaussianClaim(tiny, classes), gatetest.L2, nil},
		{"Values", "", func(s *small) value { return smallValues(s, names, discovery) },
			gatetest.GaussianClaim(
				tiny,
				func(nb privacy.Neighbours) accountant.Event { return selectionEvents(nb, discovery)[0].Event },
			), gatetest.L2, nil},
		relationsRow(),
	}
}

func TestSmallTables(t *testing.T) {
	var rows []gatetest.SmallRow[privacy.Neighbours]
	for _, row := range smallRows() {
		rows = append(rows, gatetest.SmallRow[privacy.Neighbours](row))
	}
	gatetest.RunSmall(t, []string{"Kinds", "Magnitudes", "Parts", "Values", "Relations"}, rows,
		func(adj accountant.Adjacency, k int) privacy.Neighbours {
			return privacy.Neighbours{Adjacency: adj, MaxRowsPerUnit: k}
		})
}
