package privacy

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/table"
)

func TestDistanceByHand(t *testing.T) {
	s := &session{schema: testSchema("", 0), nb: relations[0]}
	grid, _, err := s.onGrid(
		[]Candidate{{Query: Marginal{Cols: []int{0}}, Estimate: []float64{2.5, 7}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	// |4−2.5| + |5−7| = 3.5 rows
	if got := grid[0].distance([]int64{4, 5}); got != 3.5*(1<<access.EstimateBits) {
		t.Errorf("distance %d, want %v", got, 3.5*(1<<access.EstimateBits))
	}
	for _, c := range []int64{1 << 31, 1 << 40, 1 << 50} {
		if got := grid[0].distance([]int64{c, c}); got != maxDistance {
			t.Errorf("%d rows are at distance %d", c, got)
		}
	}
}

// TestDistanceSensitivity compares how far the sum of distances moves between neighbours with Δ of
// the event, under every relation.
func TestDistanceSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 10))
	for _, nb := range relations {
		s := &session{schema: testSchema("", 0), nb: nb}
		// Two marginals with the same extremes: a unit in one cell that was over the estimate everywhere
		// moves both by all it has.
		grid, queries, err := s.onGrid([]Candidate{
			{Query: Marginal{Cols: []int{0, 1}}, Estimate: make([]float64, 6)},
			{Query: Marginal{Cols: []int{2}}, Estimate: []float64{90, 0, 90, 0}},
		})
		if err != nil {
			t.Fatal(err)
		}
		delta := 10 / nb.DistanceEvent([]Query{Marginal{}, Marginal{}},
			10).(accountant.Gaussian).NoiseMultiplier
		far := 0.
		for range 6000 {
			ra, rb := pairOf(u, nb)
			a, b := testTable(t, s.schema, ra, nil), testTable(t, s.schema, rb, nil)
			moved := int64(0)
			for i, g := range grid {
				moved += g.distance(queries[i].count(nil, a)) - g.distance(queries[i].count(nil, b))
			}
			far = max(far, math.Abs(math.Ldexp(float64(moved), -access.EstimateBits)))
		}
		if far > delta*(1+1e-12) {
			t.Errorf("%v: the sum moves by %v, the event says %v", nb, far, delta)
		}
		// replacing a unit cannot move the first marginal, whose estimates are all too small
		want := delta
		if nb.Adjacency == accountant.ReplaceOne {
			want = delta / 2
		}
		if far < want*(1-1e-12) {
			t.Errorf("%v: the sum moves by at most %v, the event says %v", nb, far, delta)
		}
	}
}

// TestDistanceNoise. Null: released − true value is N(0, σ²), rounded on a grid of 2⁻¹² rows; 20
// 000 draws on the whole numbers, false-alarm rate 1e-6. A scale 30 % off must be rejected.
func TestDistanceNoise(t *testing.T) {
	const n, sigma = 20000, 4.0
	tab := testTable(t, testSchema("", 0), someRows(60), nil)
	s := open(
		t,
		tab,
		accountant.Composition{
			{Event: relations[0].DistanceEvent([]Query{Marginal{}, Marginal{}}, sigma), Count: n},
		},
	)
	candidates := []Candidate{
		{Query: Marginal{Cols: []int{0}}, Estimate: []float64{20, 30}}, // 30 and 30 rows: 10 off
		{Query: Marginal{Cols: []int{1}}, Estimate: []float64{20, 20.5, 19}},
	}
	draws := make([]int64, n)
	for k := range draws {
		got, err := s.Distance(candidates, sigma)
		if err != nil {
			t.Fatal(err)
		}
		draws[k] = int64(math.Round(got - 11.5))
	}
	law := func(scale float64) func(int64) float64 {
		return func(x int64) float64 { return roundedNormal(x, scale) }
	}
	if !follows(draws, 14, law(sigma)) {
		t.Error("the noise does not follow its law")
	}
	for _, wrong := range []float64{.7, 1.3} {
		if follows(draws, 14, law(wrong*sigma)) {
			t.Errorf("%v times the noise is accepted", wrong)
		}
	}
}

func TestDistanceIsChargedBeforeReading(t *testing.T) {
	s := open(
		t, testTable(t, testSchema("", 0), someRows(12), nil),
		accountant.Composition{{Event: relations[0].DistanceEvent([]Query{Marginal{}}, 5), Count: 1}},
	)
	reads := 0
	data := s.data
	s.data = func() *table.Table { reads++; return data() }
	one := func(weight, penalty float64) []Candidate {
		return []Candidate{
			{Query: Marginal{Cols: []int{0}}, Estimate: []float64{1, 2}, Weight: weight, Penalty: penalty},
		}
	}
	for name, call := range map[string]func() error{
		"weight":  func() error { _, err := s.Distance(one(2, 0), 5); return err },
		"penalty": func() error { _, err := s.Distance(one(1, 3), 5); return err },
		"sigma":   func() error { _, err := s.Distance(one(1, 0), math.Inf(1)); return err },
		"more marginals": func() error {
			_, err := s.Distance(append(one(1, 0), one(1, 0)...), 5)
			return err
		},
		"too many": func() error {
			_, err := s.Distance(make([]Candidate, maxDistances+1), 5)
			return err
		},
	} {
		if err := call(); err == nil || reads > 0 {
			t.Errorf("%s: error %v, %d reads", name, err, reads)
		}
	}
	if _, err := s.Distance(one(0, 0), 5); err != nil || reads == 0 {
		t.Errorf("the planned call: %v, %d reads", err, reads)
	}
	reads = 0
	if _, err := s.Distance(one(1, 0), 5); !errors.Is(err, ErrPlan) || reads > 0 {
		t.Errorf("a call beyond the plan: %v, %d reads", err, reads)
	}
}
