package database

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
	"github.com/decoy-dp/decoy/privacy/query"
	"github.com/decoy-dp/decoy/table"
)

// some are five expressions over the test schema; the third is a disjunction under a negation.
func some() []table.Expr {
	a := table.Condition{Column: 0, Allow: []bool{true, false}}
	b := table.Condition{Column: 1, Allow: []bool{true, true, false}}
	c := table.Condition{Column: 2, Allow: []bool{false, true, true, false}}
	return []table.Expr{
		a,
		b,
		table.Not{Of: table.Or{a, c}},
		table.Or{table.And{a, b}, table.And{table.Not{Of: a}, b}},
		table.And{},
	}
}

// wheres is a query for each expression.
func wheres(xs []table.Expr) (qs []privacy.Query) {
	for _, x := range xs {
		qs = append(qs, query.Where{Expr: x})
	}
	return qs
}

// byHand counts the rows for which each expression holds.
func byHand(rows [][3]uint8, xs []table.Expr) []int64 {
	out := make([]int64, len(xs))
	for i, x := range xs {
		for _, row := range rows {
			if table.Holds(x, func(c int) uint16 { return uint16(row[c]) }) {
				out[i]++
			}
		}
	}
	return out
}

// vectors is candidates as Select takes them; like a caller that saves memory, it yields one slice
// again and again.
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

func compiled(t testing.TB, qs []privacy.Query) []access.Counted {
	t.Helper()
	out, err := access.CompileAll(gatetest.Schema("", 0).Sizes(), false, qs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDatabaseLaw. Null: the choice follows P(y) ∝ exp(ε·u(y)/(2Δ)) with u and Δ written out from
// their definitions; 12 000 draws a relation, false-alarm rate 1e-6; twice and half the ε must be
// rejected.
func TestDatabaseLaw(t *testing.T) {
	const n, epsilon = 12000, .8
	rows, xs := gatetest.SomeRows(60), some()
	databases := [][]float64{
		{30, 40, 15, 40, 60},
		{27, 41, 15, 40, 60},
		{30, 40, 15, 35, 60},
		{40, 48, 7, 40, 60.5},
		{30, 40, 15, 40, 48},
	}
	truth := byHand(rows, xs)
	for _, nb := range mechtest.Relations {
		s := mechtest.Under(t, rows, nb, accountant.Charge{Event: Event(epsilon), Count: n})
		law := func(eps float64) []float64 {
			p, sum := make([]float64, len(databases)), 0.0
			for i, y := range databases {
				worst := 0.0
				for j, x := range truth {
					worst = max(worst, math.Abs(float64(x)-y[j]))
				}
				p[i] = math.Exp(-eps * worst / (2 * float64(nb.MaxRowsPerUnit)))
				sum += p[i]
			}
			for i := range p {
				p[i] /= sum
			}
			return p
		}
		counts := make([]int64, len(databases))
		for range n {
			i, err := Select(s, wheres(xs), len(databases), vectors(databases...), epsilon)
			if err != nil {
				t.Fatal(err)
			}
			counts[i]++
		}
		for scale, want := range map[float64]bool{.5: false, 1: true, 2: false} {
			if stat, limit, ok := stattest.ChiSquare(counts, law(scale*epsilon)); ok != want {
				t.Errorf("%v: at %v times ε chi-square is %v, limit %v: %v", nb, scale, stat, limit, counts)
			}
		}
	}
}

// TestDatabaseSensitivity draws neighbouring tables under every relation: no score moves by more
// than the gate assumes, and one attains it.
func TestDatabaseSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 9))
	databases := [][]float64{{-5, -5, -5, -5, -5}, {3.3, 7, 1, 2.2, 9}, {100, 90, 80, 70, 60}}
	for _, nb := range mechtest.Relations {
		delta := 1 / (2 * lambda(nb, compiled(t, wheres(some())), 1)) // lambda = ε/(2Δ)
		far := 0.0
		for range 3000 {
			a, b := gatetest.PairOf(u, nb.Adjacency, nb.MaxRowsPerUnit)
			sa, err := scores(byHand(a, some()), 3, vectors(databases...))
			if err != nil {
				t.Fatal(err)
			}
			sb, err := scores(byHand(b, some()), 3, vectors(databases...))
			if err != nil {
				t.Fatal(err)
			}
			for i := range sa {
				far = max(far, math.Abs(float64(sa[i]-sb[i]))/delta)
			}
		}
		if far > 1 || far < 1-1e-9 {
			t.Errorf("%v: a score moved by %v of what the gate assumes", nb, far)
		}
	}
}

// TestDatabaseIsChargedBeforeReading: what is not in the plan, or makes no sense, reads nothing and
// costs nothing.
func TestDatabaseIsChargedBeforeReading(t *testing.T) {
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(60), nil)
	s := mechtest.On(t, tab, 0, accountant.Charge{Event: Event(2), Count: 1})
	reads := 0
	q := []privacy.Query{mechtest.Reading{Query: wheres(some())[0], Reads: &reads}}
	choose := func(qs []privacy.Query, n int, epsilon float64) func() (int, error) {
		return func() (int, error) { return Select(s, qs, n, vectors([]float64{0}), epsilon) }
	}
	for name, call := range map[string]func() (int, error){
		"epsilon":        choose(q, 1, 0),
		"other epsilon":  choose(q, 1, .9),
		"no databases":   choose(q, 0, 2),
		"many databases": choose(q, Max+1, 2),
		"no queries":     choose(nil, 1, 2),
	} {
		if _, err := call(); err == nil || reads > 0 {
			t.Errorf("%s: error %v, %d reads", name, err, reads)
		}
	}
	mechtest.PaidOnce(t, s, &reads, func() error {
		i, err := choose(q, 1, 2)()
		if i != 0 {
			t.Errorf("chose %d of one", i)
		}
		return err
	})
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
			if _, err := scores(counts, 2, vectors(ys...)); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
	}
	got, err := scores(
		[]int64{4, 9, 0, 0, 1}, 2, vectors([]float64{2, 8.5, 0, 0, 1}, []float64{4, 9, 3.25, 0, 1}),
	)
	if err != nil ||
		!slices.Equal(got, []int64{-2 << access.EstimateBits, -13 << (access.EstimateBits - 2)}) {
		t.Errorf("scores %v, %v", got, err)
	}
}

// TestSmallTables: on every table of up to four rows, and every neighbour, the logarithms of the
// odds of two databases move by at most the ε of the event, and somewhere by that.
func TestSmallTables(t *testing.T) {
	const epsilon = 1.
	row := func(with string, qs []privacy.Query, databases [][]float64) mechtest.SmallRow {
		return mechtest.SmallRow{Mechanism: "Select", With: with,
			Of: func(s *mechtest.Small) gatetest.Value {
				queries, err := access.CompileAll(s.Table.Schema().Sizes(), false, qs)
				if err != nil {
					s.T.Fatal(err)
				}
				var counts []int64
				for _, q := range queries {
					counts = append(counts,
						q.Count(access.Rows{Table: func() *table.Table { return s.Table }})...)
				}
				xs, err := scores(counts, len(databases), slices.Values(databases))
				out := gatetest.One[int64](s)(xs, err)
				for i := range out[0] {
					out[0][i] *= lambda(s.NB, queries, epsilon)
				}
				return out
			},
			Claim: func(privacy.Neighbours) float64 {
				return Event(epsilon).(accountant.Exponential).Epsilon
			},
			Norm: gatetest.RangeOf}
	}
	first := query.Where{Expr: table.Condition{Column: 0, Allow: []bool{true, false}}}
	mechtest.RunSmall(t, []mechtest.SmallRow{
		row("", []privacy.Query{first}, [][]float64{{9}, {-9}, {1.25}}),
		row("of cells", []privacy.Query{privacy.Marginal{Cols: []int{0}}}, [][]float64{{9, 0}, {-9, 0}}),
	}, "Select")
}
