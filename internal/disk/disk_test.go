package disk

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestMkdirAll(t *testing.T) {
	dir := t.TempDir()
	made, err := MkdirAll(filepath.Join(dir, "a", "b", "c"), 0o700)
	want := []string{filepath.Join(dir, "a", "b", "c"), filepath.Join(dir, "a", "b"),
		filepath.Join(dir, "a")}
	if stattest.Check(t, err); !slices.Equal(made, want) {
		t.Errorf("made %q, want %q", made, want)
	}
	if info, err := os.Stat(filepath.Join(dir, "a", "b", "c")); err != nil || !info.IsDir() {
		t.Errorf("the folder is not there: %v", err)
	}
	if made, err := MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil || made != nil {
		t.Errorf("a folder that is there: %v, made %q", err, made)
	}
	file := filepath.Join(dir, "file")
	stattest.Check(t, os.WriteFile(file, nil, 0o600))
	for _, name := range []string{file, filepath.Join(file, "below")} {
		_, err := MkdirAll(name, 0o700)
		stattest.Fails(t, err, "%s was made a folder", name)
	}
}

func TestSyncDirOfNothing(t *testing.T) {
	stattest.Passes(t, SyncDir(filepath.Join(t.TempDir(), "none")),
		"a folder that cannot be opened is an error")
}
