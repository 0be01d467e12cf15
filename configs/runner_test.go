package configs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/synth"
)

// TestRunner does a task twice. The second time it is done already, and what a killed process left
// half-written beside its record is cleared away.
func TestRunner(t *testing.T) {
	dir := t.TempDir()
	task, err := NewTask(&Batch{Name: "b"}, Job{Name: "e", Source: Source{
		Dataset: "icu-readmission"}, Epsilon: 1, Rows: 10,
		Out: filepath.Join(dir, "e.csv")}.WithDefaults(), true)
	check(t, err)
	w := &Runner{State: filepath.Join(dir, "state"), Tool: "test"}
	check(t, w.Open())
	r := w.Do(t.Context(), task)
	if r.Status != Done || r.Earlier || r.Rows != 10 || !isFile(task.Out) {
		t.Fatalf("the first time: %+v", r)
	}
	left := w.path(task.Identity, "")
	left = filepath.Join(filepath.Dir(left), "."+filepath.Base(left)+
		".metrics.json.decoy-99999999.tmp")
	check(t, os.WriteFile(left, []byte("{"), 0o600))
	if r := w.Do(t.Context(), task); r.Status != Done || !r.Earlier {
		t.Errorf("the second time: %+v", r)
	}
	if isFile(left) {
		t.Error("the temporary file of a dead process stays")
	}
}

// TestGoesOn stops a run on linked tables behind its first one, by a file of somebody else's in the
// place of the second, and continues it: what it has made stands in nobody's way, and a file of
// somebody else's stays. A job of a batch that is another one is refused in one line.
func TestGoesOn(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"p.csv": "id,a\n1,2\n2,3\n", "v.csv": "id,day\n1,2\n",
		"s.yaml": `decoy: 1
unit: id
tables:
  - {name: p, columns: [{name: a, kind: integer, min: 0, max: 3}]}
  - name: v
    parent: p
    key: id
    order: {by: day, rows: 2}
    columns: [{name: day, kind: integer, min: 0, max: 3}]
`} {
		check(t, os.WriteFile(at(name), []byte(text), 0o600))
	}
	job := Job{Source: Source{Inputs: []string{at("p.csv"), at("v.csv")}, Schema: at("s.yaml")},
		Method: "mst", Epsilon: 1, Rows: 20, OutDir: at("out")}.WithDefaults()
	run := func(resume bool, say func(string, ...any)) error {
		task, err := Check(job)
		check(t, err)
		w := &Runner{Tool: "test", Resume: resume, Say: say}
		return w.Run(t.Context(), "generate", task, &Record{}, nil)
	}
	refused := func(err error, name string) {
		t.Helper()
		if usage := (*UsageError)(nil); !errors.As(err, &usage) ||
			!strings.Contains(err.Error(), name+": there is a file already") {
			t.Errorf("%s of somebody else: %v", name, err)
		}
		if text, err := os.ReadFile(at(name)); err != nil || string(text) != "mine" {
			t.Errorf("%s of somebody else holds %q, %v", name, text, err)
		}
	}
	refused(run(false, func(format string, _ ...any) {
		if strings.HasPrefix(format, "wrote ") {
			check(t, os.WriteFile(at("out/v.csv"), []byte("mine"), 0o600))
		}
	}), "out/v.csv")
	refused(run(true, nil), "out/v.csv")
	made, err := os.ReadFile(at("out/p.csv"))
	check(t, err)
	check(t, os.WriteFile(at("out/p.csv"), []byte("mine"), 0o600))
	check(t, os.Remove(at("out/v.csv")))
	refused(run(true, nil), "out/p.csv")
	check(t, os.WriteFile(at("out/p.csv"), made, 0o600))
	other := job
	other.Name, other.Epsilon = "other", 2
	task, err := NewTask(&Batch{Name: "b"}, other, true)
	check(t, err)
	w := &Runner{State: at("state"), Tool: "test"}
	check(t, w.Open())
	if r := w.Do(t.Context(), task); r.Status != Interrupted || strings.Contains(r.Error, "\n") ||
		!strings.Contains(r.Error, "cannot be continued; nothing further is spent") {
		t.Errorf("another job: %+v", r)
	}
	check(t, run(true, nil))
	if text, err := os.ReadFile(at("out/p.csv")); err != nil || !bytes.Equal(text, made) ||
		!isFile(at("out/v.csv")) {
		t.Errorf("continued: %v, %s", err, text)
	}
}

// TestRunningElsewhere: a run that a process with another state folder is at is not paid for again;
// when that process is gone, it is continued.
func TestRunningElsewhere(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"s.yaml": "decoy: 1\ncolumns: [{name: a, kind: " +
		"integer, " +
		"min: 0, max: 3}]\n", "t.csv": "a\n1\n2\n"} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	task, err := NewTask(&Batch{Name: "b"}, Job{Name: "e", Source: Source{
		Input: filepath.Join(dir, "t.csv"), Schema: filepath.Join(dir, "s.yaml")}, Epsilon: 1,
		Out: filepath.Join(dir, "e.csv")}.WithDefaults(), true)
	check(t, err)
	worker := func(name string) *Runner {
		w := &Runner{State: filepath.Join(dir, name), Tool: "test"}
		check(t, w.Open())
		return w
	}
	rows, err := task.table(context.Background())
	check(t, err)
	other := worker("second")
	gone := errors.New("gone")
	first := &Account{Ledger: task.Ledger, Inputs: task.Inputs, Tool: "test", Say: unsaid}
	check(t, first.Begin("generate", NamedPath{Path: task.Out}))
	o := first.Options(task.Job)
	o.Run = task.run
	_, _, err = synth.Run(t.Context(), rows, task.Fitter, synth.RunOptions{Options: o,
		Deliver: func(*release.Model) error {
			if r := other.Do(t.Context(), task); r.Status != Elsewhere {
				t.Errorf("while another process is at it: %+v", r)
			}
			return gone
		},
	})
	if !errors.Is(err, gone) {
		t.Fatal(err)
	}
	if r := other.Do(t.Context(), task); r.Status != Done {
		t.Errorf("when the other process is gone: %+v", r)
	}
	l, err := task.Ledger.Read()
	if err != nil || l.Spent() != task.Budget() {
		t.Errorf("spent %+v, %v", l.Spent(), err)
	}
}
