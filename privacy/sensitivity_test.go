package privacy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// TestSensitivity draws neighbouring tables under every relation and compares how far each
// mechanism's true value moves with the sensitivity that the gate uses. It must never be exceeded,
// and must be attained, or the gate would waste budget.
func TestSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	marginals := []Marginal{
		{Cols: []int{0}}, {Cols: []int{2, 1}}, {Cols: []int{0, 1, 2}}, {Cols: nil},
		{Cols: []int{2, 1}, Groups: [][]uint16{{0, 1, 0, 1}, nil}},
	}
	where := table.Condition{Column: 1, Allow: []bool{true, false, false}}
	for _, nb := range relations {
		s := &session{schema: testSchema("", 0), nb: nb}
		var candidates []Candidate
		for _, m := range marginals {
			est := make([]float64, compiledOf(t, s, m)[0].Cells)
			for i := range est {
				est[i] = 3 * u.Float64()
			}
			candidates = append(
				candidates, Candidate{Query: m, Estimate: est, Weight: .5 + u.Float64(), Penalty: u.Float64()},
			)
		}
		grid, queries, err := s.onGrid(candidates)
		stattest.Check(t, err)
		heaviest := 0.0
		for _, g := range grid {
			heaviest = max(heaviest, float64(g.weight))
		}
		// lambda = ε/(2Δ), so Δ in units of the scores is ε/(2·lambda).
		deltaScore := 1 / (2 * access.Down(1, 2*widest(grid)))
		var l1, l2, total, answer, score float64
		for range 4000 {
			ra, rb := pairOf(u, nb)
			a, b := testTable(t, s.schema, ra, nil), testTable(t, s.schema, rb, nil)
			for i, c := range queries {
				ca, cb := countOn(a, c), countOn(b, c)
				d1, d2 := 0.0, 0.0
				for j := range ca {
					d := float64(ca[j] - cb[j])
					d1 += math.Abs(d)
					d2 += d * d
				}
				l1, l2 = max(l1, d1), max(l2, math.Sqrt(d2))
				score = max(score, math.Abs(float64(grid[i].score(ca)-grid[i].score(cb)))/deltaScore)
			}
			total = max(total, math.Abs(float64(a.Rows()-b.Rows())))
			answer = max(answer, math.Abs(float64(byHand(a, where)-byHand(b, where))))
		}
		one, two := nb.deltas()
		for _, c := range []struct {
			name       string
			got, bound float64
			attained   bool
		}{
			{"Δ₁ of counts", l1, one, true},
			{"Δ₂ of counts", l2, two, true},
			{"Total", total, nb.k(), nb.Adjacency == accountant.AddRemove},
			{"Answer", answer, nb.k(), true},
			{"Select", score, 1, false},
		} {
			if c.got > c.bound {
				t.Errorf("%v: %s moved by %v, the gate assumes %v", nb, c.name, c.got, c.bound)
			}
			if c.attained && c.got < c.bound*(1-1e-12) {
				t.Errorf("%v: %s moved by at most %v, the gate assumes %v", nb, c.name, c.got, c.bound)
			}
		}
		if score < .3 {
			t.Errorf("%v: scores moved by at most %v of their sensitivity: the test shows little", nb, score)
		}
	}
}

// TestScoreSaturates: huge counts stay in range and in order, and a saturated score moves no more
// than an exact one.
func TestScoreSaturates(t *testing.T) {
	s := &session{schema: testSchema("", 0), nb: relations[0]}
	grid, _, err := s.onGrid([]Candidate{
		{Query: Marginal{Cols: []int{0}}, Estimate: []float64{0, 0}, Weight: 1024},
		{Query: Marginal{Cols: []int{0}}, Estimate: []float64{-1e12, 1e12}, Weight: 1024, Penalty: 2e8},
		{Query: Marginal{Cols: []int{0}}, Estimate: []float64{0, 0}, Weight: 1e-9, Penalty: -2e8},
	})
	stattest.Check(t, err)
	for i, g := range grid {
		last := int64(math.MinInt64)
		for _, c := range []int64{0, 1, 1e6, 1e9, 1e12, 1 << 45} {
			got := g.score([]int64{0, c})
			if got < -maxScore || got > maxScore {
				t.Errorf("candidate %d: the score of %d rows is %d", i, c, got)
			}
			if i != 1 && got < last {
				t.Errorf("candidate %d: the score falls from %d to %d", i, last, got)
			}
			last = got
		}
	}
	if grid[2].weight != 1 {
		t.Errorf("a tiny weight became %d", grid[2].weight)
	}
}

// TestScoreByHand pins the score's value.
func TestScoreByHand(t *testing.T) {
	s := &session{schema: testSchema("", 0), nb: relations[0]}
	grid, _, err := s.onGrid(
		[]Candidate{
			{Query: Marginal{Cols: []int{0}}, Estimate: []float64{2.5, 7}, Weight: 2, Penalty: 1},
		},
	)
	stattest.Check(t, err)
	// |4−2.5| + |5−7| − 1 = 2.5 rows, times 2.
	if got, want := grid[0].score([]int64{4, 5}),
		int64(5*(1<<access.EstimateBits)*(1<<weightBits)); got != want {
		t.Errorf("score %d, want %d", got, want)
	}
}
