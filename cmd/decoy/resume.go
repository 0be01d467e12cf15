package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
)

// journalOf is the journal of a run of a verb that pays from the ledger and whose result goes to
// out. It lies beside the ledger and hence beside the data: as long as it is there it is as secret
// as these.
func journalOf(ledger *ledger.File, verb, out string) string {
	if ledger == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(verb + " " + outputOf(ledger, out)))
	return fmt.Sprintf("%s.%x.journal", ledger.Path(), sum[:6])
}

// outputOf names an output as seen from the folder of the ledger: a folder that holds both may be
// moved between a run and its continuation.
func outputOf(ledger *ledger.File, path string) string {
	if path == standard {
		return "standard output"
	}
	path = resolve(path)
	if rel, err := filepath.Rel(filepath.Dir(resolve(ledger.Path())), path); err == nil {
		return rel
	}
	return path
}

// interrupted finds out whether the run was begun before and did not come to its end. Without
// --resume that is an error: starting anew would pay twice.
func (j *job) interrupted() error {
	if j.journal == "" {
		if j.resume {
			return usagef("--resume: a run is continued from its ledger and the journal beside it; this " +
				"one has neither")
		}
		return nil
	}
	left, err := privacy.Unfinished(j.journal, j.ledger)
	switch {
	case err != nil:
		return err
	case left.Running:
		return &retold{fmt.Sprintf("run %s is still at work on this output: wait for it to end; "+
			"nothing further is spent", left.Run), ledger.ErrLocked}
	case j.resume && left.Run == "":
		return usagef("--resume: there is no unfinished run with this output in %s", j.ledger.Path())
	case !j.resume && left.Run != "":
		return usagef("run %s with this output is unfinished, and its budget is spent: the same "+
			"command with --resume finishes it, at no further cost; "+
			"to give it up, and pay for a new run, remove %s", left.Run, j.journal)
	case left.Run != "":
		j.t.say("continuing run %s", left.Run)
	}
	return nil
}

// addResume adds --resume, of every verb that pays.
func addResume(cmd *cobra.Command, resume *bool) {
	cmd.Flags().BoolVar(resume, "resume", false, "continue a run that did not come to its end, at "+
		"no further cost")
}

// begin tells of runs that did not finish, and finds out whether this one is one of them. It comes
// before the outputs are created: a file that is there may be that of an unfinished run.
func (j *job) begin(verb, out string, others ...string) error {
	// whoever reads our output and leaves early must not take what is paid for along
	signal.Ignore(syscall.SIGPIPE)
	j.before = &ledger.Ledger{}
	if j.ledger == nil {
		j.t.say("the table is a public, simulated example: no ledger is kept (--ledger FILE keeps one)")
	} else {
		var err error
		if j.before, err = j.ledger.Read(); err != nil {
			return err
		}
		for _, text := range unfinished(j.before, atWork(j.ledger.Path())) {
			j.t.say("%s", text)
		}
		j.journal = journalOf(j.ledger, verb, out)
		j.tellOther()
		for _, path := range append([]string{out}, others...) {
			if path != "" {
				j.outputs = append(j.outputs, outputOf(j.ledger, path))
			}
		}
	}
	return j.interrupted()
}

// explain adds to the error of a run what became of its budget, and how to go on. started says that
// it has a session.
func (j *job) explain(err error, started bool) error {
	before, journal := j.before, j.journal
	interrupted := errors.Is(err, context.Canceled)
	resumable := false
	if journal != "" {
		left, _ := privacy.Unfinished(journal, j.ledger)
		resumable = left.Run != ""
	}
	switch {
	case errors.Is(err, ledger.ErrLocked) && !started:
		return err // of another process's run nothing is to be said
	case errors.Is(err, privacy.ErrResume):
		return fmt.Errorf("%w\nnothing further is spent, and the run is as it was: a run is continued "+
			"by the program, and with the input, schema, settings, "+
			"epsilon, delta and outputs, that it was begun with", err)
	case interrupted && !started && j.voidCharged(before):
		return &retold{fmt.Sprintf("interrupted before the first mechanism; the limit of %s is strict, "+
			"and the budget stays spent", j.ledger.Path()), err}
	case interrupted && !started && !resumable:
		return &retold{"interrupted before the first mechanism: nothing is spent", err}
	case interrupted && j.ledger == nil:
		return &retold{"interrupted", err}
	case interrupted && resumable:
		return &retold{fmt.Sprintf("interrupted: the budget stays spent in %s; the same command with "+
			"--resume goes on, at no further cost", j.ledger.Path()), err}
	case interrupted:
		return &retold{fmt.Sprintf("interrupted: the run is closed as cancelled in %s and its budget "+
			"stays spent; a new run costs its own", j.ledger.Path()), err}
	case j.ledger == nil:
	case resumable:
		j.t.say("the budget of this run stays spent; the same command with --resume goes on, at no "+
			"further cost "+
			"(to give the run up, remove %s)", journal)
	case started:
		j.t.say("the budget of this run stays spent")
	case j.voidCharged(before):
		j.t.say("the budget of this run stays spent, though no mechanism has run: the limit of %s is strict", j.ledger.Path())
	default:
		if after, readErr := j.ledger.Read(); readErr == nil && after.Spent() == before.Spent() {
			j.t.say("nothing is spent: no mechanism has run")
		}
	}
	return err
}

// tellOther tells of an account beside the table that this run is not entered in.
func (j *job) tellOther() {
	if j.input == "" || j.input == standard {
		return
	}
	beside := resolve(j.input) + ".ledger"
	if sameFile(beside, j.ledger.Path()) {
		return
	}
	if l, err := ledger.NewFile(beside).Read(); err == nil && len(l.Entries) > 0 {
		j.t.say("warning: %s, beside the table, has an account of its own, spent %s: this run is not "+
			"counted there", beside, spentText(l))
	}
}
