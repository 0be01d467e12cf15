package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

var (
	fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	fuzzLine   = regexp.MustCompile(`(?m)^(\./\S+) (Fuzz\w+) [1-9][0-9]*$`)
)

// TestEveryFuzzTargetRuns compares the fuzz targets of the tree with the list in .ci/run, both
// ways.
func TestEveryFuzzTargetRuns(t *testing.T) {
	const root = "../.."
	have := map[string]bool{}
	stattest.Check(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		for _, m := range fuzzTarget.FindAllSubmatch(text, -1) {
			have["./"+filepath.ToSlash(rel)+" "+string(m[1])] = true
		}
		return err
	}))
	script := stattest.Must(os.ReadFile(filepath.Join(root, ".ci", "run")))
	listed := map[string]bool{}
	for _, m := range fuzzLine.FindAllSubmatch(script, -1) {
		listed[string(m[1])+" "+string(m[2])] = true
	}
	if len(listed) < 10 {
		t.Fatalf("found only %d lines in .ci/run: the pattern is broken", len(listed))
	}
	for name := range have {
		if !listed[name] {
			t.Errorf("%s is not run by .ci/run", name)
		}
	}
	for name := range listed {
		if !have[name] {
			t.Errorf(".ci/run runs %s, which is not in the tree", name)
		}
	}
}
