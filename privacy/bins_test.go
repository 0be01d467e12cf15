package privacy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// fineSchema has a column of 20 cells, of which 4 bins are bought, and a plain one of two codes.
func fineSchema(unit string, k int) *schema.Schema {
	return &schema.Schema{Unit: unit, MaxRowsPerUnit: k, Columns: []schema.Column{
		{Name: "x", Kind: schema.Real, Max: 20, Bins: 20, BuyBins: 4, BuyShare: .1,
			Missing: []string{""}},
		{Name: "y", Kind: schema.Categorical, Categories: []string{"a", "b"}},
	}}
}

func fineTable(t testing.TB, s *schema.Schema, x, y []uint8, units []uint32) *table.Table {
	t.Helper()
	tab := stattest.Must(table.FromColumns(s, []table.Codes{{U8: x}, {U8: y}}, units))
	return tab
}

func TestMergeBins(t *testing.T) {
	s := fineSchema("id", 2)
	x, y := []uint8{0, 4, 5, 9, 10, 19, 20, 7}, []uint8{0, 1, 0, 1, 0, 1, 0, 1}
	units := []uint32{0, 0, 1, 1, 2, 2, 3, 3}
	session := open(t, fineTable(t, s, x, y, units), accountant.Composition{
		{Event: accountant.Gaussian{NoiseMultiplier: .01}, Count: 2},
	})
	must(session.Measure(Marginal{Cols: []int{0}}, .02))
	before := len(session.Ledger().Entries)
	coarse := must(s.Bought([][]int{{0, 5, 6, 10}}))
	stattest.Check(t, session.MergeBins(coarse))
	if got := len(session.Ledger().Entries); got != before {
		t.Errorf("coarsening wrote %d ledger entries: it is no mechanism", got-before)
	}
	if got := session.Ledger().Entries[1].SchemaSHA256; got != s.Fingerprint() {
		t.Error("the ledger lost the fingerprint of the declared schema")
	}
	if session.Schema().Fingerprint() != coarse.Fingerprint() {
		t.Error("the session has the old schema")
	}
	got := session.in.Table()
	if !slices.Equal(got.Column(0).U8, []uint8{0, 0, 1, 2, 3, 3, 4, 2}) ||
		!slices.Equal(got.Column(1).U8, y) {
		t.Errorf("codes %v, %v", got.Column(0), got.Column(1))
	}
	if !slices.Equal(got.Units(), units) {
		t.Errorf("units %v, want %v: rows of a unit must stay together", got.Units(), units)
	}
	// The counts of before, of the same query, are not remembered.
	m, err := session.Measure(Marginal{Cols: []int{0}}, .02)
	if err != nil || !slices.Equal(m, []int64{2, 1, 2, 2, 1}) {
		t.Errorf("%v, %v: after coarsening, want 4 bins and a missing one", m, err)
	}
	stattest.Wraps(t, session.MergeBins(s), schema.ErrInvalid, "going back to the finer schema")
	stattest.Check(t, session.Finish(nil, nil))
	stattest.Wraps(t, session.MergeBins(coarse), ErrClosed, "closed")
}

// TestMergeBinsKeepsNeighbours: what coarsening makes of neighbouring tables is neighbouring under
// the same relation, for units of one and of three rows and both adjacencies: one row, one row, and
// nothing of one unit depends on another.
func TestMergeBinsKeepsNeighbours(t *testing.T) {
	u := rand.New(rand.NewPCG(11, 12))
	s := fineSchema("", 0)
	coarse := stattest.Must(s.Bought([][]int{{0, 5, 6, 10}}))
	groups := stattest.Must(s.Groups(coarse))
	for _, nb := range relations {
		_, _, delta := access.RowCells.Sensitivity(nb.MaxRowsPerUnit, nb.Adjacency)
		attained := 0.0
		for range 300 {
			var ax, ay, bx, by []uint8
			draw := func(n int, x, y *[]uint8) {
				for range n {
					*x, *y = append(*x, uint8(u.IntN(21))), append(*y, uint8(u.IntN(2)))
				}
			}
			draw(u.IntN(20), &ax, &ay)
			bx, by = slices.Clone(ax), slices.Clone(ay)
			if nb.Adjacency == accountant.ReplaceOne {
				draw(nb.MaxRowsPerUnit, &ax, &ay)
			}
			draw(nb.MaxRowsPerUnit, &bx, &by)
			var counts [2][]int64
			for i, rows := range [][2][]uint8{{ax, ay}, {bx, by}} {
				tab := must(regroup(fineTable(t, s, rows[0], rows[1], nil), coarse, groups))
				counts[i] = tab.Counts(0, 1)
			}
			square := 0.0
			for i := range counts[0] {
				square += math.Pow(float64(counts[0][i]-counts[1][i]), 2)
			}
			attained = max(attained, math.Sqrt(square))
		}
		if attained > delta {
			t.Errorf("%v: the coarse counts moved by %v, the gate assumes %v", nb, attained, delta)
		}
		if nb.MaxRowsPerUnit == 1 && attained < delta*(1-1e-9) {
			t.Errorf("%v: the coarse counts moved by %v only: the test shows little", nb, attained)
		}
	}
}
