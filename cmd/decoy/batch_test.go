//go:build unix

package main

import (
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

	"github.com/decoy-dp/decoy/privacy/ledger"
)

var long = flag.Bool("long", false, "run the long form of some tests")

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
	kills, code, talk := 0, -1, ""
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
	}
	if code != 0 {
		t.Fatalf("not through after %d kills: exit code %d\n%s", kills, code, talk)
	}
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
	w.says(exitOK, "ledger limit in.csv.ledger --unit row --epsilon 10 --delta 1e-6")
	until := time.Now().Add(3 * time.Second)
	if *long {
		until = time.Now().Add(20 * time.Second)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for worker := range 8 {
		group.Go(func() {
			u := rand.New(rand.NewPCG(5, uint64(worker)))
			for i := 0; time.Now().Before(until); i++ {
				name := fmt.Sprintf("w%d-%d", worker, i)
				w.write(name+".yaml", fmt.Sprintf("name: %s\ntables: [{name: t, input: in.csv, schema: "+
					"s.yaml}]\n"+
					"epsilons: [0.5, 0.3]\njob: {out: \"%s-{epsilon}.csv\"}\nparallel: 2\n",
					name, name))
				cmd, _ := w.start("batch "+name+".yaml", nil)
				if u.IntN(4) == 0 {
					time.AfterFunc(time.Duration(u.IntN(200))*time.Millisecond,
						func() { cmd.Process.Signal(syscall.SIGKILL) })
				}
				code := ended(t, cmd)
				mu.Lock()
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
	if *long && refused == 0 {
		t.Error("no batch met the limit: the test tests nothing")
	}
}

// TestOnePurchase: two processes run the methods and budgets of a table without a schema, one is
// killed, and the batch is run again. One job has bought the schema, and each has paid once.
func TestOnePurchase(t *testing.T) {
	w := newWorkplace(t, 300, 3, 4)
	w.write("jobs.yaml", "name: b\ntables: [{name: t, input: in.csv}]\nmethods: [mst, aim]\n"+
		"epsilons: [1, 2]\njob: {out: \"{method}-{epsilon}.csv\", header_is_public: true}\n")
	killed, _ := w.start("batch jobs.yaml", nil)
	time.AfterFunc(time.Duration(50+rand.IntN(400))*time.Millisecond,
		func() { killed.Process.Signal(syscall.SIGKILL) })
	w.run("batch jobs.yaml") // beside it
	ended(t, killed)
	w.says(exitOK, "batch jobs.yaml")
	l := w.ledger("in.csv.ledger")
	bought, _ := filepath.Glob(w.path("*.schema.yaml"))
	if n := len(l.Runs()); n != 4 || l.Spent().Epsilon != 6 || len(bought) != 1 {
		t.Errorf("%d runs, spent %v, schemas %q", n, l.Spent(), bought)
	}
}
