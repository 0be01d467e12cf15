package disk

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMkdirAll(t *testing.T) {
	dir := t.TempDir()
	if err := MkdirAll(filepath.Join(dir, "a", "b", "c"), 0o700); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "a", "b", "c")); err != nil || !info.IsDir() {
		t.Errorf("the folder is not there: %v", err)
	}
	if err := MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Errorf("a folder that is there: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, filepath.Join(file, "below")} {
		if err := MkdirAll(name, 0o700); err == nil {
			t.Errorf("%s was made a folder", name)
		}
	}
}

func TestSyncDirOfNothing(t *testing.T) {
	if err := SyncDir(filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("a folder that cannot be opened is an error: %v", err)
	}
}
