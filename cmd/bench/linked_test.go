package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// TestLinkedWays: each way makes tables that the families can compare. At a budget without much
// noise, states that stay are kept by decoy's own way, and lost where rows are independent; the
// first row alone leaves no steps.
func TestLinkedWays(t *testing.T) {
	dir := t.TempDir()
	u := rand.New(rand.NewPCG(1, 61))
	units, rows := "id,kind\n", "id,day,state\n"
	for i := range 1500 {
		units += fmt.Sprintf("%d,%d\n", i, i%2)
		state, day := u.IntN(3), u.IntN(20)
		for range 1 + u.IntN(5) {
			rows += fmt.Sprintf("%d,%d,%d\n", i, day, state)
			if day += 1 + u.IntN(9); u.IntN(10) == 0 {
				state = u.IntN(3)
			}
		}
	}
	for name, text := range map[string]string{"units.csv": units, "rows.csv": rows, "schema.yaml": `decoy: 1
unit: id
tables:
  - name: units
    columns: [{name: kind, kind: categorical, categories: ["0", "1"]}]
  - name: rows
    parent: units
    key: id
    order: {by: day, rows: 6}
    columns:
      - {name: day, kind: integer, min: 0, max: 99, bins: 10}
      - {name: state, kind: categorical, categories: ["0", "1", "2"]}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := openLinked(dir, "")
	const transition, broken = 2, 6 // of linkedHeads
	got := map[string]scores{}
	for _, way := range []string{"aim", "given", "first 1", "first 3"} {
		got[way] = l.run(way, accountant.Budget{Epsilon: 50, Delta: 1e-6})
		t.Logf("%s: %.3f", way, got[way])
		if got[way][broken] != 0 {
			t.Errorf("%s: %v orphans or rows out of order", way, got[way][broken])
		}
	}
	if got["aim"][transition] > .1 || got["given"][transition] < .2 ||
		got["first 1"][transition] != 1 || got["first 3"][transition] > .1 {
		t.Errorf("transitions are %v off, want little of aim and of the first three rows, much of given "+
			"and 1 of the first", got)
	}
}
