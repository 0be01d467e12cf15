//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// workplace is a directory with a table and its schema, in which decoy runs as a process of its
// own.
type workplace struct {
	t   *testing.T
	dir string
}

// newWorkplace has a table of columns uniform integers from 0 to values-1; 15 by 150 keeps a fit
// busy for seconds.
func newWorkplace(t *testing.T, rows, columns, values int) workplace {
	t.Helper()
	w := workplace{t, t.TempDir()}
	var s, d bytes.Buffer
	fmt.Fprint(&s, "decoy: 1\ncolumns:\n")
	u := rand.New(rand.NewPCG(1, 2))
	for c := range columns {
		fmt.Fprintf(&s, "  - {name: c%d, kind: integer, min: 0, max: %d, bins: %d}\n", c, values-1,
			values)
		fmt.Fprintf(&d, "c%d,", c)
	}
	d.Truncate(d.Len() - 1)
	d.WriteByte('\n')
	for range rows {
		for range columns {
			fmt.Fprintf(&d, "%d,", u.IntN(values))
		}
		d.Truncate(d.Len() - 1)
		d.WriteByte('\n')
	}
	w.write("s.yaml", s.String())
	w.write("in.csv", d.String())
	return w
}

func (w workplace) path(name string) string { return filepath.Join(w.dir, name) }

func (w workplace) write(name, text string) {
	w.t.Helper()
	check(w.t, os.WriteFile(w.path(name), []byte(text), 0o600))
}

// start runs decoy with the words of args.
func (w workplace) start(args string, stdin io.Reader) (*exec.Cmd, *bytes.Buffer) {
	w.t.Helper()
	return w.startCommand(exec.Command("decoy", strings.Fields(args)...), stdin)
}

// startCommand starts a command in the workplace.
func (w workplace) startCommand(cmd *exec.Cmd, stdin io.Reader) (*exec.Cmd, *bytes.Buffer) {
	w.t.Helper()
	cmd.Dir, cmd.Stdin = w.dir, stdin
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	check(w.t, cmd.Start())
	return cmd, &stderr
}

// run runs decoy to its end and returns the exit code and what it said.
func (w workplace) run(args string) (int, string) {
	w.t.Helper()
	cmd, stderr := w.start(args, nil)
	return ended(w.t, cmd), stderr.String()
}

// says is [says] of a process.
func (w workplace) says(want int, args string, texts ...string) {
	w.t.Helper()
	code, text := w.run(args)
	said(w.t, want, args, code, text, texts)
}

// ended waits for the end of a process and returns its exit code, -1 if it was killed.
func ended(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	check(t, err)
	return 0
}

// ledger reads and verifies a ledger; one that is not there is empty.
func (w workplace) ledger(name string) *ledger.Ledger {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	if errors.Is(err, os.ErrNotExist) || err == nil && len(b) == 0 {
		return &ledger.Ledger{}
	}
	check(w.t, err)
	l, err := ledger.Parse(bytes.NewReader(b))
	if err != nil && !errors.Is(err, ledger.ErrTorn) {
		w.t.Fatalf("the ledger cannot be read: %v", err)
	}
	if len(l.Entries) > 0 {
		if err := l.Verify(pld.Epsilon); err != nil {
			w.t.Fatalf("the ledger does not verify: %v", err)
		}
	}
	return l
}

// await waits until the ledger has n entries of this kind.
func (w workplace) await(name string, kind ledger.Kind, n int) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(
		2 * time.Millisecond) {
		if b, _ := os.ReadFile(w.path(name)); bytes.Count(b, []byte(`"kind":"`+string(kind)+`"`)) >= n {
			return
		}
	}
	w.t.Fatalf("fewer than %d %s entries in the ledger after a minute", n, kind)
}

func (w workplace) statuses(name string) []string {
	var out []string
	for _, r := range w.ledger(name).Runs() {
		out = append(out, r.Status)
	}
	return out
}

// temporaries lists the temporary files in the directory.
func (w workplace) temporaries() []string {
	names := stattest.Must(filepath.Glob(w.path(".*.tmp")))
	return names
}

// TestLimitReadsNothing gives a run that the limit refuses a pipe: afterwards every byte behind the
// header, whose names are public, must still be in it.
func TestLimitReadsNothing(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t, 1, 2, 3)
	w.says(exitOK, "ledger limit my.ledger --unit row --epsilon 1 --delta 1e-6")
	r, pipe, err := os.Pipe()
	check(t, err)
	const rows = "1,2\n"
	io.WriteString(pipe, "c0,c1\n"+rows)
	// the pipe stays open: a read would wait for ever
	cmd, stderr := w.start("generate - --schema s.yaml --epsilon 1.0000001 "+
		"--ledger my.ledger --out out.csv", r)
	if code := ended(t, cmd); code != exitBudget {
		t.Errorf("exit code %d, want %d\n%s", code, exitBudget, stderr)
	}
	pipe.Close()
	if left, err := io.ReadAll(r); err != nil || string(left) != rows {
		t.Errorf("%q is left of the input %q: the refused run has read it (%v)", left, rows, err)
	}
	if got := w.statuses("my.ledger"); len(got) != 0 {
		t.Errorf("the refused run is in the ledger: %v", got)
	}
	if _, err := os.Stat(w.path("out.csv")); err == nil || len(w.temporaries()) > 0 {
		t.Errorf("the refused run left an output")
	}
}

func TestHeldLock(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 10 seconds")
	}
	t.Parallel()
	w := newWorkplace(t, 10, 2, 3)
	w.write("in.csv.ledger", "")
	lock := flock.New(w.path("in.csv.ledger"))
	check(t, lock.Lock())
	began := time.Now()
	const generate = "generate in.csv --schema s.yaml --epsilon 1 --out out.csv"
	w.says(exitLocked, generate, "waited 10s: another process has it locked")
	if took := time.Since(began); took < 10*time.Second {
		t.Errorf("gave up after %v, want 10 seconds", took)
	}
	check(t, lock.Unlock())
	if _, err := os.Stat(w.path("out.csv")); err == nil || len(w.temporaries()) > 0 {
		t.Errorf("the run left an output")
	}
	w.says(exitOK, generate)
}

// TestRunsAtOnce runs several processes on one ledger.
func TestRunsAtOnce(t *testing.T) {
	const runs = 4
	for _, c := range []struct {
		name      string
		limit     string
		succeed   int
		spent     float64
		otherCode int
	}{
		{"no limit: all are charged", "", runs, runs, 0},
		{"a limit for one: exactly one runs", "--epsilon 1.5 --delta 1e-6", 1, 1, exitBudget},
		{"a limit for two", "--epsilon 2 --delta 1e-6", 2, 2, exitBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorkplace(t, 200, 3, 4)
			if c.limit != "" {
				w.says(exitOK, "ledger limit in.csv.ledger --unit row "+c.limit)
			}
			var wg sync.WaitGroup
			codes := make([]int, runs)
			for i := range runs {
				cmd, _ := w.start(fmt.Sprintf("generate in.csv --schema s.yaml --epsilon 1 --out out%d.csv", i),
					nil)
				wg.Go(func() { codes[i] = ended(t, cmd) })
			}
			wg.Wait()
			succeeded := 0
			for i, code := range codes {
				_, err := os.Stat(w.path(fmt.Sprintf("out%d.csv", i)))
				switch {
				case code == 0 && err == nil:
					succeeded++
				case code == 0 || err == nil || code != c.otherCode:
					t.Errorf("run %d: exit code %d, output there: %v", i, code, err == nil)
				}
			}
			if succeeded != c.succeed {
				t.Errorf("%d runs succeeded, want %d (exit codes %v)", succeeded, c.succeed, codes)
			}
			if spent := w.ledger("in.csv.ledger").Spent(); spent.Epsilon != c.spent {
				t.Errorf("spent epsilon %v, want %v", spent.Epsilon, c.spent)
			}
		})
	}
}

// TestHangup: the end of the terminal is an interrupt, unless it is ignored, as under nohup.
func TestHangup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests were started to outlive their terminal, and so is what they start")
	}
	for name, c := range map[string]struct{ before, want string }{
		"terminal": {"", ledger.StatusUnfinished},
		"nohup":    {"trap '' HUP; ", ledger.StatusDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkplace(t, 1, 2, 3)
			r, pipe, err := os.Pipe()
			check(t, err)
			io.WriteString(pipe, "c0,c1\n1,2\n")
			cmd, stderr := w.startCommand(exec.Command("sh", "-c",
				c.before+"exec decoy generate - --schema s.yaml --epsilon 1 --ledger my.ledger --out out.csv"),
				r)
			w.await("my.ledger", ledger.EntryReserve, 1)
			cmd.Process.Signal(syscall.SIGHUP)
			if name == "nohup" {
				time.Sleep(100 * time.Millisecond) // in which the signal would have come
				pipe.Close()
			} else {
				defer pipe.Close()
			}
			code := ended(t, cmd)
			if got := w.statuses("my.ledger"); len(got) != 1 || got[0] != c.want ||
				(code == 0) != (name == "nohup") {
				t.Errorf("exit code %d, runs %v, want one %s\n%s", code, got, c.want, stderr)
			}
		})
	}
}

// TestInterrupt stops a run by SIGINT or SIGTERM, before and after its first mechanism, and while
// it writes: its budget is spent, it leaves nothing half done, and goes on at no further cost.
func TestInterrupt(t *testing.T) {
	for name, c := range map[string]struct {
		columns, values int
		run, resume     string // "" is not continued
		signal          syscall.Signal
		reached         func(w workplace, said fmt.Stringer)
	}{
		"while reading": {2, 3, "generate - --out out.csv", "", syscall.SIGINT,
			func(w workplace, _ fmt.Stringer) { w.await("l", ledger.EntryReserve, 1) }},
		"while fitting": {6, 25, "generate in.csv --out out.csv", "generate in.csv --out out.csv",
			syscall.SIGTERM,
			func(w workplace, _ fmt.Stringer) { w.await("l", ledger.EntryCharge, 2) }},
		"to standard output": {6, 25, "generate in.csv --out -", "generate in.csv --out -",
			syscall.SIGTERM,
			func(w workplace, _ fmt.Stringer) { w.await("l", ledger.EntryCharge, 1) }},
		"while writing": {3, 4, "generate in.csv --rows 100000000 --out out.csv",
			"generate in.csv --rows 10 --out out.csv", syscall.SIGINT,
			func(w workplace, said fmt.Stringer) {
				for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) &&
					!strings.Contains(said.String(), "guarantee"); {
					time.Sleep(time.Millisecond)
				}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const flags = " --schema s.yaml --epsilon 10 --ledger l"
			w := newWorkplace(t, 5_000, c.columns, c.values)
			r, pipe, err := os.Pipe()
			check(t, err)
			defer pipe.Close()
			io.WriteString(pipe, "c0,c1\n1,2\n")
			state := func(want string) {
				t.Helper()
				if got := w.statuses("l"); len(got) != 1 || got[0] != want ||
					w.ledger("l").Spent().Epsilon != 10 {
					t.Errorf("runs %v, want one %s, and epsilon 10", got, want)
				}
			}
			cmd, said := w.start(c.run+flags, r)
			c.reached(w, said)
			cmd.Process.Signal(c.signal)
			code := ended(t, cmd)
			if want := "the budget stays spent in l; the same command with --resume goes on, at no " +
				"further cost\n"; code != exitError || !strings.HasSuffix(said.String(), want) {
				t.Errorf("exit code %d, said %q, want %q at the end", code, said, want)
			}
			state(ledger.StatusUnfinished)
			if _, err := os.Stat(w.path("out.csv")); err == nil || len(w.temporaries()) > 0 {
				t.Errorf("an output is left")
			}
			if c.resume == "" {
				return
			}
			w.says(exitOK, c.resume+flags+" --resume")
			state(ledger.StatusDone)
		})
	}
}

// TestNobodyListens closes the reader of standard error before a run talks to it: the table and the
// account must be as ever.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t, 100, 3, 4)
	r, pipe, err := os.Pipe()
	check(t, err)
	r.Close()
	cmd := exec.Command("decoy",
		strings.Fields("generate in.csv --schema s.yaml --epsilon 1 --out out.csv")...)
	cmd.Dir, cmd.Stderr = w.dir, pipe
	check(t, cmd.Start())
	pipe.Close()
	if code := ended(t, cmd); code != 0 {
		t.Errorf("exit code %d", code)
	}
	stattest.Passes(t, stattest.Err(os.Stat(w.path("out.csv"))), "no output")
	if got := w.statuses("in.csv.ledger"); len(got) != 1 || got[0] != ledger.StatusDone {
		t.Errorf("runs %v, want one done", got)
	}
}
