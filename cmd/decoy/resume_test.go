//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/privacy/ledger"
)

// TestResume kills a fit between its first release and its end, and continues it until it is done.
// The budget is spent once.
func TestResume(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t, 500, 3, 4)
	settings := " --set steps=6 --set distil_steps=300 --set generator_steps=150 " +
		"--set post_steps=300 --set hidden=16"
	generate := "generate in.csv --schema s.yaml --method wgan --epsilon 1 --out out.csv" + settings
	cmd, _ := w.start(generate, nil)
	w.await("in.csv.ledger", ledger.EntryCharge, 5)
	for _, args := range []string{generate, generate + " --resume"} {
		if code, text := w.run(args); code == 0 || len(w.ledger("in.csv.ledger").Runs()) > 1 {
			t.Errorf("beside its own process: exit code %d\n%s", code, text)
		}
	}
	cmd.Process.Kill()
	ended(t, cmd)
	for name, c := range map[string]struct {
		args, want string
		code       int
	}{
		"a new run": {generate, "the same command with --resume finishes it", exitUsage},
		"other epsilon": {strings.Replace(generate, "epsilon 1", "epsilon 2", 1) + " --resume",
			`"epsilon":2`, exitError},
		"other settings": {generate + " --set marginal_share=.5 --resume",
			`"marginal_share":".5"`, exitError},
		"other output": {strings.Replace(generate, "out.csv", "other.csv", 1) + " --resume",
			"no unfinished run", exitUsage},
		"no output file": {strings.Replace(generate, "out.csv", "-", 1) + " --resume",
			"no unfinished run", exitUsage},
	} {
		t.Log(name)
		w.says(c.code, c.args, c.want)
	}
	for kills := range 3 {
		cmd, _ := w.start(generate+" --resume", nil)
		w.await("in.csv.ledger", ledger.EntryResume, kills+1)
		time.Sleep(time.Duration(kills*30) * time.Millisecond)
		cmd.Process.Kill()
		ended(t, cmd)
	}
	w.says(exitOK, generate+" --resume --model m.model", "continuing run")
	l := w.ledger("in.csv.ledger")
	runs := l.Runs()
	if len(runs) != 1 || runs[0].Status != ledger.StatusDone || l.Spent().Epsilon != 1 {
		t.Errorf("%+v", runs)
	}
	w.says(exitOK, "verify m.model")
	if left, err := os.ReadDir(w.dir); err != nil || strings.Contains(fmt.Sprint(left), "journal") {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestResumeLinked kills a run on linked tables that nobody has described twice, and continues it,
// in no other order. The budget is spent once, and there is every table.
func TestResumeLinked(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t, 1, 1, 2)
	w.write("people.csv", linkedUnits(2000))
	w.write("events.csv", linkedEvents(2000))
	generate := "generate events.csv people.csv --link events.id=people.id --order events.day " +
		"--header-is-public --epsilon 9 --seed 1 --out-dir made"
	cmd, _ := w.start(generate, nil)
	w.await("people.csv.ledger", ledger.EntryCharge, 1)
	cmd.Process.Kill()
	ended(t, cmd)
	w.says(exitUsage, generate, "--resume")
	w.says(exitError, strings.Replace(generate, ".day", ".kind", 1)+" --resume", `"orders":["events.kind"]`)
	cmd, _ = w.start(generate+" --resume", nil)
	w.await("people.csv.ledger", ledger.EntryResume, 1)
	time.Sleep(50 * time.Millisecond)
	cmd.Process.Kill()
	ended(t, cmd)
	// it may have come to its end
	if code, text := w.run(generate + " --resume --model m.model"); code != 0 &&
		!strings.Contains(text, "there is no unfinished run") {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	l := w.ledger("people.csv.ledger")
	if runs := l.Runs(); len(runs) != 1 || runs[0].Status != ledger.StatusDone {
		t.Errorf("%+v", runs)
	}
	for _, name := range []string{"made/people.csv", "made/events.csv"} {
		if _, err := os.Stat(w.path(name)); err != nil {
			t.Error(err)
		}
	}
}
