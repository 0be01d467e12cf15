package privacy

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

// tiny is the noise: the least that the samplers take.
const tiny = noise.MinScale

type (
	small    = gatetest.Small[Neighbours]
	smallRow gatetest.SmallRow[Neighbours]
	value    = gatetest.Value
)

var (
	gaussianClaim = gatetest.GaussianClaim[Neighbours]
	l2            = gatetest.L2
	rangeOf       = gatetest.RangeOf
)

// exponentialClaim is that the logarithms of the odds of two outcomes move by at most ε of the
// event.
func exponentialClaim(event accountant.Event) func(Neighbours) float64 {
	return func(Neighbours) float64 { return event.(accountant.Exponential).Epsilon }
}

// openSmall is a session on the table that pays for these events.
func openSmall(s *small, plan ...accountant.Event) *Session {
	s.T.Helper()
	free := func(accountant.Composition, float64, accountant.Adjacency) (accountant.Bound, error) {
		return accountant.Bound{}, nil
	}
	out := stattest.Must(Open(context.Background(), FromTable(s.Table),
		Options{Budget: wide, Plan: planOf(plan), Price: free, Adjacency: s.NB.Adjacency}))
	if out.nb != s.NB {
		s.T.Fatalf("the schema says %+v, not %+v", out.nb, s.NB)
	}
	return out
}

func planOf(events []accountant.Event) (plan accountant.Composition) {
	for _, e := range events {
		plan = append(plan, accountant.Charge{Event: e, Count: 1})
	}
	return plan
}

var (
	smallQueries = wheres([]table.Expr{
		table.Condition{Column: 0, Allow: []bool{true, false}},
		table.Not{Of: table.Condition{Column: 1, Allow: []bool{true, false}}},
		table.And{},
	})
	smallBoth  = Marginal{Cols: []int{1, 0}}
	smallFirst = Marginal{Cols: []int{0}}
)

// smallScore puts a row by both columns.
var smallScore = Scores{Numbers: [][]float64{{0, 1}, nil}, Edges: []float64{1}, Column: 1, Code: 1}

func smallRows() []smallRow {
	estimates := []Candidate{
		{Query: smallBoth, Estimate: []float64{9, 9, 9, 9}},
		{Query: smallBoth, Estimate: []float64{-9, -9, -9, -9}},
		{Query: smallBoth, Estimate: []float64{-9, -9, 9, 9}, Weight: 1},
		{Query: smallBoth, Estimate: []float64{9, 9, -9, -9}},
		{Query: smallFirst, Estimate: []float64{.5, 1.25}, Weight: .3, Penalty: 1},
	}
	guesses := []Candidate{
		{Query: smallQueries[0], Estimate: []float64{9}},
		{Query: smallQueries[0], Estimate: []float64{-9}},
		{Query: smallQueries[1], Estimate: []float64{1.5}, Weight: .4},
		{Query: smallQueries[2], Estimate: []float64{2}},
		{Query: smallFirst, Estimate: []float64{0, 0}, Weight: .25}, // less than a count moves
	}
	const epsilon = 1.
	rows := []smallRow{
		{"Select", "", func(s *small) value { return smallScores(s, estimates, epsilon) },
			exponentialClaim(Neighbours{}.SelectEvent(epsilon)), rangeOf, nil},
		{"Select", "of counts", func(s *small) value { return smallScores(s, guesses, epsilon) },
			exponentialClaim(Neighbours{}.SelectEvent(epsilon)), rangeOf, nil},
		smallDatabase("", smallQueries[:1], [][]float64{{9}, {-9}, {1.25}}),
		smallDatabase("of cells", []Query{smallFirst}, [][]float64{{9, 0}, {-9, 0}}),
		smallDistance("", []Candidate{estimates[3], estimates[3]}, nil),
		smallDistance("of kinds", []Candidate{estimates[1], {Query: Total{}, Estimate: []float64{-9}}},
			func(nb Neighbours) float64 {
				if nb.Adjacency == accountant.ReplaceOne { // all estimates are too small: k−1 rows of 3k
					return (1 - 1/nb.k()) * 2 / 3
				}
				return 1
			}),
	}
	for _, q := range append([]Query{
		Total{}, smallBoth, Marginal{Cols: []int{0, 1}, Groups: [][]uint16{{0, 0}, nil}},
		smallFirst,
		smallScore, ContributionHistogram{UpTo: []int{1, 2}},
	}, smallQueries[:2]...) {
		rows = append(rows, smallMeasure(q)...)
	}
	return rows
}

// smallMeasure is a query in the releases of its counts.
func smallMeasure(q Query) []smallRow {
	most := func(nb Neighbours) float64 {
		switch _, isTotal := q.(Total); {
		case nb.Adjacency == accountant.AddRemove:
		case isTotal: // replacing a unit of one row by one of two is all there is
			return 1 - 1/nb.k()
		case nb.MaxRowsPerUnit == 1: // units of one size are replaced by units of that size
			if _, is := q.(ContributionHistogram); is {
				return 0
			}
		}
		return 1
	}
	counts := func(s *small, release func(o *Session) ([]int64, error), e accountant.Event) value {
		o := openSmall(s, e)
		if _, is := q.(ContributionHistogram); is && s.Table.Units() == nil {
			return nil
		}
		return gatetest.One[int64](s)(release(o))
	}
	gauss := func(nb Neighbours) accountant.Event { return nb.MeasureEvent(q, tiny) }
	lap := func(nb Neighbours) accountant.Event { return nb.LaplaceEvent(q, tiny) }
	with := fmt.Sprintf("%T %v", q, q)
	return []smallRow{
		{"Measure", with, func(s *small) value {
			return counts(s, func(o *Session) ([]int64, error) { return o.Measure(q, tiny) }, gauss(s.NB))
		}, gaussianClaim(tiny, gauss), l2, most},
		{"MeasureAll", with, func(s *small) value {
			return counts(s, func(o *Session) ([]int64, error) {
				all, err := o.MeasureAll([]Query{q}, tiny)
				return slices.Concat(all...), err
			}, gauss(s.NB))
		}, gaussianClaim(tiny, gauss), l2, most},
		{"MeasureLaplace", with, func(s *small) value {
			return counts(s, func(o *Session) ([]int64, error) { return o.MeasureLaplace(q, tiny) },
				lap(s.NB))
		}, gatetest.LaplaceClaim(tiny, lap), gatetest.L1, most},
	}
}

// smallDistance is a sum of distances.
func smallDistance(
	with string, candidates []Candidate, most func(nb Neighbours) float64,
) smallRow {
	const sigma = tiny / (1 << access.EstimateBits)
	var qs []Query
	for _, c := range candidates {
		qs = append(qs, c.Query)
	}
	event := func(nb Neighbours) accountant.Event { return nb.DistanceEvent(qs, sigma) }
	return smallRow{"MeasureDistance", with, func(s *small) value {
		sum, err := openSmall(s, event(s.NB)).MeasureDistance(candidates, sigma)
		return gatetest.One[float64](s)([]float64{sum}, err)
	}, gaussianClaim(sigma, event), l2, most}
}

// smallDatabase is the scores of databases, which are had from inside.
func smallDatabase(with string, qs []Query, databases [][]float64) smallRow {
	const epsilon = 1.
	return smallRow{"SelectDatabase", with, func(s *small) value {
		o := openSmall(s)
		queries := compiledOf(s.T, o.session, qs...)
		scores, err := databaseScores(slices.Concat(o.in.Counts(queries)...), len(databases),
			slices.Values(databases))
		out := gatetest.One[int64](s)(scores, err)
		for i := range out[0] {
			out[0][i] *= access.Down(epsilon, 2*s.NB.widestCount(queries))
		}
		return out
	}, exponentialClaim(Neighbours{}.SelectEvent(epsilon)), rangeOf, nil}
}

// smallScores is what Select adds noise to.
func smallScores(s *small, candidates []Candidate, epsilon float64) value {
	o := openSmall(s)
	grid, queries, err := o.onGrid(candidates)
	stattest.Check(s.T, err)
	counts := o.in.Counts(queries)
	scores := make([]float64, len(grid))
	for i, g := range grid {
		scores[i] = access.Down(epsilon, 2*widest(grid)) * float64(g.score(counts[i]))
	}
	return gatetest.One[float64](s)(scores, nil)
}

func TestSmallTables(t *testing.T) {
	var rows []gatetest.SmallRow[Neighbours]
	for _, row := range smallRows() {
		rows = append(rows, gatetest.SmallRow[Neighbours](row))
	}
	var names []string
	for _, name := range mechanisms(t, ".") {
		if name != ".MergeBins" {
			names = append(names, name[1:])
		}
	}
	gatetest.RunSmall(t, names, rows,
		func(adj accountant.Adjacency, k int) Neighbours { return Neighbours{adj, k} })
}
