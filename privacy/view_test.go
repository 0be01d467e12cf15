package privacy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

const full = 1 << 16

// TestWeigh: those of a unit of up to 70,000 rows are together at most the bound, and more would
// not be: each is rounded down, and by less than 1.
func TestWeigh(t *testing.T) {
	for k := 1; k <= 70_000; k += 1 + k/50 {
		units := make([]uint32, k)
		for _, c := range []int{1, 2, 3, 7, 1000} {
			w := weightsOf(units, c*full, full)
			sum := 0
			for _, x := range w {
				sum += int(x)
			}
			if sum > c*full || w[0] < full && k*int(w[0]+1) <= c*full || w[0] > full {
				t.Fatalf("%d rows weigh %d each, of at most %d", k, w[0], c*full)
			}
		}
	}
	got := weightsOf([]uint32{7, 7, 2, 7, 9, 9}, full, full)
	want := []uint32{full / 3, full / 3, full, full / 3, full / 2, full / 2}
	if !slices.Equal(got, want) {
		t.Errorf("weights are %v, want %v", got, want)
	}
	many := make([]uint32, 70_000)
	if w := weightsOf(many, full, full); slices.Max(w) != 0 {
		t.Errorf("of 70,000 rows with weight 1 one weighs %d: together more than 1", slices.Max(w))
	}
}

// viewedRows are rows with two views: of the units with a row each, and of steps, so many of each
// unit, which weigh at most c together.
func viewedRows(t testing.TB, steps []int, c int) *Rows {
	var ones, all []uint32
	for u, k := range steps {
		ones = append(ones, uint32(u))
		all = append(all, slices.Repeat([]uint32{uint32(u)}, k)...)
	}
	view := func(most, full int, units []uint32) access.View {
		s := testSchema("id", most)
		tab := testTable(t, s, someRows(len(units)), units)
		return access.View{Schema: s, Full: full, Table: func() *table.Table { return tab }}
	}
	views := map[string]access.View{"units": view(1, 1, ones), "steps": view(c*full, full, all)}
	tables := stattest.Must(schema.ParseLinked([]byte(`decoy: 1
unit: id
tables:
  - {name: units, columns: [{name: a, kind: boolean}]}
  - {name: steps, parent: units, key: id, order: {by: day, rows: 2},
     columns: [{name: day, kind: integer, min: 0, max: 9}]}
`)))
	return FromLoader(access.Loader{Tables: tables, Load: func(_ context.Context,
		begin func() error, _ access.Bound) (access.Loaded, error) {
		return access.Loaded{Joint: &access.Joint{Views: views}}, begin()
	}})
}

// viewOf is a view that must be there.
func viewOf(t testing.TB, s *Session, name string) *Session {
	t.Helper()
	return stattest.Must(s.View(name))
}

// gaussians plans as many calls of Measure at σ rows as there are full weights.
func gaussians(sigma float64, each ...int) (plan accountant.Composition) {
	for _, full := range each {
		plan = append(plan, accountant.Charge{Count: 1,
			Event: accountant.Gaussian{NoiseMultiplier: sigma / float64(full)}})
	}
	return plan
}

// TestViewCounts: a view counts its own rows by their weights, and is charged for what they weigh.
func TestViewCounts(t *testing.T) {
	steps := []int{1, 0, 3, 2}
	s := must(Open(t.Context(), viewedRows(t, steps, 2), Options{Budget: wide, Price: free,
		Plan: gaussians(tiny, 1, 2*full, 2*full)}))
	units, view := viewOf(t, s, "units"), viewOf(t, s, "steps")
	if got := must(units.Measure(Total{}, tiny)); got[0] != int64(len(steps)) {
		t.Errorf("%d units", got[0])
	}
	want := make([]int64, 4) // of column c of someRows: i² modulo 4
	for i, w := range []int64{full, 2 * full / 3, 2 * full / 3, 2 * full / 3, full, full} {
		want[i*i%4] += w
	}
	if got := must(view.Measure(Marginal{Cols: []int{2}}, tiny)); !slices.Equal(got, want) {
		t.Errorf("steps are %v, want %v", got, want)
	}
	if got := must(view.Measure(Total{}, tiny)); got[0] != want[0]+want[1]+want[2]+want[3] {
		t.Errorf("steps weigh %d together, want the sum of %v", got[0], want)
	}
	if left := s.Left(); left.Mu2 != 0 || !view.Elsewhere() {
		t.Errorf("there is %v left", left)
	}
	stattest.Wraps(t, stattest.Err(view.Measure(Total{}, tiny)), ErrPlan, "more than the plan")
	stattest.Check(t, view.Finish(nil, nil))
	for _, one := range []*Session{s, units, view} {
		stattest.Wraps(t, stattest.Err(one.Measure(Total{}, tiny)), ErrClosed, "after the end")
		if one.in.Joint != nil || one.in.Counts != nil {
			t.Error("the end lets go of no rows")
		}
	}
	stattest.Wraps(t, stattest.Err(s.View("units")), ErrClosed, "a view after the end")
}

// free prices everything at nothing, for tests that are not about the budget.
func free(accountant.Composition, float64, accountant.Adjacency) (accountant.Bound, error) {
	return accountant.Bound{}, nil
}

// TestViewAnswersMarginalsOnly: other queries, and questions to the tables themselves, end the
// session without an answer, whatever the rows are; other names are no views.
func TestViewAnswersMarginalsOnly(t *testing.T) {
	for name, ask := range map[string]func(s, view *Session) error{
		"where": func(_, view *Session) error { return second(view.Measure(firstIs1, 1)) },
		"units": func(_, view *Session) error {
			return second(view.Measure(ContributionHistogram{UpTo: []int{1}}, 1))
		},
		"tables": func(s, _ *Session) error { return second(s.Measure(Total{}, 1)) },
		"merge":  func(_, view *Session) error { return view.MergeBins(testSchema("id", full)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := must(Open(t.Context(), viewedRows(t, []int{2}, 1), Options{Budget: wide, Price: free,
				Plan: gaussians(1, 1, full)}))
			stattest.Fails(t, stattest.Err(s.View("others")), "there is a view of that name")
			if err := ask(s, viewOf(t, s, "steps")); !errors.Is(err, ErrElsewhere) {
				t.Errorf("the answer is %v", err)
			}
		})
	}
	s := open(t, testTable(t, testSchema("", 0), someRows(3), nil), gaussian(1, 1))
	stattest.Fails(t, stattest.Err(s.View("")), "one table has a view")
}

func second[T any](_ T, err error) error { return err }

// TestViewNoise: counts of steps have noise of σ in parts of rows, in whole numbers. H0: the law of
// measure.md, in 20,000 draws; false alarm 1e-6, and ±30 % are rejected.
func TestViewNoise(t *testing.T) {
	const n, sigma = 20_000, 40.5
	s := must(Open(t.Context(), viewedRows(t, []int{3}, 1), Options{Budget: wide, Price: free,
		Plan: accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: sigma / full},
			Count: n}}}))
	view := viewOf(t, s, "steps")
	var draws []int64
	for range n {
		draws = append(draws, must(view.Measure(Total{}, sigma))[0]-3*(full/3))
	}
	for scale, want := range map[float64]bool{1: true, .7: false, 1.3: false} {
		law := func(x int64) float64 { return roundedNormal(x, scale*sigma) }
		if follows(draws, 150, law) != want {
			t.Errorf("the noise is that of %v·σ: %v", scale, !want)
		}
	}
}

// TestViewSelects: a choice in a view has scores in parts of rows, whose penalties may be as large.
func TestViewSelects(t *testing.T) {
	s := must(Open(t.Context(), viewedRows(t, []int{3, 3, 3}, 1), Options{Budget: wide, Price: free,
		Plan: accountant.Composition{{Event: accountant.Exponential{Epsilon: 100}, Count: 2}}}))
	view := viewOf(t, s, "steps")
	at := func(x, penalty float64) Candidate {
		return Candidate{Query: Total{}, Estimate: []float64{x}, Penalty: penalty}
	}
	const truth = 9 * (full / 3)
	for want, list := range [][]Candidate{
		{at(truth-2*full, 0), at(truth-full, 0)},
		{at(truth-2*full, 1<<40), at(truth-full, 0)},
	} {
		if got := must(view.Select(list, 100)); got != want {
			t.Errorf("candidate %d is chosen, want %d", got, want)
		}
	}
	// a unit moves the score by its weight, and no more
	moved := gridded{estimate: []int64{0}, weight: 1 << weightBits, penalty: 1 << 58}
	a, b := moved.score([]int64{5 * full}), moved.score([]int64{4 * full})
	if d := a - b; d < 0 || d > full<<(access.EstimateBits+weightBits) {
		t.Errorf("the score moves by %d", d)
	}
}

// TestViewResumes: a run that is killed between its views, or within one, goes on with the answers
// that it was given, and pays once; the journal knows which view was asked.
func TestViewResumes(t *testing.T) {
	const sigma = 1000.
	dir := t.TempDir()
	options := func(resume bool) Options {
		return Options{Budget: wide, Plan: gaussians(sigma, 1, full, full), Price: free,
			Ledger:  ledger.NewFile(filepath.Join(dir, "l")),
			Journal: filepath.Join(dir, "j"), Resume: resume}
	}
	rows := func() *Rows { return viewedRows(t, []int{2, 1}, 1) }
	questions := func(s *Session) []func() ([]int64, error) {
		steps := func() ([]int64, error) { return viewOf(t, s, "steps").Measure(Total{}, sigma) }
		return []func() ([]int64, error){
			func() ([]int64, error) { return viewOf(t, s, "units").Measure(Total{}, sigma) },
			steps, steps,
		}
	}
	var told [][]int64
	s := must(Open(t.Context(), rows(), options(false)))
	for stop := range questions(s) {
		for i, ask := range questions(s)[:stop+1] {
			got := stattest.Must(ask())
			if i < len(told) && !slices.Equal(got, told[i]) {
				t.Errorf("question %d is answered %v, was %v", i, got, told[i])
			} else if i == len(told) {
				told = append(told, got)
			}
		}
		die(s)
		s = must(Open(t.Context(), rows(), options(true)))
	}
	// the other view, asked the same
	stattest.Wraps(t, stattest.Err(viewOf(t, s, "steps").Measure(Total{}, sigma)), ErrResume,
		"another view in place of the first")
	die(s)
	s = must(Open(t.Context(), rows(), options(true)))
	for _, ask := range questions(s) {
		stattest.Must(ask())
	}
	stattest.Check(t, s.Finish(nil, nil))
	l := must(options(false).Ledger.Read())
	if r := l.Runs(); len(r) != 1 || calls(r[0].Charged) != 3 || l.Spent() != wide ||
		r[0].Status != ledger.StatusDone {
		t.Errorf("the ledger has %+v", r)
	}
	for i, e := range linesOf(l, s.run)[1:4] {
		if want := []string{"units: ", "steps: ", "steps: "}[i]; e.Label[:len(want)] != want {
			t.Errorf("charge %d is called %q", i, e.Label)
		}
	}
	if e := linesOf(l, s.run)[0]; e.SchemaSHA256 != rows().Tables().Fingerprint() ||
		e.Unit != "id" || e.MaxRowsPerUnit != 1 {
		t.Errorf("the reservation is %+v", e)
	}
	// whoever has the answers can hold them to the ledger
	for i, view := range []string{"units", "steps"} {
		hash := must(HashMeasured(view, testSchema("", 0).Sizes(), []Query{Total{}}, sigma, told[i:i+1]))
		if hash != linesOf(l, s.run)[1+i].Answer {
			t.Errorf("the answer of %s has another hash", view)
		}
	}
	other := options(false)
	other.Journal = filepath.Join(dir, "k")
	s = must(Open(t.Context(), rows(), other))
	die(s)
	changed := rows()
	changed.from.Tables.Tables[1].Weight = 2
	other.Resume = true
	stattest.Wraps(t, stattest.Err(Open(t.Context(), changed, other)), ErrResume,
		"under another schema")
}

// TestViewNeighbours: how far a unit moves the counts of a view is at most the reach of the
// relation, and is reached, in 2,000 pairs of tables under each.
func TestViewNeighbours(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	counts := func(rows [][3]uint8, units []uint32, c int) []int64 {
		s := testSchema("id", c*full)
		tab, out := testTable(t, s, rows, units), make([]int64, 24)
		q := compiledOf(t, &session{schema: s}, Marginal{Cols: []int{0, 1, 2}})[0]
		countTo(out, tab, weightsOf(units, c*full, full), q.Cols, q.Offsets)
		return out
	}
	unit := func() (rows [][3]uint8) {
		one := [3]uint8{uint8(u.IntN(2)), uint8(u.IntN(3)), uint8(u.IntN(4))}
		for range u.IntN(7) {
			if rows = append(rows, one); u.IntN(4) == 0 {
				one[0] ^= 1
			}
		}
		return rows
	}
	for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		for _, c := range []int{1, 2, 3} {
			t.Run(fmt.Sprint(adj, c), func(t *testing.T) {
				_, l1, l2 := access.RowCells.Sensitivity(c*full, adj)
				far1, far2 := 0., 0.
				for range 2000 {
					var rows [][3]uint8
					var units []uint32
					for i := range uint32(3) {
						for _, r := range unit() {
							rows, units = append(rows, r), append(units, i)
						}
					}
					with := func(more [][3]uint8) []int64 {
						return counts(slices.Concat(rows, more),
							slices.Concat(units, slices.Repeat([]uint32{9}, len(more))), c)
					}
					var other [][3]uint8
					if adj == accountant.ReplaceOne {
						other = unit()
					}
					a, b := with(unit()), with(other)
					d1, d2 := 0., 0.
					for i := range a {
						d := math.Abs(float64(a[i] - b[i]))
						d1, d2 = d1+d, d2+d*d
					}
					far1, far2 = max(far1, d1), max(far2, math.Sqrt(d2))
				}
				if far1 > l1 || far2 > l2 || far1 < .99*l1 || far2 < .99*l2 {
					t.Errorf("a unit moves %v and %v, the reach is %v and %v", far1, far2, l1, l2)
				}
			})
		}
	}
}
