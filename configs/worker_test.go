package configs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
)

// TestWorker does a task twice. The second time it is done already, and what a killed process left
// half-written beside its record is cleared away.
func TestWorker(t *testing.T) {
	dir := t.TempDir()
	task, err := NewTask(&Batch{Name: "b"}, Job{Name: "e", source: source{
		Dataset: "icu-readmission"}, Epsilon: 1, Rows: 10,
		Out: filepath.Join(dir, "e.csv")}.WithDefaults(), true)
	check(t, err)
	w := &Worker{Dir: filepath.Join(dir, "state"), Tool: "test"}
	check(t, w.Open())
	r := w.Do(t.Context(), task, nil)
	if r.Status != Done || r.Earlier || r.Rows != 10 || !isFile(task.Out) {
		t.Fatalf("the first time: %+v", r)
	}
	left := w.path(task.Identity, "")
	left = filepath.Join(filepath.Dir(left), "."+filepath.Base(left)+
		".metrics.json.decoy-99999999.tmp")
	check(t, os.WriteFile(left, []byte("{"), 0o600))
	if r := w.Do(t.Context(), task, nil); r.Status != Done || !r.Earlier {
		t.Errorf("the second time: %+v", r)
	}
	if isFile(left) {
		t.Error("the temporary file of a dead process stays")
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
	task, err := NewTask(&Batch{Name: "b"}, Job{Name: "e", source: source{
		Input: filepath.Join(dir, "t.csv"), Schema: filepath.Join(dir, "s.yaml")}, Epsilon: 1,
		Out: filepath.Join(dir, "e.csv")}.WithDefaults(), true)
	check(t, err)
	worker := func(name string) *Worker {
		w := &Worker{Dir: filepath.Join(dir, name), Tool: "test"}
		check(t, w.Open())
		return w
	}
	rows, err := task.Table(context.Background())
	check(t, err)
	other := worker("second")
	gone := errors.New("gone")
	_, _, err = synth.Run(t.Context(), rows, task.Fitter, synth.RunOptions{
		Options: privacy.Options{Budget: task.Budget(), Ledger: task.Ledger, Tool: "test",
			Run: runName(task.spends), Journal: worker("first").journal(task)},
		Deliver: func(*release.Model) error {
			if r := other.Do(t.Context(), task, nil); r.Status != Elsewhere {
				t.Errorf("while another process is at it: %+v", r)
			}
			return gone
		},
	})
	if !errors.Is(err, gone) {
		t.Fatal(err)
	}
	if r := other.Do(t.Context(), task, nil); r.Status != Done {
		t.Errorf("when the other process is gone: %+v", r)
	}
	l, err := task.Ledger.Read()
	if err != nil || l.Spent() != task.Budget() {
		t.Errorf("spent %+v, %v", l.Spent(), err)
	}
}
