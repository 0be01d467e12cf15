package privacy

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/table"
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
		qs = append(qs, Where{x})
	}
	return qs
}

// countsOf is the true counts of expressions.
func countsOf(t testing.TB, tab *table.Table, xs []table.Expr) []int64 {
	t.Helper()
	set, err := table.CompileExprs(tab.Schema().Sizes(), xs)
	if err != nil {
		t.Fatal(err)
	}
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

// TestNoiseOfQueries. Null: released − true count follows the named law at the named scale; 20 000
// draws each, false-alarm rate 1e-6. The same draws must reject a scale 30 % too small or too
// large.
func TestNoiseOfQueries(t *testing.T) {
	const n, sigma = 20000, 4.0
	tab := testTable(t, testSchema("", 0), someRows(600), nil)
	s := open(t, tab, accountant.Composition{
		{Event: accountant.Gaussian{NoiseMultiplier: sigma}, Count: n},
		{Event: accountant.Laplace{Epsilon: 1 / sigma}, Count: n},
	})
	q := wheres(someQueries())
	var truth []int64
	for _, x := range someQueries() {
		truth = append(truth, byHand(tab, x))
	}
	for _, tt := range []struct {
		name string
		draw func(i int) (int64, error)
		law  func(x int64, scale float64) float64
	}{
		{"Measure", func(i int) (int64, error) { return only(s.Measure(q[i], sigma)) }, roundedNormal},
		{"MeasureLaplace", func(i int) (int64, error) { return only(s.MeasureLaplace(q[i], sigma)) },
			laplace},
	} {
		draws := make([]int64, n)
		for k := range draws {
			x, err := tt.draw(k % len(q))
			if err != nil {
				t.Fatal(err)
			}
			draws[k] = x - truth[k%len(q)]
		}
		for scale, want := range map[float64]bool{.7: false, 1: true, 1.3: false} {
			if got := follows(draws, 14,
				func(x int64) float64 { return tt.law(x, scale*sigma) }); got != want {
				t.Errorf("%s: %v times the scale is accepted: %v", tt.name, scale, got)
			}
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

// TestQuerySelectionLaw. Null: Select among counts and SelectDatabase follow P(t) ∝
// exp(ε·u(t)/(2Δ)) with u and Δ written out from their definitions; 12 000 draws a relation and
// mechanism, false-alarm rate 1e-6; twice and half the ε must be rejected.
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
	databases := [][]float64{
		{30, 40, 15, 40, 60},
		{27, 41, 15, 40, 60},
		{30, 40, 15, 35, 60},
		{40, 48, 7, 40, 60.5},
		{30, 40, 15, 40, 48},
	}
	for _, nb := range relations {
		s := open(
			t, tab, accountant.Composition{{Event: accountant.Exponential{Epsilon: epsilon}, Count: 2 * n}},
		)
		s.nb = nb // the same rows under each relation
		var errorOf, worst []float64
		for _, c := range candidates {
			w := c.Weight
			if w == 0 {
				w = 1
			}
			errorOf = append(errorOf, w*math.Abs(float64(byHand(tab, c.Query.(Where).Expr))-c.Estimate[0]))
		}
		for _, y := range databases {
			m := 0.0
			for i, x := range someQueries() {
				m = max(m, math.Abs(float64(byHand(tab, x))-y[i]))
			}
			worst = append(worst, -m)
		}
		for _, tt := range []struct {
			name  string
			draw  func() (int, error)
			u     []float64
			delta float64
		}{
			{"Select", func() (int, error) { return s.Select(candidates, epsilon) }, errorOf, 2 * nb.k()},
			{"SelectDatabase",
				func() (int, error) { return s.SelectDatabase(q, 5, vectors(databases...), epsilon) }, worst,
				nb.k()},
		} {
			counts := make([]int64, 5)
			for range n {
				i, err := tt.draw()
				if err != nil {
					t.Fatal(err)
				}
				counts[i]++
			}
			for scale, want := range map[float64]bool{.5: false, 1: true, 2: false} {
				law := lawOf(tt.u, scale*epsilon, tt.delta)
				if stat, limit, ok := stattest.ChiSquare(counts, law); ok != want {
					t.Errorf(
						"%v, %s: at %v times ε chi-square is %v, limit %v: %v, law %v", nb, tt.name, scale, stat,
						limit, counts, law,
					)
				}
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
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := s.compileAll(q)
		if err != nil {
			t.Fatal(err)
		}
		// lambda = ε/(2Δ), so Δ in units of the scores is ε/(2·lambda).
		deltaQuery, deltaDatabase := 1/(2*lambda(grid, 1)), 1/(2*s.databaseLambda(compiled, 1))
		databases := [][]float64{{-5, -5, -5, -5, -5}, {3.3, 7, 1, 2.2, 9}, {100, 90, 80, 70, 60}}
		var count, query, database float64
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
			a, err := databaseScores(ca, 3, vectors(databases...))
			if err != nil {
				t.Fatal(err)
			}
			b, err := databaseScores(cb, 3, vectors(databases...))
			if err != nil {
				t.Fatal(err)
			}
			for i := range a {
				database = max(database, math.Abs(float64(a[i]-b[i]))/deltaDatabase)
			}
		}
		for _, c := range []struct {
			name       string
			got, bound float64
		}{{"a count", count, nb.k()}, {"a candidate's score", query, 1},
			{"SelectDatabase's score", database, 1}} {
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
		if got, ok := nb.MeasureLaplaceEvent(Where{}, 10).(accountant.Laplace); !ok ||
			got.Epsilon < k/10 ||
			got.Epsilon > k/10*(1+1e-15) {
			t.Errorf("%v: MeasureLaplace is %+v", nb, got)
		}
		for _, ev := range []accountant.Event{nb.SelectEvent(.5), nb.SelectDatabaseEvent(.5)} {
			if ev != (accountant.Exponential{Epsilon: .5}) {
				t.Errorf("%v: %+v", nb, ev)
			}
		}
	}
}

// TestQueriesAreChargedBeforeReading: a mechanism that is refused never reads.
func TestQueriesAreChargedBeforeReading(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(60), nil), accountant.Composition{
		{Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 1},
		{Event: accountant.Laplace{Epsilon: .5}, Count: 1},
		{Event: accountant.Exponential{Epsilon: 1}, Count: 1},
		{Event: accountant.Exponential{Epsilon: 2}, Count: 1},
	})
	reads := 0
	data := s.data
	s.data = func() *table.Table { reads++; return data() }
	q := wheres(someQueries())
	pick := []Candidate{{Query: q[1], Estimate: []float64{0}}}
	mechanisms := map[string]func() error{
		"Measure":        func() error { _, err := s.Measure(q[0], 5); return err },
		"MeasureLaplace": func() error { _, err := s.MeasureLaplace(q[0], 2); return err },
		"Select":         func() error { _, err := s.Select(pick, 1); return err },
		"SelectDatabase": func() error {
			_, err := s.SelectDatabase(q, 1, vectors(make([]float64, 5)), 2)
			return err
		},
	}
	refused := []error{
		func() error { _, err := s.Measure(q[0], 4.9); return err }(),
		func() error { _, err := s.MeasureLaplace(q[0], 1.9); return err }(),
		func() error { _, err := s.Select(pick, .9); return err }(),
		func() error { _, err := s.SelectDatabase(q, 1, vectors(make([]float64, 5)), .9); return err }(),
	}
	for i, err := range refused {
		if !errors.Is(err, ErrPlan) {
			t.Errorf("call %d beyond the plan: %v", i, err)
		}
	}
	if reads != 0 {
		t.Fatalf("%d reads before a charge", reads)
	}
	for name, call := range mechanisms {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := call(); !errors.Is(err, ErrPlan) {
			t.Errorf("%s a second time: %v", name, err)
		}
	}
	if reads < 1 || reads > 3 { // two counts are remembered
		t.Errorf("the rows were read %d times", reads)
	}
	if err := s.Close(ledger.StatusDone); err != nil {
		t.Fatal(err)
	}
	for name, call := range mechanisms {
		if err := call(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s on a closed session: %v", name, err)
		}
	}
	if got := calls(s.Ledger().Runs()[0].Charged); got != 4 {
		t.Errorf("%d charges in the ledger, want 4", got)
	}
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
	database := func(qs []Query, n int, epsilon float64) func() error {
		return func() error {
			_, err := s.SelectDatabase(qs, n, vectors(make([]float64, 5)), epsilon)
			return err
		}
	}
	type forged struct{ Total } // has the method of a query
	deep := table.Expr(table.And{})
	for range maxExprDepth {
		deep = table.Not{Of: deep}
	}
	for name, call := range map[string]func() error{
		"column":         measure(Where{table.Condition{Column: 3}}),
		"nil expression": measure(Where{}),
		"nil part":       measure(Where{table.Not{}}),
		"deep":           measure(Where{deep}),
		"foreign":        measure(forged{}),
		"no query":       measure(nil),
		"no rule":        measure(Cells{}),
		"no queries":     func() error { _, err := s.MeasureAll(nil, 5); return err },
		"one bad query": func() error {
			_, err := s.MeasureAll([]Query{Total{}, forged{}}, 5)
			return err
		},
		"sigma":         func() error { _, err := s.Measure(q[0], math.NaN()); return err },
		"scale":         func() error { _, err := s.MeasureLaplace(q[0], 0); return err },
		"no candidates": func() error { _, err := s.Select(nil, 1); return err },
		"epsilon": func() error {
			_, err := s.Select([]Candidate{{Query: q[0]}}, math.Inf(1))
			return err
		},
		"no estimate":      pick(Candidate{Query: q[0]}),
		"candidate":        pick(Candidate{Estimate: []float64{0}}),
		"estimate":         pick(Candidate{Query: q[0], Estimate: []float64{math.NaN()}}),
		"weight":           pick(Candidate{Query: q[0], Estimate: []float64{0}, Weight: 1025}),
		"database epsilon": database(q, 1, 0),
		"no databases":     database(q, 0, 1),
		"many databases":   database(q, MaxDatabases+1, 1),
		"no answers":       database(nil, 1, 1),
	} {
		if err := call(); err == nil || errors.Is(err, accountant.ErrBudget) {
			t.Errorf("%s: error %v, want one about the argument", name, err)
		}
	}
	if len(s.Ledger().Runs()[0].Charged) != 0 {
		t.Error("an invalid argument was charged")
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
			if _, err := databaseScores(counts, 2, vectors(ys...)); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
	}
	scores, err := databaseScores(
		[]int64{4, 9, 0, 0, 1}, 2, vectors([]float64{2, 8.5, 0, 0, 1}, []float64{4, 9, 3.25, 0, 1}),
	)
	if err != nil ||
		!slices.Equal(scores, []int64{-2 << access.EstimateBits, -13 << (access.EstimateBits - 2)}) {
		t.Errorf("scores %v, %v", scores, err)
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
	for i, x := range append(someQueries(), table.Or{}, table.And{table.And{}},
		table.Not{Of: table.And{}}) {
		q, err := s.compile(Where{x})
		if err != nil {
			t.Fatal(err)
		}
		if j, known := keys[q.key]; known {
			t.Errorf("expressions %d and %d have one key", i, j)
		}
		keys[q.key] = i
	}
	allow := []bool{true, false}
	x := table.Or{table.Not{Of: table.Condition{Column: 0, Allow: allow}}}
	q, err := s.compile(Where{x})
	if err != nil {
		t.Fatal(err)
	}
	allow[0], x[0] = false, table.And{}
	counts, err := s.counts([]compiled{q})
	if err != nil || counts[0][0] != 300 {
		t.Errorf("%v, %v: want 300 rows", counts, err)
	}
}

// TestCountsPrintNothing: true counts, once read, do not show.
func TestCountsPrintNothing(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(4321), nil), gaussian(5, 1))
	if _, err := s.Measure(Where{table.And{}}, 5); err != nil {
		t.Fatal(err)
	}
	q, err := s.compile(Where{table.And{}})
	if err != nil {
		t.Fatal(err)
	}
	if counts, err := s.counts([]compiled{q}); err != nil || counts[0][0] != 4321 {
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
	if _, err := s.Measure(Total{}, .01); !errors.Is(err, ErrPlan) {
		t.Errorf("a fourth query: %v", err)
	}
	if run := s.Ledger().Runs()[0]; calls(run.Charged) != 3 {
		t.Errorf("%d charges in the ledger, want 3", calls(run.Charged))
	}
	tight := open(t, testTable(t, testSchema("", 0), someRows(600), nil), gaussian(.01, 2))
	if _, err := tight.MeasureAll(qs, .01); !errors.Is(err, ErrPlan) {
		t.Errorf("three queries for the price of two: %v", err)
	}
}
