package job

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy/configs"
)

// TestWorker does a task twice. The second time it is done already, and what a killed process left
// half-written beside its record is cleared away.
func TestWorker(t *testing.T) {
	dir := t.TempDir()
	task, err := NewTask("b", configs.Job{Name: "e", Dataset: "icu-readmission", Epsilon: 1, Rows: 10,
		Out: filepath.Join(dir, "e.csv")}.WithDefaults(), true)
	if err != nil {
		t.Fatal(err)
	}
	state, err := OpenState(filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{State: state, Tool: "test"}
	r := w.Do(t.Context(), task, nil)
	if r.Status != Done || r.Earlier || r.Rows != 10 || !isFile(task.Out) {
		t.Fatalf("the first time: %+v", r)
	}
	left := state.path(task.Identity, "")
	left = filepath.Join(filepath.Dir(left), "."+filepath.Base(left)+
		".metrics.json.decoy-99999999.tmp")
	if err := os.WriteFile(left, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.Do(t.Context(), task, nil); r.Status != Done || !r.Earlier {
		t.Errorf("the second time: %+v", r)
	}
	if isFile(left) {
		t.Error("the temporary file of a dead process stays")
	}
}
