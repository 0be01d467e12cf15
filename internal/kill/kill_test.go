//go:build faults && unix

// Package kill stops the program at every operation by which it makes anything last (package
// internal/disk), and at random moments, and looks at what is left: whether what was paid is in the
// ledger, no file is half there, and the same command finishes the run without drawing or paying
// anything twice. The quick form takes a sample of the points:
//
//	go test -tags faults ./internal/kill -v
//	go test -tags faults ./internal/kill -v -timeout 90m -args -long
//
// -only NAME takes one run of the list; -v says what was done at each point, and the counts.
package kill

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

var (
	long = flag.Bool("long", false, "every action at every point, and 300 random moments")
	only = flag.String("only", "", "one `NAME` of the list of runs")
)

// binary is the program under test.
var binary string

// scenario is a run that is stopped.
type scenario struct {
	name    string
	args    string   // the command
	resume  string   // what continues it
	epsilon float64  // what it costs, once
	outputs []string // what must be there at the end, complete
	leaves  []string // what else may be there at the end
	stdin   bool     // the table comes from standard input
	replace bool     // its neighbours are replace-one
	unit    string   // of its ledger; "": a row
	other   bool     // what continues it is another command, with the same job
}

// scenarios has a run of each method, and of each verb that reads private rows.
func scenarios() []scenario {
	var out []scenario
	for _, name := range synth.Names() {
		settings := synthtest.Quick[name]
		if name == "mst" {
			settings += " --model m.decoy"
		}
		args := fmt.Sprintf("generate %s.csv --schema %[1]s.yaml --ledger my.ledger --epsilon 1 "+
			"--rows %d --out out.csv --method %s %s", cmp.Or(synthtest.Tables[name], "in"), sampledRows,
			name, settings)
		s := scenario{name: "generate " + name, args: args, resume: args + " --resume", epsilon: 1,
			outputs: []string{"out.csv"}}
		if name == "mst" {
			s.outputs = append(s.outputs, "m.decoy")
		}
		out = append(out, s)
	}
	fit := "fit in.csv --schema in.yaml --ledger my.ledger --epsilon 1 --method mst --model m.decoy"
	stdin := "fit - --schema in.yaml --ledger my.ledger --epsilon 1 --method mwem --set rounds=1 " +
		"--model m.decoy"
	infer := "schema infer many.csv --ledger my.ledger --epsilon 2 --header-is-public --out s.yaml"
	one := fmt.Sprintf("generate many.csv --ledger my.ledger --epsilon 2 --header-is-public "+
		"--rows %d --out out.csv --model m.decoy", sampledRows)
	classify := "train in.csv --schema kinds.yaml --ledger my.ledger --epsilon 1 --target c2 " +
		"--out c.json"
	bought := fmt.Sprintf("generate people.csv events.csv --link events.who=people.id "+
		"--order events.day --ledger my.ledger --epsilon 2 --header-is-public --rows %d --seed 1 "+
		"--method mst --out-dir made/here --model m.decoy", sampledRows)
	three := fmt.Sprintf("generate people.csv events.csv items.csv --schema three.yaml "+
		"--ledger my.ledger --epsilon 1 --rows %d --seed 1 --method mst --out-dir made/here "+
		"--model m.decoy", sampledRows)
	jobs, same := "batch jobs.yaml --jobs 1", fmt.Sprintf("generate in.csv --schema in.yaml "+
		"--ledger my.ledger --epsilon 1 --rows %d --out out.csv --method mst --model m.decoy",
		sampledRows)
	unseen := one + " --method mst"
	answer := "collect me.csv --schema in.yaml --ledger my.ledger --epsilon 2 --out " + answerFile
	return append(out,
		scenario{name: "fit mst", args: fit, resume: fit + " --resume", epsilon: 1,
			outputs: []string{"m.decoy"}},
		scenario{name: "fit from standard input", args: stdin, resume: stdin + " --resume", epsilon: 1,
			outputs: []string{"m.decoy"}, stdin: true},
		scenario{name: "train", args: classify, resume: classify + " --resume", epsilon: 1,
			outputs: []string{"c.json"}},
		scenario{name: "schema infer", args: infer, resume: infer + " --resume", epsilon: 2,
			outputs: []string{"s.yaml"}},
		scenario{name: "generate without a schema", args: one, resume: one + " --resume", epsilon: 2,
			outputs: []string{"out.schema.yaml", "m.decoy", "out.csv"}},
		scenario{name: "linked tables without a schema", args: bought, resume: bought + " --resume",
			epsilon: 2, unit: "id", outputs: []string{"made/here/tables.schema.yaml", "m.decoy",
				"made/here/people.csv", "made/here/events.csv"}},
		scenario{name: "three linked tables", args: three, resume: three + " --resume", epsilon: 1,
			unit: "id", outputs: []string{"m.decoy", "made/here/people.csv", "made/here/events.csv",
				"made/here/items.csv"}},
		scenario{name: "linked tables without a schema, continued by a batch", args: bought,
			resume: "batch unseen.yaml", epsilon: 2, unit: "id", other: true,
			leaves: []string{"unseen.state", "unseen.results.csv"},
			outputs: []string{"made/here/tables.schema.yaml", "m.decoy", "made/here/people.csv",
				"made/here/events.csv"}},
		scenario{name: "batch on three linked tables, continued by generate",
			args: "batch seen.yaml", resume: three + " --resume", epsilon: 1, unit: "id", other: true,
			leaves: []string{"seen.state", "seen.results.csv"}, outputs: []string{"m.decoy",
				"made/here/people.csv", "made/here/events.csv", "made/here/items.csv"}},
		scenario{name: "collect", args: answer, resume: answer + " --resume", epsilon: 2,
			outputs: []string{answerFile}, replace: true},
		scenario{name: "batch", args: jobs, resume: jobs, epsilon: 1.5,
			outputs: []string{"out/t-mst-1.csv", "out/t-mst-2.csv", "last.csv", "last.decoy"},
			leaves:  []string{"jobs.state", "jobs.results.csv"}},
		scenario{name: "generate, continued by a batch", args: same, resume: "batch one.yaml",
			epsilon: 1, outputs: []string{"m.decoy", "out.csv"}, other: true,
			leaves: []string{"one.state", "one.results.csv"}},
		scenario{name: "batch, continued by generate", args: "batch one.yaml",
			resume: same + " --resume", epsilon: 1, outputs: []string{"m.decoy", "out.csv"}, other: true,
			leaves: []string{"one.state", "one.results.csv"}},
		scenario{name: "generate without a schema, continued by a batch", args: unseen,
			resume: "batch bought.yaml", epsilon: 2, other: true,
			outputs: []string{"out.schema.yaml", "m.decoy", "out.csv"},
			leaves:  []string{"bought.state", "bought.results.csv"}},
		scenario{name: "batch without a schema, continued by generate", args: "batch bought.yaml",
			resume: unseen + " --resume", epsilon: 2, other: true,
			outputs: []string{"out.schema.yaml", "m.decoy", "out.csv"},
			leaves:  []string{"bought.state", "bought.results.csv"}},
	)
}

// account are the flags that say what its ledger counts.
func (s scenario) account() string {
	return fmt.Sprintf("--unit %s --adjacency %s", cmp.Or(s.unit, "row"),
		map[bool]string{false: "add-remove", true: "replace-one"}[s.replace])
}

// answerFile is a header and one answer.
const answerFile = "answer.csv"

// actions are those of package internal/disk.
var actions = []string{"kill", "half", "term", "hup", "enospc", "eio", "after"}

// fault is one case.
type fault struct {
	scenario
	at     int // from 1
	action string
}

// quickStops is how many cases of a run the quick form has at most.
const quickStops = 15

// faults lists the cases of a run with these points: with -long every action at every point. Else
// each kind of point is killed where it comes first and last, and gets one more action, in turn,
// where it comes last; of these quickStops are taken, evenly. The reservation always fails once.
func (s scenario) faults(points []string) (out []fault) {
	add := func(i int, action string) {
		if action == "half" && !strings.HasPrefix(points[i], "write ") {
			action = "kill" // it would be the same
		}
		f := fault{s, i + 1, action}
		for _, old := range out {
			if old.at == f.at && old.action == f.action {
				return
			}
		}
		out = append(out, f)
	}
	if *long {
		for i := range points {
			for _, action := range actions {
				add(i, action)
			}
		}
		return out
	}
	first, last := map[string]int{}, map[string]int{}
	var kinds []string
	for i, p := range points {
		if _, seen := first[p]; !seen {
			first[p] = i
			kinds = append(kinds, p)
		}
		last[p] = i
	}
	turn := len(s.name)
	for _, p := range kinds {
		add(first[p], "kill")
		add(last[p], "kill")
		add(last[p], actions[1+turn%(len(actions)-1)])
		turn++
	}
	var some []fault
	if at, ok := first["sync my.ledger"]; ok {
		some = append(some, fault{s, at + 1, "eio"})
	}
	for i, f := range out {
		if n := min(len(out), quickStops); (i+1)*n/len(out) > i*n/len(out) {
			some = append(some, f)
		}
	}
	return some
}

// TestMain builds decoy with the tag. It looks at every source file, so that go test knows what its
// result depends on and keeps none of an older program.
func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "kill")
	if err == nil {
		err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
			if err == nil && (filepath.Ext(path) == ".go" || filepath.Ext(path) == ".s") {
				_, err = os.Stat(path)
			}
			return err
		})
	}
	binary = filepath.Join(dir, "decoy")
	if err == nil {
		err = build(binary, "-tags", "faults")
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// build makes a program of decoy.
func build(path string, args ...string) error {
	args = append([]string{"build", "-ldflags=-s -w", "-o", path}, append(args, "../../cmd/decoy")...)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %v\n%s", err, out)
	}
	return nil
}

// TestOrdinaryBuildHasNoFaults looks for the names of the environment variables in the program.
func TestOrdinaryBuildHasNoFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decoy")
	if err := build(path); err != nil {
		t.Fatal(err)
	}
	b := stattest.Must(os.ReadFile(path))
	if bytes.Contains(b, []byte("DISK_FAULT")) {
		t.Error("the ordinary build reads DISK_FAULT")
	}
}

// TestOrder looks at the order of the points of each run: see undone.
func TestOrder(t *testing.T) {
	lab := newLab(t)
	for _, s := range scenarios() {
		for _, what := range undone(lab.place(s).unharmed()) {
			t.Errorf("%s: %s", s.name, what)
		}
	}
}

// TestEveryPoint stops each run at its points.
func TestEveryPoint(t *testing.T) {
	lab := newLab(t)
	var cases []fault
	for _, s := range scenarios() {
		if *only != "" && *only != s.name {
			continue
		}
		w := lab.place(s)
		points := w.unharmed()
		w.finished("")
		if code, text := w.run("ledger verify my.ledger"); code != 0 {
			w.wrong("the ledger is broken", "%s", text)
		}
		lab.report(s.name, w.problems)
		chosen := s.faults(points)
		lab.add("points", len(points))
		lab.add("stops", len(chosen))
		t.Logf("%s: %d points, %d stops", s.name, len(points), len(chosen))
		cases = append(cases, chosen...)
	}
	lab.each(len(cases), func(i int) {
		f := cases[i]
		w := lab.place(f.scenario)
		w.stop(f)
		what := fmt.Sprintf("%s at %d (%s)", f.action, f.at, w.point)
		if testing.Verbose() {
			t.Logf("%s: %s: %s %q", f.name, what, w.outcome, w.problems)
		}
		lab.add(w.outcome, 1)
		lab.report(f.name+": "+what, w.problems)
	})
	lab.summary()
}

// signals are the ways to stop a run at a random moment, the first twice as often.
var signals = []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP}

// TestRandomMoments stops the runs whenever, and stops what continues them too.
func TestRandomMoments(t *testing.T) {
	lab := newLab(t)
	n := 20
	if *long {
		n = 300
	}
	all := scenarios()
	took := map[string]time.Duration{}
	for _, s := range all {
		w := lab.place(s)
		began := time.Now()
		w.stopped(s.args, "")
		took[s.name] = time.Since(began)
	}
	lab.add("moments", n)
	lab.each(n, func(i int) {
		s := all[i%len(all)]
		if *only != "" && *only != s.name {
			return
		}
		w := lab.place(s)
		how := signals[rand.IntN(len(signals))]
		wait, from := time.Duration(rand.Int64N(int64(took[s.name]))), "its start"
		if i%4 != 0 { // a good part of a short run is its start
			wait, from = wait/2, "its first line in the ledger"
		}
		w.after(how, wait, i%4 != 0)
		lab.add(w.outcome, 1)
		lab.report(fmt.Sprintf("%s: %v %v after %s", s.name, how, wait, from), w.problems)
	})
	lab.summary()
}

// answerWithoutRoom is about how many bytes the names of texts.csv would take in a journal that has
// no room for all that might be drawn.
const answerWithoutRoom = 4450

// TestNoLimitChoosesADraw gives a run that buys texts a limit on the size of files, as a quota or a
// full disk does. Where that stops it, it stops whatever is drawn: a run that went on under the
// same limit would have drawn until the answer fitted. Without the limit it comes to its end.
func TestNoLimitChoosesADraw(t *testing.T) {
	lab := newLab(t)
	infer := "schema infer texts.csv --ledger my.ledger --epsilon 2 --header-is-public --out s.yaml"
	s := scenario{name: "schema infer", args: infer, resume: infer + " --resume", epsilon: 2,
		outputs: []string{"s.yaml"}}
	limited := func(dir, args string, size int) error {
		cmd := exec.Command("prlimit", append([]string{fmt.Sprintf("--fsize=%d", size), binary},
			strings.Fields(args)...)...)
		cmd.Dir = dir
		return cmd.Run()
	}
	// where the journal's last answer begins: limits grow by less than that is long, even without room
	last := -1
	for at := 2000; last < 0; at += 2000 {
		w := lab.place(s)
		if limited(w.dir, s.args, at) == nil {
			t.Fatalf("%d bytes are enough for the whole journal", at)
		}
		for _, path := range stattest.Must(filepath.Glob(filepath.Join(w.dir, "*.journal"))) {
			journal := stattest.Must(os.ReadFile(path))
			if before := bytes.Index(journal, []byte(`"label":"values of 1 columns"`)); before >= 0 {
				if end := bytes.IndexByte(journal[before:], '\n'); end >= 0 {
					last = before + end + 1
				}
			}
		}
	}
	for i := range 16 {
		size := last + answerWithoutRoom + 25*(i-8)
		w, failed := lab.place(s), 0
		for _, args := range []string{s.args, s.resume, s.resume, s.resume} {
			if limited(w.dir, args, size) == nil {
				break
			}
			failed++
		}
		lab.add("attempts that failed", failed)
		if failed > 0 && failed < 4 {
			w.wrong("redrawn until it fitted", "%d bytes: %d attempts failed, the next did not", size,
				failed)
		} else if failed > 0 && w.spent() > 0 {
			if code, text := w.run(s.resume); code != 0 {
				w.wrong("a paid run is lost", "%d bytes: %s", size, lastLine(text))
			}
			w.finished("")
		}
		lab.report(s.name, w.problems)
	}
	lab.summary()
}

// TestNohup hangs up on a run that was started to outlive its terminal: it goes on.
func TestNohup(t *testing.T) {
	lab := newLab(t)
	s := scenarios()[0]
	w := lab.place(s)
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec "$0" `+s.args, binary)
	cmd.Dir, cmd.Env = w.dir, append(os.Environ(), "DISK_FAULT=9:hup")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	w.finished("")
	lab.report(s.name, w.problems)
	lab.summary()
}

// lab has the program and the counts of a test.
type lab struct {
	t      *testing.T
	limit  map[string]string // a ledger with a limit, which leaves room to pay twice; by account
	mu     sync.Mutex
	counts map[string]int
	order  []string
	wrong  map[string][]string // where, by what
}

func newLab(t *testing.T) *lab {
	dir, limit := t.TempDir(), map[string]string{}
	for _, s := range []scenario{{}, {replace: true}, {unit: "id"}} {
		name := strings.ReplaceAll("l "+s.account(), " ", "") + ".ledger"
		args := fmt.Sprintf("ledger limit %s --epsilon 9 --delta 1e-6 %s", name, s.account())
		cmd := exec.Command(binary, strings.Fields(args)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("ledger limit: %v\n%s", err, out)
		}
		text := stattest.Must(os.ReadFile(filepath.Join(dir, name)))
		limit[s.account()] = string(text)
	}
	counts, wrong := map[string]int{}, map[string][]string{}
	return &lab{t: t, limit: limit, counts: counts, wrong: wrong}
}

// each does n cases, two at a time.
func (l *lab) each(n int, do func(int)) {
	var group sync.WaitGroup
	next := make(chan int)
	for range 2 {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		if l.t.Failed() && flag.Lookup("test.failfast").Value.String() == "true" {
			break
		}
		next <- i
	}
	close(next)
	group.Wait()
}

func (l *lab) add(what string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.counts[what]; !ok {
		l.order = append(l.order, what)
	}
	l.counts[what] += n
}

func (l *lab) report(where string, problems []problem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range problems {
		l.wrong[p.kind] = append(l.wrong[p.kind], where+": "+p.text)
		l.t.Fail()
	}
}

// summary prints the counts, and fails for each kind of defect.
func (l *lab) summary() {
	var parts []string
	for _, what := range l.order {
		parts = append(parts, fmt.Sprintf("%d %s", l.counts[what], what))
	}
	l.t.Log(strings.Join(parts, ", "))
	for kind, where := range l.wrong {
		n := len(where)
		if !testing.Verbose() {
			where = where[:min(n, 12)]
		}
		l.t.Errorf("%s: %d times\n  %s", kind, n, strings.Join(where, "\n  "))
	}
}
