package privacy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

var rowUnits = Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1}

// reserveOn opens and closes a session on the ledger file.
func reserveOn(
	t *testing.T, file *ledger.File, b accountant.Budget, plan accountant.Composition, reads *int,
) error {
	t.Helper()
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	s, err := Open(
		context.Background(), counted(tab, reads),
		Options{Budget: b, Plan: plan, Ledger: file, Method: "test"},
	)
	if err != nil {
		return err
	}
	return s.Finish(nil, nil)
}

func TestLimitAcrossRuns(t *testing.T) {
	file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	one := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	mu := stattest.Must(accountant.MuFor(one))
	plan := gaussian(1/mu, 1)
	stattest.Check(t, ledger.SetLimit(context.Background(), file, rowUnits.Units(""),
		ledger.Limit{Budget: accountant.Budget{Epsilon: 2, Delta: 1e-8}}))
	reads := 0
	for run := range 2 {
		if err := reserveOn(t, file, one, plan, &reads); err != nil {
			t.Fatalf("run %d: %v", run, err)
		}
	}
	before := size(t, file)
	if err := reserveOn(t, file, one, plan, &reads); !errors.Is(err, accountant.ErrBudget) ||
		errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("the third run: %v, want ErrBudget", err)
	}
	if reads != 2 {
		t.Errorf("read %d times, want 2: a refused run reads nothing", reads)
	}
	if size(t, file) != before {
		t.Error("a refused run changed the ledger")
	}
	stattest.Check(t, ledger.SetLimit(context.Background(), file, rowUnits.Units(""),
		ledger.Limit{Budget: accountant.Budget{Epsilon: 3, Delta: 1e-8}}))
	stattest.Passes(t, reserveOn(t, file, one, plan, &reads), "after the limit was raised")
	l := stattest.Must(file.Read())
	stattest.Passes(t, l.Verify(nil), "")
	if got := l.Spent().Epsilon; got != 3 {
		t.Errorf("spent %v, want 3", got)
	}
}

func size(t *testing.T, f *ledger.File) int64 {
	t.Helper()
	info := stattest.Must(os.Stat(f.Path()))
	return info.Size()
}

// TestConcurrentRunsNeverOverspend opens sessions from many goroutines, each with a ledger.File of
// its own as separate processes have, on a limit for five.
func TestConcurrentRunsNeverOverspend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	one := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	stattest.Check(t, ledger.SetLimit(context.Background(), ledger.NewFile(path), rowUnits.Units(""),
		ledger.Limit{Budget: accountant.Budget{Epsilon: 5, Delta: 1e-6}}))
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted, refused := 0, 0
	for range 16 {
		wg.Go(func() {
			reads := 0
			err := reserveOn(t, ledger.NewFile(path), one, gaussian(8, 1), &reads)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				granted++
			case errors.Is(err, accountant.ErrBudget) && reads == 0:
				refused++
			default:
				t.Errorf("error %v after %d reads", err, reads)
			}
		})
	}
	wg.Wait()
	if granted != 5 || refused != 11 {
		t.Errorf("%d runs granted and %d refused, want 5 and 11", granted, refused)
	}
	l := stattest.Must(ledger.NewFile(path).Read())
	stattest.Passes(t, l.Verify(nil), "")
}

func TestLockTimeout(t *testing.T) {
	file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	file.Timeout = 100 * time.Millisecond
	// A shared lock: it keeps out only whoever wants the file for himself.
	lock := flock.New(file.Path(), flock.SetFlag(os.O_RDWR|os.O_CREATE))
	stattest.Check(t, lock.RLock())
	reads := 0
	if err := reserveOn(t, file, wide, gaussian(5, 1), &reads); !errors.Is(err, ledger.ErrLocked) ||
		reads > 0 {
		t.Errorf("error %v after %d reads, want ledger.ErrLocked after none", err, reads)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	stattest.Wraps(t, ledger.SetLimit(ctx, file, rowUnits.Units(""),
		ledger.Limit{Budget: wide}), context.Canceled, "cancelled")
	stattest.Check(t, lock.Unlock())
	stattest.Passes(t, reserveOn(t, file, wide, gaussian(5, 1), &reads), "after the lock was given up")
	if ledger.NewFile("l").Timeout != 10*time.Second {
		t.Error("the lock's timeout is part of the command line's interface: 10 s")
	}
}

// TestTornLine cuts the ledger at every byte of its last line: what is whole stays, and the next
// run goes on from it.
func TestTornLine(t *testing.T) {
	dir := t.TempDir()
	file := ledger.NewFile(filepath.Join(dir, "l"))
	reads := 0
	stattest.Check(t, reserveOn(t, file, wide, gaussian(5, 1), &reads))
	whole := stattest.Must(os.ReadFile(file.Path()))
	lastLine := strings.LastIndexByte(strings.TrimSuffix(string(whole), "\n"), '\n') + 1
	for _, cut := range []int{lastLine + 1, (lastLine + len(whole)) / 2, len(whole) - 1} {
		torn := ledger.NewFile(filepath.Join(dir, fmt.Sprint("torn", cut)))
		stattest.Check(t, os.WriteFile(torn.Path(), whole[:cut], 0o600))
		l, err := torn.Read()
		if err != nil || len(l.Entries) != 2 {
			t.Fatalf("cut at %d: %v entries, %v", cut, l, err)
		}
		if got := l.Runs()[0].Status; got != ledger.StatusUnfinished {
			t.Errorf("cut at %d: the run is %s", cut, got)
		}
		stattest.Passes(t, reserveOn(t, torn, wide, gaussian(5, 1), &reads), "cut at %d", cut)
		l, err = torn.Read()
		if err != nil {
			t.Fatalf("cut at %d: after the next run: %v", cut, err)
		}
		if err := l.Verify(nil); err != nil || len(l.Runs()) != 2 {
			t.Errorf("cut at %d: %d runs, %v", cut, len(l.Runs()), err)
		}
	}
}

// TestTornLineUnderARunningSession: another process died inside an append while this session is
// open.
func TestTornLineUnderARunningSession(t *testing.T) {
	file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	s := must(Open(t.Context(), FromTable(tab),
		Options{Budget: wide, Plan: gaussian(5, 2), Ledger: file}))
	raw := stattest.Must(os.OpenFile(file.Path(), os.O_APPEND|os.O_WRONLY, 0))
	fmt.Fprint(raw, `{"seq":2,"kind":"cha`)
	raw.Close()
	must(s.Measure(Total{}, 5))
	stattest.Check(t, s.Finish(nil, nil))
	l := stattest.Must(file.Read())
	stattest.Passes(t, l.Verify(nil), "")
}

// TestLongEntries: the last line is found however long it is.
func TestLongEntries(t *testing.T) {
	file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	var plan accountant.Composition
	for i := range 120 {
		plan = append(
			plan, accountant.Charge{Event: accountant.Gaussian{NoiseMultiplier: 5 + float64(i)}, Count: 1},
		)
	}
	s := must(Open(t.Context(), FromTable(tab),
		Options{Budget: wide, Plan: plan, Ledger: file}))
	if size(t, file) < 1<<12 {
		t.Fatalf("the ledger has %d bytes: too few to test", size(t, file))
	}
	must(s.Measure(Total{}, 5))
	if l, err := file.Read(); err != nil || len(l.Entries) != 3 {
		t.Errorf("%v", err)
	}
}

// TestRowsPerUnitMayChange: runs that use different numbers of rows of a unit share a ledger, its
// limit holds over both, and it verifies.
func TestRowsPerUnitMayChange(t *testing.T) {
	ctx, f := context.Background(), ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	one := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	nb := Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 2}
	stattest.Check(t, ledger.SetLimit(ctx, f, nb.Units("patient"),
		ledger.Limit{Budget: accountant.Budget{Epsilon: 2, Delta: 1e-6}}))
	for run, k := range []int{3, 5, 1} {
		tab := testTable(t, testSchema("patient", k), someRows(12), make([]uint32, 12))
		s, err := Open(ctx, FromTable(tab), Options{Budget: one, Plan: gaussian(20, 1), Ledger: f})
		if run == 2 {
			stattest.Wraps(t, err, accountant.ErrBudget, "a third run at a limit of two")
			break
		}
		stattest.Check(t, err)
		stattest.Passes(t, stattest.Err(s.Measure(Total{}, 20*float64(k))), "")
		stattest.Check(t, s.Finish(nil, nil))
	}
	l := stattest.Must(f.Read())
	if err := l.Verify(nil); err != nil || l.Spent().Epsilon != 2 {
		t.Errorf("spent %v: %v", l.Spent(), err)
	}
}

func TestLedgerRefusals(t *testing.T) {
	ctx := context.Background()
	tab := testTable(t, testSchema("patient", 3), someRows(12), make([]uint32, 12))
	newFile := func() *ledger.File {
		f := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
		reads := 0
		stattest.Check(t, reserveOn(t, f, wide, gaussian(5, 1), &reads))
		return f
	}
	f := newFile()
	if _, err := Open(ctx, FromTable(tab), Options{Budget: wide, Plan: gaussian(5, 1),
		Ledger: f}); !errors.Is(err, ledger.ErrMismatch) {
		t.Errorf("another unit: %v", err)
	}
	rows := testTable(t, testSchema("", 0), someRows(12), nil)
	if _, err := Open(ctx, FromTable(rows), Options{Budget: wide, Plan: gaussian(5, 1), Ledger: f,
		Adjacency: accountant.ReplaceOne}); !errors.Is(err, ledger.ErrMismatch) {
		t.Errorf("another adjacency: %v", err)
	}
	edited := newFile()
	b := stattest.Must(os.ReadFile(edited.Path()))
	cheaper := strings.Replace(string(b), `"epsilon":1000000`, `"epsilon":1`, 1)
	stattest.Check(t, os.WriteFile(edited.Path(), []byte(cheaper), 0o600))
	reads := 0
	if err := reserveOn(t, edited, wide, gaussian(5, 1), &reads); !errors.Is(err, ledger.ErrInvalid) ||
		reads > 0 {
		t.Errorf("an edited ledger: %v after %d reads", err, reads)
	}
	stattest.Wraps(t, ledger.SetLimit(ctx, f, rowUnits.Units(""),
		ledger.Limit{Budget: accountant.Budget{Epsilon: -1}}), accountant.ErrBudgetRange,
		"a negative limit")
	missing := ledger.NewFile(filepath.Join(t.TempDir(), "no", "such", "folder", "l"))
	if err := reserveOn(t, missing, wide, gaussian(5, 1), &reads); err == nil || reads > 0 {
		t.Errorf("a ledger that cannot be made: %v after %d reads", err, reads)
	}
	if l, err := missing.Read(); err != nil || len(l.Entries) != 0 {
		t.Errorf("reading a missing ledger: %v, %v", l, err)
	}
	if info, err := os.Stat(f.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the ledger's mode is %v, %v", info.Mode(), err)
	}
}
