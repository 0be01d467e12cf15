package synth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// checked are settings of which a test is sure.
func checked[M settings](m M) M { return stattest.Must(Checked(m)) }

// TestConformance runs the suite on every method: most of it with settings that make it quick, the
// test of what it learns with settings good.
func TestConformance(t *testing.T) {
	wgan := WGAN{Steps: 2, DistilSteps: 4, GeneratorSteps: 1, PostSteps: 4, Hidden: []int{8}}
	votes := PATEGAN{Rounds: 2, Questions: 20, DistilSteps: 4, GeneratorSteps: 1, ShardRows: 50}
	good := PATEGAN{Rounds: 3, Questions: 50, DistilSteps: 500, GeneratorSteps: 20, ShardRows: 200}
	suites := map[string][]settings{
		"smalldb": {&SmallDB{}},
		"aim":     {&AIM{MemoryMB: 1}, &AIM{}},
		"mwem":    {&MWEM{Rounds: 4, MaxCells: 50000}, &MWEM{}},
		"counts": {&MWEM{Rounds: 4, Workload: "decoy_workload: 1\nqueries: [{marginal: [column 0]}, " +
			"{where: '`column 0` = c0'}]"}, &MWEM{}},
		"wgan": {&wgan,
			&WGAN{DistilSteps: 300, PostSteps: 50, Steps: 4, GeneratorSteps: 2, Hidden: []int{16}}},
		"pategan": {&votes, &good},
	}
	for _, name := range Names() {
		if suites[name] == nil {
			f := stattest.Must(unchecked(name))
			suites[name] = []settings{f, f}
		}
	}
	for name, s := range suites {
		t.Run(name, func(t *testing.T) {
			f := checked(s[0])
			var good []Fitter
			for _, m := range s[1:] {
				good = append(good, checked(m))
			}
			conforms(t, f, good...)
		})
	}
}

// TestSettingsAreChecked: what no method can have is refused before there is a schema.
func TestSettingsAreChecked(t *testing.T) {
	nan, missing := math.NaN(), filepath.Join(t.TempDir(), "none.yaml")
	for _, m := range []settings{
		&MST{OneWayShare: .6, SelectShare: .5}, &MST{OneWayShare: -.1}, &MST{SelectShare: nan},
		&MST{GroupSigmas: -1}, &MST{GroupSigmas: 1000}, &MST{Iterations: -1},
		&AIM{Workload: "quads"}, &AIM{Workload: "sets"},
		&AIM{Workload: "pairs", Sets: []string{"a*b"}}, &AIM{TargetShare: .1},
		&AIM{OneWayShare: -.1}, &AIM{Target: "x", TargetShare: .6, OneWayShare: .5},
		&AIM{SelectShare: nan}, &AIM{SelectShare: 1}, &AIM{MemoryMB: -1}, &AIM{MemoryMB: 1 << 21},
		&AIM{Target: "x", TargetShare: nan},
		&MWEM{SelectShare: -.1}, &MWEM{SelectShare: .9},
		&MWEM{SelectShare: nan}, &MWEM{Rounds: -1}, &MWEM{MaxCells: -1}, &MWEM{MaxCells: 1 << 30},
		&MWEM{Workload: missing},
		&Bayes{Prior: nan}, &Bayes{Target: "column 1", Families: []string{"column 1"}},
		&SmallDB{Alpha: 1}, &SmallDB{Alpha: nan}, &SmallDB{Rows: -1},
		&SmallDB{Workload: missing},
		&WGAN{Steps: -1}, &WGAN{Rate: 1.5}, &WGAN{Rate: nan}, &WGAN{Mode: "blocks"},
		&WGAN{MarginalShare: 1}, &WGAN{Engine: "torch"},
		&WGAN{Lipschitz: "none"}, &WGAN{Hidden: []int{}}, &WGAN{Hidden: []int{8, 0}},
		&WGAN{Hidden: []int{8, 5000}}, &WGAN{Hidden: make([]int, 17)},
		&PATEGAN{Rounds: -1}, &PATEGAN{MarginalShare: nan}, &PATEGAN{MarginalShare: 1},
		&PATEGAN{Questions: 1 << 30}, &PATEGAN{Directions: 300}, &PATEGAN{Aggregator: "max"},
	} {
		stattest.Wraps(t, stattest.Err(Checked(m)), ErrConfig, "%T %+v", m, m)
	}
}

// conforms is the suite. Of a method for tiny domains it must serve tables of one column and of
// two, and refuse one of forty as a matter of settings, before it reads a row.
func conforms(t *testing.T, f Fitter, good ...Fitter) {
	tiny, few, counts := len(good) == 0, 4, []int{1, 2, 7, 20}
	if tiny {
		few, counts = 2, counts[:2]
		stattest.Wraps(t, stattest.Err(NewPlan(f, schema.One(synthtest.Schema(40)), relations[0], one)),
			ErrConfig,
			"forty columns")
	} else {
		t.Run("awkward tables", func(t *testing.T) { awkward(t, f) })
		t.Run("learns a strong association", func(t *testing.T) { learns(t, good[0]) })
	}
	t.Run("plan fits the budget", func(t *testing.T) { planFits(t, f, counts...) })
	t.Run("plan refuses bad budgets", func(t *testing.T) { planRefuses(t, f, 2) })
	t.Run("noise of a unit", func(t *testing.T) { unitNoise(t, f, 2) })
	t.Run("no rows", func(t *testing.T) { noRows(t, f, few) })
	t.Run("model file", func(t *testing.T) { modelFile(t, f, few) })
	t.Run("cancelled", func(t *testing.T) { cancelled(t, f, few) })
	t.Run("resumes", func(t *testing.T) { resumes(t, f, few) })
	t.Run("exhausted session", func(t *testing.T) { exhausted(t, f, 2) })
}

var relations = []privacy.Neighbours{
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 1},
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 5},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 5},
}

func planFits(t *testing.T, f Fitter, counts ...int) {
	for _, columns := range counts {
		s := synthtest.Schema(columns)
		for _, nb := range relations {
			for _, b := range []accountant.Budget{{Epsilon: .1, Delta: 1e-9},
				{Epsilon: 1, Delta: 1e-6}, {Epsilon: 10, Delta: 1e-9}} {
				p, err := NewPlan(f, schema.One(s), nb, b)
				if err != nil {
					t.Fatalf("%d columns, %v, %+v: %v", columns, nb, b, err)
				}
				cost, err := pld.Epsilon(p.Reserve, b.Delta, nb.Adjacency)
				if err != nil || cost.Epsilon > b.Epsilon {
					t.Errorf("%d columns, %v, %+v: costs %v, %v", columns, nb, b, cost.Epsilon, err)
				}
				if cost.Epsilon < .9*b.Epsilon {
					t.Errorf("%d columns, %v, %+v: uses only %v", columns, nb, b, cost.Epsilon)
				}
				if fc := p.Forecast(0); fc.Seconds < 0 || fc.MemoryBytes < 0 || len(fc.Noise) == 0 {
					t.Errorf("%d columns: forecast %+v", columns, fc)
				}
			}
		}
	}
}

func planRefuses(t *testing.T, f Fitter, columns int) {
	for _, b := range []accountant.Budget{{Epsilon: 0, Delta: 1e-9}, {Epsilon: -1, Delta: 1e-9},
		{Epsilon: math.NaN(), Delta: 1e-9},
		{Epsilon: math.Inf(1), Delta: 1e-9}, {Epsilon: 1, Delta: -1}, {Epsilon: 1, Delta: .5},
		{Epsilon: 1, Delta: math.NaN()}} {
		stattest.Wraps(t, stattest.Err(NewPlan(f, schema.One(synthtest.Schema(columns)), relations[0],
			b)), accountant.ErrBudgetRange, "%+v", b)
	}
}

// unitNoise asks that a unit of five rows needs five times the noise of a row, as announced.
func unitNoise(t *testing.T, f Fitter, columns int) {
	sigmas := func(rows int) (out []float64) {
		nb := privacy.Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: rows}
		p := stattest.Must(NewPlan(f, schema.One(synthtest.Schema(columns)), nb, one))
		for _, n := range p.Forecast(0).Noise {
			if n.Sigma > 0 && !strings.Contains(n.What, "vote") { // a unit is in one shard
				out = append(out, n.Sigma)
			}
		}
		return out
	}
	row := sigmas(1)
	for i, x := range sigmas(5) {
		if math.Abs(x/row[i]-5) > 1e-6 {
			t.Errorf("five rows a unit: %v times the noise", x/row[i])
		}
	}
}

// TestTargetIsChecked: a target that the schema has not is refused.
func TestTargetIsChecked(t *testing.T) {
	s := synthtest.Schema(3)
	for target, ok := range map[string]bool{"column 0": true, "none": false} {
		for _, f := range []settings{&AIM{Target: target}, &WGAN{Target: target},
			&PATEGAN{Target: target}, &Bayes{Target: target}} {
			_, err := NewPlan(checked(f), schema.One(s), privacy.NeighboursOf(s, 0), one)
			if errors.Is(err, ErrConfig) == ok {
				t.Errorf("%s, %s: %v", f.Name(), target, err)
			}
		}
	}
}

// Fit runs the method on a table held in memory.
func Fit(t testing.TB, f Fitter, tab *table.Table, b accountant.Budget) *release.Model {
	t.Helper()
	m, _, err := Run(context.Background(), privacy.FromTable(tab), f,
		RunOptions{Options: privacy.Options{Budget: b, Tool: "synthtest"}})
	stattest.Check(t, err)
	return m
}

// Sample draws n rows with a seed.
func Sample(t testing.TB, m *release.Model, n int, seed uint64) *table.Table {
	t.Helper()
	var out *table.Table
	stattest.Check(t, m.Sample(context.Background(), n, seed,
		func(tab *table.Table) error { out = tab; return nil }))
	return out
}

var one = accountant.Budget{Epsilon: 1, Delta: 1e-9}

func awkward(t *testing.T, f Fitter) {
	wide := synthtest.Schema(3)
	for k := range 300 {
		wide.Columns[1].Categories = append(wide.Columns[1].Categories, fmt.Sprintf("more %d", k))
	}
	for _, tt := range []struct {
		name string
		s    *schema.Schema
		rows int
	}{
		{"one row", synthtest.Schema(3), 1}, {"one column", synthtest.Schema(1), 500},
		{"two columns", synthtest.Schema(2), 500},
		{"forty columns", synthtest.Schema(40), 500},
	} {
		m := Fit(t, f, synthtest.Table(t, tt.s, tt.rows), one)
		if got := Sample(t, m, 37, 1); got.Rows() != 37 ||
			len(got.Schema().Columns) != len(tt.s.Columns) {
			t.Errorf("%s: sampled %d rows", tt.name, got.Rows())
		}
		if v, err := m.Verify(pld.Epsilon); err != nil || v.Reserved.Epsilon > 1 {
			t.Errorf("%s: %+v, %v", tt.name, v, err)
		}
	}
	cols := synthtest.Table(t, synthtest.Schema(3), 50)
	u16 := make([]uint16, 50)
	for i := range u16 {
		u16[i] = uint16(i)
	}
	tab, err := table.FromColumns(wide, []table.Codes{cols.Column(0), {U16: u16}, cols.Column(2)},
		nil)
	stattest.Check(t, err)
	Sample(t, Fit(t, f, tab, one), 10, 1)
}

// noRows asks that an empty table makes a table of noise as any other does, of rows and of units:
// that a table has a row is private too.
func noRows(t *testing.T, f Fitter, columns int) {
	for _, unit := range []string{"", "id"} {
		s := synthtest.Schema(columns)
		var units []uint32
		if unit != "" {
			s.Unit, s.MaxRowsPerUnit, units = unit, 3, []uint32{}
		}
		cols := make([]table.Codes, columns)
		for i, size := range s.Sizes() {
			cols[i] = table.NewCodes(size, 0)
		}
		tab := stattest.Must(table.FromColumns(s, cols, units))
		m := Fit(t, f, tab, one)
		if got := Sample(t, m, 20, 1); got.Rows() != 20 {
			t.Errorf("unit %q: sampled %d rows", unit, got.Rows())
		}
		if v, err := m.Verify(pld.Epsilon); err != nil || v.Charged.Epsilon == 0 {
			t.Errorf("unit %q: %+v, %v", unit, v, err)
		}
	}
}

// learns asks that a copied column is still a copy, mostly, at a generous budget: 20 000 rows, ε =
// 5.
func learns(t *testing.T, f Fitter) {
	s := synthtest.Schema(5)
	s.Columns[1] = s.Columns[0]
	s.Columns[1].Name = "copy"
	tab := synthtest.Table(t, s, 20000)
	syn := Sample(t, Fit(t, f, tab, accountant.Budget{Epsilon: 5, Delta: 1e-9}), 20000, 1)
	agree := func(tab *table.Table) float64 {
		counts := tab.Counts(0, 1)
		return float64(counts[0]+counts[3]) / float64(tab.Rows())
	}
	if got, want := agree(syn), agree(tab); math.Abs(got-want) > .05 {
		t.Errorf("the copy agrees in %v of the synthetic rows, in %v of the real ones", got, want)
	}
}

func modelFile(t *testing.T, f Fitter, columns int) {
	m := Fit(t, f, synthtest.Table(t, synthtest.Schema(columns), 300), one)
	var buf bytes.Buffer
	stattest.Check(t, m.Write(&buf))
	back := stattest.Must(release.Read(bytes.NewReader(buf.Bytes()), int64(buf.Len())))
	stattest.Passes(t, stattest.Err(back.Verify(pld.Epsilon)), "")
	if back.Method != f.Name() {
		t.Errorf("method %q", back.Method)
	}
	a, b, c := Sample(t, m, 1000, 7), Sample(t, back, 1000, 7), Sample(t, back, 1000, 8)
	same, differ := true, false
	for i := range a.Schema().Columns {
		for r := range a.Rows() {
			same = same && a.Column(i).At(r) == b.Column(i).At(r)
			differ = differ || b.Column(i).At(r) != c.Column(i).At(r)
		}
	}
	if !same {
		t.Error("the model read back samples other rows for the same seed")
	}
	if !differ {
		t.Error("another seed gives the same rows")
	}
}

func cancelled(t *testing.T, f Fitter, columns int) {
	ctx, cancel := context.WithCancel(context.Background())
	progress := func(string, float64) { cancel() }
	_, s, err := Run(ctx, privacy.FromTable(synthtest.Table(t, synthtest.Schema(columns), 300)), f,
		RunOptions{Options: privacy.Options{Budget: one}, Progress: progress})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	if got := s.Ledger().Runs()[0].Status; got != ledger.StatusCancelled {
		t.Errorf("the run is closed as %s", got)
	}
}

// exhausted fits twice on one session: the second fit must be refused, not served from a budget
// that is gone.
func exhausted(t *testing.T, f Fitter, columns int) {
	tab := synthtest.Table(t, synthtest.Schema(columns), 300)
	nb := privacy.NeighboursOf(tab.Schema(), 0)
	p := stattest.Must(NewPlan(f, schema.One(tab.Schema()), nb, one))
	s := stattest.Must(privacy.Open(context.Background(), privacy.FromTable(tab),
		privacy.Options{Budget: one, Plan: p.Reserve, Price: p.Price, Method: f.Name()}))
	stattest.Must(p.Fit(context.Background(), s, nil))
	if _, err := p.Fit(context.Background(), s, nil); !errors.Is(err, accountant.ErrBudget) {
		t.Errorf("a second fit on the same session: %v, want ErrBudget", err)
	}
}
