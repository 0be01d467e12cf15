package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/collect"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/party"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/workload"
)

// Exit codes are an interface.
const (
	exitOK     = 0
	exitError  = 1
	exitUsage  = 2  // usage, or a bad config or schema
	exitBudget = 10 // a limit would be exceeded
	exitLocked = 11 // the ledger stayed locked
	exitData   = 12 // the data break the schema
	// the file was made before its ledger had the hash of what it holds
	exitUnbound = 13
)

// exitMeaning says what the codes mean, for the help.
var exitMeaning = map[int]string{
	exitOK: "done", exitError: "an error", exitUsage: "wrong usage, or a bad config or schema",
	exitBudget:  "refused: the ledger's limit would be exceeded; no row was read",
	exitLocked:  "another process kept the ledger locked for 10 seconds",
	exitData:    "the data break the schema",
	exitUnbound: "made before outputs were bound: nothing shows that its contents are its run's",
}

// exitCode maps every error to its code. A file that is not what it claims to be is an error,
// whatever is wrong inside it.
func exitCode(err error) int {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
	var usage *job.UsageError
	switch {
	case err == nil:
		return exitOK
	case is(release.ErrFormat, release.ErrClaim, ledger.ErrInvalid):
		return exitError
	case is(errUnbound):
		return exitUnbound
	case is(ledger.ErrLocked):
		return exitLocked
	case is(accountant.ErrBudget):
		return exitBudget
	case is(schema.ErrSchema):
		return exitData
	case errors.As(err, &usage),
		is(schema.ErrInvalid, accountant.ErrBudgetRange, synth.ErrConfig, ledger.ErrMismatch,
			datasets.ErrUnknown, datasets.ErrNotEmbedded,
			workload.ErrInvalid, release.ErrImpossible, release.ErrNotExact, release.ErrJoin,
			collect.ErrForm, party.ErrFile):
		return exitUsage
	}
	return exitError
}

func usagef(format string, args ...any) error { return job.Usagef(format, args...) }

// printError writes each line of the error with the program's name before it, and for a usage error
// where to read on.
func printError(w io.Writer, err error, command string) {
	text := spelling.Plain(err)
	if errors.Is(err, context.Canceled) && text == context.Canceled.Error() {
		text = "interrupted"
	}
	if usage := (*job.UsageError)(nil); errors.As(err, &usage) {
		text += fmt.Sprintf("; see '%s --help'", command)
	}
	if errors.Is(err, ledger.ErrMismatch) {
		text += "\na ledger counts one kind of neighbours for good. Is this the schema of this table? " +
			"If so, keep to the unit\nand the adjacency of its limit and runs (decoy ledger show), or " +
			"keep another account with\n--ledger OTHER: the same people then pay in both, and it is you " +
			"who must add them up"
	}
	for line := range strings.Lines(text) {
		fmt.Fprintln(w, strings.TrimRight("decoy: "+spelling.Visible(strings.TrimRight(line, "\n")), " "))
	}
}
