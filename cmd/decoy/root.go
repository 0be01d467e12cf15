package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
)

// newRoot is the whole tree of verbs.
func newRoot(t *terminal) *cobra.Command {
	cobra.EnableCommandSorting = false // the verbs are listed in the order in which they are used
	root := &cobra.Command{
		Use:   "decoy",
		Short: "synthetic tables under differential privacy",
		Long: `decoy turns a private table (CSV, Parquet or Arrow) into a synthetic one under differential
privacy, says exactly what it cost, and keeps the account in a ledger beside the data.

The commands to begin with:

  decoy generate --dataset icu-mortality --epsilon 1 --out icu.csv   an embedded, simulated example
  decoy plan --schema S.yaml --epsilon 1                             my schema: the noise, the cost
  decoy generate IN.csv --schema S.yaml --epsilon 1 --out OUT.csv    my table

Without a schema, a part of the budget buys one:

  decoy generate IN.csv --epsilon 1 --header-is-public --out OUT.csv`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	group(root)
	root.PersistentFlags().BoolVar(&t.quiet, "quiet", false, "no talk and no progress on standard "+
		"error; errors are still printed")
	root.PersistentFlags().String("config", "", "YAML `FILE` of flags")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if ledger := cmd.Flag("ledger"); ledger != nil && ledger.Changed && ledger.Value.String() == "" {
			return usagef("--ledger is empty: leave it out for the ledger beside the table")
		}
		return fill(cmd)
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		printHelp(cmd.OutOrStdout(), helpOf(cmd))
	})

	ledger := group(&cobra.Command{Use: "ledger", Short: "what was spent: show, verify, limit",
		Long: "The ledger of a private file is FILE.ledger beside it: one JSON line for each limit,\n" +
			"reservation, mechanism call and end of a run, chained by hashes. It holds no data. Keep it " +
			"with\nthe data: it is the memory of what was spent."})
	ledger.AddCommand(ledgerShowCommand(t), ledgerVerifyCommand(t), ledgerLimitCommand(t))
	schema := group(&cobra.Command{Use: "schema",
		Short: "the public description of the columns: check, draft, infer, units, import, export",
		Long: "A schema says what is publicly known of a table: its columns, their kinds, categories,\n" +
			"bounds and bins. It is public: it comes from a person, from a public sample, or from the\n" +
			"private rows at a price in budget (infer); never from them for free."})
	schema.AddCommand(schemaCheckCommand(t), schemaDraftCommand(t), schemaInferCommand(t),
		schemaUnitsCommand(t), schemaImportCommand(t), schemaExportCommand(t))
	datasets := group(&cobra.Command{Use: "datasets", Short: "example tables: list, export",
		Long: "Three simulated intensive care cohorts are part of this program; a catalogue names\n" +
			"public tables and has their schemas."})
	datasets.AddCommand(datasetsListCommand(t), datasetsExportCommand(t))

	queries := group(&cobra.Command{Use: "queries", Short: "numbers straight from a model: answer",
		Long: "A model answers queries without sampling rows: tables of columns, ranges, cumulative\n" +
			"counts, and counts of rows that satisfy a condition (decoy help queries). It costs no budget."})
	queries.AddCommand(queriesAnswerCommand(t))

	config := group(&cobra.Command{Use: "config",
		Short: "config files: show, schema, settings",
		Long: "A config file is YAML: the flags of a verb as keys, and below 'settings:' the settings " +
			"of\nthe method. The command line wins over the environment, the environment over the file."})
	config.AddCommand(configShowCommand(t), configSchemaCommand(t), configSettingsCommand(t))

	root.AddCommand(generateCommand(t), fitCommand(t), sampleCommand(t), batchCommand(t),
		planCommand(t), joinCommand(t), collectCommand(t), analyzeCommand(t), inspectCommand(t), queries,
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

// group makes a command that only has verbs below it: alone it prints its help, with an unknown
// verb it refuses.
func group(cmd *cobra.Command) *cobra.Command {
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
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}

// operands checks the number of operands: the names in want, the last of which is optional if it
// ends in "?".
func operands(want ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > len(want) {
			return usagef("unexpected operand %q", args[len(want)])
		}
		for _, name := range want[len(args):] {
			if !strings.HasSuffix(name, "?") {
				return usagef("%s is missing", name)
			}
		}
		return nil
	}
}

// flagError says what is wrong with a flag, in our own words where the library's are a
// programmer's.
func flagError(cmd *cobra.Command, err error) error {
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
		f := invalid.GetFlag()
		return usagef("--%s: %q is not %s", f.Name, invalid.GetValue(), kindOf(f))
	}
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := spelling.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			return usagef("%w; did you mean --%s?", err, near)
		}
	}
	return &job.UsageError{Err: err}
}

// need is an error for a flag that must be given and was not.
func need(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		switch f := cmd.Flags().Lookup(name); {
		case !f.Changed:
			return usagef("--%s is required", name)
		case f.Value.String() == "":
			return usagef("--%s is empty", name)
		}
	}
	return nil
}
