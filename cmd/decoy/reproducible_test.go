package main

import (
	"bytes"
	"debug/buildinfo"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestReproducible: two copies of the sources, in two folders, build the same bytes: no path, clock
// or order of files is in the program. Of compiled packages Go's cache may give both the same.
func TestReproducible(t *testing.T) {
	if !*long {
		t.Skip("-long: builds the program twice")
	}
	var programs [2][]byte
	for i, name := range []string{"one", "another/folder"} {
		dir := filepath.Join(t.TempDir(), name)
		check(t, copySources(dir))
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", "program",
			"./cmd/decoy")
		build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var err error
		if programs[i], err = os.ReadFile(filepath.Join(dir, "program")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(programs[0], programs[1]) {
		t.Errorf("two builds differ: %d and %d bytes", len(programs[0]), len(programs[1]))
	}
	info, err := buildinfo.Read(bytes.NewReader(programs[0]))
	check(t, err)
	for _, s := range info.Settings {
		if s.Key == "CGO_ENABLED" && s.Value != "0" {
			t.Error("the program is not static")
		}
	}
}

// copySources copies what the program is built of.
func copySources(dir string) error {
	root := filepath.Join("..", "..")
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			switch d.Name() {
			case ".git", "dist", "testdata", "bench", "python", "spark":
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(dir, rel), 0o700)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), text, 0o600)
	})
}
