package driver

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/engine/sums"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/spark/worker"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// gradient is the question of a critic with random weights.
func gradient(t *testing.T, s *schema.Schema, hidden ...int) engine.Question {
	t.Helper()
	e := stattest.Must(critic.NewEncoder(s))
	c := stattest.Must(critic.New(e, critic.Options{Hidden: hidden}, rand.New(rand.NewPCG(8, 9))))
	return engine.Gradient{Slope: c.Slope(), Units: c.Sizes()[1:], Parameters: c.Parameters(),
		Factor: 0x1p-24, Inputs: e.Cells()}.Question()
}

// sumsHere fails unless the cluster gives the sums that the rows of a file have here by the same
// kernel.
func (c *cluster) sumsHere(t *testing.T, source, path string, s *schema.Schema, units int) {
	t.Helper()
	q := gradient(t, s, units, 7)
	tab, _, err := table.Read(context.Background(), path, s, table.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := stattest.Must(sums.New(s, q))
	if want.Add(tab); tab.Rows() > 0 && !slices.ContainsFunc(want.Answer, func(x int64) bool {
		return x < -1<<32 || x > 1<<32
	}) {
		t.Error("no sum needs its upper half")
	}
	text := stattest.Must(s.YAML())
	got, err := Count(context.Background(), engine.Request{Source: "sc://" + c.host + "/" + source,
		Schema: string(text), Question: q}, c.program)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, append([]int64{int64(tab.Rows())}, want.Answer...)) {
		t.Errorf("%s has other sums than %s", source, path)
	}
}

// sums has gradients added up on the cluster.
func (c *cluster) sums(t *testing.T) {
	s := parse(t, nasty)
	units := parse(t, "unit: id\nmax_rows_per_unit: 4\n"+nasty)
	path := c.file(t, "sums.csv", nastyCSV(997, inTurn), 0o644)
	c.sumsHere(t, path, path, s, 9)
	// Weights that no command line would take, and an executor that is killed.
	slow := c.file(t, "slow.sums", "#!/bin/sh\ntouch "+c.dir+"/sums.began\nwhile [ ! -e "+c.dir+
		"/sums.killed ]; do sleep .2; done\nexec "+c.program+" \"$@\"\n", 0o755)
	killed := make(chan int)
	go func() {
		c.until(t, "a task begins", func() bool { return exists(c.dir + "/sums.began") })
		n := c.killExecutors()
		os.WriteFile(c.dir+"/sums.killed", nil, 0o600)
		killed <- n
	}()
	c.sumsHere(t, path+"?worker="+slow, path, units, 600)
	if n := <-killed; n == 0 {
		t.Error("no executor was killed")
	}
	empty := c.file(t, "empty.sums.csv", "n,note,x,day,id\n", 0o644)
	c.sumsHere(t, empty, empty, s, 9)
}

// lost has the cluster fail in the third release of wgan: the run goes on where it was, asks for no
// more than is left, and costs what it costs.
func (c *cluster) lost(t *testing.T, path string) {
	dir := filepath.Join(c.dir, "lost")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Link(c.dir+"/decoy", dir+"/decoy")); err != nil {
		t.Fatal(err)
	}
	// The first call looks whether the table is there, and the fifth is the third release: its tasks
	// fail.
	c.file(t, "lost/decoy-spark", "#!/bin/sh\nn=$(ls "+dir+" | grep -c asked)\ntouch "+dir+
		"/asked.$n\nif [ $n = 4 ]; then touch "+dir+"/broken; fi\nexec "+c.program+" \"$@\"\n", 0o755)
	failing := c.file(t, "lost/worker", "#!/bin/sh\nif [ -e "+dir+"/broken ]; then exit 1; fi\nexec "+
		c.program+" \"$@\"\n", 0o755)
	asked := func() int {
		files, _ := filepath.Glob(dir + "/asked.*")
		return len(files)
	}
	fit := "fit sc://" + c.host + "/" + path + "?worker=" + failing + " --schema units.yaml " +
		"--epsilon 1 --method wgan --set steps=4 --ledger lost.ledger --model lost.decoy"
	lost := *c
	lost.binary = dir + "/decoy"
	out := lost.decoy(t, 1, fit)
	if !strings.Contains(out, "the statement has failed") || !strings.Contains(out, "--resume") ||
		asked() != 5 {
		t.Fatalf("%d calls: %s", asked(), out)
	}
	if err := os.Remove(dir + "/broken"); err != nil {
		t.Fatal(err)
	}
	lost.decoy(t, 0, fit+" --resume")
	if n := asked(); n != 5+4 {
		t.Errorf("%d calls after the run went on, want a look, the counts and two releases", n-5)
	}
	lost.decoy(t, 0, "verify lost.decoy")
	if out := lost.decoy(t, 0, "ledger show lost.ledger"); strings.Count(out, "wgan") != 1 ||
		!strings.Contains(out, "done") {
		t.Error(out)
	}
}

// TestHostileSums: what tasks say is a sum over one table, or is refused.
func TestHostileSums(t *testing.T) {
	s := parse(t, "columns: [{name: a, kind: boolean}]")
	q := engine.Question{Kind: engine.GradientKind, Length: 2}
	fine := map[int64]int64{worker.TaskRows: 5, 0: 3 << 32, 1: -7, 2: 1, 3: 1 << 40}
	for name, c := range map[string]struct {
		change func(told map[int64]int64)
		want   error
	}{
		"fine":              {func(map[int64]int64) {}, nil},
		"a number too many": {func(told map[int64]int64) { told[4] = 1 }, errForm},
		"a cell of its own": {func(told map[int64]int64) { told[-1] = 1 }, errForm},
		"no rows":           {func(told map[int64]int64) { delete(told, worker.TaskRows) }, errTotal},
		"rows below zero":   {func(told map[int64]int64) { told[worker.TaskRows] = -1 }, errForm},
	} {
		told := map[int64]int64{}
		for cell, n := range fine {
			told[cell] = n
		}
		c.change(told)
		j := &job{schema: s, Request: engine.Request{Question: q}}
		got, err := j.check(told)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		// 3·2³² − 7·2³², and 1 + 2⁴⁰·2³² modulo 2⁶⁴
		if err == nil && !slices.Equal(got, []int64{5, -4 << 32, 1}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
