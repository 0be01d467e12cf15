// Command decoy turns a private table into a synthetic one under differential privacy, and keeps
// the account of what it cost.
//
// The command line is an interface: verbs, flags and exit codes stay what they are. One file holds
// one verb; a page in the folder manual names its operands and flags, and is its help. What all
// verbs share: verb.go (verbs of their pages), flags.go (the flags of a job), settings.go (flag,
// environment, file, default), talk.go (talk, and results as text or JSON), progress.go, paid.go
// (files, and runs that buy one result), exit.go (errors to exit codes), help.go with help_page.go
// (help, pages and man pages from one source).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
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
	root := newRoot(t)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	t.shown.finish()
	if err != nil {
		printError(stderr, err, cmd.CommandPath())
	}
	return exitCode(err)
}

// newRoot is the whole tree of verbs.
func newRoot(t *terminal) *cobra.Command {
	cobra.EnableCommandSorting = false // the verbs are listed in the order in which they are used
	root := t.group("decoy")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().BoolVar(&t.quiet, "quiet", false, "no talk and no progress on standard "+
		"error; errors are still printed")
	root.PersistentFlags().String("config", "", "YAML `FILE` of flags")
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
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		printHelp(cmd.OutOrStdout(), helpOf(cmd))
	})

	schema := t.group("schema", schemaCheckCommand(t), schemaDraftCommand(t), schemaInferCommand(t),
		schemaUnitsCommand(t), schemaImportCommand(t), schemaExportCommand(t))
	ledger := t.group("ledger", ledgerShowCommand(t), ledgerVerifyCommand(t), ledgerLimitCommand(t))
	datasets := t.group("datasets", datasetsListCommand(t), datasetsExportCommand(t))
	queries := t.group("queries", queriesAnswerCommand(t))
	parties := t.group("party", partyKeygenCommand(t), partyRunCommand(t))
	config := t.group("config", configShowCommand(t), configSchemaCommand(t), configSettingsCommand(t))

	root.AddCommand(generateCommand(t), fitCommand(t), sampleCommand(t), batchCommand(t),
		planCommand(t), joinCommand(t), parties, collectCommand(t), analyzeCommand(t),
		inspectCommand(t), queries,
		releaseCommand(t), verifyCommand(t), trainCommand(t), predictCommand(t), validateCommand(t),
		auditCommand(t), evaluateCommand(t), schema, ledger, serveCommand(t), datasets, config,
		versionCommand(t))
	help := helpCommand(t)
	root.SetHelpCommand(help)
	root.AddCommand(help)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Short = "completion for a shell"
		}
	}
	return root
}

// group is a command that only has verbs below it: alone it prints its help, with an unknown verb
// it refuses.
func (t *terminal) group(name string, verbs ...*cobra.Command) *cobra.Command {
	cmd := t.verb(name, func(cmd *cobra.Command, _ *terminal, _ []string) error { return cmd.Help() })
	delete(cmd.Annotations, exitsKey)
	cmd.AddCommand(verbs...)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
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
	return cmd
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
		if unknown.GetSpecifiedName() == "strict" {
			return usagef("%w: it is gone, as private tables are read leniently, always, and every run "+
				"that is reserved stays charged", err)
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := spelling.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			return usagef("%w; did you mean --%s?", err, near)
		}
	}
	return &job.UsageError{Err: err}
}
