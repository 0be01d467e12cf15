package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestThesisGoesOn: runs that are done are not run again, missing ones are added, and pictures show
// every way.
func TestThesisGoesOn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "runs.json")
	run := func(runs string) []byte {
		t.Helper()
		thesis([]string{"-cohorts", "icu-readmission", "-variants", "mst", "-epsilon", "1",
			"-runs", runs, "-done", path, "-pictures", dir})
		return must(os.ReadFile(path))
	}
	two := run("2")
	if n := bytes.Count(two, []byte("\n")); n != 4 {
		t.Fatalf("%d lines of two runs of mst and of the real rows", n)
	}
	if again := run("2"); !bytes.Equal(again, two) {
		t.Error("runs that are done are run again")
	}
	if three := run("3"); !bytes.HasPrefix(three, two) || bytes.Count(three, []byte("\n")) != 6 {
		t.Error("a third run is not just added")
	}
	for _, m := range measures {
		if m.file == "" {
			continue
		}
		text := must(os.ReadFile(filepath.Join(dir, "results-"+m.file+".svg")))
		if !bytes.Contains(text, []byte("mst ε = 1")) || bytes.Contains(text, []byte("NaN")) {
			t.Errorf("picture %s: %s", m.file, text)
		}
	}
}

// TestLeftTwo: the attacker is always right about a copy, and guesses about rows that have nothing
// to do with either: 2,000 rounds on a few hundred rows, so within .1.
func TestLeftTwo(t *testing.T) {
	on := cohort("icu-mortality", 1)
	if got := on.leftTwo(on.train); math.Abs(got-1) > 1e-9 {
		t.Errorf("of a copy %v, want 1", got)
	}
	others := on.test
	on.part(on.train, on.train.Rows()/2, 2)
	if got := on.leftTwo(others); math.Abs(got-.5) > .1 {
		t.Errorf("of other rows %v, want .5", got)
	}
}
