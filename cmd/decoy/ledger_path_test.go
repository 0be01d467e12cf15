//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/decoy-dp/decoy/configs"
)

// TestLedgerBelongsToTheData goes to one table by every kind of name. All of them lead to one
// ledger, whose limit of epsilon 1 lets one run through.
func TestLedgerBelongsToTheData(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, d := range []string{"data", "deep/er", "work"} {
		check(t, os.MkdirAll(d, 0o700))
	}
	check(t, os.WriteFile("s.yaml", []byte("decoy: 1\ncolumns:\n  - {name: a, kind: integer, min: "+
		"0, max: 3}\n"), 0o600))
	check(t, os.WriteFile("data/t.csv", []byte("a\n1\n2\n"), 0o600))
	data := filepath.Join(dir, "data")
	for link, to := range map[string]string{
		"work/t.csv":      "../data/t.csv", // the same base name
		"work/u.csv":      data + "/t.csv",
		"work/chain.csv":  "t.csv",
		"folder":          "data",
		"deep/er/up":      "../../data",
		"work/again.csv":  "../folder/t.csv",
		"work/up":         "../deep/er",
		"work/own.ledger": "../data/t.csv.ledger",
	} {
		check(t, os.Symlink(to, link))
	}
	want := filepath.Join("data", "t.csv.ledger")
	names := []string{
		"data/t.csv", "work/t.csv", "work/u.csv", "work/chain.csv", "work/again.csv", "folder/t.csv",
		"deep/er/up/t.csv",
		"./work/../data/t.csv", "data/../work/t.csv", filepath.Join(dir, "data/t.csv"),
		filepath.Join(dir, "folder/t.csv"),
		"work/up/../../data/t.csv", // of deep/er, not of work
	}
	for _, name := range names {
		if got, err := pathOf("", name); got != want || err != nil {
			t.Errorf("the ledger of %s is %q (%v), want %s", name, got, err, want)
		}
	}

	const limit = " --unit row --epsilon 1 --delta 1e-6"
	says(t, exitUsage, "ledger limit work/t.csv.ledger"+limit, "that is the one to limit")
	says(t, exitOK, "ledger limit data/t.csv.ledger"+limit)
	for i, name := range names {
		says(t, map[bool]int{true: exitOK, false: exitBudget}[i == 0], "generate "+name+
			" --schema s.yaml --epsilon 1 --out out.csv --rows 5 --force")
	}
	// A named ledger is found by its links too, and so is that of a batch.
	if got, err := pathOf("work/own.ledger", "x.csv"); got != want || err != nil {
		t.Errorf("a link to the ledger is %q (%v), want %s", got, err, want)
	}
	check(t, os.WriteFile("jobs.yaml", []byte("name: b\ntables: [{name: t, input: work/t.csv, "+
		"schema: s.yaml}]\nepsilons: [1]\n"+
		"job: {out: b.csv}\n"), 0o600))
	says(t, exitBudget, "batch jobs.yaml", "refused: t-auto-1-1")

	// A ledger that an earlier version left beside a link is not passed over in silence.
	check(t, os.WriteFile("work/u.csv.ledger", nil, 0o600))
	if _, err := pathOf("", "work/u.csv"); err == nil ||
		!strings.Contains(err.Error(), "each has a ledger beside it") {
		t.Errorf("two ledgers: %v", err)
	}
	// Hard links are equals: no rule can tell which of them has the ledger.
	check(t, os.Link("data/t.csv", "work/hard.csv"))
	for _, name := range []string{"work/hard.csv", "data/t.csv", "work/t.csv"} {
		says(t, exitUsage, "generate "+name+" --schema s.yaml --epsilon 1 --out out.csv",
			"2 names (hard links)", "--ledger")
		if got, err := pathOf("data/t.csv.ledger", name); got != want || err != nil {
			t.Errorf("%s with a named ledger: %q, %v", name, got, err)
		}
	}
	says(t, exitUsage, "batch jobs.yaml --dry-run", "hard links")
}

// pathOf is the path of the ledger of a run.
func pathOf(named, input string) (string, error) {
	l, err := configs.LedgerOf(named, input)
	if err != nil {
		return "", err
	}
	return l.Path(), nil
}

// TestLedgerOfAnotherKind: what cannot be a ledger is refused at once; opening a pipe would wait
// for somebody who writes.
func TestLedgerOfAnotherKind(t *testing.T) {
	t.Chdir(t.TempDir())
	check(t, os.WriteFile("s.yaml", []byte("decoy: 1\ncolumns:\n  - {name: a, kind: integer, min: "+
		"0, max: 3}\n"), 0o600))
	check(t, os.WriteFile("t.csv", []byte("a\n1\n"), 0o600))
	check(t, syscall.Mkfifo("pipe", 0o600))
	check(t, os.Mkdir("dir", 0o700))
	check(t, os.Symlink("pipe", "link"))
	check(t, os.Symlink("nowhere", "dangling"))
	for name, want := range map[string]string{
		"pipe": "not a regular file", "dir": "is a directory", "link": "not a regular file",
		"/dev/null": "not a regular file", "dangling": "leads nowhere",
	} {
		run := "t.csv --schema s.yaml --epsilon 1 --ledger " + name
		for _, args := range []string{
			"generate --out out.csv " + run, "fit --model m.decoy " + run,
			"schema infer t.csv --header-is-public --epsilon 1 --out i.yaml --ledger " + name,
			"evaluate --train t.csv --synthetic t.csv --schema s.yaml --epsilon 1 --ledger " + name,
			"ledger limit --unit row --epsilon 1 --delta 0 " + name,
		} {
			says(t, exitError, args, want)
		}
		for _, args := range []string{"ledger show " + name, "ledger verify " + name, "inspect " + name,
			"verify " + name} {
			says(t, exitError, args)
		}
	}
}

// TestFilesThatAreNone: a pipe that nobody writes to is refused at once, wherever a file of the
// operator's own is read.
func TestFilesThatAreNone(t *testing.T) {
	t.Chdir(t.TempDir())
	check(t, syscall.Mkfifo("pipe", 0o600))
	check(t, os.WriteFile("in.csv", []byte("a\n1\n"), 0o600))
	for _, args := range []string{
		"generate --config pipe", "plan --schema pipe --epsilon 1", "schema check pipe", "batch pipe",
		"fit in.csv --schema pipe --epsilon 1 --model m", "sample pipe --out o.csv", "verify pipe",
		"inspect pipe",
	} {
		code, _, text := decoy(strings.Fields(args)...)
		if code == 0 || !strings.Contains(text, "pipe is not a regular file") {
			t.Errorf("%s: exit code %d\n%s", args, code, text)
		}
	}
}

// TestClosedOutput: what goes to a closed standard output would be lost, and is refused before
// anything is spent.
func TestClosedOutput(t *testing.T) {
	w := newWorkplace(t, 100, 3, 4)
	for _, args := range []string{
		"generate in.csv --schema s.yaml --epsilon 1 --out -",
		"schema infer in.csv --epsilon 1 --header-is-public --out -",
		"generate --dataset icu-mortality --epsilon 1 --out -",
	} {
		cmd := exec.Command("sh", "-c", "exec decoy "+args+" >&-")
		cmd.Dir = w.dir
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "standard output is closed") {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
	if _, err := os.Stat(w.path("in.csv.ledger")); err == nil {
		t.Error("something was spent")
	}
	cmd := exec.Command("sh", "-c",
		"exec decoy generate in.csv --schema s.yaml --epsilon 1 --out - >/dev/null")
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("to /dev/null: %v\n%s", err, out)
	}
}
