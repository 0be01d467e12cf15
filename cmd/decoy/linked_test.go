package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// linkedMark is in every id of the private tables, and in texts that few of their rows have.
const linkedMark = "canary"

// marked are linked tables of three levels, with rows that do not fit: orphans, ids and keys that
// come twice, cells of other kinds, and a person with so many events.
func marked(events int) map[string]string {
	var people, visits, items strings.Builder
	people.WriteString("id,sex,town\n")
	visits.WriteString("who,nr,day,kind,note\n")
	items.WriteString("who,nr,line,drug\n")
	for i := range 2000 {
		id := fmt.Sprintf("%s-%d", linkedMark, i)
		fmt.Fprintf(&people, "%s,%c,%s\n", id, "mf"[i%2],
			[]string{"north", "south", linkedMark + "-town"}[min(i%2+i/1998, 2)])
		n := i % 4
		if i == 777 {
			n = events
		}
		for k := range n {
			fmt.Fprintf(&visits, "%s,%[1]s/%d,%d,%c,note on %[1]s\n", id, k, (i+7*k)%100, "ab"[(i+k)%2])
			if k < 3 {
				fmt.Fprintf(&items, "%s,%[1]s/%d,%d,%c\n", id, k, i%3, "xy"[k%2])
			}
		}
	}
	fmt.Fprintf(&people, "%s-3,m,south\n,f,%[1]s\n%[1]s\n", linkedMark)
	fmt.Fprintf(&visits, "%s-nobody,1,3,a,b\n%[1]s-5,%[1]s-5/0,%[1]s,%[1]s,c\n,,,,\n\"%[1]s",
		linkedMark)
	fmt.Fprintf(&items, "%s-5,%[1]s-none,1,x\n%[1]s-6,%[1]s-6/0,%[1]s,%[1]s\n", linkedMark)
	return map[string]string{"people.csv": people.String(), "visits.csv": visits.String(),
		"items.csv": items.String()}
}

const markedSchema = `decoy: 1
unit: id
tables:
  - name: people
    columns: [{name: sex, kind: categorical, categories: [m, f]}]
  - name: visits
    parent: people
    key: who
    id: [who, nr]
    order: {by: day, rows: 4}
    columns:
      - {name: day, kind: integer, min: 0, max: 99, bins: 5}
      - {name: kind, kind: categorical, categories: [a, b]}
  - name: items
    parent: visits
    key: [who, nr]
    order: {by: line, rows: 2}
    columns:
      - {name: line, kind: integer, min: 0, max: 2}
      - {name: drug, kind: categorical, categories: [x, "y"]}
`

// TestLinkedTellsNoCell: no id, key or rare text of private linked tables is in anything that a run
// leaves or says, whatever else is in them: a person of 10⁵ rows among others. What is not private
// takes the same tables.
func TestLinkedTellsNoCell(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range marked(100_000) {
		check(t, os.WriteFile(name, []byte(text), 0o600))
	}
	check(t, os.WriteFile("clinic.yaml", []byte(markedSchema), 0o600))
	check(t, os.Mkdir("public", 0o700))
	told := ""
	for _, line := range []string{
		"generate people.csv visits.csv --link visits.who=people.id --order visits.day --epsilon 2 " +
			"--header-is-public --out-dir public/bought --model public/b.decoy --ledger public/l",
		"generate people.csv visits.csv items.csv --schema clinic.yaml --epsilon 2 --out-dir " +
			"public/three --model public/t.decoy --ledger public/l",
		"generate visits.csv --unit who --order day --epsilon 2 --header-is-public --out public/a.csv " +
			"--ledger public/m",
		"sample public/t.decoy --out-dir public/more --rows 50", "verify public/t.decoy",
		"inspect public/t.decoy", "ledger show public/l --json", "plan --schema clinic.yaml --epsilon 1",
	} {
		told += says(t, exitOK, line)
	}
	files := 0
	look := func(name string, b []byte) {
		if files++; bytes.Contains(b, []byte(linkedMark)) {
			t.Errorf("%s has the mark of a private cell", name)
		}
	}
	look("what is said", []byte(told))
	check(t, filepath.WalkDir("public", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b := stattest.Must(os.ReadFile(path))
		look(path, b)
		if z, err := zip.NewReader(bytes.NewReader(b), int64(len(b))); err == nil {
			for _, f := range z.File {
				look(path+" "+f.Name, stattest.Must(io.ReadAll(stattest.Must(f.Open()))))
			}
		}
		return nil
	}))
	visits := stattest.Must(os.ReadFile("public/three/visits.csv"))
	if rows := bytes.Count(visits, []byte("\n")); files < 14 || rows < 1000 || rows > 9000 {
		t.Errorf("%d files, and %d visits, want at most 4 of each person", files, rows)
	}
	says(t, exitOK, "evaluate --train people.csv,visits.csv,items.csv --synthetic public/three "+
		"--schema clinic.yaml", "[poor]    Does a unit have as many rows?",
		"of the real rows of visits do not")
}
