//go:build unix

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestOutputsAreNotReplaced goes through every output of every verb: a file that is there stays as
// it is without --force; with it, its mode stays; what is no regular file stays in any case.
func TestOutputsAreNotReplaced(t *testing.T) {
	t.Chdir(t.TempDir())
	say := func(args string) (int, string) {
		code, _, text := decoy(strings.Fields(args)...)
		return code, text
	}
	for _, args := range []string{
		"datasets export icu-readmission --out t.csv --schema-out t.yaml",
		"fit --dataset icu-readmission --epsilon 1 --model m.decoy",
		"sample m.decoy --rows 100 --out s.csv",
	} {
		says(t, exitOK, args)
	}
	check(t, os.WriteFile("domain.json", []byte(`{"age": 100}`), 0o600))
	spent := ""
	for _, c := range []struct {
		args, out string // OUT is the output
		dear      bool   // it costs budget
	}{
		{"generate t.csv --schema t.yaml --epsilon 1 --rows 9 --out OUT", "out.csv", true},
		{"generate t.csv --schema t.yaml --epsilon 1 --rows 9 --out OUT", "out.parquet", true},
		{"generate t.csv --schema t.yaml --epsilon 1 --rows 9 --out - --model OUT", "o.decoy", true},
		{"fit t.csv --schema t.yaml --epsilon 1 --model OUT", "o.decoy", true},
		{"sample m.decoy --rows 9 --out OUT", "out.csv", false},
		{"schema infer t.csv --header-is-public --epsilon 4 --out OUT", "o.yaml", true},
		{"datasets export icu-readmission --out OUT", "out.csv", false},
		{"datasets export icu-readmission --schema-out OUT", "o.yaml", false},
		{"evaluate --train t.csv --synthetic s.csv --schema t.yaml --json OUT", "o.json", false},
		{"evaluate --train t.csv --synthetic s.csv --schema t.yaml --report OUT", "o.html", false},
		{"evaluate --train t.csv --synthetic s.csv --schema t.yaml --epsilon 1 --json OUT", "o.json",
			true},
	} {
		args := strings.ReplaceAll(c.args, "OUT", c.out)
		ledger := func() string {
			b, _ := os.ReadFile("t.csv.ledger")
			return string(b)
		}
		check(t, os.WriteFile(c.out, []byte("mine"), 0o600))
		spent = ledger()
		code, text := say(args)
		if b, _ := os.ReadFile(c.out); code != exitUsage ||
			!strings.Contains(text, "--force replaces it") || string(b) != "mine" {
			t.Errorf("%s: exit code %d, the file holds %.20q\n%s", args, code, b, text)
		}
		for kind, make := range map[string]func() error{
			"link":   func() error { return os.Symlink("elsewhere", c.out) },
			"pipe":   func() error { return syscall.Mkfifo(c.out, 0o600) },
			"folder": func() error { return os.Mkdir(c.out, 0o700) },
		} {
			check(t, os.Remove(c.out))
			check(t, make())
			for _, force := range []string{"", " --force"} {
				if code, text := say(args + force); code != exitError {
					t.Errorf("%s%s over a %s: exit code %d\n%s", args, force, kind, code, text)
				}
			}
			if _, err := os.Stat("elsewhere"); err == nil {
				t.Fatalf("%s writes through a link", args)
			}
		}
		if ledger() != spent {
			t.Errorf("%s spends before it is refused", args)
		}
		check(t, os.Remove(c.out))
		check(t, os.WriteFile(c.out, []byte("mine"), 0o600))
		code, text = say(args + " --force")
		b, _ := os.ReadFile(c.out)
		if info, err := os.Stat(c.out); err != nil || code != 0 || string(b) == "mine" ||
			info.Mode() != 0o600 {
			t.Errorf("%s --force: exit code %d, %v\n%s", args, code, info.Mode(), text)
		}
		if c.dear && ledger() == spent {
			t.Errorf("%s --force spends nothing: the test is broken", args)
		}
		check(t, os.Remove(c.out))
	}
	os.Remove("t.csv")
	says(t, exitUsage, "datasets export icu-readmission --out t.csv --schema-out t.yaml")
	if _, err := os.Stat("t.csv"); err == nil {
		t.Error("half of an export is written")
	}
}

// TestBatchReplacesItsOwn: a batch may be started again over its own outputs, and only over those.
func TestBatchReplacesItsOwn(t *testing.T) {
	t.Chdir(t.TempDir())
	job := func(rows string) {
		check(t, os.WriteFile("jobs.yaml", []byte("name: b\njobs: [{name: a, dataset: icu-readmission, "+
			"epsilon: 1, rows: "+rows+
			", out: a.csv, model: a.decoy}]\n"), 0o600))
	}
	say := func(args string, want int, texts ...string) {
		t.Helper()
		says(t, want, "batch jobs.yaml "+args, texts...)
	}
	job("10")
	for _, name := range []string{"jobs.results.csv", "a.csv", "a.decoy"} {
		check(t, os.WriteFile(name, []byte("mine"), 0o600))
		say("", map[bool]int{true: exitError, false: exitUsage}[name[0] == 'a'],
			name+": there is a file already")
		if b, err := os.ReadFile(name); err != nil || string(b) != "mine" {
			t.Errorf("%s holds %q", name, b)
		}
		check(t, os.Remove(name))
	}
	say("", 0)
	say("", 0)
	job("20") // of the same identity: the same model, another table in the same place
	say("", 0)
	if b, _ := os.ReadFile("a.csv"); strings.Count(string(b), "\n") != 21 {
		t.Errorf("%d lines, want 21", strings.Count(string(b), "\n"))
	}
	check(t, os.RemoveAll("jobs.state")) // with it goes the knowledge of what is its own
	say("", exitUsage)
	say("--force", 0)
}
