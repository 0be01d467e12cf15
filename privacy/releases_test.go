package privacy

import (
	"errors"
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

// TestLaplaceNoise. Null: released − true count is discrete Laplace of the named scale, in each of
// several cells; 20 000 draws, false-alarm rate 1e-6. The same draws must reject a scale 30 % too
// small or too large.
func TestLaplaceNoise(t *testing.T) {
	const n, scale = 20000, 4.0
	s := open(t, testTable(t, testSchema("", 0), someRows(600), nil),
		accountant.Composition{{Event: accountant.Laplace{Epsilon: 1 / scale}, Count: n}})
	for _, q := range []struct {
		query Query
		truth []int64
	}{{firstIs1, []int64{300}}, {Marginal{Cols: []int{1}}, []int64{200, 200, 200}}} {
		draws := make([]int64, n/2)
		for k := range draws {
			xs := stattest.Must(s.MeasureLaplace(q.query, scale))
			at := k % len(xs)
			draws[k] = xs[at] - q.truth[at]
		}
		for factor, want := range map[float64]bool{.7: false, 1: true, 1.3: false} {
			law := func(x int64) float64 { return gatetest.Laplace(x, factor*scale) }
			if got := follows(draws, 14, law); got != want {
				t.Errorf("%T: %v times the scale is accepted: %v", q.query, factor, got)
			}
		}
	}
}

// TestDistanceNoise. Null: released − true value is N(0, σ²), rounded on a grid of 2⁻¹² rows; 20
// 000 draws on the whole numbers, false-alarm rate 1e-6. A scale 30 % off must be rejected.
func TestDistanceNoise(t *testing.T) {
	const n, sigma = 20000, 4.0
	event := relations[0].DistanceEvent([]Query{Marginal{}, Marginal{}}, sigma)
	s := open(t, testTable(t, testSchema("", 0), someRows(60), nil),
		accountant.Composition{{Event: event, Count: n}})
	candidates := []Candidate{
		{Query: Marginal{Cols: []int{0}}, Estimate: []float64{20, 30}}, // 30 and 30 rows: 10 off
		{Query: Marginal{Cols: []int{1}}, Estimate: []float64{20, 20.5, 19}},
	}
	draws := make([]int64, n)
	for k := range draws {
		got := stattest.Must(s.MeasureDistance(candidates, sigma))
		draws[k] = int64(math.Round(got - 11.5))
	}
	for factor, want := range map[float64]bool{.7: false, 1: true, 1.3: false} {
		law := func(x int64) float64 { return roundedNormal(x, factor*sigma) }
		if got := follows(draws, 14, law); got != want {
			t.Errorf("%v times the noise is accepted: %v", factor, got)
		}
	}
}

// vectors is candidates as SelectDatabase takes them; like a caller that saves memory, it yields
// one slice again and again.
func vectors(ys ...[]float64) iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		var one []float64
		for _, y := range ys {
			one = append(one[:0], y...)
			if !yield(one) {
				return
			}
		}
	}
}

// TestDatabaseLaw. Null: the choice follows P(y) ∝ exp(ε·u(y)/(2Δ)) with u and Δ written out from
// their definitions; 12 000 draws a relation, false-alarm rate 1e-6; twice and half the ε must be
// rejected.
func TestDatabaseLaw(t *testing.T) {
	const n, epsilon = 12000, .8
	tab := testTable(t, testSchema("", 0), someRows(60), nil)
	databases := [][]float64{
		{30, 40, 15, 40, 60}, {27, 41, 15, 40, 60}, {30, 40, 15, 35, 60}, {40, 48, 7, 40, 60.5},
		{30, 40, 15, 40, 48},
	}
	truth := countsOf(t, tab, someQueries())
	for _, nb := range relations {
		s := open(t, tab,
			accountant.Composition{{Event: accountant.Exponential{Epsilon: epsilon}, Count: n}})
		s.nb = nb // the same rows under each relation
		u := make([]float64, len(databases))
		for i, y := range databases {
			for j, x := range truth {
				u[i] = min(u[i], -math.Abs(float64(x)-y[j]))
			}
		}
		counts := make([]int64, len(databases))
		for range n {
			i := must(s.SelectDatabase(wheres(someQueries()), len(databases), vectors(databases...),
				epsilon))
			counts[i]++
		}
		for scale, want := range map[float64]bool{.5: false, 1: true, 2: false} {
			law := lawOf(u, scale*epsilon, nb.k())
			if stat, limit, ok := stattest.ChiSquare(counts, law); ok != want {
				t.Errorf("%v: at %v times ε chi-square is %v, limit %v: %v", nb, scale, stat, limit, counts)
			}
		}
	}
}

// TestBadDatabases: a candidate that is out of range or missing is an error whatever the rows are.
func TestBadDatabases(t *testing.T) {
	good := make([]float64, 5)
	for name, ys := range map[string][][]float64{
		"too few":  {good},
		"too many": {good, good, good},
		"short":    {good, good[:4]},
		"NaN":      {good, {0, 0, 0, 0, math.NaN()}},
		"huge":     {{0, 1e13, 0, 0, 0}, good},
	} {
		for _, counts := range [][]int64{{0, 0, 0, 0, 0}, {1 << 40, 0, 9, 9, 9}} {
			stattest.Fails(t, stattest.Err(databaseScores(counts, 2, vectors(ys...))), "%s: accepted", name)
		}
	}
	got, err := databaseScores([]int64{4, 9, 0, 0, 1}, 2,
		vectors([]float64{2, 8.5, 0, 0, 1}, []float64{4, 9, 3.25, 0, 1}))
	if err != nil ||
		!slices.Equal(got, []int64{-2 << access.EstimateBits, -13 << (access.EstimateBits - 2)}) {
		t.Errorf("scores %v, %v", got, err)
	}
}

// TestContributionsByHand: 3 and 4 have one row, 1 two, 2 four, 9 five.
func TestContributionsByHand(t *testing.T) {
	// 3 and 4 have one row, 1 two, 2 four, 9 five
	units := []uint32{9, 1, 1, 2, 2, 2, 2, 9, 9, 9, 9, 3, 4}
	for _, c := range []struct{ upTo, want []int }{
		{[]int{1}, []int{2, 3}},
		{[]int{1, 2, 4}, []int{2, 1, 1, 1}},
		{[]int{3, 5, 100}, []int{3, 2, 0, 0}},
		{[]int{4}, []int{4, 1}},
	} {
		want := make([]int64, len(c.want))
		for i, n := range c.want {
			want[i] = int64(n)
		}
		if got := countUnits(units, c.upTo); !slices.Equal(got, want) {
			t.Errorf("up to %v: %v, want %v", c.upTo, got, want)
		}
	}
}

// TestContributionsAreThoseOfTheFile: units are counted by the rows that they have before the gate
// bounds them, and only where the schema names them.
func TestContributionsAreThoseOfTheFile(t *testing.T) {
	var units []uint32
	for id, n := range []int{1, 2, 3, 30} {
		units = append(units, slices.Repeat([]uint32{uint32(id)}, n)...)
	}
	tab := testTable(t, testSchema("patient", 3), someRows(len(units)), units)
	s := open(t, tab, gaussian(.01, 1))
	got, err := s.Measure(ContributionHistogram{[]int{1, 3, 10}}, .01)
	if err != nil || !slices.Equal(got, []int64{1, 2, 0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
	rows := open(t, testTable(t, testSchema("", 0), someRows(12), nil), gaussian(5, 1))
	_, err = rows.Measure(ContributionHistogram{[]int{1}}, 5)
	stattest.Wraps(t, err, schema.ErrInvalid, "without an id column")
}

// TestScoresByHand: a row is in the bin of the number of edges that its score reaches.
func TestScoresByHand(t *testing.T) {
	rows := [][3]uint8{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 3}, {0, 2, 1}}
	q := Scores{Numbers: [][]float64{{0, 1}, nil, {0, 0, 0, 2.5}}, Edges: []float64{1, 3.5},
		Column: 1, Code: 1}
	s := open(t, testTable(t, testSchema("", 0), rows, nil), gaussian(.01, 1))
	got, err := s.Measure(q, .01)
	if err != nil || !slices.Equal(got, []int64{2, 0, 1, 1, 0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestReleasesAreChargedBeforeReading: what is not in the plan, or makes no sense, reads nothing
// and costs nothing; the planned call reads, is charged once, and is refused a second time and
// after the end.
func TestReleasesAreChargedBeforeReading(t *testing.T) {
	ids := []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	tab := testTable(t, testSchema("id", 1), someRows(12), ids)
	first := Marginal{Cols: []int{0}}
	laplace := func(q Query, scale float64) func(*Session) error {
		return func(s *Session) error { _, err := s.MeasureLaplace(q, scale); return err }
	}
	distance := func(sigma float64, cs ...Candidate) func(*Session) error {
		return func(s *Session) error { _, err := s.MeasureDistance(cs, sigma); return err }
	}
	database := func(qs []Query, n int, epsilon float64) func(*Session) error {
		return func(s *Session) error {
			_, err := s.SelectDatabase(qs, n, vectors([]float64{0}), epsilon)
			return err
		}
	}
	units := func(sigma float64, upTo ...int) func(*Session) error {
		return func(s *Session) error {
			_, err := s.Measure(ContributionHistogram{upTo}, sigma)
			return err
		}
	}
	one := Candidate{Query: first, Estimate: []float64{1, 2}}
	heavy, biased := one, one
	heavy.Weight, biased.Penalty = 2, 3
	some := wheres(someQueries())[:1]
	for name, c := range map[string]struct {
		event   accountant.Event
		planned func(*Session) error
		refused map[string]func(*Session) error
	}{
		"MeasureLaplace": {accountant.Laplace{Epsilon: .5}, laplace(firstIs1, 2),
			map[string]func(*Session) error{
				"scale 0": laplace(firstIs1, 0), "scale NaN": laplace(firstIs1, math.NaN()),
				"no query": laplace(nil, 2), "column": laplace(Marginal{Cols: []int{9}}, 2),
				"other scale": laplace(firstIs1, 1.9)}},
		"MeasureDistance": {relations[0].DistanceEvent([]Query{first}, 5), distance(5, one),
			map[string]func(*Session) error{
				"weight": distance(5, heavy), "penalty": distance(5, biased), "no candidate": distance(5),
				"estimates": distance(5, Candidate{Query: first, Estimate: []float64{1}}),
				"sigma":     distance(math.Inf(1), one), "more marginals": distance(5, one, one),
				"too many": distance(5, make([]Candidate, maxDistances+1)...)}},
		"SelectDatabase": {relations[0].SelectEvent(2), database(some, 1, 2),
			map[string]func(*Session) error{
				"epsilon": database(some, 1, 0), "other epsilon": database(some, 1, .9),
				"no databases": database(some, 0, 2), "many": database(some, MaxDatabases+1, 2),
				"no queries": database(nil, 1, 2)}},
		"Measure of units": {accountant.Gaussian{NoiseMultiplier: 5}, units(5, 1),
			map[string]func(*Session) error{
				"sigma 0": units(0, 1), "no ranges": units(5), "from 0": units(5, 0, 1),
				"many ranges": units(5, make([]int, maxUnitRanges+1)...), "falling": units(5, 1, 3, 3),
				"other sigma": units(4, 1)}},
	} {
		s := open(t, tab, accountant.Composition{{Event: c.event, Count: 1}})
		reads, rows := reading(s), s.in.Units
		s.in.Units = func() []uint32 { *reads++; return rows() }
		s.in.Counts = counter(s.in)
		for what, call := range c.refused {
			if err := call(s); err == nil || *reads > 0 {
				t.Errorf("%s, %s: error %v, %d reads", name, what, err, *reads)
			}
		}
		if err := c.planned(s); err != nil || *reads != 1 {
			t.Errorf("%s, planned: %v, %d reads", name, err, *reads)
		}
		if err := c.planned(s); !errors.Is(err, ErrPlan) || *reads != 1 {
			t.Errorf("%s beyond the plan: %v, %d reads", name, err, *reads)
		}
		s.Finish(nil, nil)
		stattest.Wraps(t, c.planned(s), ErrClosed, "%s on a closed session", name)
		if got := calls(s.Ledger().Runs()[0].Charged); got != 1 {
			t.Errorf("%s: %d charges in the ledger, want 1", name, got)
		}
	}
}

// TestDistanceByHand: |4−2.5| + |5−7| = 3.5 rows; and sums that are too large saturate.
func TestDistanceByHand(t *testing.T) {
	estimate := stattest.Must(access.Estimate([]float64{2.5, 7}, 2))
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
