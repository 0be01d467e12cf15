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
	"syscall"
	"testing"
	"time"
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
