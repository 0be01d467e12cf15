package driver

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/spark-connect-go/v35/spark/sql"
	"golang.org/x/sys/unix"

	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

var (
	measure = flag.String("measure", "", "also measure counting tables of so many rows: `N,N...`")
	data    = flag.String("data", "", "keep the tables that are measured in this `FOLDER`")
)

const (
	measuredColumns = 10         // of the table that TestMeasure counts: 45 pairs of 144 cells
	mostGrouped     = 10_000_000 // rows for GROUPING SETS, which take it three minutes
)

// TestMeasure prints how long counting takes: all pairs of ten columns of twelve codes, by
// decoy-spark, by one query with GROUPING SETS on the same cluster, and from the same files here on
// one core; and the sum of a gradient, as in a release of wgan; with one worker, then with two,
// each with all of its processes on one core of its own. First come queries of two rows, one after
// the other in an open session. CPU is the seconds that executors and children had of their cores:
// on a machine that does something else too, it says more than the time. Memory is the peak of a
// child, of an executor, of the Connect server, and of decoy-spark here.
//
//	cd spark && go test ./driver -run TestMeasure -v -timeout 1h -args -measure 1000000
//
// Parts are chosen as those of any test, as by -run 'TestMeasure/2_workers/.*/decoy-spark'; with
// -data, the tables are made once. One of 10⁸ rows has half a gigabyte.
func TestMeasure(t *testing.T) {
	if *measure == "" {
		t.Skip("not asked for: -args -measure 1000000,10000000")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for workers := 1; workers <= 2 && (workers == 1 || *running == ""); workers++ {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) { measureOn(t, workers) })
	}
}

// measureOn measures on a cluster of its own, or on the one that was named.
func measureOn(t *testing.T, workers int) {
	c := startCluster(t, workers)
	c.pin(t)
	ctx := context.Background()
	session, err := sql.NewSessionBuilder().Remote("sc://" + c.host).Build(ctx)
	if err != nil {
		t.Fatal(err)
	}
	collect := func(query string) error {
		frame, err := session.Sql(ctx, query)
		if err == nil {
			_, err = frame.Collect(ctx)
		}
		return err
	}
	s := &schema.Schema{}
	var columns, sets []string
	for i := range measuredColumns {
		name := fmt.Sprintf("c%d", i)
		s.Columns = append(s.Columns, schema.Column{Name: name, Kind: schema.Integer, Max: 11})
		columns = append(columns, fmt.Sprintf("CAST(pmod(hash(id, %d), 12) AS INT) AS %s", i, name))
		for j := range i {
			sets = append(sets, fmt.Sprintf("(c%d, c%d)", j, i))
		}
	}
	if s, err = s.Clone(), s.Validate(); err != nil {
		t.Fatal(err)
	}
	text := stattest.Must(s.YAML())
	timed := func(t *testing.T, rows int, do func() error) {
		t.Helper()
		peaks, busy := c.watch(), c.busy()
		begin := time.Now()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		took := time.Since(begin).Seconds()
		busy = c.busy() - busy
		m := peaks()
		t.Logf("%6.1f s, %8.0f rows/s, CPU %6.1f s, %.2f µs a row; MB: child %d, executor %d, "+
			"server %d, here %d", took, float64(rows)/took, busy, busy/float64(rows)*1e6, m[0], m[1], m[2],
			m[3])
	}
	t.Run("queries", func(t *testing.T) {
		for range 8 { // the first of them starts executors, and code is compiled
			timed(t, 2, func() error {
				return collect("SELECT x, COUNT(*) FROM (SELECT TRANSFORM (id) USING 'cat' AS (x BIGINT) " +
					"FROM range(0, 2, 1, 2)) GROUP BY x")
			})
		}
	})
	for _, size := range strings.Split(*measure, ",") {
		t.Run(size, func(t *testing.T) {
			rows := stattest.Must(strconv.Atoi(size))
			folder := cmp.Or(*data, c.dir)
			path := fmt.Sprintf("%s/m%d.parquet", folder, rows)
			if !exists(path + "/_SUCCESS") {
				begin := time.Now()
				c.sql(t, fmt.Sprintf("CREATE TABLE m%d USING parquet LOCATION '%s' AS SELECT %s FROM "+
					"range(0, %d, 1, 2)", rows, path, strings.Join(columns, ", "), rows))
				t.Logf("made %s in %.0f s", path, time.Since(begin).Seconds())
			}
			if *data == "" {
				defer os.RemoveAll(path)
			}
			count := func() error {
				_, err := engine.Count(ctx, c.program, engine.Request{
					Source: "sc://" + c.host + "/" + path, Schema: string(text),
					Question: engine.AskSets(pairs(s), s.Sizes())})
				return err
			}
			t.Run("decoy-spark", func(t *testing.T) {
				timed(t, rows, count)
				if rows <= 1_000_000 { // what is compiled when it has been run often is compiled now
					timed(t, rows, count)
				}
			})
			t.Run("release", func(t *testing.T) {
				q := gradient(t, s, 64)
				timed(t, rows, func() error {
					_, err := engine.Count(ctx, c.program, engine.Request{
						Source: "sc://" + c.host + "/" + path, Schema: string(text), Question: q})
					return err
				})
			})
			t.Run("sets", func(t *testing.T) {
				if rows > mostGrouped {
					t.Skip("not run: it takes too long")
				}
				timed(t, rows, func() error {
					return collect(fmt.Sprintf("SELECT %s, COUNT(*) FROM parquet.`%s` GROUP BY GROUPING SETS "+
						"(%s)", strings.Join(s.Names(), ", "), path, strings.Join(sets, ", ")))
				})
			})
			t.Run("here", func(t *testing.T) {
				timed(t, rows, func() error { return countHere(ctx, path, s) })
			})
		})
	}
}

// countHere counts the files of a folder, as decoy does before it fits one.
func countHere(ctx context.Context, path string, s *schema.Schema) error {
	files, _ := filepath.Glob(path + "/*.parquet")
	for _, f := range files {
		tab, _, err := table.Read(ctx, f, s, table.ReadOptions{})
		if err != nil {
			return err
		}
		for _, set := range pairs(s) {
			n := 1
			for _, col := range set {
				n *= s.Sizes()[col]
			}
			tab.CountTo(make([]int64, n), set)
		}
	}
	return nil
}

// pin gives each worker, and all that it has started and will start, one core.
func (c *cluster) pin(t *testing.T) {
	t.Helper()
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	core, cores := -1, 64*len(all)
	for _, pid := range c.processes("deploy.worker.Worker") {
		for core = (core + 1) % cores; !all.IsSet(core); core = (core + 1) % cores {
		}
		var one unix.CPUSet
		one.Set(core)
		pids := []int{pid}
		for _, p := range c.processes(executor) {
			if parentOf(p) == pid {
				pids = append(pids, p)
			}
		}
		for _, p := range pids {
			threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p))
			for _, thread := range threads {
				id, _ := strconv.Atoi(filepath.Base(thread))
				if err := unix.SchedSetaffinity(id, &one); err != nil {
					t.Log(err) // a thread that has ended
				}
			}
		}
		t.Logf("a worker with %d executors on core %d", len(pids)-1, core)
	}
}

// executor is a word in the command line of an executor.
const executor = "CoarseGrainedExecutorBackend"

// busy is how many seconds executors, and children that have ended, have had of a core.
func (c *cluster) busy() (seconds float64) {
	for _, pid := range c.processes(executor) {
		stat := statOf(pid)
		for _, field := range stat[min(11, len(stat)):min(15, len(stat))] {
			ticks, _ := strconv.Atoi(field)
			seconds += float64(ticks) / 100
		}
	}
	return seconds
}

// watch looks at the memory of children, of executors, of the Connect server and of decoy-spark
// here; what it returns ends that and says the most that one of them had, in MB.
func (c *cluster) watch() func() [4]int {
	var group sync.WaitGroup
	var most [4]int
	end := make(chan struct{})
	group.Go(func() {
		for {
			for i, word := range []string{c.program + "\x00" + Verb, executor, "SparkConnectServer",
				c.program + "\x00" + engine.Verb + "\x00"} {
				for _, pid := range c.processes(word) {
					status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
					_, peak, _ := strings.Cut(string(status), "VmHWM:")
					peak, _, _ = strings.Cut(peak, "kB")
					kilobytes, _ := strconv.Atoi(strings.TrimSpace(peak))
					most[i] = max(most[i], kilobytes>>10)
				}
			}
			select {
			case <-end:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
	return func() [4]int {
		close(end)
		group.Wait()
		return most
	}
}
