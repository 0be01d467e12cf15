package main

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/spelling"
)

// TestEveryResultIsJSON: each verb prints JSON when asked to, but for those whose result is a file
// or a document in a form of its own.
func TestEveryResultIsJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(args ...string) string {
		t.Helper()
		code, out, text := decoy(args...)
		if code != 0 {
			t.Fatalf("decoy %v: exit code %d\n%s", args, code, text)
		}
		return out
	}
	run("datasets", "export", "icu-readmission", "--out", "in.csv", "--schema-out", "s.yaml")
	run("fit", "in.csv", "--schema", "s.yaml", "--epsilon", "1", "--method", "mst", "--model",
		"m.decoy")
	run("evaluate", "--train", "in.csv", "--synthetic", "in.csv", "--schema", "s.yaml", "--epsilon",
		"1", "--json", "r.json")
	check(t, os.WriteFile("visits.csv", []byte("id,a\n1,x\n2,y\n2,x\n"), 0o600))
	check(t, os.WriteFile("visits.yaml",
		[]byte("decoy: 1\nunit: id\nmax_rows_per_unit: 2\ncolumns: [{name: a, kind: "+
			"categorical, categories: [x, y]}]\n"), 0o600))
	check(t, os.WriteFile("jobs.yaml",
		[]byte("name: b\njobs: [{name: j, dataset: icu-readmission, epsilon: 1, out: "+
			"j.csv}]\n"), 0o600))
	run("datasets", "export", "icu-readmission", "--out", "t.csv")
	check(t, os.WriteFile("q.txt", []byte("readmission = 1\n"), 0o600))
	asked := map[string]string{
		"audit":      "counts --dataset icu-readmission --epsilon 4 --runs 20",
		"audit rows": "mst --dataset icu-readmission --epsilon 1 --rows 40 --runs 20",
		"batch":      "jobs.yaml",
		"plan":       "--dataset icu-severity --epsilon 1",
		"inspect":    "m.decoy",
		"evaluate holdout": "in.csv --train t.csv --schema s.yaml --epsilon 1 --questions q.txt " +
			"--ledger h.ledger",
		"analyze":         "m.decoy --replicates 2 --program 'echo a 1 1'",
		"queries answer":  "m.decoy --where readmission=1",
		"verify":          "m.decoy",
		"schema check":    "s.yaml",
		"schema infer":    "in.csv --epsilon 1 --header-is-public --dry-run",
		"schema units":    "visits.csv --schema visits.yaml --epsilon 1",
		"ledger show":     "in.csv.ledger",
		"ledger verify":   "in.csv.ledger",
		"datasets list":   "",
		"config settings": "",
		"validate":        "in.csv --schema s.yaml --epsilon 1 --statistic mean:readmission",
		"version":         "",
	}
	// also with operands that lead elsewhere in the same verb
	more := []string{"batch jobs.yaml --dry-run", "verify r.json"}
	for verb, args := range asked {
		more = append(more, verb+" "+args)
	}
	for _, line := range more {
		words := strings.Fields(line)
		if i := strings.Index(line, " '"); i >= 0 { // a quoted last word
			words = append(strings.Fields(line[:i]), strings.Trim(line[i:], " '"))
		}
		out := run(append(words, "--json")...)
		if !json.Valid([]byte(out)) || len(out) < 10 {
			t.Errorf("decoy %s --json: %s", line, out)
		}
	}
	files := []string{"generate", "fit", "join", "party keygen", "party run", "collect", "sample",
		"predict", "train", "release", "serve", "schema draft", "datasets export",
		"ledger limit"}
	everyVerb(func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "decoy ")
		f := c.Flags().Lookup("json")
		switch {
		case slices.Contains(files, name):
			if f != nil {
				t.Errorf("%s has --json and no result", name)
			}
		case f == nil:
			t.Errorf("%s prints a result, and has no --json", name)
		case f.Value.Type() == "bool" && !slices.Contains(slices.Collect(maps.Keys(asked)), name):
			t.Errorf("%s --json has no test", name)
		}
	})
}

func TestTimeText(t *testing.T) {
	for seconds, want := range map[float64]string{.034: "0.034 s", 6.4: "6 s", 480: "8 min",
		90: "90 s", 20000: "6 h"} {
		if got := spelling.Time(seconds); got != want {
			t.Errorf("%v seconds are %q, want %q", seconds, got, want)
		}
	}
}
