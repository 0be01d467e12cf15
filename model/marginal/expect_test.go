package marginal

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// chainModel is a fitted model whose tree is a chain with a branch, over columns of 2, 3, 4, 2, 5,
// 3 codes, and one column on its own.
func chainModel(t testing.TB) *Model {
	t.Helper()
	u := rand.New(rand.NewPCG(3, 4))
	sizes := []int{2, 3, 4, 2, 5, 3, 2}
	var ms []Measurement
	for _, cols := range [][]int{{0, 1}, {1, 2}, {2, 3}, {2, 4}, {4, 5}, {6}} {
		m := Measurement{Cols: cols, Sigma: 1, Counts: make([]float64, int(cellsOf(sizes, cols)))}
		for i := range m.Counts {
			m.Counts[i] = 2000 * u.Float64() / float64(len(m.Counts))
		}
		ms = append(ms, m)
	}
	model := stattest.Must(Fit(context.Background(), sizes, ms, Options{Total: 1000}))
	return model
}

// TestExpect compares with the sum over the table of all columns, for every set of weighted
// columns.
func TestExpect(t *testing.T) {
	m := chainModel(t)
	u := rand.New(rand.NewPCG(1, 2))
	d := len(m.tree.sizes)
	for set := range 1 << d {
		var cols []int
		weights := map[int][]float64{}
		for c := range d {
			if set>>c&1 == 1 {
				cols = append(cols, c)
				w := make([]float64, m.tree.sizes[c])
				for i := range w {
					w[i] = float64(u.IntN(3)) / 2
				}
				weights[c] = w
			}
		}
		table := make([]float64, int(cellsOf(m.tree.sizes, cols)))
		stattest.Check(t, m.MarginalTo(table, cols))
		want := 0.0
		for i, x := range table {
			for k := len(cols) - 1; k >= 0; k-- {
				n := m.tree.sizes[cols[k]]
				x *= weights[cols[k]][i%n]
				i /= n
			}
			want += x
		}
		if got := m.Expect(weights); math.Abs(got-want) > 1e-9*m.total {
			t.Errorf("columns %v: %v, want %v", cols, got, want)
		}
	}
}

func TestFromFactors(t *testing.T) {
	sizes := []int{3, 2, 2}
	m := must(FromFactors(sizes, [][]int{{2, 0}, {1}}, [][]float64{{1, 2, 3, 4, 5, 5}, {1, 3}}, 40))
	got := make([]float64, 6)
	stattest.Check(t, m.MarginalTo(got, []int{2, 0}))
	for i, want := range []float64{2, 4, 6, 8, 10, 10} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Fatalf("the table came back as %v", got)
		}
	}
	if got := m.Expect(map[int][]float64{0: {0, 0, 1}, 1: {1, 0}}); math.Abs(got-4) > 1e-12 {
		t.Errorf("columns of two cliques: %v, want 16/40·1/4·40", got)
	}
	b := stattest.Must(m.MarshalBinary())
	var back Model
	stattest.Check(t, back.UnmarshalBinary(b))
	if rows := back.Sample(8, rand.New(rand.NewPCG(1, 2))); len(rows) != 3 || len(rows[0]) != 8 {
		t.Errorf("sampled %v", rows)
	}
	for name, c := range map[string]struct {
		cliques [][]int
		tables  [][]float64
		total   float64
	}{
		"left out":     {[][]int{{0}, {1}}, [][]float64{{1, 1, 1}, {1, 1}}, 1},
		"shared zeros": {[][]int{{0, 1}, {1, 2}}, [][]float64{make([]float64, 6), {1, 1, 1, 1}}, 1},
		"twice":        {[][]int{{0, 0}, {1, 2}}, [][]float64{{1, 1, 1}, {0, 0, 0, 1}}, 1},
		"out of range": {[][]int{{0, 3}, {1, 2}}, [][]float64{{1, 1, 1}, {0, 0, 0, 1}}, 1},
		"length":       {[][]int{{0}, {1, 2}}, [][]float64{{1, 1, 1}, {1, 1}}, 1},
		"zero":         {[][]int{{0}, {1, 2}}, [][]float64{{1, 1, 1}, {0, 0, 0, 0}}, 1},
		"negative":     {[][]int{{0}, {1, 2}}, [][]float64{{1, -1, 1}, {0, 0, 0, 1}}, 1},
		"infinite":     {[][]int{{0}, {1, 2}}, [][]float64{{1, math.Inf(1), 1}, {0, 0, 0, 1}}, 1},
		"total":        {[][]int{{0}, {1, 2}}, [][]float64{{1, 1, 1}, {0, 0, 0, 1}}, 0},
		"tables":       {[][]int{{0, 1, 2}}, nil, 1},
	} {
		stattest.Fails(t, stattest.Err(FromFactors(sizes, c.cliques, c.tables, c.total)),
			"%s: accepted", name)
	}
	stattest.Wraps(t, stattest.Err(FromFactors([]int{60000, 60000}, [][]int{{0, 1}}, [][]float64{{1}},
		1)), errTooLarge, "too large")
}

func TestNoGroupsAndShares(t *testing.T) {
	g := NoGroups([]int{3, 2})
	if !slices.Equal(g.Sizes(), []int{3, 2}) || g.Shares(0) != nil {
		t.Errorf("sizes %v", g.Sizes())
	}
	merged := stattest.Must(NewGrouping([]int{4},
		[]Measurement{{Cols: []int{0}, Counts: []float64{100, 1, 3, 90}, Sigma: 5}}, 2))
	s := merged.Shares(0)
	if s[0] != 1 || s[3] != 1 || math.Abs(s[1]+s[2]-1) > 1e-12 || !(s[2] > s[1]) {
		t.Errorf("shares %v", s)
	}
}
