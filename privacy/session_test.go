package privacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// TestBudgetIsCheckedBeforeReading: a plan one ulp too dear is refused without reading; at exactly
// its cost it is accepted.
func TestBudgetIsCheckedBeforeReading(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	plan := gaussian(3, 4)
	cost := stattest.Must(pld.Epsilon(plan, 1e-9, accountant.AddRemove))
	tests := []struct {
		name    string
		budget  accountant.Budget
		plan    accountant.Composition
		wantErr error
	}{
		{"exactly the cost", accountant.Budget{Epsilon: cost.Epsilon, Delta: 1e-9}, plan, nil},
		{
			"one ulp less",
			accountant.Budget{Epsilon: math.Nextafter(cost.Epsilon, 0), Delta: 1e-9},
			plan,
			accountant.ErrBudget,
		},
		{
			"one more event",
			accountant.Budget{Epsilon: cost.Epsilon, Delta: 1e-9},
			gaussian(3, 5),
			accountant.ErrBudget,
		},
		{"epsilon 0", accountant.Budget{Epsilon: 0, Delta: 1e-9}, plan, accountant.ErrBudgetRange},
		{
			"epsilon NaN",
			accountant.Budget{Epsilon: math.NaN(), Delta: 1e-9},
			plan,
			accountant.ErrBudgetRange,
		},
		{
			"epsilon infinite",
			accountant.Budget{Epsilon: math.Inf(1), Delta: 1e-9},
			plan,
			accountant.ErrBudgetRange,
		},
		{"delta too large", accountant.Budget{Epsilon: 1, Delta: .01}, plan, accountant.ErrBudgetRange},
	}
	for _, tt := range tests {
		reads := 0
		s, err := Open(
			context.Background(), counted(tab, &reads), Options{Budget: tt.budget, Plan: tt.plan},
		)
		if !errors.Is(err, tt.wantErr) || (err == nil) != (tt.wantErr == nil) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.wantErr)
		}
		if want := map[bool]int{true: 1, false: 0}[tt.wantErr == nil]; reads != want {
			t.Errorf("%s: read %d times, want %d", tt.name, reads, want)
		}
		if (s != nil) != (tt.wantErr == nil) {
			t.Errorf("%s: session %v", tt.name, s)
		}
	}
}

func TestPlanWithoutEventsOrWithBadOnes(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	for name, plan := range map[string]accountant.Composition{
		"zero multiplier": gaussian(0, 1),
		"NaN multiplier":  gaussian(math.NaN(), 1),
		"negative count":  gaussian(1, -1),
		"nil event":       {{Event: nil, Count: 1}},
	} {
		reads := 0
		if _, err := Open(context.Background(), counted(tab, &reads),
			Options{Budget: wide, Plan: plan}); err == nil ||
			reads > 0 {
			t.Errorf("%s: error %v after %d reads", name, err, reads)
		}
	}
}

// TestChargeBeforeReading: a mechanism beyond the plan, of another noise, or on a closed session
// reads nothing and returns nothing.
func TestChargeBeforeReading(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(12), nil), accountant.Composition{
		{Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 2},
		{Event: accountant.Exponential{Epsilon: 1}, Count: 1},
		{Event: accountant.Laplace{Epsilon: .5}, Count: 1},
	})
	reads := 0
	data := s.in.Table
	s.recount(func() *table.Table { reads++; return data() })
	pair := Marginal{Cols: []int{0, 1}}
	cand := []Candidate{{Query: pair, Estimate: make([]float64, 6)}}
	steps := []struct {
		name string
		call func() error
		want error
	}{
		{"first", func() error { _, err := s.Measure(Total{}, 5); return err }, nil},
		{"other sigma", func() error { _, err := s.Measure(pair, 4.9); return err }, ErrPlan},
		{"second", func() error { _, err := s.Measure(pair, 5); return err }, nil},
		{"third", func() error { _, err := s.Measure(pair, 5); return err }, ErrPlan},
		{
			"select with another epsilon",
			func() error { _, err := s.Select(cand, 2); return err },
			ErrPlan,
		},
		{"select", func() error { _, err := s.Select(cand, 1); return err }, nil},
		{"select again", func() error { _, err := s.Select(cand, 1); return err }, ErrPlan},
		{"answer", func() error { return laplaceOf(s, 2) }, nil},
		{"answer again", func() error { return laplaceOf(s, 2) }, ErrPlan},
	}
	for _, step := range steps {
		before := reads
		s.in.Counts = counter(s.in) // what was counted once is remembered
		err := step.call()
		if !errors.Is(err, step.want) || (err == nil) != (step.want == nil) {
			t.Errorf("%s: error %v, want %v", step.name, err, step.want)
		}
		if read := reads > before; read != (step.want == nil) {
			t.Errorf("%s: read = %v", step.name, read)
		}
		if step.want != nil && !errors.Is(err, accountant.ErrBudget) {
			t.Errorf("%s: %v does not say that the budget is exhausted", step.name, err)
		}
	}
	stattest.Check(t, s.Finish(nil, nil))
	stattest.Wraps(t, stattest.Err(s.Measure(Total{}, 5)), ErrClosed, "closed session")
	stattest.Passes(t, s.Ledger().Verify(nil), "the session's ledger")
	run := s.Ledger().Runs()[0]
	if got := calls(run.Charged); got != 4 || run.Status != ledger.StatusDone {
		t.Errorf("the ledger has %d charges and status %s, want 4 and done", got, run.Status)
	}
}

func calls(c accountant.Composition) (n int) {
	for _, x := range c {
		n += x.Count
	}
	return n
}

// TestChargedBeforeTheAnswer: at the moment a mechanism reads, its charge is in the ledger on disk
// already.
func TestChargedBeforeTheAnswer(t *testing.T) {
	file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	atRead := -1
	rows := loaded(tab, func(begin func() error) (*table.Table, error) {
		if err := begin(); err != nil {
			return nil, err
		}
		l, err := file.Read()
		if err != nil || len(l.Runs()) != 1 {
			t.Errorf("rows are read before the reservation: %v, %v", l, err)
		}
		return tab, nil
	})
	s := stattest.Must(Open(
		context.Background(), rows,
		Options{Budget: wide, Plan: gaussian(5, 1), Ledger: file, Method: "m", Tool: "t"},
	))
	data := s.in.Table
	s.recount(func() *table.Table {
		if atRead = 1; s.left.Take(gaussian(5, 1)[0]) == nil {
			atRead = 0
		}
		return data()
	})
	must(s.Measure(Total{}, 5))
	if atRead != 1 {
		t.Errorf("when the rows were counted %d calls were charged, want 1", atRead)
	}
	if l, err := file.Read(); err != nil || calls(l.Runs()[0].Charged) != 1 {
		t.Errorf("when the answer was there the ledger had charges %v, %v", l, err)
	}
}

// TestInvalidArgumentsCostNothing: what can be refused without the data is refused before the
// charge.
func TestInvalidArgumentsCostNothing(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(12), nil), gaussian(5, 1))
	pair := Marginal{Cols: []int{0, 1}}
	six := make([]float64, 6)
	with := func(m Marginal, est []float64, w, p float64) []Candidate {
		return []Candidate{{Query: m, Estimate: est, Weight: w, Penalty: p}}
	}
	for name, call := range map[string]func() error{
		"sigma 0":      func() error { _, err := s.Measure(Total{}, 0); return err },
		"sigma NaN":    func() error { _, err := s.Measure(pair, math.NaN()); return err },
		"column 3":     func() error { _, err := s.Measure(Marginal{Cols: []int{3}}, 5); return err },
		"column -1":    func() error { _, err := s.Measure(Marginal{Cols: []int{-1}}, 5); return err },
		"column twice": func() error { _, err := s.Measure(Marginal{Cols: []int{1, 1}}, 5); return err },
		"groups short": func() error {
			_, err := s.Measure(Marginal{Cols: []int{0, 1}, Groups: [][]uint16{nil}}, 5)
			return err
		},
		"group codes": func() error {
			_, err := s.Measure(Marginal{Cols: []int{0}, Groups: [][]uint16{{0}}}, 5)
			return err
		},
		"group too large": func() error {
			_, err := s.Measure(Marginal{Cols: []int{0}, Groups: [][]uint16{{0, 2}}}, 5)
			return err
		},
		"no candidates": func() error { _, err := s.Select(nil, 1); return err },
		"epsilon 0":     func() error { _, err := s.Select(with(pair, six, 1, 0), 0); return err },
		"epsilon infinite": func() error {
			_, err := s.Select(with(pair, six, 1, 0), math.Inf(1))
			return err
		},
		"estimate short": func() error { _, err := s.Select(with(pair, six[:5], 1, 0), 1); return err },
		"estimate NaN": func() error {
			_, err := s.Select(with(pair, []float64{0, 0, 0, 0, 0, math.NaN()}, 1, 0), 1)
			return err
		},
		"estimate huge": func() error {
			_, err := s.Select(with(pair, []float64{0, 0, 0, 0, 0, 1e15}, 1, 0), 1)
			return err
		},
		"weight negative": func() error { _, err := s.Select(with(pair, six, -1, 0), 1); return err },
		"weight 1025":     func() error { _, err := s.Select(with(pair, six, 1025, 0), 1); return err },
		"penalty huge":    func() error { _, err := s.Select(with(pair, six, 1, 1e15), 1); return err },
		"penalty NaN": func() error {
			_, err := s.Select(with(pair, six, 1, math.NaN()), 1)
			return err
		},
		"predicate column": func() error {
			_, err := s.Measure(Where{Expr: table.Condition{Column: 9}}, 5)
			return err
		},
		"predicate size": func() error {
			_, err := s.Measure(Where{Expr: table.Condition{Column: 0, Allow: []bool{true}}}, 5)
			return err
		},
	} {
		if err := call(); err == nil || errors.Is(err, accountant.ErrBudget) {
			t.Errorf("%s: error %v, want one about the argument", name, err)
		}
	}
	stattest.Passes(t, stattest.Err(s.Measure(Total{}, 5)), "the budget is gone")
}

// TestUnreadableRowsStaySpent: a run whose rows cannot be had after the reservation has spent its
// budget. Without a journal it is over, with one it goes on.
func TestUnreadableRowsStaySpent(t *testing.T) {
	broken := errors.New("the disk is broken")
	for name, tt := range map[string]struct {
		journal bool
		err     error
		status  string
	}{
		"failed":    {false, broken, ledger.StatusFailed},
		"cancelled": {false, context.Canceled, ledger.StatusCancelled},
		"continued": {true, broken, ledger.StatusUnfinished},
	} {
		j := journaled{t, t.TempDir()}
		o := j.options(false)
		if !tt.journal {
			o.Journal = ""
		}
		tab := testTable(t, testSchema("", 0), someRows(12), nil)
		rows := loaded(tab, func(begin func() error) (*table.Table, error) {
			return nil, errors.Join(begin(), tt.err)
		})
		_, err := Open(context.Background(), rows, o)
		l := must(o.Ledger.Read())
		if runs := l.Runs(); !errors.Is(err, tt.err) || len(runs) != 1 ||
			runs[0].Status != tt.status || l.Spent() != o.Budget {
			t.Errorf("%s: %v, runs %+v", name, err, runs)
		}
		stattest.Passes(t, l.Verify(nil), "")
		if tt.journal {
			o.Resume = true
			s := must(Open(context.Background(), FromTable(tab), o))
			must(s.Measure(Total{}, 5))
			if err := s.Finish(nil, nil); err != nil || must(o.Ledger.Read()).Spent() != o.Budget {
				t.Errorf("%s: it does not come to its end: %v", name, err)
			}
		}
	}
}

// TestUnpaidRows: rows that were read without the reservation before them are no session.
func TestUnpaidRows(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	rows := loaded(tab, func(func() error) (*table.Table, error) { return tab, nil })
	o := Options{Budget: wide, Plan: gaussian(5, 1)}
	if s, err := Open(t.Context(), rows, o); err == nil || s != nil {
		t.Errorf("%v, %v", s, err)
	}
}

// TestPrivateRowsAreReadLeniently: a file of any content is read under a schema that refuses it for
// public rows, and the session keeps the schema as it was written.
func TestPrivateRowsAreReadLeniently(t *testing.T) {
	s := must(schema.Parse([]byte("decoy: 1\nunit: id\nmax_rows_per_unit: 1\ncolumns:\n" +
		"  - {name: a, kind: integer, min: 0, max: 9}\n")))
	for _, rows := range []string{"", "1,70\n", "1,x\n", "1,\n", "1\n", "1,2,3\n", ",5\n", "\"\n",
		"\x00,\xff\n", "1,\"2\n3\n", string(bytes.Repeat([]byte("9"), 3<<20)) + ",1\n"} {
		path := filepath.Join(t.TempDir(), "t.csv")
		write(t, path, []byte("id,a\n"+rows))
		if _, _, err := table.Read(t.Context(), path, s, table.ReadOptions{}); rows != "" && err == nil {
			t.Errorf("%q is not refused for public rows", rows)
		}
		o := Options{Budget: wide, Plan: gaussian(5, 1)}
		session, err := Open(t.Context(), File(path, s), o)
		if err != nil {
			t.Errorf("%q: %v", rows, err)
		} else if session.Schema().Fingerprint() != s.Fingerprint() {
			t.Error("the session has another schema")
		}
	}
}

// TestParallelCallsDoNotOverspend runs many calls at once on a plan for ten.
func TestParallelCallsDoNotOverspend(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(12), nil), gaussian(5, 10))
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted := 0
	for range 64 {
		wg.Go(func() {
			if _, err := s.Measure(Marginal{Cols: []int{0}}, 5); err == nil {
				mu.Lock()
				granted++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if granted != 10 {
		t.Errorf("%d calls were granted, want 10", granted)
	}
}

// TestLedgersNameNoMachine: neither what a model carries nor the file beside the data has the host
// or a field for it or for the number of the process.
func TestLedgersNameNoMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	s := must(Open(t.Context(), FromTable(tab),
		Options{Budget: wide, Plan: gaussian(5, 1), Ledger: ledger.NewFile(path)}))
	stattest.Check(t, s.Finish(nil, nil))
	host := stattest.Must(os.Hostname())
	for what, text := range map[string][]byte{"the model's ledger": must(json.Marshal(s.Ledger())),
		"the ledger file": stattest.Must(os.ReadFile(path))} {
		named := func(s string) bool { return bytes.Contains(text, []byte(s)) }
		if named(`"`+host) || named(`"host"`) || named(`"pid"`) {
			t.Errorf("%s names the machine: %s", what, text)
		}
	}
}

// TestPricersDecideOnNothingElse: a pricer changes no plan, and NaN is no price.
func TestPricersDecideOnNothingElse(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(10), nil)
	for name, price := range map[string]accountant.Pricer{
		"NaN": func(accountant.Composition, float64, accountant.Adjacency) (accountant.Bound, error) {
			return accountant.Bound{Epsilon: math.NaN()}, nil
		},
		"more of the plan": func(c accountant.Composition, delta float64, adj accountant.Adjacency) (
			accountant.Bound, error) {
			bound, err := c.Epsilon(delta, adj)
			c[0].Count = 1e6
			return bound, err
		},
	} {
		s, err := Open(context.Background(), FromTable(tab), Options{
			Budget: accountant.Budget{Epsilon: 10, Delta: 1e-9}, Plan: gaussian(10, 1), Price: price})
		if name == "NaN" {
			stattest.Wraps(t, err, accountant.ErrBudget, "%s", name)
			continue
		}
		stattest.Check(t, err)
		must(s.Measure(Total{}, 10))
		stattest.Wraps(t, stattest.Err(s.Measure(Total{}, 10)), ErrPlan, "%s: a second answer", name)
	}
}

// TestUnitsNeedTheirSchema: rows that have units are not read as if each were its own.
func TestUnitsNeedTheirSchema(t *testing.T) {
	sch := testSchema("u", 3)
	tab := testTable(t, sch, someRows(4), []uint32{0, 0, 1, 1})
	sch.Unit, sch.MaxRowsPerUnit = "", 0
	stattest.Fails(t, stattest.Err(Open(context.Background(), FromTable(tab), Options{Budget: wide,
		Plan: gaussian(10, 1)})), "a table with units is opened as one without")
}
