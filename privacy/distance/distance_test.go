package distance

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
	"github.com/decoy-dp/decoy/privacy/query"
)

type (
	marginal  = privacy.Marginal
	candidate = privacy.Candidate
)

// off is the distance of a marginal's counts on some rows from estimates, on the grid.
func off(t *testing.T, m marginal, rows [][3]uint8, estimate []float64) int64 {
	t.Helper()
	tab := gatetest.Table(t, gatetest.Schema("", 0), rows, nil)
	counts := make([]int64, len(estimate))
	tab.CountTo(counts, m.Cols)
	grid, err := access.Estimate(estimate, len(counts))
	if err != nil {
		t.Fatal(err)
	}
	return access.Distance(counts, grid, 0, maxDistance)
}

func TestDistanceByHand(t *testing.T) {
	// |4−2.5| + |5−7| = 3.5 rows
	estimate, err := access.Estimate([]float64{2.5, 7}, 2)
	if err != nil {
		t.Fatal(err)
	}
	got := access.Distance([]int64{4, 5}, estimate, 0, maxDistance)
	if got != 3.5*(1<<access.EstimateBits) {
		t.Errorf("distance %d, want %v", got, 3.5*(1<<access.EstimateBits))
	}
	for _, c := range []int64{1 << 31, 1 << 40, 1 << 50} {
		if got := access.Distance([]int64{c, c}, estimate, 0, maxDistance); got != maxDistance {
			t.Errorf("%d rows are at distance %d", c, got)
		}
	}
}

// TestDistanceSensitivity compares how far the sum of distances moves between neighbours with Δ of
// the event, under every relation.
func TestDistanceSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 10))
	for _, nb := range mechtest.Relations {
		// Two marginals with the same extremes: a unit in one cell that was over the estimate everywhere
		// moves both by all it has.
		first, second := marginal{Cols: []int{0, 1}}, marginal{Cols: []int{2}}
		sum := func(rows [][3]uint8) int64 {
			return off(t, first, rows, make([]float64, 6)) +
				off(t, second, rows, []float64{90, 0, 90, 0})
		}
		delta := 10 / Event(nb, []privacy.Query{marginal{}, marginal{}},
			10).(accountant.Gaussian).NoiseMultiplier
		far := 0.
		for range 6000 {
			a, b := gatetest.PairOf(u, nb.Adjacency, nb.MaxRowsPerUnit)
			moved := sum(a) - sum(b)
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
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(60), nil)
	event := Event(mechtest.Relations[0], []privacy.Query{marginal{}, marginal{}}, sigma)
	s := mechtest.On(t, tab, 0, accountant.Charge{Event: event, Count: n})
	candidates := []candidate{
		{Query: marginal{Cols: []int{0}}, Estimate: []float64{20, 30}}, // 30 and 30 rows: 10 off
		{Query: marginal{Cols: []int{1}}, Estimate: []float64{20, 20.5, 19}},
	}
	draws := make([]int64, n)
	for k := range draws {
		got, err := Measure(s, candidates, sigma)
		if err != nil {
			t.Fatal(err)
		}
		draws[k] = int64(math.Round(got - 11.5))
	}
	law := func(scale float64) func(int64) float64 {
		return func(x int64) float64 { return gatetest.RoundedNormal(x, scale) }
	}
	if !gatetest.Follows(draws, 14, law(sigma)) {
		t.Error("the noise does not follow its law")
	}
	for _, wrong := range []float64{.7, 1.3} {
		if gatetest.Follows(draws, 14, law(wrong*sigma)) {
			t.Errorf("%v times the noise is accepted", wrong)
		}
	}
}

func TestDistanceIsChargedBeforeReading(t *testing.T) {
	event := Event(mechtest.Relations[0], []privacy.Query{marginal{}}, 5)
	s := mechtest.On(t, gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(12), nil), 0,
		accountant.Charge{Event: event, Count: 1})
	reads := 0
	query := mechtest.Reading{Query: marginal{Cols: []int{0}}, Reads: &reads}
	one := func(weight, penalty float64) []candidate {
		return []candidate{
			{Query: query, Estimate: []float64{1, 2}, Weight: weight, Penalty: penalty},
		}
	}
	for name, call := range map[string]func() error{
		"weight":       func() error { _, err := Measure(s, one(2, 0), 5); return err },
		"penalty":      func() error { _, err := Measure(s, one(1, 3), 5); return err },
		"no candidate": func() error { _, err := Measure(s, nil, 5); return err },
		"estimates": func() error {
			_, err := Measure(s, []candidate{{Query: query, Estimate: []float64{1}}}, 5)
			return err
		},
		"sigma": func() error { _, err := Measure(s, one(1, 0), math.Inf(1)); return err },
		"more marginals": func() error {
			_, err := Measure(s, append(one(1, 0), one(1, 0)...), 5)
			return err
		},
		"too many": func() error {
			_, err := Measure(s, make([]candidate, maxDistances+1), 5)
			return err
		},
	} {
		if err := call(); err == nil || reads > 0 {
			t.Errorf("%s: error %v, %d reads", name, err, reads)
		}
	}
	if _, err := Measure(s, one(0, 0), 5); err != nil || reads == 0 {
		t.Errorf("the planned call: %v, %d reads", err, reads)
	}
	reads = 0
	if _, err := Measure(s, one(1, 0), 5); !errors.Is(err, privacy.ErrPlan) || reads > 0 {
		t.Errorf("a call beyond the plan: %v, %d reads", err, reads)
	}
}

// TestSmallTables: on every table of up to four rows, and every neighbour, the sum moves by at most
// the sensitivity in the event, and somewhere by that.
func TestSmallTables(t *testing.T) {
	const sigma = noise.MinScale / (1 << access.EstimateBits) // none
	both := marginal{Cols: []int{1, 0}}
	row := func(with string, candidates []candidate, most func(nb privacy.Neighbours) float64,
	) mechtest.SmallRow {
		var qs []privacy.Query
		for _, c := range candidates {
			qs = append(qs, c.Query)
		}
		event := func(nb privacy.Neighbours) accountant.Event { return Event(nb, qs, sigma) }
		return mechtest.SmallRow{Mechanism: "Measure", With: with,
			Of: func(s *mechtest.Small) gatetest.Value {
				o := mechtest.On(s.T, s.Table, s.NB.Adjacency, accountant.Charge{Event: event(s.NB), Count: 1})
				sum, err := Measure(o, candidates, sigma)
				return gatetest.One[float64](s)([]float64{sum}, err)
			},
			Claim: gatetest.GaussianClaim(sigma, event), Norm: gatetest.L2, Most: most}
	}
	twice := candidate{Query: both, Estimate: []float64{9, 9, -9, -9}}
	mechtest.RunSmall(t, []mechtest.SmallRow{
		row("", []candidate{twice, twice}, nil),
		row("of kinds", []candidate{
			{Query: both, Estimate: []float64{-9, -9, -9, -9}},
			{Query: query.Total{}, Estimate: []float64{-9}},
		}, func(nb privacy.Neighbours) float64 {
			if nb.Adjacency == accountant.ReplaceOne { // all estimates are too small: k−1 rows of 3k
				return (1 - 1/float64(nb.MaxRowsPerUnit)) * 2 / 3
			}
			return 1
		}),
	}, "Measure")
}
