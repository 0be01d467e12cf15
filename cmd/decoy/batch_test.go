//go:build unix

package main

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/ledger"
)

var (
	tables = flag.String("tables", "", "folder with adult.csv, bank.csv and the other public tables "+
		"of the catalogue")
	long = flag.Bool("long", false, "run the long form of some tests")
)

// TestBatchOfEightTables runs 24 jobs on the eight tables of the catalogue, killed twice on the
// way:
//
//	go test ./cmd/decoy -run TestBatchOfEightTables -v -args -tables DIR
//
// Nobody touches anything in between. In the end every output is there, and every ledger holds
// exactly what its jobs asked for.
func TestBatchOfEightTables(t *testing.T) {
	if *tables == "" {
		t.Skip("-args -tables DIR names the folder with the public tables")
	}
	w := workplace{t, t.TempDir()}
	var jobs bytes.Buffer
	fmt.Fprint(&jobs, "name: eight\ntables:\n")
	n := 0
	for _, name := range datasets.Names() {
		d, err := datasets.Get(name)
		check(t, err)
		if d.Embedded {
			continue
		}
		text, err := os.ReadFile(filepath.Join(*tables, name+".csv"))
		check(t, err)
		w.write(name+".csv", string(text))
		w.write(name+".yaml", string(d.SchemaYAML()))
		fmt.Fprintf(&jobs, "  - {name: %s, input: %s.csv, schema: %s.yaml}\n", name, name, name)
		n++
	}
	if n != 8 {
		t.Fatalf("%d tables, want 8", n)
	}
	fmt.Fprint(&jobs, "methods: [mst, {name: careful, method: mst, settings: {group_sigmas: 4}}, "+
		"{name: shares, method: mst, settings: {one_way_share: 0.3}}]\n"+
		"epsilons: [1]\njob: {out: \"out/{table}-{method}.csv\"}\nparallel: 2\nmemory: 1GB\n")
	w.write("jobs.yaml", jobs.String())
	start := time.Now()
	for kill, after := range []int{5, 13} { // outputs
		cmd, _ := w.start("batch jobs.yaml", nil)
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(2 * time.Millisecond) {
			if done, _ := filepath.Glob(w.path("out/*.csv")); len(done) >= after {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the batch stands still")
			}
		}
		cmd.Process.Signal(syscall.SIGKILL)
		if code := ended(t, cmd); code != -1 {
			t.Fatalf("kill %d: the batch ended with %d before", kill+1, code)
		}
	}
	code, talk := w.run("batch jobs.yaml")
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, talk)
	}
	t.Logf("24 jobs, killed twice: %.1f s\n%s", time.Since(start).Seconds(), talk)
	done, _ := filepath.Glob(w.path("out/*.csv"))
	if len(done) != 24 {
		t.Errorf("%d outputs, want 24", len(done))
	}
	paths, _ := filepath.Glob(w.path("*.ledger"))
	for _, path := range paths {
		l := w.ledger(filepath.Base(path))
		if spent, runs := l.Spent(), len(l.Runs()); spent.Epsilon != 3 || runs != 3 {
			t.Errorf("%s: spent %v in %d runs, want epsilon 3 in three: nothing twice", filepath.Base(path),
				spent, runs)
		}
	}
	results, err := os.ReadFile(w.path("jobs.results.csv"))
	if n := bytes.Count(results, []byte(",done,")); err != nil || n != 24 {
		t.Errorf("the table of results has %d jobs that are done, want 24 (%v)", n, err)
	}
	if strings.Contains(talk, "cannot pay") {
		t.Error("jobs that are paid are asked to pay again")
	}
	if len(paths) != 8 {
		t.Errorf("%d ledgers, want 8", len(paths))
	}
}

// TestBatchIsKilledAnywhere kills a batch of jobs on one table at random moments until it comes
// through: every output is there, and the ledger holds what the jobs asked for, to the last digit.
func TestBatchIsKilledAnywhere(t *testing.T) {
	w := newWorkplace(t, 3000, 6, 8)
	w.run("ledger limit in.csv.ledger --unit row --epsilon 3 --delta 1e-6")
	w.write("jobs.yaml", "name: b\ntables: [{name: t, input: in.csv, schema: s.yaml}]\n"+
		"epsilons: [0.5]\nreplicates: 6\n"+
		"job: {out: \"out/{replicate}.csv\"}\nparallel: 2\n")
	u := rand.New(rand.NewPCG(3, 4))
	temporaries := func() (paths []string) {
		err := filepath.WalkDir(w.path("."), func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".tmp") {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return paths
	}
	kills, left, code, talk := 0, 0, -1, ""
	for range 40 {
		cmd, stderr := w.start("batch jobs.yaml", nil)
		timer := time.AfterFunc(time.Duration(40+u.IntN(160))*time.Millisecond,
			func() { cmd.Process.Signal(syscall.SIGKILL) })
		if kills >= 8 {
			timer.Stop()
		}
		code = ended(t, cmd)
		timer.Stop()
		talk = stderr.String()
		if code == 0 {
			break
		}
		if code != -1 {
			t.Fatalf("exit code %d:\n%s", code, talk)
		}
		kills++
		left += len(temporaries())
	}
	if code != 0 {
		t.Fatalf("not through after %d kills: exit code %d\n%s", kills, code, talk)
	}
	t.Logf("%d kills, after which there were %d temporary files", kills, left)
	if strings.Contains(talk, "cannot pay") {
		t.Errorf("jobs that are paid are asked to pay again:\n%s", talk)
	}
	if got := w.ledger("in.csv.ledger").Spent(); got.Epsilon != 3 {
		t.Errorf("spent %v, want epsilon 3", got)
	}
	for i := 1; i <= 6; i++ {
		if _, err := os.Stat(w.path(fmt.Sprintf("out/%d.csv", i))); err != nil {
			t.Error(err)
		}
	}
	if paths := temporaries(); len(paths) > 0 {
		t.Errorf("killed processes left %q", paths)
	}
}

// TestNobodyOverspends has eight processes run batches against one ledger as fast as they can,
// killing one now and then: the limit holds after each entry, in the short form for three seconds,
// with -args -long for twenty.
func TestNobodyOverspends(t *testing.T) {
	w := newWorkplace(t, 200, 3, 4)
	const limit = 10
	if code, talk := w.run("ledger limit in.csv.ledger --unit row --epsilon 10 " +
		"--delta 1e-6"); code != 0 {
		t.Fatal(talk)
	}
	until := time.Now().Add(3 * time.Second)
	if *long {
		until = time.Now().Add(20 * time.Second)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	runs, refused := 0, 0
	for worker := range 8 {
		group.Go(func() {
			u := rand.New(rand.NewPCG(5, uint64(worker)))
			for i := 0; time.Now().Before(until); i++ {
				name := fmt.Sprintf("w%d-%d", worker, i)
				w.write(name+".yaml", fmt.Sprintf("name: %s\ntables: [{name: t, input: in.csv, schema: "+
					"s.yaml}]\n"+
					"epsilons: [0.5, 0.3]\njob: {out: \"%s-{epsilon}.csv\"}\nparallel: 2\non_interrupted: rerun\n",
					name, name))
				cmd, _ := w.start("batch "+name+".yaml", nil)
				if u.IntN(4) == 0 {
					time.AfterFunc(time.Duration(u.IntN(200))*time.Millisecond,
						func() { cmd.Process.Signal(syscall.SIGKILL) })
				}
				code := ended(t, cmd)
				mu.Lock()
				runs++
				if code == exitBudget {
					refused++
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	l := w.ledger("in.csv.ledger") // verified: no limit was exceeded at any time
	if spent := l.Spent(); spent.Epsilon > limit {
		t.Errorf("spent %v of a limit of %d", spent, limit)
	}
	names := map[string]bool{}
	for _, e := range l.Entries {
		if e.Kind == ledger.EntryReserve {
			if names[e.Run] {
				t.Errorf("run %s is reserved twice", e.Run)
			}
			names[e.Run] = true
		}
	}
	t.Logf("%d batches of 8 processes, %d refused, spent %v in %d runs", runs, refused, l.Spent(),
		len(names))
	if *long && refused == 0 {
		t.Error("no batch met the limit: the test tests nothing")
	}
}

// TestResultsAreNotPrivate: the results table is for its owner, and its CSV has a row a job.
func TestResultsAreNotPrivate(t *testing.T) {
	w := newWorkplace(t, 200, 3, 4)
	w.write("jobs.yaml", "name: b\ntables: [{name: t, input: in.csv, schema: s.yaml}]\nepsilons: "+
		"[1, 2]\njob: {out: \"{epsilon}.csv\"}\n")
	if code, talk := w.run("batch jobs.yaml"); code != 0 {
		t.Fatal(talk)
	}
	info, err := os.Stat(w.path("jobs.results.csv"))
	check(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	text, err := os.ReadFile(w.path("jobs.results.csv"))
	check(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
