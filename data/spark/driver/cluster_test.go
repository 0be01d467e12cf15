package driver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/spark-connect-go/v35/spark/sql"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// tables is a folder with adult.csv and others, whose schemas 'decoy datasets export' writes.
var tables = flag.String("tables", "", "also count the CSV files of this folder, each with the "+
	"schema FILE.yaml beside it")

// running is a cluster to use.
var running = flag.String("cluster", "",
	"use the cluster at this `HOST:PORT`, which 'cluster.sh DIR' has printed")

// cluster is a master, workers and a Connect server on this machine.
type cluster struct {
	dir, host, program string
	binary             string // decoy; "" is that of the folder
}

// lacking is the exit status of cluster.sh where what it needs is not there.
const lacking = 3

// startCluster starts a cluster, or says why the tests do not run.
func startCluster(t *testing.T, workers int) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("not run: -short")
	}
	c := &cluster{dir: t.TempDir(), host: *running}
	c.program = c.dir + "/decoy-spark"
	build := exec.Command("go", "build", "-o", c.program, "../cmd/decoy-spark")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if c.host != "" {
		return c
	}
	cmd := exec.Command("../cluster.sh", c.dir+"/cluster", strconv.Itoa(workers))
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe() // the cluster stops when it is closed, as by the end of this process
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		t.Skipf("not run: %v", err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
		c.until(t, "no process of the cluster is left", func() bool { return len(c.processes("")) == 0 })
	})
	begin := time.Now()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		if cmd.Wait(); cmd.ProcessState.ExitCode() == lacking {
			t.Skip("not run: what a cluster needs is not there, as said above")
		}
		t.Fatalf("the cluster has not started: %v", cmd.ProcessState)
	}
	c.host = strings.TrimPrefix(strings.TrimSpace(line), "sc://")
	t.Logf("a cluster of %d is up after %.0f s", workers, time.Since(begin).Seconds())
	return c
}

// count counts a source on the cluster.
func (c *cluster) count(
	ctx context.Context, source string, s *schema.Schema, sets [][]int,
) ([]int64, error) {
	text, err := s.YAML()
	if err != nil {
		return nil, err
	}
	return Count(ctx, engine.Request{Source: "sc://" + c.host + "/" + source, Schema: string(text),
		Question: engine.AskSets(sets, s.Sizes())}, c.program)
}

// sql runs statements on the cluster.
func (c *cluster) sql(t *testing.T, statements ...string) {
	t.Helper()
	session, err := sql.NewSessionBuilder().Remote("sc://" + c.host).Build(context.Background())
	for _, s := range statements {
		if err == nil {
			_, err = session.Sql(context.Background(), s)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// file writes a file that the cluster can read.
func (c *cluster) file(t *testing.T, name, text string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// parse is a schema of YAML.
func parse(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s := stattest.Must(schema.Parse([]byte("decoy: 1\n" + text)))
	return s
}

// pairs are all columns and all pairs of them.
func pairs(s *schema.Schema) (sets [][]int) {
	for i := range s.Columns {
		sets = append(sets, []int{i})
		for j := i + 1; j < len(s.Columns); j++ {
			sets = append(sets, []int{i, j})
		}
	}
	return sets
}

// local is the number of rows and the counts of a file that is read here.
func local(t *testing.T, path string, s *schema.Schema, sets [][]int) []int64 {
	t.Helper()
	tab, _, err := table.Read(context.Background(), path, s, table.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := []int64{int64(tab.Rows())}
	for _, set := range sets {
		n := 1
		for _, c := range set {
			n *= s.Sizes()[c]
		}
		counts := tab.Counts(set...)
		out = append(out, counts...)
	}
	return out
}

// same fails unless the cluster counts what is counted here.
func (c *cluster) same(t *testing.T, source, path string, s *schema.Schema) {
	t.Helper()
	sets := pairs(s)
	got := stattest.Must(c.count(context.Background(), source, s, sets))
	if !slices.Equal(got, local(t, path, s, sets)) {
		t.Errorf("%s has other counts than %s", source, path)
	}
}

const nasty = `columns:
  - {name: note, kind: categorical, categories: ["a\tb", "a\nb", "a,b", 'say "x"', "c\\n", "\\N",
     'd''', ä]}
  - {name: x, kind: real, min: 0, max: 10, bins: 5, missing: ["", NA], on_invalid: clamp}
  - {name: n, kind: integer, min: 0, max: 9}
  - {name: day, kind: date, min: 2020-01-01, max: 2020-12-31}
`

// nastyCSV is n rows with tabs, commas, quotes and escapes in their cells, four of each unit,
// whose id has blanks around it in two of them.
// What row i has depends on which(i).
func nastyCSV(n int, which func(i int) int) string {
	notes := []string{"a\tb", "\"a,b\"", `"say ""x"""`, `c\n`, `\N`, "d'", "ä"}
	var b strings.Builder
	b.WriteString("n,note,other,x,day,id\n")
	for i := range n {
		k := which(i)
		x := []string{"", "NA", "3.5", "-4", "1e1"}[k%5]
		fmt.Fprintf(&b, "%d,%s,\"zz\",%s,2020-%02d-01,%su%d%s\n", k%10, notes[k%len(notes)], x, k%12+1,
			[]string{"", " \t", "", ""}[i%4], i/4, []string{"", "", "\t ", ""}[i%4])
	}
	return b.String()
}

// inTurn has all rows differ as much as they can.
func inTurn(i int) int { return i }

// bothRoads has hostile cells counted by Spark's SQL and by workers of another build.
func (c *cluster) bothRoads(t *testing.T) {
	other := c.dir + "/decoy-spark-of-another-build"
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", other, "../cmd/decoy-spark")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	words := []string{
		"", " ", "?", "a", "A", "a ", "it's", `a\b`, "ä", "a\u0308", "3", "+3", "3.", ".5",
		"-4", "007", "-9.0", "true", "TRUE", "t", "no", "1e3", "1e999", "-1e999", "1e-999",
		"0e999", "1e308", "2e-324", "-0", "0.1", "0.30000000000000004", "2.5", "-2.5",
		"0.49999999999999994", "1_000", " 1", "1 ", "1\n", "0x10", "1d", "NaN", "inf",
		"Infinity", ".", "1e", "<5", "≥0.5", "90+", "1999-12-31", "2000-02-29", "2001-02-29",
		"2000-2-9", "≤2001-02-03", "2000-13-01", "0000-01-01", "now", "２", "\t",
		strings.Repeat("1", 129)}
	numbers := []string{
		"'NaN'", "'Infinity'", "'-Infinity'", "'-0.0'", "'4.9E-324'", "'1e301'", "'-1e301'",
		"'0.1'", "'0.09999999999999999'", "'0.30000000000000004'", "'0.3'", "'2.5'",
		"'-2.5'", "'7'", "'-9'", "'0.49999999999999994'", "'1.7976931348623157E308'",
		"'89.99999999999999'", "'90'", "NULL"}
	var rows []string
	for i, w := range words {
		n := numbers[i%len(numbers)]
		rows = append(rows, fmt.Sprintf("(%s, CAST(%s AS DOUBLE), CAST(%d AS INT), CAST(%d - 3.5 AS "+
			"DECIMAL(20, 3)), date_add(DATE '1999-12-25', %d), TIMESTAMP '2020-01-01 00:00:00' + "+
			"make_interval(0, 0, 0, 0, %d), %v, 'u%d')", text(w), n, i-5, i, i*200, i, i%3 == 0, i/5))
	}
	rows = append(rows, "(NULL, NULL, NULL, NULL, NULL, NULL, NULL, ' ')")
	c.sql(t, "DROP TABLE IF EXISTS hostile", "CREATE TABLE hostile USING parquet AS SELECT * FROM "+
		"VALUES "+strings.Join(rows, ", ")+" AS t(w, x, n, d, day, at, b, u)")
	for _, columns := range []string{
		`{name: w, kind: integer, min: -5, max: 90, bins: 7, missing: ["", "?", "1e306"]}, {name: x,
		kind: real, min: 0.1, max: 0.9, bins: 200, missing: ["-9"]}, {name: b, kind: boolean}`,
		`{name: w, kind: real, edges: [-0.3, 0, 0.1, 0.30000000000000004, 7]}, {name: x,
		kind: integer, min: 0, max: 90, bins: 7, on_invalid: clamp}, {name: d, kind: real, min: -3, max: 40, bins: 9}`,
		`{name: w, kind: date, min: 1999-12-31, max: 2020-03-01, bins: 11}, {name: day, kind: date,
		min: 1999-12-31, max: 2020-03-01, bins: 11}, {name: at, kind: timestamp, min: 2020-01-01T00:00:00Z,
		max: 2020-01-02T00:00:00Z, bins: 5}`,
		`{name: w, kind: categorical, categories: [a, "A", "it's", "a\\b", ä, "3", "007", "true", "a "],
		missing: [""]}, {name: n, kind: categorical, categories: ["3", "-4", z], other: z,
		on_invalid: other},
		{name: n2, kind: boolean, missing: ["-"], on_invalid: clamp}`,
		`{name: w, kind: boolean}, {name: n, kind: boolean}, {name: b, kind: categorical, categories:
		["true", x], other: x, on_invalid: other}`,
	} {
		of := parse(t, "unit: u\nmax_rows_per_unit: 9\ncolumns: ["+columns+"]\n")
		plain := parse(t, "columns: ["+columns+"]\n")
		for _, s := range []*schema.Schema{plain, of} {
			before := len(c.processes("count-worker"))
			got := stattest.Must(c.count(context.Background(), "hostile", s, pairs(s)))
			want := stattest.Must(c.count(context.Background(), "hostile?worker="+other, s, pairs(s)))
			if !slices.Equal(got, want) || got[0] < int64(len(words)) || before != 0 {
				t.Errorf("other counts in SQL: %d and %d rows, of %.60s\n%v\n%v", got[0], want[0], columns,
					got, want)
			}
		}
	}
	few := parse(t, "unit: u\nmax_rows_per_unit: 2\ncolumns: [{name: b, kind: boolean}]\n")
	got := stattest.Must(c.count(context.Background(), "hostile", few, pairs(few)))
	if want := int64(len(words)/5*2 + min(2, len(words)%5)); got[0] != want {
		t.Errorf("%d rows of units with at most 2, want %d", got[0], want)
	}
}

// TestCluster is everything that needs a cluster, on one.
func TestCluster(t *testing.T) {
	c := startCluster(t, 2)
	background := context.Background()
	s := parse(t, nasty)
	path := c.file(t, "nasty.csv", nastyCSV(997, inTurn), 0o644)

	t.Run("CSV", func(t *testing.T) { c.same(t, path, path, s) })
	t.Run("Parquet and a catalogue", func(t *testing.T) {
		out := c.dir + "/typed.parquet"
		c.sql(t, "DROP TABLE IF EXISTS typed", "CREATE TABLE typed USING parquet LOCATION '"+out+
			"' AS SELECT /*+ COALESCE(1) */ "+
			"CAST(id % 10 AS INT) AS n, IF(id % 7 = 0, NULL, CAST(id AS DOUBLE) / 100) AS x, "+
			"date_add(DATE '2020-01-01', CAST(id % 300 AS INT)) AS day, "+
			`array('a\tb', 'a\nb', 'c\\n', '\\N')[CAST(id % 4 AS INT)] AS note FROM range(1001)`)
		files, _ := filepath.Glob(out + "/*.parquet")
		if len(files) != 1 {
			t.Fatalf("%d files", len(files))
		}
		c.same(t, out, files[0], s)
		c.same(t, "typed", files[0], s)
	})
	t.Run("SQL and workers", func(t *testing.T) { c.bothRoads(t) })
	t.Run("units", func(t *testing.T) {
		units := parse(t, "unit: id\nmax_rows_per_unit: 4\n"+nasty)
		c.same(t, path, path, units) // nobody has more
		few := parse(t, "unit: id\nmax_rows_per_unit: 3\n"+nasty)
		got, err := c.count(background, path, few, pairs(few))
		if want := int64(997/4*3 + 997%4); err != nil || got[0] != want ||
			total(got[1:][:few.Sizes()[0]]) != want {
			t.Errorf("%d rows of units with at most 3, want %d: %v", got[0], want, err)
		}
	})
	t.Run("NULL ids", func(t *testing.T) {
		c.sql(t, "DROP TABLE IF EXISTS ids", "CREATE TABLE ids USING parquet AS "+
			"SELECT * FROM VALUES (NULL, true), ('', true), "+
			"('\t', true), ('a', true), (' a', true), ('b', false) AS t(id, v)")
		text := "unit: id\nmax_rows_per_unit: 1\ncolumns: [{name: v, kind: boolean}]\n"
		got, err := c.count(background, "ids", parse(t, text), [][]int{{0}})
		if err != nil || !slices.Equal(got, []int64{2, 1, 1}) {
			t.Errorf("%v, %v", got, err)
		}
	})
	t.Run("wrong schemas", func(t *testing.T) {
		const cell = "zzsecretzz"
		bad := c.file(t, "bad.csv", strings.Replace(nastyCSV(50, inTurn), "2020-03-01", cell, 1), 0o644)
		for source, want := range map[string]string{
			bad + "?worker=/no": "the statement has failed",
			"no_such_table":     "the source is not there",
			c.dir + "/no.csv":   "the source is not there",
			c.program + ".key":  "does not end in",
			"t?format=csv":      "is for a path",
			"t?worker=a%20b":    "absolute path",
			path + "?tls=maybe": "true or false",
		} {
			_, err := c.count(background, source, s, pairs(s))
			if err == nil || !strings.Contains(err.Error(), want) ||
				strings.Contains(err.Error(), cell) {
				t.Errorf("%s: %v, want %q", source, err, want)
			}
		}
		more := parse(t, nasty+"  - {name: nowhere, kind: boolean}\n")
		if _, err := c.count(background, path, more, pairs(more)); !errors.Is(err,
			schema.ErrSchema) || !strings.Contains(err.Error(), `no column "nowhere"`) {
			t.Errorf("a column that is not there: %v", err)
		}
		logs := 0
		filepath.WalkDir(c.dir+"/cluster", func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.Contains(p, "/venv/") {
				log, _ := os.ReadFile(p)
				if bytes.Contains(log, []byte(cell)) {
					t.Errorf("%s has a cell of the table", p)
				}
				if d.Name() == "stderr" && len(log) > 0 {
					logs++
				}
			}
			return nil
		})
		if *running == "" && logs == 0 {
			t.Error("no log of an executor was looked at")
		}
		t.Logf("no cell in %d logs of executors", logs)
	})
	t.Run("an empty table", func(t *testing.T) {
		empty := c.file(t, "empty.csv", "n,note,x,day,id\n", 0o644)
		c.same(t, empty, empty, s)
		units := parse(t, "unit: id\nmax_rows_per_unit: 4\n"+nasty)
		c.same(t, empty, empty, units)
	})
	t.Run("a child that dies", func(t *testing.T) {
		flaky := c.file(t, "flaky", "#!/bin/sh\nif mkdir "+c.dir+"/died; then\n"+c.program+
			" \"$@\" | head -c 300\nkill -9 $$\nfi\nexec "+c.program+" \"$@\"\n", 0o755)
		c.same(t, path+"?worker="+flaky, path, s)
		if !exists(c.dir + "/died") {
			t.Error("no child died")
		}
	})
	t.Run("an executor that is killed", func(t *testing.T) {
		slow := c.file(t, "slow", "#!/bin/sh\ntouch "+c.dir+"/slow.began\nwhile [ ! -e "+c.dir+
			"/killed ]; do sleep .2; done\nexec "+c.program+" \"$@\"\n", 0o755)
		killed := make(chan int)
		go func() {
			c.until(t, "a task begins", func() bool { return exists(c.dir + "/slow.began") })
			n := c.killExecutors()
			os.WriteFile(c.dir+"/killed", nil, 0o600)
			killed <- n
		}()
		c.same(t, path+"?worker="+slow, path, s)
		if n := <-killed; n == 0 {
			t.Error("no executor was killed")
		}
	})
	t.Run("cancel", func(t *testing.T) {
		// The child reads as slowly as it would for half an hour, of a table that no pipe holds: so
		// Spark gives it rows when the query is cancelled, and then ends it. One that has all its
		// rows goes on to its end.
		big := c.file(t, "big.csv", nastyCSV(150_000, inTurn), 0o644)
		slow := c.file(t, "slower", "#!/bin/sh\ntouch "+c.dir+"/slower.began\n"+
			"while [ \"$(head -c 4096 | wc -c)\" -gt 0 ]; do sleep 1; done\nexec "+c.program+
			" \"$@\"\n", 0o755)
		// Also while it plans: what Spark then starts late must have been cancelled too.
		for _, after := range []time.Duration{-1, 50, 100, 200, 300, 400, 600, 900, 1600} {
			os.Remove(c.dir + "/slower.began")
			ctx, cancel := context.WithCancel(background)
			go func() {
				defer cancel()
				if after < 0 {
					c.until(t, "a task begins", func() bool { return exists(c.dir + "/slower.began") })
				}
				time.Sleep(max(after, 0) * time.Millisecond)
			}()
			_, err := c.count(ctx, big+"?worker="+slow, s, pairs(s))
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			c.until(t, "the tasks have ended", func() bool {
				return len(c.processes("count-worker")) == 0
			})
		}
		time.Sleep(2 * time.Second) // for what might begin late
		if left := c.processes("count-worker"); len(left) > 0 {
			t.Errorf("tasks began after the query was cancelled:%s", describe(left))
		}
	})
	t.Run("sums", func(t *testing.T) { c.sums(t) })
	t.Run("fits", func(t *testing.T) { c.fits(t) })
	t.Run("schemas", func(t *testing.T) { c.schemas(t) })
	t.Run("no server", func(t *testing.T) {
		lost := *c
		lost.host = "127.0.0.1:1"
		_, err := lost.count(background, path, s, pairs(s))
		if err == nil || !strings.Contains(err.Error(), "no connection") {
			t.Error(err)
		}
	})
	t.Run("tables", func(t *testing.T) {
		files, _ := filepath.Glob(*tables + "/*.csv")
		for _, f := range files {
			if s, err := schema.Load(strings.TrimSuffix(f, ".csv") + ".yaml"); err == nil {
				c.same(t, f, f, s)
				c.sumsHere(t, f, f, s, 64)
				t.Logf("%s: equal", filepath.Base(f))
			}
		}
	})
}

func total(counts []int64) (n int64) {
	for _, x := range counts {
		n += x
	}
	return n
}

// until waits until something is so, for as long as the slowest machine needs.
func (c *cluster) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	const patience = 4 * time.Minute
	for end := time.Now().Add(patience); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			load, _ := os.ReadFile("/proc/loadavg")
			t.Errorf("after %v it is not so that %s; load %sprocesses of the cluster:%s", patience, what,
				load, describe(c.processes("")))
			return
		}
	}
}

// exists says whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// describe is what the system knows of processes.
func describe(pids []int) (text string) {
	for _, pid := range pids {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		wait, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid))
		_, after, _ := strings.Cut(string(stat), ") ")
		text += fmt.Sprintf("\n%d, state and parent %.8s, waits in %q: %.200q", pid, after, wait,
			bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
	}
	return text
}

// processes are those that work in the cluster's folder or run its program, with a word in their
// command lines.
func (c *cluster) processes(word string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range all {
		line, err := os.ReadFile(p)
		if err != nil || !bytes.Contains(line, []byte(word)) {
			continue
		}
		folder, _ := os.Readlink(filepath.Dir(p) + "/cwd")
		if !bytes.Contains(line, []byte(c.dir)) && !strings.HasPrefix(folder, c.dir) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// executor is a word in the command line of an executor.
const executor = "CoarseGrainedExecutorBackend"

// killExecutors kills the executors in which slow workers run.
func (c *cluster) killExecutors() (n int) {
	for _, pid := range c.processes("count-worker") {
		parent := parentOf(pid)
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent))
		if bytes.Contains(line, []byte(executor)) &&
			syscall.Kill(parent, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// parentOf is the parent of a process, or 0.
func parentOf(pid int) (parent int) {
	if stat := statOf(pid); len(stat) > 1 {
		parent, _ = strconv.Atoi(stat[1])
	}
	return parent
}

// statOf is what /proc/PID/stat has behind the name, from the state.
func statOf(pid int) []string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}
