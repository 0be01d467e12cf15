package privacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// journaled is a folder with a ledger and the options of a run with a journal: four totals and two
// choices on twelve rows.
type journaled struct {
	t   testing.TB
	dir string
}

func (j journaled) options(resume bool) Options {
	plan := append(gaussian(5, 4),
		accountant.Charge{Event: accountant.Exponential{Epsilon: 1}, Count: 2})
	return Options{Budget: wide, Plan: plan, Method: "test", Tool: "tool", Program: "p",
		Ledger:  ledger.NewFile(filepath.Join(j.dir, "l")),
		Journal: filepath.Join(j.dir, "j"), Resume: resume}
}

func (j journaled) open(o Options) (*Session, error) {
	rows := FromTable(testTable(j.t, testSchema("", 0), someRows(12), nil))
	return Open(context.Background(), rows, o)
}

func (j journaled) must(o Options) *Session {
	j.t.Helper()
	return must(j.open(o))
}

// steps are the run's questions in order.
func steps(s *Session) []func() (int64, error) {
	total := func() (int64, error) { return only(s.Measure(Total{}, 5)) }
	choice := func() (int64, error) {
		var c []Candidate
		for col, size := range s.Schema().Sizes() {
			c = append(c, Candidate{Query: Marginal{Cols: []int{col}}, Estimate: make([]float64, size)})
		}
		i, err := s.Select(c, 1)
		return int64(i), err
	}
	return []func() (int64, error){total, choice, total, total, choice, total}
}

// answers asks the first n questions.
func (j journaled) answers(s *Session, n int) []int64 {
	j.t.Helper()
	var out []int64
	for i, step := range steps(s)[:n] {
		x, err := step()
		if err != nil {
			j.t.Fatalf("step %d: %v", i, err)
		}
		out = append(out, x)
	}
	return out
}

// die drops the session as a killed process does: its locks go, its files stay.
func die(s *Session) { s.journal.file.Close() }

func read(t testing.TB, path string) []byte {
	t.Helper()
	b := stattest.Must(os.ReadFile(path))
	return b
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	stattest.Check(t, os.WriteFile(path, b, 0o600))
}

// TestResumeAtEveryByte stops a run at every byte that its journal may end in, with the ledger as
// it was before the line and as it was after it. What was answered is answered again and not drawn,
// the rest is drawn; in the end the ledger has exactly the plan, spent once.
func TestResumeAtEveryByte(t *testing.T) {
	j := journaled{t, t.TempDir()}
	s := j.must(j.options(false))
	var journals, ledgers [][]byte
	keep := func() {
		journals, ledgers = append(journals, read(t, s.journal.path)),
			append(ledgers, read(t, s.file.Path()))
	}
	keep()
	var want []int64
	for _, step := range steps(s) {
		x := stattest.Must(step())
		want = append(want, x)
		keep()
	}
	die(s)
	tried := 0
	for i := range want {
		for cut := len(journals[i]); cut <= len(journals[i+1]); cut++ {
			if cut > len(journals[i])+40 && cut < len(journals[i+1])-5 && cut%37 != 0 {
				continue
			}
			tried++
			k := journaled{t, t.TempDir()}
			write(t, filepath.Join(k.dir, "j"), journals[i+1][:cut])
			write(t, filepath.Join(k.dir, "l"), ledgers[i])
			s := k.must(k.options(true))
			got := k.answers(s, len(want))
			told := i
			if cut == len(journals[i+1]) {
				told++
			}
			if !slices.Equal(got[:told], want[:told]) {
				t.Fatalf("cut at %d: answers %v, were %v", cut, got[:told], want[:told])
			}
			stattest.Check(t, s.Finish(nil, nil))
			for name, l := range map[string]*ledger.Ledger{"model": s.Ledger(),
				"file": must(s.file.Read())} {
				if err := l.Verify(nil); err != nil {
					t.Fatalf("cut at %d: %s: %v", cut, name, err)
				}
				r := l.Runs()
				if len(r) != 1 || calls(r[0].Charged) != 6 || l.Spent() != wide ||
					r[0].Status != ledger.StatusDone {
					t.Fatalf("cut at %d: %s: %+v", cut, name, r)
				}
			}
			if files, _ := filepath.Glob(filepath.Join(k.dir, "*")); len(files) != 1 {
				t.Fatalf("an ended run left %v", files)
			}
		}
		// The answer was logged, and the journal is an old copy: nothing may be drawn again.
		k := journaled{t, t.TempDir()}
		write(t, filepath.Join(k.dir, "j"), journals[i])
		write(t, filepath.Join(k.dir, "l"), ledgers[i+1])
		if _, err := k.open(k.options(true)); !errors.Is(err, ErrResume) ||
			!strings.Contains(err.Error(), "older") {
			t.Errorf("a journal older than the ledger: %v", err)
		}
	}
	if tried < 200 {
		t.Errorf("tried %d places only", tried)
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// TestUnfinishedIsNotPaidTwice: a new run in the place of an unfinished one is refused and spends
// nothing; once that has ended, or was never reserved, the journal gives way.
func TestUnfinishedIsNotPaidTwice(t *testing.T) {
	j := journaled{t, t.TempDir()}
	s := j.must(j.options(false))
	j.answers(s, 2)
	stattest.Wraps(t, stattest.Err(j.open(j.options(false))), ledger.ErrLocked,
		"while its process is alive")
	stattest.Wraps(t, stattest.Err(j.open(j.options(true))), ledger.ErrLocked,
		"continued while its process is alive")
	die(s)
	before := read(t, s.file.Path())
	stattest.Wraps(t, stattest.Err(j.open(j.options(false))), ErrUnfinished, "a second run")
	if run, running, err := Unfinished(s.journal.path, s.file); run != s.Run() || running ||
		err != nil {
		t.Errorf("Unfinished: %s, %v", run, err)
	}
	if string(read(t, s.file.Path())) != string(before) {
		t.Error("the ledger has changed")
	}
	s = j.must(j.options(true))
	j.answers(s, 6)
	old := string(read(t, s.journal.path))
	stattest.Check(t, s.Finish(nil, nil))
	stattest.Wraps(t, stattest.Err(os.Stat(s.journal.path)), fs.ErrNotExist,
		"the journal of an ended run")
	write(t, s.journal.path, []byte(old))
	if _, err := j.open(j.options(true)); !errors.Is(err, ErrResume) ||
		!strings.Contains(err.Error(), "it is done") {
		t.Errorf("an old copy of the journal of an ended run: %v", err)
	}
	// It was never reserved.
	fresh := must(openJournal(s.journal.path + ".other"))
	stattest.Check(t, fresh.start("0123456789abcdef", header{Program: []byte("p")}))
	fresh.leave()
	other := string(read(t, fresh.path))
	for name, text := range map[string]string{"ended": old, "never reserved": other,
		"empty": "", "half a header": old[:20]} {
		write(t, s.journal.path, []byte(text))
		if n := j.must(j.options(false)); n.Finish(nil, nil) != nil {
			t.Errorf("%s: not closed", name)
		}
	}
}

// TestJournalTellsTheLedgerItsChargesOnly: a journal whose chain is right and that says more than
// the charges of its run, or more of these than were reserved, leaves the ledger as it is.
func TestJournalTellsTheLedgerItsChargesOnly(t *testing.T) {
	for name, change := range map[string]func(e *ledger.Entry){
		"a limit": func(e *ledger.Entry) {
			e.Kind, e.Budget, e.Rule = ledger.EntryLimit, &wide, ledger.RuleBasic
		},
		"the end of a run": func(e *ledger.Entry) {
			e.Kind, e.Status = ledger.EntryClose, ledger.StatusDone
		},
		"a charge of another run": func(e *ledger.Entry) { e.Run = "0123456789abcdef" },
		"too much":                func(e *ledger.Entry) { e.Event = &gaussian(.001, 1000)[0] },
	} {
		t.Run(name, func(t *testing.T) {
			j := journaled{t, t.TempDir()}
			s := j.must(j.options(false))
			must(only(s.Measure(Total{}, 5)))
			die(s)
			l := &ledger.Ledger{}
			must(l.Lines(read(t, s.journal.path)))
			more := l.Entries[len(l.Entries)-1]
			change(&more)
			line := must(l.Add(more))
			write(t, s.journal.path, append(read(t, s.journal.path), line...))
			before := read(t, s.file.Path())
			stattest.Wraps(t, stattest.Err(j.open(j.options(true))), ErrResume, "resumed")
			if after := read(t, s.file.Path()); !bytes.Equal(after, before) {
				t.Errorf("the ledger has new lines:\n%s", after[len(before):])
			}
		})
	}
}

// TestResumeRefuses: all that makes another run of it, each without a trace in the ledger.
func TestResumeRefuses(t *testing.T) {
	for name, change := range map[string]func(j journaled, o *Options) *schema.Schema{
		"program": func(_ journaled, o *Options) *schema.Schema { o.Program = "q"; return nil },
		"budget":  func(_ journaled, o *Options) *schema.Schema { o.Budget.Delta /= 2; return nil },
		"plan": func(_ journaled, o *Options) *schema.Schema {
			o.Plan = append(o.Plan, gaussian(5, 1)...)
			return nil
		},
		"method": func(_ journaled, o *Options) *schema.Schema { o.Method = "other"; return nil },
		"relation": func(_ journaled, o *Options) *schema.Schema {
			o.Adjacency = accountant.ReplaceOne
			return nil
		},
		"no journal": func(_ journaled, o *Options) *schema.Schema { o.Journal += "x"; return nil },
		"none named": func(_ journaled, o *Options) *schema.Schema { o.Journal = ""; return nil },
		"ledger": func(j journaled, o *Options) *schema.Schema {
			o.Ledger = ledger.NewFile(filepath.Join(j.dir, "m"))
			return nil
		},
		"schema": func(journaled, *Options) *schema.Schema {
			s := testSchema("", 0)
			s.Columns[0].Name = "z"
			return s
		},
		"damaged": func(j journaled, o *Options) *schema.Schema {
			b := read(j.t, o.Journal)
			at := strings.Index(string(b), `"answer"`)
			b[at+12] ^= 1
			write(j.t, o.Journal, b)
			return nil
		},
		"a folder": func(j journaled, o *Options) *schema.Schema { o.Journal = j.dir; return nil },
	} {
		j := journaled{t, t.TempDir()}
		s := j.must(j.options(false))
		j.answers(s, 3)
		die(s)
		before := read(t, s.file.Path())
		o := j.options(true)
		sch := change(j, &o)
		if sch == nil {
			sch = testSchema("", 0)
		}
		reads := 0
		rows := counted(testTable(t, sch, someRows(12), nil), &reads)
		_, err := Open(context.Background(), rows, o)
		if err == nil || name != "a folder" && name != "relation" && !errors.Is(err, ErrResume) ||
			reads > 0 {
			t.Errorf("%s: %v, read %d times", name, err, reads)
		}
		if string(read(t, s.file.Path())) != string(before) {
			t.Errorf("%s: the ledger has changed", name)
		}
	}
}

// TestResumeOtherQuestion: a fit that asks something else than the one before it gets no answer,
// and the session is of no further use.
func TestResumeOtherQuestion(t *testing.T) {
	// answers of another length, and of the same
	for _, other := range []Query{Marginal{Cols: []int{0}}, firstIs1} {
		j := journaled{t, t.TempDir()}
		s := j.must(j.options(false))
		j.answers(s, 3)
		die(s)
		s = j.must(j.options(true))
		stattest.Wraps(t, stattest.Err(s.Measure(other, 5)), ErrResume, "another question")
		stattest.Wraps(t, stattest.Err(s.Measure(Total{}, 5)), ErrResume, "the right one, too late")
		stattest.Wraps(t, s.Finish(nil, nil), ErrUnfinished, "closed")
		s.Finish(errors.New("killed"), nil)
		j.answers(j.must(j.options(true)), 6)
	}
}

// TestResumeRefusesAgain: a call beyond the plan is refused in a continued run as it was before,
// and the run goes on.
func TestResumeRefusesAgain(t *testing.T) {
	j := journaled{t, t.TempDir()}
	var first []int64
	for _, resume := range []bool{false, true} {
		s := j.must(j.options(resume))
		stattest.Wraps(t, stattest.Err(s.Measure(Total{}, 4)), ErrPlan,
			"noise that was not planned, continued %v", resume)
		got := j.answers(s, 3)
		if !resume {
			first = got
			die(s)
		} else if !slices.Equal(got, first) {
			t.Errorf("answers %v, before %v", got, first)
		}
	}
}

// TestRecordsAreAsLongAsTheirQuestion: on a nearly full disk the length of a line must not select
// draws.
func TestRecordsAreAsLongAsTheirQuestion(t *testing.T) {
	length := 0
	for range 40 {
		j := journaled{t, t.TempDir()}
		s := j.must(j.options(false))
		must(s.Measure(Total{}, 5))
		n := len(read(t, s.journal.path))
		if length != 0 && n != length {
			t.Fatalf("a journal of %d bytes, and one of %d", n, length)
		}
		length = n
	}
}

// TestFailedRunStaysSpent: a fit that fails gives nothing back, whatever it called.
func TestFailedRunStaysSpent(t *testing.T) {
	file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	s := must(Open(t.Context(), FromTable(testTable(t, testSchema("", 0), someRows(12), nil)),
		Options{Budget: wide, Plan: gaussian(5, 1), Ledger: file}))
	failed := errors.New("failed")
	if err := s.Finish(failed, nil); !errors.Is(err, failed) ||
		must(file.Read()).Runs()[0].Status != ledger.StatusFailed || must(file.Read()).Spent() != wide {
		t.Errorf("%v, spent %v", err, must(file.Read()).Spent())
	}
}

// TestUndeliveredRunHasFailed: a run without a journal whose result could not be delivered is not
// closed as done.
func TestUndeliveredRunHasFailed(t *testing.T) {
	full := errors.New("disk full")
	for _, tt := range []struct {
		err  error
		want string
	}{{nil, ledger.StatusDone}, {full, ledger.StatusFailed},
		{context.Canceled, ledger.StatusCancelled}} {
		file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
		s := must(Open(context.Background(),
			FromTable(testTable(t, testSchema("", 0), someRows(12), nil)),
			Options{Budget: wide, Plan: gaussian(5, 1), Ledger: file}))
		err := s.Finish(nil, func() error { return tt.err })
		l := must(file.Read())
		if got := l.Runs()[0].Status; !errors.Is(err, tt.err) || got != tt.want || l.Spent() != wide {
			t.Errorf("delivered with %v: error %v, closed as %s, want %s", tt.err, err, got, tt.want)
		}
	}
}

// TestOtherFilesAreNoJournals: a file that is something else is neither read nor written nor
// removed.
func TestOtherFilesAreNoJournals(t *testing.T) {
	j := journaled{t, t.TempDir()}
	for _, text := range []string{"precious", "precious\nlines\n", "{\"a\": 1}\n"} {
		o := j.options(false)
		write(t, o.Journal, []byte(text))
		if _, err := j.open(o); err == nil || string(read(t, o.Journal)) != text {
			t.Errorf("%q: %v, the file is %q", text, err, read(t, o.Journal))
		}
	}
	o := j.options(false)
	o.Journal = o.Ledger.Path()
	stattest.Fails(t, stattest.Err(j.open(o)), "the ledger is a journal")
}

// TestCopiedSessionIsTheSame: five measurements of a plan for one, on five copies, are one.
func TestCopiedSessionIsTheSame(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(12), nil), gaussian(5, 1))
	granted := 0
	for range 5 {
		c := *s
		if _, err := c.Measure(Total{}, 5); err == nil {
			granted++
		} else if !errors.Is(err, ErrPlan) {
			t.Error(err)
		}
	}
	if granted != 1 {
		t.Errorf("%d of 5 copies were answered", granted)
	}
}

// TestNothingIsShared: what the gate hands out, and what it was given, can be changed without an
// effect on it.
func TestNothingIsShared(t *testing.T) {
	sch := testSchema("u", 1)
	tab := testTable(t, sch, someRows(12), []uint32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	rows := FromTable(tab)
	rows.Schema().Unit, rows.Schema().MaxRowsPerUnit = "", 12
	sch.MaxRowsPerUnit = 12
	o := Options{Budget: wide, Plan: gaussian(5, 2), Method: "test"}
	s := must(Open(context.Background(), rows, o))
	if got := s.in.Table().Rows(); got != 1 || s.Neighbours().MaxRowsPerUnit != 1 {
		t.Errorf("%d rows of the unit are in, %v", got, s.Neighbours())
	}
	o.Plan[0].Count = 100
	s.Schema().Columns[0].Categories[0] = "changed"
	l := s.Ledger()
	l.Entries[1].Budget.Epsilon, l.Entries[1].Composition[0].Count = 1e-9, 100
	if got := s.Ledger().Entries[1]; got.Budget.Epsilon != wide.Epsilon ||
		got.Composition[0].Count != 2 ||
		s.Ledger().Verify(nil) != nil {
		t.Errorf("the ledger has changed: %+v", got)
	}
	if s.Schema().Columns[0].Categories[0] == "changed" {
		t.Error("the schema has changed")
	}
	for i, want := range []error{nil, nil, ErrPlan} {
		stattest.Wraps(t, stattest.Err(s.Measure(Total{}, 5)), want, "call %d", i)
	}
}

// TestReleasedLedgerHasNoClock: neither how long reading took, nor when anything but the
// reservation was, nor how often a run was continued.
func TestReleasedLedgerHasNoClock(t *testing.T) {
	j := journaled{t, t.TempDir()}
	s := j.must(j.options(false))
	j.answers(s, 3)
	die(s)
	s = j.must(j.options(true))
	j.answers(s, 6)
	for _, e := range s.Ledger().Entries {
		switch e.Kind {
		case ledger.EntryOpen, ledger.EntryReserve:
			if h, m, sec := e.Time.Clock(); h != 0 || m != 0 || sec != 0 || e.Time.IsZero() {
				t.Errorf("%s at %v, want a day", e.Kind, e.Time)
			}
		case ledger.EntryCharge, ledger.EntryClose:
			if !e.Time.IsZero() {
				t.Errorf("%+v", e)
			}
		default:
			t.Errorf("a released ledger has an entry of kind %s", e.Kind)
		}
	}
}

// TestReplacedLedgerEndsTheRun: an older ledger put in place during a run, or one that was cut,
// ends it with an error, and has its spend again.
func TestReplacedLedgerEndsTheRun(t *testing.T) {
	for name, change := range map[string]func(path string, before []byte){
		"cut to nothing": func(path string, _ []byte) { os.Truncate(path, 0) },
		"removed":        func(path string, _ []byte) { os.Remove(path) },
		"an older one":   func(path string, before []byte) { os.WriteFile(path, before, 0o600) },
	} {
		file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
		o := Options{Budget: wide, Plan: gaussian(5, 3), Ledger: file, Method: "test"}
		rows := FromTable(testTable(t, testSchema("", 0), someRows(12), nil))
		first := must(Open(context.Background(), rows, o))
		stattest.Check(t, first.Finish(nil, nil))
		before := read(t, file.Path())
		s := must(Open(context.Background(), rows, o))
		must(s.Measure(Total{}, 5))
		change(file.Path(), before)
		stattest.Wraps(t, stattest.Err(s.Measure(Total{}, 5)), ledger.ErrInvalid, "%s", name)
		l := must(file.Read())
		stattest.Passes(t, l.Verify(nil), "%s", name)
		if got := linesOf(l, s.Run()); len(got) == 0 || got[len(got)-1].Kind == ledger.EntryClose ||
			l.Spent().Epsilon < wide.Epsilon {
			t.Errorf("%s: the run is %v, spent %v", name, got, l.Spent())
		}
	}
}

// TestRunsHoldLedgersToTheRules: a run accepts no ledger that Verify refuses, however well it is
// sealed: neither to reserve, nor to charge, nor to close.
func TestRunsHoldLedgersToTheRules(t *testing.T) {
	forge := func(t *testing.T, path string, change func([]ledger.Entry) []ledger.Entry) {
		l := must(ledger.NewFile(path).Read())
		var last ledger.Entry
		var b []byte
		for _, e := range change(l.Entries) {
			e = e.Seal(last)
			b, last = append(append(b, must(json.Marshal(e))...), '\n'), e
		}
		write(t, path, b)
	}
	for name, change := range map[string]func([]ledger.Entry) []ledger.Entry{
		"a reservation is gone": func(es []ledger.Entry) []ledger.Entry {
			return slices.Delete(es, 1, 2)
		},
		"a status that there is not": func(es []ledger.Entry) []ledger.Entry {
			es[3].Status = "void"
			return es
		},
		"epsilon −5": func(es []ledger.Entry) []ledger.Entry {
			es[1].Budget.Epsilon = -5
			return es
		},
		"a cheaper budget": func(es []ledger.Entry) []ledger.Entry {
			es[1].Budget.Epsilon = .001
			return es
		},
	} {
		file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
		o := Options{Budget: wide, Plan: gaussian(5, 3), Ledger: file, Method: "test"}
		reads := 0
		rows := counted(testTable(t, testSchema("", 0), someRows(12), nil), &reads)
		first := must(Open(context.Background(), rows, o))
		must(first.Measure(Total{}, 5))
		stattest.Check(t, first.Finish(nil, nil))
		good := read(t, file.Path())
		s := must(Open(context.Background(), rows, o))
		reads = 0
		write(t, file.Path(), good)
		forge(t, file.Path(), change)
		if must(file.Read()).Verify(nil) == nil {
			t.Fatalf("%s: verify accepts it", name)
		}
		if _, err := Open(context.Background(), rows, o); !errors.Is(err, ledger.ErrInvalid) ||
			reads > 0 {
			t.Errorf("%s: a new run: %v, read %d times", name, err, reads)
		}
		stattest.Wraps(t, stattest.Err(s.Measure(Total{}, 5)), ledger.ErrInvalid, "%s: a charge", name)
		stattest.Wraps(t, s.Finish(nil, nil), ledger.ErrInvalid, "%s: a close", name)
		stattest.Wraps(t, ledger.SetLimit(context.Background(), file, rowUnits.Units(""),
			ledger.Limit{Budget: wide}), ledger.ErrInvalid, "%s: a limit", name)
	}
}

// TestNobodyCountsTheReading: neither a caller's context nor its callbacks are called while a file
// is read: how often would tell its length.
func TestNobodyCountsTheReading(t *testing.T) {
	dir := t.TempDir()
	polls := map[int]int{}
	for _, n := range []int{10, 200000} {
		path := filepath.Join(dir, fmt.Sprint(n, ".parquet"))
		write(t, path, must(gatetest.Parquet(n)))
		c := &gatetest.PollCounter{Context: context.Background()}
		s := must(Open(c, File(path, testSchema("", 0)), Options{Budget: wide, Plan: gaussian(5, 1)}))
		s.Finish(nil, nil)
		polls[n] = c.Asked
	}
	if polls[10] != polls[200000] {
		t.Errorf("the context was asked %d times for ten rows, %d times for 200,000", polls[10],
			polls[200000])
	}
}

// TestContinuedRunHasNoMore: what an earlier process was given is of the plan.
func TestContinuedRunHasNoMore(t *testing.T) {
	j := journaled{t, t.TempDir()}
	s := j.must(j.options(false))
	j.answers(s, 6)
	die(s)
	s = j.must(j.options(true))
	j.answers(s, 6)
	stattest.Wraps(t, stattest.Err(s.Measure(Total{}, 5)), ErrPlan, "a fifth call of four")
}

// TestJournalOfAnEndedRunIsRemoved has a process die between the end in the ledger and the removal.
func TestJournalOfAnEndedRunIsRemoved(t *testing.T) {
	j := journaled{t, t.TempDir()}
	s := j.must(j.options(false))
	j.answers(s, 6)
	left := read(t, s.journal.path)
	stattest.Check(t, s.Finish(nil, nil))
	write(t, s.journal.path, left)
	if run, _, err := Unfinished(s.journal.path, s.file); run != "" || err != nil {
		t.Errorf("Unfinished: %s, %v", run, err)
	}
	stattest.Wraps(t, stattest.Err(os.Stat(s.journal.path)), fs.ErrNotExist,
		"the journal is still there")
	next := j.must(j.options(false)) // a run that is not in the ledger yet keeps its journal
	if run, running, err := Unfinished(next.journal.path, next.file); run != next.Run() || !running ||
		err != nil {
		t.Errorf("Unfinished of a live run: %s, %v, %v", run, running, err)
	}
	stattest.Passes(t, stattest.Err(os.Stat(next.journal.path)), "the journal of a live run")
}

// TestJournalKeepsItsRun: a run is continued for all outputs that it was begun for, and is not
// given up because its ledger is not there for a moment.
func TestJournalKeepsItsRun(t *testing.T) {
	j := journaled{t, t.TempDir()}
	o := j.options(false)
	o.Outputs = []string{"a.csv", "a.model"}
	s := j.must(o)
	j.answers(s, 2)
	die(s)
	if run, running, err := Unfinished(o.Journal, o.Ledger); run != s.Run() || running || err != nil {
		t.Errorf("%s, %v, %v", run, running, err)
	}
	o.Resume, o.Outputs = true, []string{"a.csv"}
	if _, err := j.open(o); !errors.Is(err, ErrResume) || !strings.Contains(err.Error(), "a.model") {
		t.Errorf("continued without an output: %v", err)
	}
	o.Outputs = []string{"a.model", "b", "a.csv"}
	s = j.must(o)
	j.answers(s, 6)
	kept := errors.New("the disk is full")
	if err := s.Finish(nil, func() error { return kept }); !errors.Is(err, kept) {
		t.Fatal(err)
	}
	stattest.Check(t, os.Rename(o.Ledger.Path(), o.Ledger.Path()+".gone"))
	for _, resume := range []bool{true, false} {
		o.Resume = resume
		stattest.Fails(t, stattest.Err(j.open(o)), "resume %v: a run without its ledger", resume)
	}
	if _, _, err := Unfinished(o.Journal, o.Ledger); !errors.Is(err, ErrUnfinished) {
		t.Errorf("Unfinished without the ledger: %v", err)
	}
	os.Remove(o.Ledger.Path())
	stattest.Check(t, os.Rename(o.Ledger.Path()+".gone", o.Ledger.Path()))
	o.Resume = true
	s = j.must(o)
	j.answers(s, 6)
	stattest.Passes(t, s.Finish(nil, nil), "")
}

// TestJournalOfAnother: a run whose journal was removed, and in whose place another has made its
// own, writes nothing into that one and does not remove it.
func TestJournalOfAnother(t *testing.T) {
	j := journaled{t, t.TempDir()}
	s := j.must(j.options(false))
	j.answers(s, 1)
	stattest.Check(t, os.Remove(s.journal.path))
	other := j.must(j.options(false))
	stattest.Fails(t, stattest.Err(s.Measure(Total{}, 5)), "an answer that no journal keeps")
	s.Finish(errors.New("killed"), nil)
	j.answers(other, 3)
	die(other)
	j.answers(j.must(j.options(true)), 6)
}

// TestReplacedByALimitedLedger: a ledger under whose limit the run would not fit is put in place
// during the run. What is spent is written all the same, and the file no longer verifies.
func TestReplacedByALimitedLedger(t *testing.T) {
	dir := t.TempDir()
	file := ledger.NewFile(filepath.Join(dir, "l"))
	o := Options{Budget: wide, Plan: gaussian(5, 3), Ledger: file, Method: "test"}
	rows := FromTable(testTable(t, testSchema("", 0), someRows(12), nil))
	s := must(Open(context.Background(), rows, o))
	must(s.Measure(Total{}, 5))
	other := ledger.NewFile(filepath.Join(dir, "other"))
	stattest.Check(t, ledger.SetLimit(context.Background(), other, rowUnits.Units(""),
		ledger.Limit{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}}))
	write(t, file.Path(), read(t, other.Path()))
	if _, err := s.Measure(Total{}, 5); !errors.Is(err, ledger.ErrReplaced) {
		t.Errorf("%v", err)
	}
	l := must(file.Read())
	if l.Runs()[0].Status != ledger.StatusUnfinished || l.Spent() != wide || l.Verify(nil) == nil {
		t.Errorf("spent %+v, %v", l.Spent(), l.Verify(nil))
	}
}

// TestNamesThatAreNotUTF8: a run is continued whatever its outputs are called.
func TestNamesThatAreNotUTF8(t *testing.T) {
	j := journaled{t, t.TempDir()}
	o := j.options(false)
	o.Outputs, o.Program = []string{"m\xff.model"}, "p\xfe"
	s := j.must(o)
	j.answers(s, 2)
	die(s)
	o.Resume = true
	j.answers(j.must(o), 6)
}
