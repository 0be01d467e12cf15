package disk

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestMkdirAll(t *testing.T) {
	dir := t.TempDir()
	stattest.Check(t, MkdirAll(filepath.Join(dir, "a", "b", "c"), 0o700))
	if info, err := os.Stat(filepath.Join(dir, "a", "b", "c")); err != nil || !info.IsDir() {
		t.Errorf("the folder is not there: %v", err)
	}
	stattest.Passes(t, MkdirAll(filepath.Join(dir, "a", "b"), 0o700), "a folder that is there")
	file := filepath.Join(dir, "file")
	stattest.Check(t, os.WriteFile(file, nil, 0o600))
	for _, name := range []string{file, filepath.Join(file, "below")} {
		stattest.Fails(t, MkdirAll(name, 0o700), "%s was made a folder", name)
	}
}

func TestSyncDirOfNothing(t *testing.T) {
	stattest.Passes(t, SyncDir(filepath.Join(t.TempDir(), "none")),
		"a folder that cannot be opened is an error")
}
