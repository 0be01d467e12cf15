package privacy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// killed opens a resumable run on the ledger, calls Total n times, and drops the run as a killed process does: no end, no lock.
func killed(t *testing.T, file *LedgerFile, o Options, n int) *Session {
	t.Helper()
	o.Ledger, o.Resumable = file, true
	s, err := Open(context.Background(), FromTable(testTable(t, testSchema("", 0), someRows(12), nil)), o)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if _, err := s.Total("total", 5); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.life.Unlock(); err != nil {
		t.Fatal(err)
	}
	return s
}

var five = Options{Budget: wide, Plan: gaussian(5, 5), Method: "test", Tool: "first"}

func TestResume(t *testing.T) {
	file := NewLedgerFile(filepath.Join(t.TempDir(), "l"))
	first := killed(t, file, five, 2)
	o := five
	o.Ledger, o.Tool = file, "second"
	reads := 0
	rows := counted(testTable(t, testSchema("", 0), someRows(12), nil), &reads)
	s, err := Resume(context.Background(), rows, first.Run(), o)
	if err != nil {
		t.Fatal(err)
	}
	if reads != 1 || s.Run() != first.Run() {
		t.Errorf("read %d times as run %s, want once as %s", reads, s.Run(), first.Run())
	}
	event := s.Neighbours().TotalEvent(5)
	if got := s.Left(event); got != 3 {
		t.Errorf("%d calls left, want 3", got)
	}
	// Killed again, with a charge whose result nobody saw.
	s.mu.Lock()
	if err := s.charge("total", event); err != nil {
		t.Fatal(err)
	}
	s.mu.Unlock()
	s.life.Unlock()
	if s, err = Resume(context.Background(), rows, first.Run(), o); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if _, err := s.Total("total", 5); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if _, err := s.Total("total", 5); !errors.Is(err, ErrPlan) {
		t.Errorf("a sixth call of five: %v, want ErrPlan", err)
	}
	if err := s.Close(accountant.StatusDone); err != nil {
		t.Fatal(err)
	}
	onDisk, err := file.Read()
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]*accountant.Ledger{"disk": onDisk, "model": s.Ledger()} {
		if err := l.Verify(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		runs := l.Runs()
		if len(runs) != 1 || runs[0].Status != accountant.StatusDone || runs[0].Charged[0].Count != 5 || l.Spent().Epsilon != wide.Epsilon {
			t.Errorf("%s: %+v", name, runs)
		}
		var tools []string
		for _, e := range l.Entries {
			if e.Kind == accountant.EntryReserve || e.Kind == accountant.EntryResume {
				tools = append(tools, e.Tool)
			}
			if name == "model" && (e.PID != 0 || e.Host != "") {
				t.Errorf("the model's ledger names a process: %+v", e)
			}
		}
		if got := strings.Join(tools, " "); got != "first second second" {
			t.Errorf("%s: processes %s", name, got)
		}
	}
	if files, _ := filepath.Glob(file.Path() + ".*"); len(files) != 0 {
		t.Errorf("an ended run left %v", files)
	}
}

func TestResumeRefuses(t *testing.T) {
	other := testSchema("", 0)
	other.Columns[0].Name = "z"
	for _, tt := range []struct {
		name   string
		calls  int
		change func(t *testing.T, s *Session, o *Options) *schema.Schema
		want   error
	}{
		{"still running", 1, func(t *testing.T, s *Session, _ *Options) *schema.Schema {
			life, err := takeOver(s.life.Path())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { life.Unlock() })
			return nil
		}, ErrResume},
		{"done", 1, closed(accountant.StatusDone), ErrResume},
		{"failed", 1, closed(accountant.StatusFailed), ErrResume},
		{"cancelled", 1, closed(accountant.StatusCancelled), ErrResume},
		{"void", 0, closed(accountant.StatusVoid), ErrResume},
		{"no lock file", 1, func(t *testing.T, s *Session, _ *Options) *schema.Schema { os.Remove(s.life.Path()); return nil }, ErrResume},
		{"other schema", 1, func(*testing.T, *Session, *Options) *schema.Schema { return other }, ErrResume},
		{"other epsilon", 1, func(_ *testing.T, _ *Session, o *Options) *schema.Schema { o.Budget.Epsilon *= 2; return nil }, ErrResume},
		{"other delta", 1, func(_ *testing.T, _ *Session, o *Options) *schema.Schema { o.Budget.Delta *= 2; return nil }, ErrResume},
		{"larger plan", 1, func(_ *testing.T, _ *Session, o *Options) *schema.Schema { o.Plan = gaussian(5, 6); return nil }, ErrResume},
		{"less noise", 1, func(_ *testing.T, _ *Session, o *Options) *schema.Schema { o.Plan = gaussian(4, 5); return nil }, ErrResume},
		{"plan beyond the budget", 1, func(_ *testing.T, _ *Session, o *Options) *schema.Schema { o.Plan = gaussian(1e-3, 50); return nil }, accountant.ErrBudget},
		{"other method", 1, func(_ *testing.T, _ *Session, o *Options) *schema.Schema { o.Method = "x"; return nil }, ErrResume},
		{"other adjacency", 1, func(_ *testing.T, _ *Session, o *Options) *schema.Schema {
			o.Adjacency = accountant.ReplaceOne
			return nil
		}, ErrLedgerMismatch},
		{"no ledger", 1, func(_ *testing.T, _ *Session, o *Options) *schema.Schema { o.Ledger = nil; return nil }, ErrResume},
		{"another ledger", 1, func(t *testing.T, s *Session, o *Options) *schema.Schema {
			o.Ledger = NewLedgerFile(o.Ledger.Path() + "2")
			if err := os.WriteFile(o.Ledger.lifePath(s.run), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return nil
		}, ErrResume},
		{"a path for a name", 1, func(_ *testing.T, s *Session, _ *Options) *schema.Schema { s.run = "../../../../aaaa"; return nil }, ErrResume},
		{"more charges than reserved", 5, func(t *testing.T, s *Session, o *Options) *schema.Schema {
			s.left = accountant.NewReservation(gaussian(5, 1))
			s.mu.Lock()
			defer s.mu.Unlock()
			if err := s.charge("total", s.nb.TotalEvent(5)); err != nil {
				t.Fatal(err)
			}
			return nil
		}, ErrResume},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := NewLedgerFile(filepath.Join(t.TempDir(), "l"))
			s := killed(t, file, five, tt.calls)
			o := five
			o.Ledger = file
			sch := tt.change(t, s, &o)
			if sch == nil {
				sch = testSchema("", 0)
			}
			before, reads := size(t, file), 0
			_, err := Resume(context.Background(), counted(testTable(t, sch, someRows(12), nil), &reads), s.run, o)
			if !errors.Is(err, tt.want) || reads != 0 {
				t.Errorf("error %v after %d reads, want %v after none", err, reads, tt.want)
			}
			if size(t, file) != before {
				t.Error("a refusal changed the ledger")
			}
		})
	}
}

// closed gives the run an end, and leaves its lock file as a process does that is killed in between.
func closed(status string) func(*testing.T, *Session, *Options) *schema.Schema {
	return func(t *testing.T, s *Session, _ *Options) *schema.Schema {
		if err := s.Close(status); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.life.Path(), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return nil
	}
}

// TestResumableNeedsALedger: without one there would be nothing to continue.
func TestResumableNeedsALedger(t *testing.T) {
	reads := 0
	o := five
	o.Resumable = true
	if _, err := Open(context.Background(), counted(testTable(t, testSchema("", 0), someRows(12), nil), &reads), o); err == nil || reads > 0 {
		t.Errorf("error %v after %d reads", err, reads)
	}
}

// TestRefusedRunLeavesNoLock: a reservation that the limit refuses leaves no lock file.
func TestRefusedRunLeavesNoLock(t *testing.T) {
	file := NewLedgerFile(filepath.Join(t.TempDir(), "l"))
	if err := file.SetLimit(context.Background(), rowUnits, "", Limit{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}}); err != nil {
		t.Fatal(err)
	}
	o := five
	o.Ledger, o.Resumable = file, true
	if _, err := Open(context.Background(), FromTable(testTable(t, testSchema("", 0), someRows(12), nil)), o); !errors.Is(err, accountant.ErrBudget) {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(file.Path() + ".*"); len(files) != 0 {
		t.Errorf("a refused run left %v", files)
	}
}

// TestUnreadableRowsLeaveTheRun: rows that cannot be read now may be readable later.
func TestUnreadableRowsLeaveTheRun(t *testing.T) {
	file := NewLedgerFile(filepath.Join(t.TempDir(), "l"))
	first := killed(t, file, five, 2)
	o := five
	o.Ledger = file
	bad := &Rows{schema: testSchema("", 0), load: func(context.Context) (*table.Table, table.Report, error) {
		return nil, table.Report{}, schema.ErrSchema
	}}
	if _, err := Resume(context.Background(), bad, first.Run(), o); !errors.Is(err, schema.ErrSchema) {
		t.Fatalf("error %v", err)
	}
	s, err := Resume(context.Background(), FromTable(testTable(t, testSchema("", 0), someRows(12), nil)), first.Run(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(accountant.StatusDone); err != nil {
		t.Fatal(err)
	}
}

// TestResumesAtOnce: of many processes that continue one run, one does.
func TestResumesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	first := killed(t, NewLedgerFile(path), five, 1)
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var won []*Session
	for range 16 {
		wg.Go(func() {
			o := five
			o.Ledger = NewLedgerFile(path)
			s, err := Resume(context.Background(), FromTable(tab), first.Run(), o)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won = append(won, s)
			} else if !errors.Is(err, ErrResume) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d processes continue the run, want 1", len(won))
	}
	if err := won[0].Close(accountant.StatusDone); err != nil {
		t.Error(err)
	}
}

// TestKilledProcesses runs a program that opens or continues a run of 40 calls, and kills it at some moment, again and again. However it
// goes, no more than 40 results come out in all, and the ledger has one reservation.
func TestKilledProcesses(t *testing.T) {
	const calls = 40
	o := Options{Budget: wide, Plan: gaussian(5, calls), Method: "test", Resumable: true}
	if path := os.Getenv("DECOY_TEST_LEDGER"); path != "" {
		child(t, path, o)
		return
	}
	path := filepath.Join(t.TempDir(), "l")
	results, kills := 0, 0
	for done := false; !done; {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledProcesses$")
		cmd.Env = append(os.Environ(), "DECOY_TEST_LEDGER="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for in := bufio.NewScanner(out); in.Scan(); {
			switch text := in.Text(); {
			case text == "result":
				results++
				if seen++; seen == 1+kills%7 { // somewhere in the next calls
					time.AfterFunc(time.Duration(kills)*100*time.Microsecond, func() { cmd.Process.Kill() })
				}
			case text == "done":
				done = true
			case strings.HasPrefix(text, "error"):
				t.Fatal(text)
			}
		}
		if cmd.Wait() != nil {
			kills++
		}
	}
	if kills < 3 {
		t.Errorf("the program was killed %d times only", kills)
	}
	l, err := NewLedgerFile(path).Read()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Verify(); err != nil {
		t.Error(err)
	}
	runs := l.Runs()
	if len(runs) != 1 || runs[0].Charged[0].Count != calls || runs[0].Status != accountant.StatusDone {
		t.Errorf("%+v", runs)
	}
	if results > calls {
		t.Errorf("%d results of %d calls", results, calls)
	}
}

// child is the program of TestKilledProcesses.
func child(t *testing.T, path string, o Options) {
	o.Ledger = NewLedgerFile(path)
	rows := FromTable(testTable(t, testSchema("", 0), someRows(12), nil))
	l, err := o.Ledger.Read()
	var s *Session
	if err == nil && len(l.Runs()) > 0 {
		if l.Runs()[0].Status == accountant.StatusDone { // killed after its end
			fmt.Println("done")
			return
		}
		s, err = Resume(context.Background(), rows, l.Runs()[0].Run, o)
	} else if err == nil {
		s, err = Open(context.Background(), rows, o)
	}
	for err == nil && s.Left(s.nb.TotalEvent(5)) > 0 {
		if _, err = s.Total("total", 5); err == nil {
			fmt.Println("result")
			time.Sleep(3 * time.Millisecond) // so that whoever kills is not always late
		}
	}
	if err == nil {
		err = s.Close(accountant.StatusDone)
	}
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("done")
}
