package workload

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestSource(t *testing.T) {
	const text = "decoy_workload: 1\nqueries: [{prefix: age}]\n"
	path := filepath.Join(t.TempDir(), "w.yaml")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	for _, setting := range []string{text, path} {
		if got, err := Source(setting); err != nil || string(got) != text {
			t.Errorf("%q: %q, %v", setting, got, err)
		}
	}
	if got, err := Source(""); got != nil || err != nil {
		t.Errorf("no setting: %q, %v", got, err)
	}
	if _, err := Source(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
