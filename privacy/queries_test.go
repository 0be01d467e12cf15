package privacy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// someQueries are five expressions over the test schema. Of 600 test rows they hold for 300, 400,
// 150, 400 and 600; the third is a disjunction under a negation.
func someQueries() []table.Expr {
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
func wheres(xs []table.Expr) (qs []Query) {
	for _, x := range xs {
		qs = append(qs, Where{Expr: x})
	}
	return qs
}

// countsOf is the true counts of expressions.
func countsOf(t testing.TB, tab *table.Table, xs []table.Expr) []int64 {
	t.Helper()
	set := stattest.Must(table.CompileExprs(tab.Schema().Sizes(), xs))
	return tab.CountExprs(set)
}

// byHand counts without the compiled form.
func byHand(tab *table.Table, x table.Expr) (n int64) {
	for r := range tab.Rows() {
		if table.Holds(x, func(c int) uint16 { return tab.Column(c).At(r) }) {
			n++
		}
	}
	return n
}

// TestNoiseOfQueries. Null: released − true count follows the named law at the named scale; 20 000
// draws each, false-alarm rate 1e-6. The same draws must reject a scale 30 % too small or too
// large.
func TestNoiseOfQueries(t *testing.T) {
	const n, sigma = 20000, 4.0
	tab := testTable(t, testSchema("", 0), someRows(600), nil)
	s := open(t, tab, gaussian(sigma, n))
	q := wheres(someQueries())
	var truth []int64
	for _, x := range someQueries() {
		truth = append(truth, byHand(tab, x))
	}
	draws := make([]int64, n)
	for k := range draws {
		x := stattest.Must(only(s.Measure(q[k%len(q)], sigma)))
		draws[k] = x - truth[k%len(q)]
	}
	for scale, want := range map[float64]bool{.7: false, 1: true, 1.3: false} {
		if got := follows(draws, 14,
			func(x int64) float64 { return roundedNormal(x, scale*sigma) }); got != want {
			t.Errorf("%v times the scale is accepted: %v", scale, got)
		}
	}
}

// lawOf is the exponential mechanism's law for scores u of sensitivity delta.
func lawOf(u []float64, eps, delta float64) []float64 {
	p, sum := make([]float64, len(u)), 0.0
	for i := range u {
		p[i] = math.Exp(eps * u[i] / (2 * delta))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// TestQuerySelectionLaw. Null: Select among counts follows P(t) ∝ exp(ε·u(t)/(2Δ)) with u and Δ
// written out from their definitions; 12 000 draws a relation, false-alarm rate 1e-6; twice and
// half the ε must be rejected.
func TestQuerySelectionLaw(t *testing.T) {
	const n, epsilon = 12000, .8
	tab := testTable(t, testSchema("", 0), someRows(60), nil)
	q := wheres(someQueries())
	candidates := []Candidate{
		{Query: q[0], Estimate: []float64{22.5}},
		{Query: q[1], Estimate: []float64{43}, Weight: 2},
		{Query: q[2], Estimate: []float64{0}, Weight: .5},
		{Query: q[2], Estimate: []float64{20}},
		{Query: q[4], Estimate: []float64{51.25}, Weight: 1.5},
	}
	for _, nb := range relations {
		s := open(
			t, tab, accountant.Composition{{Event: accountant.Exponential{Epsilon: epsilon}, Count: n}},
		)
		s.nb = nb // the same rows under each relation
		var errorOf []float64
		for _, c := range candidates {
			w := c.Weight
			if w == 0 {
				w = 1
			}
			errorOf = append(errorOf,
				w*math.Abs(float64(byHand(tab, c.Query.(Where).Expr))-c.Estimate[0]))
		}
		counts := make([]int64, 5)
		for range n {
			i := stattest.Must(s.Select(candidates, epsilon))
			counts[i]++
		}
		for scale, want := range map[float64]bool{.5: false, 1: true, 2: false} {
			law := lawOf(errorOf, scale*epsilon, 2*nb.k())
			if stat, limit, ok := stattest.ChiSquare(counts, law); ok != want {
				t.Errorf("%v: at %v times ε chi-square is %v, limit %v: %v, law %v",
					nb, scale, stat, limit, counts, law)
			}
		}
	}
}

// TestQuerySensitivity draws neighbouring tables under every relation: neither a count nor a score
// moves by more than the gate assumes, and each attains it.
func TestQuerySensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 9))
	for _, nb := range relations {
		s := &Session{&session{schema: testSchema("", 0), nb: nb}}
		q := wheres(someQueries())
		at := []int{0, 2, 3, 4} // the queries of the candidates
		grid, _, err := s.onGrid([]Candidate{
			{Query: q[0], Estimate: []float64{-3}, Weight: 3}, {Query: q[2], Estimate: []float64{4.7}},
			{Query: q[3], Estimate: []float64{100}}, {Query: q[4], Estimate: []float64{0}, Weight: .01},
		})
		stattest.Check(t, err)
		// lambda = ε/(2Δ), so Δ in units of the scores is ε/(2·lambda).
		deltaQuery := 1 / (2 * access.Down(1, 2*widest(grid)))
		var count, query float64
		for range 3000 {
			ra, rb := pairOf(u, nb)
			ca := countsOf(t, testTable(t, s.schema, ra, nil), someQueries())
			cb := countsOf(t, testTable(t, s.schema, rb, nil), someQueries())
			for i := range ca {
				count = max(count, math.Abs(float64(ca[i]-cb[i])))
			}
			for i, g := range grid {
				moved := g.score(ca[at[i]:at[i]+1]) - g.score(cb[at[i]:at[i]+1])
				query = max(query, math.Abs(float64(moved))/deltaQuery)
			}
		}
		for _, c := range []struct {
			name       string
			got, bound float64
		}{{"a count", count, nb.k()}, {"a candidate's score", query, 1}} {
			if c.got > c.bound || c.got < c.bound*(1-1e-9) {
				t.Errorf("%v: %s moved by %v, the gate assumes %v", nb, c.name, c.got, c.bound)
			}
		}
	}
}

// TestQueryEvents states the sensitivities by hand.
func TestQueryEvents(t *testing.T) {
	for _, nb := range relations {
		k := float64(nb.MaxRowsPerUnit)
		if got, ok := nb.MeasureEvent(Where{}, 10).(accountant.Gaussian); !ok ||
			got.NoiseMultiplier > 10/k ||
			got.NoiseMultiplier < 10/k*(1-1e-15) {
			t.Errorf("%v: Measure is %+v", nb, got)
		}
		if ev := nb.SelectEvent(.5); ev != (accountant.Exponential{Epsilon: .5}) {
			t.Errorf("%v: %+v", nb, ev)
		}
	}
}

// TestQueriesAreChargedBeforeReading: a mechanism that is refused never reads.
func TestQueriesAreChargedBeforeReading(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(60), nil), accountant.Composition{
		{Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 1},
		{Event: accountant.Exponential{Epsilon: 1}, Count: 1},
	})
	reads := reading(s)
	q := wheres(someQueries())
	pick := []Candidate{{Query: q[1], Estimate: []float64{0}}}
	mechanisms := map[string]func() error{
		"Measure": func() error { _, err := s.Measure(q[0], 5); return err },
		"Select":  func() error { _, err := s.Select(pick, 1); return err },
	}
	refused := []error{
		func() error { _, err := s.Measure(q[0], 4.9); return err }(),
		func() error { _, err := s.Select(pick, .9); return err }(),
	}
	for i, err := range refused {
		stattest.Wraps(t, err, ErrPlan, "call %d beyond the plan", i)
	}
	if *reads != 0 {
		t.Fatalf("%d reads before a charge", *reads)
	}
	for name, call := range mechanisms {
		stattest.Passes(t, call(), "%s", name)
		stattest.Wraps(t, call(), ErrPlan, "%s a second time", name)
	}
	if *reads != 2 {
		t.Errorf("the rows were read %d times", *reads)
	}
	stattest.Check(t, s.Finish(nil, nil))
	for name, call := range mechanisms {
		stattest.Wraps(t, call(), ErrClosed, "%s on a closed session", name)
	}
	if got := calls(s.Ledger().Runs()[0].Charged); got != 2 {
		t.Errorf("%d charges in the ledger, want 2", got)
	}
}

// TestEmbeddedQueries: a type of another package that embeds a query is charged as that.
func TestEmbeddedQueries(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(12), nil), gaussian(5, 1))
	type boastful struct{ Marginal }
	s.nb.Adjacency = accountant.ReplaceOne // where a marginal is more than one count
	stattest.Wraps(t, stattest.Err(s.Measure(boastful{Marginal{Cols: []int{0}}}, 5)), ErrPlan,
		"a marginal for the price of a count")
	stattest.Passes(t, stattest.Err(s.Measure(boastful{Marginal{Cols: []int{0}}},
		5*math.Nextafter(math.Sqrt2, 2))), "")
}

// TestCountingTellsNothing: a query that panics while it counts, or a mechanism, ends the session,
// not the process, and its text is told to nobody.
func TestCountingTellsNothing(t *testing.T) {
	count := counter(access.Rows{})
	ended := access.Guard(func() {
		count([]access.Counted{{Key: "a", Count: func(access.Rows) []int64 { panic("code 17") }}})
	})
	if ended {
		t.Error("a panic of a counting goroutine is not one of its caller")
	}
	for name, stop := range map[string]func(){"panic": func() { panic("code 17") },
		"end": runtime.Goexit} {
		s := open(t, testTable(t, testSchema("", 0), someRows(12), nil), gaussian(5, 1))
		c := access.Call{What: "a stop", Of: access.Ask("stop"), Cost: gaussian(5, 1)}
		c.Draw = func(access.Rows, func(accountant.Charge) error) (a access.Released, err error) {
			stop()
			return a, nil
		}
		_, err := access.Do(s, c)
		if !errors.Is(err, errForeign) || strings.Contains(err.Error(), "17") {
			t.Errorf("%s: %v", name, err)
		}
		stattest.Wraps(t, stattest.Err(s.Measure(Total{}, 5)), errForeign, "%s, and then", name)
	}
}

// TestRefusedCallsTakeNothing: of several charges the first are given back when a later one is
// refused.
func TestRefusedCallsTakeNothing(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(12), nil), gaussian(5, 1))
	stattest.Wraps(t, stattest.Err(s.MeasureAll([]Query{Total{}, Total{}}, 5)), ErrPlan,
		"two totals of one")
	cost := append(gaussian(5, 1), gaussian(4, 1)...)
	two := access.Call{What: "two", Of: access.Ask("two"), Cost: cost}
	stattest.Wraps(t, stattest.Err(access.Do(s, two)), ErrPlan, "two events of one")
	stattest.Passes(t, stattest.Err(s.Measure(Total{}, 5)),
		"what was reserved, after calls that were refused")
}

// TestInvalidQueriesCostNothing: what can be refused without the data is refused before the charge.
func TestInvalidQueriesCostNothing(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	s := open(
		t,
		tab,
		accountant.Composition{
			{Event: accountant.Exponential{Epsilon: 1}, Count: 2},
			{Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 1},
		},
	)
	q := wheres(someQueries())
	pick := func(c Candidate) func() error {
		return func() error { _, err := s.Select([]Candidate{c}, 1); return err }
	}
	measure := func(q Query) func() error {
		return func() error { _, err := s.Measure(q, 5); return err }
	}
	deep := table.Expr(table.And{})
	for range 200 {
		deep = table.Not{Of: deep}
	}
	for name, call := range map[string]func() error{
		"column":               measure(Where{Expr: table.Condition{Column: 3}}),
		"nil expression":       measure(Where{}),
		"nil part":             measure(Where{Expr: table.Not{}}),
		"deep":                 measure(Where{Expr: deep}),
		"no query":             measure(nil),
		"no scores":            measure(Scores{}),
		"column of scores":     measure(Scores{Numbers: make([][]float64, 3), Column: 3}),
		"numbers of scores":    measure(Scores{Numbers: [][]float64{{1, 2, 3}, nil, nil}}),
		"a score of no number": measure(Scores{Numbers: [][]float64{{1, math.NaN()}, nil, nil}}),
		"edges of scores":      measure(Scores{Numbers: make([][]float64, 3), Edges: []float64{1, 1}}),
		"no edge of scores": measure(
			Scores{Numbers: make([][]float64, 3), Edges: []float64{math.NaN()}}),
		"no queries": func() error { _, err := s.MeasureAll(nil, 5); return err },
		"one bad query": func() error {
			_, err := s.MeasureAll([]Query{Total{}, nil}, 5)
			return err
		},
		"sigma":         func() error { _, err := s.Measure(q[0], math.NaN()); return err },
		"no candidates": func() error { _, err := s.Select(nil, 1); return err },
		"epsilon": func() error {
			_, err := s.Select([]Candidate{{Query: q[0]}}, math.Inf(1))
			return err
		},
		"no estimate": pick(Candidate{Query: q[0]}),
		"candidate":   pick(Candidate{Estimate: []float64{0}}),
		"estimate":    pick(Candidate{Query: q[0], Estimate: []float64{math.NaN()}}),
		"weight":      pick(Candidate{Query: q[0], Estimate: []float64{0}, Weight: 1025}),
	} {
		if err := call(); err == nil || errors.Is(err, accountant.ErrBudget) {
			t.Errorf("%s: error %v, want one about the argument", name, err)
		}
	}
	if len(s.Ledger().Runs()[0].Charged) != 0 {
		t.Error("an invalid argument was charged")
	}
}

// TestQueryScoreSaturates: scores of huge counts stay in range and in order.
func TestQueryScoreSaturates(t *testing.T) {
	last := int64(-1)
	for _, c := range []int64{0, 1, 1e6, 1e9, 1e12, 1 << 45} {
		got := gridded{weight: 1024 << weightBits, estimate: []int64{0}}.score([]int64{c})
		if got < last || got > maxScore {
			t.Errorf("%d rows score %d after %d", c, got, last)
		}
		last = got
	}
}

// TestExpressionsAreCopies: what the caller does with an expression while it is counted changes
// nothing, nor does anything but the expression decide on its key.
func TestExpressionsAreCopies(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(600), nil)
	s := open(t, tab, gaussian(5, 1))
	keys := map[string]int{}
	for i, x := range append(someQueries(), table.Or{},
		table.Not{Of: table.Or{table.And{}, someQueries()[0]}}) {
		key := compiledOf(t, s.session, Where{Expr: x})[0].Key
		if j, known := keys[key]; known {
			t.Errorf("expressions %d and %d have one key", i, j)
		}
		keys[key] = i
	}
	allow := []bool{true, false}
	x := table.Or{table.Not{Of: table.Condition{Column: 0, Allow: allow}}}
	q := compiledOf(t, s.session, Where{Expr: x})
	allow[0], x[0] = false, table.And{}
	if counts := s.in.Counts(q); counts[0][0] != 300 {
		t.Errorf("%v: want 300 rows", counts)
	}
	cols := []int{1}
	q = compiledOf(t, s.session, Marginal{Cols: cols})
	cols[0] = 0
	if counts := s.in.Counts(q); !slices.Equal(counts[0], []int64{200, 200, 200}) {
		t.Errorf("%v: want 200 rows each", counts)
	}
}

// TestCountsPrintNothing: true counts, once read, do not show.
func TestCountsPrintNothing(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(4321), nil), gaussian(5, 1))
	must(s.Measure(Where{Expr: table.And{}}, 5))
	q := compiledOf(t, s.session, Where{Expr: table.And{}})
	if counts := s.in.Counts(q); counts[0][0] != 4321 {
		t.Fatal("the test looks for the wrong number")
	}
	type holder struct{ s *Session }
	type value struct{ s Session }
	for _, v := range []any{s, *s, holder{s}, value{*s}, []any{s}, map[string]any{"s": *s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, "4321") {
				t.Errorf("%s of %T shows the count: %s", verb, v, text)
			}
		}
		if b, _ := json.Marshal(v); strings.Contains(string(b), "4321") {
			t.Errorf("json of %T shows the count", v)
		}
	}
}

// TestMeasureAll: several queries have their own answers and their own charges, which are those of
// one after the other.
func TestMeasureAll(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(600), nil), gaussian(.01, 3))
	qs := []Query{Marginal{Cols: []int{0}}, firstIs1, Marginal{Cols: []int{1}}}
	got, err := s.MeasureAll(qs, .01)
	if err != nil || fmt.Sprint(got) != "[[300 300] [300] [200 200 200]]" {
		t.Errorf("%v, %v", got, err)
	}
	stattest.Wraps(t, stattest.Err(s.Measure(Total{}, .01)), ErrPlan, "a fourth query")
	if run := s.Ledger().Runs()[0]; calls(run.Charged) != 3 {
		t.Errorf("%d charges in the ledger, want 3", calls(run.Charged))
	}
	tight := open(t, testTable(t, testSchema("", 0), someRows(600), nil), gaussian(.01, 2))
	stattest.Wraps(t, stattest.Err(tight.MeasureAll(qs, .01)), ErrPlan,
		"three queries for the price of two")
}
