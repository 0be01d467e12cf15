package main

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// TestVariants: a list is cut at the right commas, and each variant has settings that its method
// takes.
func TestVariants(t *testing.T) {
	got := split("wgan hidden=8,16 steps=2,mst,wgan hidden=8,16,mst")
	want := []string{"wgan hidden=8,16 steps=2", "mst", "wgan hidden=8,16", "mst"}
	if !slices.Equal(got, want) {
		t.Errorf("variants %q, want %q", got, want)
	}
	for _, name := range append(got, "wgan mode=thesis marginal_share=.5",
		"pategan rounds=1 questions=1 marginal_share=.999") {
		stattest.Passes(t, stattest.Err(variant(name, nil)), "%s", name)
	}
	for _, bad := range []string{"", "no such method", "pategan rounds=x"} {
		stattest.Fails(t, stattest.Err(variant(bad, nil)), "%q is a variant", bad)
	}
}

// TestDoneRunsAreNotRunAgain: of a file that was cut within its last line, whole runs count, also
// failed ones; what is missing is run, and another way or budget is another line.
func TestDoneRunsAreNotRunAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.json")
	real := draw(whole(2), 10, func([]int) {})
	on := &testTable{name: "t", train: real, test: real}
	asked := 0
	counts := way{"counts", func(*testTable, accountant.Budget) (s scores, err error) {
		asked++
		s[0] = float64(asked)
		return s, nil
	}}
	fails := way{"fails", func(*testTable, accountant.Budget) (s scores, err error) {
		asked++
		return s, errors.New("ended")
	}}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	run := func(w way, b accountant.Budget, runs int) []doneRun {
		t.Helper()
		asked = 0
		l := stattest.Must(openRuns(path))
		defer l.file.Close()
		return l.of(on, w, b, runs)
	}
	if got := run(counts, b, 3); asked != 3 || got[2].Scores[0] != 3 {
		t.Fatalf("three runs: %v, asked %d times", got, asked)
	}
	text := stattest.Must(os.ReadFile(path))
	stattest.Check(t, os.WriteFile(path, text[:len(text)-9], 0o644))
	if got := run(counts, b, 4); asked != 2 || got[1].Scores[0] != 2 || got[3].Scores[0] != 2 {
		t.Errorf("two of four are done: %v, asked %d times", got, asked)
	}
	if got := run(fails, b, 3); asked != 1 || len(got) != 1 || got[0].Err != "ended" {
		t.Errorf("a failure ends a line: %v, asked %d times", got, asked)
	}
	if run(fails, b, 3); asked != 0 {
		t.Error("a failed run is run again")
	}
	if run(counts, accountant.Budget{Epsilon: 2, Delta: 1e-9}, 1); asked != 1 {
		t.Error("a run of another budget counts")
	}
	stattest.Check(t, os.WriteFile(path, []byte("no run\n"), 0o644))
	stattest.Fails(t, stattest.Err(openRuns(path)), "a file of something else is overwritten")
}

// TestInCodes: columns become categories, one for each code, and cells keep their codes.
func TestInCodes(t *testing.T) {
	real := draw(whole(3, 5), 15, func(row []int) { row[0], row[1] = 2, 4 })
	got := inCodes(real)
	if sizes := got.Schema().Sizes(); !slices.Equal(sizes, []int{3, 5}) {
		t.Errorf("sizes %v", sizes)
	}
	for c, want := range []uint16{2, 4} {
		if kind := got.Schema().Columns[c].Categories; len(kind) != got.Schema().Sizes()[c] {
			t.Errorf("column %d has categories %q", c, kind)
		}
		if at := got.Column(c).At(7); at != want {
			t.Errorf("column %d: code %d, want %d", c, at, want)
		}
	}
}

// TestCopula draws, with next to no noise, rows of two columns of eight equally frequent numbers
// that are always the same, and of a category by itself. In 4,000 rows a share of one half is off
// by at most .05 but for once in a billion times. The largest correlation of a copula is .97.
func TestCopula(t *testing.T) {
	s := whole(8, 8)
	s.Columns = append(s.Columns, codesColumn("c", 3))
	row := 0
	real := draw(s, 4000, func(cells []int) {
		cells[0], cells[1], cells[2] = row%8, row%8, max(0, row/8%4-1)
		row++
	})
	for _, c := range copulas {
		made := must(c.drawn(real, 1000))
		r := must(eval.KeptRelations(real, made, .95, 1))
		if r.Spearman > .1 || r.Cramer > .1 || r.Kept.Estimate < .5 {
			t.Errorf("%s: %+v", c.name(), r)
		}
		if got := float64(made.Counts(2)[0]) / 4000; math.Abs(got-.5) > .05 {
			t.Errorf("%s: a category of half of the rows has %v", c.name(), got)
		}
	}
}
