// Command decoy turns a private table into a synthetic one under differential privacy, and keeps
// the account of what it cost.
//
// The command line is an interface: verbs, flags and exit codes stay what they are. One file holds
// one verb, or a few that are alike; a page in the folder manual names the operands and flags of
// each, and is its help. What all verbs share: verb.go (verbs of their pages), flags.go (the flags
// of a job, its files, and runs that buy one result), settings.go (flag, environment, file,
// default), talk.go (talk, progress, and results as text or JSON), help.go (help and pages from
// one source); here are the tree of verbs and the exit codes.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/model/workload"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/stats"
	"github.com/decoy-dp/decoy/stats/party"
	"github.com/decoy-dp/decoy/synth"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program. The first interrupt (SIGINT, SIGTERM, or SIGHUP of a closed terminal)
// cancels the context, so that an open run is left to be continued; the second ends the process
// where it stands.
func run(args []string, stdout, stderr io.Writer) int {
	interrupts := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup, which is asked for to outlive the terminal
		interrupts = append(interrupts, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), interrupts...)
	defer stop()
	context.AfterFunc(ctx, stop)

	t := &terminal{stdout: stdout, stderr: stderr}
	root := newRoot(t, args)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { t.unsaid = printHelp(stdout, cmd) })
	cmd, err := root.ExecuteContextC(ctx)
	err = cmp.Or(err, t.unsaid)
	if err != nil {
		printError(stderr, err, cmd.CommandPath())
	}
	return exitCode(err)
}

// maker makes the command of a verb.
type maker func(t *terminal) *cobra.Command

// verbs are those of the program, in the order in which they are used.
var verbs = []struct {
	name string
	make maker
}{
	{"generate", generateCommand}, {"fit", fitCommand}, {"sample", sampleCommand},
	{"batch", batchCommand}, {"plan", planCommand}, {"join", joinCommand},
	{"party", group("party", partyKeygenCommand, partyRunCommand)}, {"collect", collectCommand},
	{"analyze", analyzeCommand}, {"inspect", inspectCommand},
	{"queries", group("queries", queriesAnswerCommand)}, {"release", releaseCommand},
	{"verify", verifyCommand}, {"train", trainCommand}, {"predict", predictCommand},
	{"validate", validateCommand}, {"audit", auditCommand}, {"evaluate", evaluateCommand},
	{"schema", group("schema", schemaCheckCommand, schemaDraftCommand, schemaInferCommand,
		schemaUnitsCommand)},
	{"ledger", group("ledger", ledgerShowCommand, ledgerVerifyCommand, ledgerLimitCommand)},
	{"serve", serveCommand},
	{"datasets", group("datasets", datasetsListCommand, datasetsExportCommand)},
	{"config", group("config", configSettingsCommand)}, {"version", versionCommand},
}

// newRoot is the tree of verbs: of the one that the arguments begin with, or of all.
func newRoot(t *terminal, args []string) *cobra.Command {
	cobra.EnableCommandSorting = false // the verbs are listed in the order in which they are used
	root := group("decoy")(t)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().BoolVar(&t.quiet, "quiet", false, "no talk and no progress on standard "+
		"error; errors are still printed")
	root.PersistentFlags().Var(new(onePath), "config", "YAML `FILE` of flags")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if ledger := cmd.Flag("ledger"); ledger != nil && ledger.Changed && ledger.Value.String() == "" {
			return usagef("--ledger is empty: leave it out for the ledger beside the table")
		}
		if err := fill(cmd); err != nil {
			return err
		}
		return checkFlags(cmd)
	}
	root.SetFlagErrorFunc(flagError)

	for _, v := range verbs {
		if len(args) > 0 && v.name == args[0] {
			root.AddCommand(v.make(t))
			return root
		}
	}
	for _, v := range verbs {
		root.AddCommand(v.make(t))
	}
	help := helpCommand(t)
	root.SetHelpCommand(help)
	root.AddCommand(help)
	root.InitDefaultCompletionCmd()
	return root
}

// group is a command that only has verbs below it: alone it prints its help, with an unknown verb
// it refuses.
func group(name string, verbs ...maker) maker {
	return func(t *terminal) *cobra.Command {
		cmd := t.verb(name, func(cmd *cobra.Command, _ *terminal, _ []string) error {
			return cmd.Help()
		})
		delete(cmd.Annotations, exitsKey)
		for _, verb := range verbs {
			cmd.AddCommand(verb(t))
		}
		cmd.Args = oneOfItsVerbs
		return cmd
	}
}

// oneOfItsVerbs refuses an operand where a verb must stand.
func oneOfItsVerbs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	text := fmt.Sprintf("%s has no verb %q", cmd.CommandPath(), args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += fmt.Sprintf(", did you mean %q?", near[0])
	}
	return usagef("%s", text)
}

// flagError says what is wrong with a flag, in our own words where the library's are a
// programmer's.
func flagError(cmd *cobra.Command, err error) error {
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
		f := invalid.GetFlag()
		return usagef("--%s: %q is not %s", f.Name, invalid.GetValue(), kindOf(f))
	}
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		if name := unknown.GetSpecifiedShortnames(); name != "" {
			return usagef("-%s: a flag has two dashes, --%[1]s", name)
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := spelling.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			return usagef("%w; did you mean --%s?", err, near)
		}
	}
	return &configs.UsageError{Err: err}
}

// Exit codes are an interface.
const (
	exitOK     = 0
	exitError  = 1
	exitUsage  = 2  // usage, or a bad config or schema
	exitBudget = 10 // a limit would be exceeded
	exitLocked = 11 // the ledger stayed locked
	exitData   = 12 // the data break the schema
)

// exitMeaning says what the codes mean, for the help.
var exitMeaning = map[int]string{
	exitOK: "done", exitError: "an error", exitUsage: "wrong usage, or a bad config or schema",
	exitBudget: "refused: the ledger's limit would be exceeded; no row was read",
	exitLocked: "another process kept the ledger locked for 10 seconds",
	exitData:   "the data break the schema",
}

// exitCode maps every error to its code. A file that is not what it claims to be is an error,
// whatever is wrong inside it.
func exitCode(err error) int {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
	var usage *configs.UsageError
	switch {
	case err == nil:
		return exitOK
	case is(release.ErrFormat, release.ErrClaim, ledger.ErrInvalid):
		return exitError
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
			stats.ErrForm, stats.ErrTarget, party.ErrFile):
		return exitUsage
	}
	return exitError
}

func usagef(format string, args ...any) error { return configs.Usagef(format, args...) }

// printError writes each line of the error with the program's name before it, and for a usage error
// where to read on.
func printError(w io.Writer, err error, command string) {
	text := spelling.Plain(err)
	if errors.Is(err, context.Canceled) && text == context.Canceled.Error() {
		text = "interrupted"
	}
	if usage := (*configs.UsageError)(nil); errors.As(err, &usage) {
		text += fmt.Sprintf("; see '%s --help'", command)
	}
	if errors.Is(err, ledger.ErrMismatch) {
		text += "\na ledger counts one kind of neighbours for good. Is this the schema of this table? " +
			"If so, keep to the unit\nand the adjacency of its limit and runs (decoy ledger show), or " +
			"keep another account with\n--ledger OTHER: the same people then pay in both, and it is you " +
			"who must add them up. One in which\nnothing is spent yet may be deleted"
	}
	for line := range strings.Lines(text) {
		fmt.Fprintln(w, strings.TrimRight("decoy: "+spelling.Visible(strings.TrimRight(line, "\n")), " "))
	}
}
