package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestBatchDoesNotTellTheSize: the dry run and the run of a batch say the same, byte for byte, on a
// table of two rows and on one of two million bytes, but for what follows from the models.
func TestBatchDoesNotTellTheSize(t *testing.T) {
	const jobs = "name: b\njobs:\n" +
		"  - {name: declared, input: t.csv, schema: s.yaml, epsilon: 1, rows: 300, out: d.csv}\n" +
		"  - {name: assumed, input: t.csv, schema: s.yaml, epsilon: 2, out: a.csv}\n"
	fromModel := regexp.MustCompile(`(?m)^t\.csv[ :].*\n`)
	var said [2]string
	for i, rows := range []int{2, 1_000_000} {
		t.Chdir(t.TempDir())
		check(t, os.WriteFile("s.yaml", []byte("decoy: 1\ncolumns:\n  - {name: a, kind: integer, min: "+
			"0, max: 3}\n"), 0o600))
		check(t, os.WriteFile("jobs.yaml", []byte(jobs), 0o600))
		check(t, os.WriteFile("t.csv", []byte("a\n"+strings.Repeat("1\n", rows)), 0o600))
		said[i] = says(t, exitOK, "batch jobs.yaml --dry-run", "  300  ", "  10000 assumed  ") +
			fromModel.ReplaceAllString(says(t, exitOK, "batch jobs.yaml",
				"done: declared\ndone: assumed\n"), "")
	}
	if said[0] != said[1] {
		t.Errorf("a small table: %s\na large one: %s", said[0], said[1])
	}
}
