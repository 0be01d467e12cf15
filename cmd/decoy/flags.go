package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/all"
)

// jobFlags are the flags that fill a job. A verb adds those that it needs.
type jobFlags struct {
	made *schema.Schema // in place of the file that --schema names; nil: none
	configs.Job
	resume bool
	set    settings
	notes  []string // to be said before the run
}

// addBudget adds what a run may cost.
func (j *jobFlags) addBudget(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Float64Var(&j.Epsilon, "epsilon", 0,
		"privacy budget `E` of everything the run reads (required, > 0)")
	f.Float64Var(&j.Delta, "delta", configs.DefaultDelta,
		fmt.Sprintf("probability `D` in the guarantee, 0 to %v", accountant.MaxDelta))
	j.addAdjacency(cmd)
}

func (j *jobFlags) addAdjacency(cmd *cobra.Command) {
	cmd.Flags().StringVar(&j.Adjacency, "adjacency", accountant.AddRemove.String(),
		"which tables are neighbours, `A`: add-remove or replace-one")
	complete(cmd, "adjacency", accountant.AddRemove.String(), accountant.ReplaceOne.String())
}

// addMethod adds the method and its settings.
func (j *jobFlags) addMethod(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&j.Method, "method", all.Auto,
		"synthesis method `M`: "+strings.Join(all.Choices(), ", "))
	f.Var(&j.set, "set",
		"a setting of the method, `KEY=VALUE`; may be repeated (decoy config settings)")
	for name, text := range shorthand {
		f.String(name, "", text+" (of the methods that have this setting)")
	}
	complete(cmd, "method", all.Choices()...)
	cmd.RegisterFlagCompletionFunc("set", func(
		_ *cobra.Command, _ []string, typed string,
	) ([]string, cobra.ShellCompDirective) {
		known, err := all.Settings(j.Method)
		if err != nil || strings.Contains(typed, "=") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var keys []string
		for _, s := range known {
			keys = append(keys, s.Key+"=\t"+s.Text)
		}
		return keys, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	j.completeColumns(cmd, "target")
}

// addSchema adds the schema, and the examples that have one.
func (j *jobFlags) addSchema(cmd *cobra.Command) {
	cmd.Flags().StringVar(&j.Schema, "schema", "", "schema `FILE` (required unless --dataset is "+
		"given; generate and fit can do without both)")
	cmd.Flags().StringVar(&j.Dataset, "dataset", "",
		"use the embedded example `NAME` (decoy datasets list) and its schema")
	complete(cmd, "dataset", datasets.Names()...)
}

// addAccount adds what every verb has that pays.
func (j *jobFlags) addAccount(cmd *cobra.Command, ledger string) {
	cmd.Flags().StringVar(&j.Ledger, "ledger", "", "ledger `FILE` ("+ledger+")")
	cmd.Flags().BoolVar(&j.resume, "resume", false,
		"continue a run that did not come to its end, at no further cost")
}

// addSampling adds how rows are drawn from a model; rows is the default number.
func (j *jobFlags) addSampling(cmd *cobra.Command, rows string) {
	f := cmd.Flags()
	f.IntVar(&j.Rows, "rows", 0, "number of synthetic rows `N`, at least 1 (default "+rows+")")
	f.Uint64Var(&j.Seed, "seed", 0, "public seed `K` of the sampling; the same model, rows and seed "+
		"give the same bytes (default random)")
	f.BoolVar(&j.SpreadsheetSafe, "spreadsheet-safe", false,
		"in a CSV output: an apostrophe before texts that a spreadsheet would run as formulas")
	f.StringVar(&j.Out, "out", "",
		"synthetic table `OUT`: .csv, .parquet, .arrow, or - for CSV on standard output, arrow:- for "+
			"Arrow (required)")
}

// complete names the values of a flag for the shell.
func complete(cmd *cobra.Command, flag string, values ...string) {
	cmd.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeColumns names the columns of the schema for the shell, once the line has it.
func (j *jobFlags) completeColumns(cmd *cobra.Command, flag string) {
	cmd.RegisterFlagCompletionFunc(flag, func(
		*cobra.Command, []string, string,
	) (names []string, _ cobra.ShellCompDirective) {
		if s, err := job.SchemaOf(j.Schema, j.Dataset); err == nil {
			names = s.Names()
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// checkBudget validates --epsilon, --delta and --adjacency.
func (j *jobFlags) checkBudget(cmd *cobra.Command) error {
	if err := need(cmd, "epsilon"); err != nil {
		return err
	}
	return flagged(j.CheckBudget())
}

// checkSampling validates the flags of addSampling, and draws a seed if none is given.
func (j *jobFlags) checkSampling(cmd *cobra.Command) error {
	if err := need(cmd, "out"); err != nil {
		return err
	}
	if format, err := job.FormatOf("--out", j.Out); j.SpreadsheetSafe && err == nil &&
		!format.IsCSV() {
		return usagef("--spreadsheet-safe is for CSV, which %s is not", j.Out)
	}
	if err := checkRows(cmd, j.Rows); err != nil {
		return err
	}
	chooseSeed(cmd, &j.Seed)
	return nil
}

// checkRows checks --rows, if it is given: by the bounds of a job file.
func checkRows(cmd *cobra.Command, rows int) error {
	switch {
	case !cmd.Flags().Changed("rows"):
	case rows < 1:
		return usagef("--rows %d must be at least 1", rows)
	case rows > math.MaxInt32:
		return usagef("--rows %d must be at most %d", rows, math.MaxInt32)
	}
	return nil
}

// chooseSeed chooses a public seed, unless --seed gives one.
func chooseSeed(cmd *cobra.Command, seed *uint64) {
	if !cmd.Flags().Changed("seed") {
		*seed = rand.Uint64()
	}
}

// method is the method with its settings; the budget is valid too.
func (j *jobFlags) method(cmd *cobra.Command) (synth.Fitter, error) {
	var err error
	if j.Settings, err = j.set.of(cmd, j.Method); err != nil {
		return nil, err
	}
	j.leaveTarget()
	f, err := j.Fitter()
	switch {
	case err != nil && !slices.Contains(all.Choices(), j.Method):
		return nil, usagef("--method: %w", err)
	case err != nil:
		return nil, &job.UsageError{Err: err}
	}
	return f, j.checkBudget(cmd)
}

// leaveTarget takes the flag --target from the settings of a method that cannot use it.
func (j *jobFlags) leaveTarget() {
	known, err := all.Settings(j.Method)
	if err != nil || slices.ContainsFunc(known, func(s all.Setting) bool {
		return s.Key == targetKey
	}) {
		return
	}
	j.Settings = slices.DeleteFunc(j.Settings, func(g configs.Given) bool {
		if g.Key == targetKey && g.From == "--"+targetKey {
			j.notes = append(j.notes, fmt.Sprintf("--target %v: method %s makes no use of it; auto, "+
				"aim, bayes, wgan and pategan do", g.Value, j.Method))
			return true
		}
		return false
	})
}

// sayNotes says what a person should know of the flags before the run: what is passed over, and a
// guarantee that is weak.
func (j *jobFlags) sayNotes(t *terminal) {
	if weak := configs.Weakness(j.Epsilon); weak != "" {
		j.notes = append(j.notes, weak)
	}
	for _, note := range j.notes {
		t.say("%s", note)
	}
}

// sayDelta tells off a δ at which a release that shows a whole row would be within the guarantee.
func (j *jobFlags) sayDelta(t *terminal, rows float64) {
	if j.Delta*rows >= 1 {
		t.say("delta %v is not below 1 in %.0f, the noisy number of rows: at such a delta showing the "+
			"row of one person at random would be within the guarantee; take 1e-9", j.Delta, rows)
	}
}

// targetKey is the setting that --target gives.
const targetKey = "target"

// private names the private table at path, which messages call name, and the ledger that pays for
// a run on it. It checks that the table can be read, and reads nothing of it.
func (j *jobFlags) private(
	name, path string, written, read []job.NamedPath,
) (*privacy.Rows, *ledger.File, error) {
	if _, err := job.FormatOf(name, path); err != nil {
		return nil, nil, err
	}
	if err := job.Readable(path); err != nil {
		return nil, nil, err
	}
	s := j.made
	if s == nil {
		var err error
		if s, err = job.LoadSchema(j.Schema); err != nil {
			return nil, nil, err
		}
	}
	l, err := job.LedgerOf(j.Ledger, path)
	if err != nil {
		return nil, nil, err
	}
	written = append(written, job.At("the ledger", l.Path()))
	read = append(read, job.At(name, path), job.At("--schema", j.Schema))
	return privacy.File(path, s), l, job.Distinct(written, read)
}

// account is what a run on input pays from.
func (j *jobFlags) account(t *terminal, ledger *ledger.File, input string) *job.Account {
	return &job.Account{Ledger: ledger, Input: input, Resume: j.resume, Tool: tool(),
		Stdout: t.stdout, Say: t.say}
}

// flagged names the flag of a wrong value of a job.
func flagged(err error) error {
	if wrong := (*configs.ValueError)(nil); errors.As(err, &wrong) {
		return usagef("--%s %s", wrong.Key, wrong.Problem)
	}
	return err
}

// configPath is the config file, as a file that the run reads.
func configPath(cmd *cobra.Command) job.NamedPath {
	path, _ := cmd.Flags().GetString("config")
	return job.At("--config", path)
}
