package main

import (
	"os"
	"strings"
	"testing"
)

// TestBatchDoesNotTellTheSize: the dry run and the run of a batch say and decide the same, byte for
// byte, on a table of two rows and on one of two million bytes, whatever the limit of memory.
func TestBatchDoesNotTellTheSize(t *testing.T) {
	const jobs = "name: b\njobs:\n" +
		"  - {name: declared, input: t.csv, schema: s.yaml, epsilon: 1, rows: 300, out: d.csv}\n" +
		"  - {name: assumed, input: t.csv, schema: s.yaml, epsilon: 2, out: a.csv}\n"
	var said [2][]string
	var dry string
	for i, rows := range []int{2, 1_000_000} {
		t.Chdir(t.TempDir())
		check(t, os.WriteFile("s.yaml", []byte("decoy: 1\ncolumns:\n  - {name: a, kind: integer, min: "+
			"0, max: 3}\n"), 0o600))
		check(t, os.WriteFile("jobs.yaml", []byte(jobs), 0o600))
		check(t, os.WriteFile("t.csv", []byte("a\n"+strings.Repeat("1\n", rows)), 0o600))
		for _, args := range []string{"--dry-run", "--dry-run --memory 1MB", "--memory 0.5kB",
			"--memory 15kB", "--memory 1MB"} {
			code, stdout, stderr := decoy(append([]string{"batch", "jobs.yaml", "--jobs", "1"},
				strings.Fields(args)...)...)
			said[i] = append(said[i], stdout+stderr)
			if (code == 0) != !strings.Contains(stderr, "above the memory limit") {
				t.Errorf("%s: exit code %d\n%s", args, code, stderr)
			}
			if args == "--dry-run" {
				dry = stdout
			}
		}
	}
	for i := range said[0] {
		if said[0][i] != said[1][i] {
			t.Errorf("a small table: %s\na large one: %s", said[0][i], said[1][i])
		}
	}
	refused := strings.Join(said[0], "")
	for _, want := range []string{"300 rows is above", "10000 rows, assumed (rows:) is above",
		"done: declared", "done: assumed"} {
		if !strings.Contains(refused, want) {
			t.Errorf("no line says %q:\n%s", want, refused)
		}
	}
	if !strings.Contains(dry, "  300  ") || !strings.Contains(dry, "  10000 assumed  ") {
		t.Errorf("the dry run does not say which rows it goes by:\n%s", dry)
	}
}
