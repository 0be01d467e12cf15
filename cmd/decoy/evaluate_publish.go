package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/eval/publish"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
)

// publish buys an evaluation through the gate and charges the ledger of the private table.
func (e *evaluate) publish(cmd *cobra.Command, t *terminal) error {
	rows, ledger, err := e.checkPublish(cmd)
	if err != nil {
		return err
	}
	run, err := e.pay(t, ledger, "evaluate", e.Input, "--json", e.json)
	if err != nil {
		return err
	}
	defer run.file.Abort()
	synthetic, err := readTable(cmd.Context(), t, run.shown, "--synthetic", e.synthetic[0],
		free(rows.Schema()))
	if err != nil {
		return err
	}
	o := publish.Options{Target: e.options.Target, Positive: e.options.Positive, Drop: e.options.Drop}
	_, s, err := publish.Run(cmd.Context(), rows, synthetic, o, publish.RunOptions{
		Options: run.Options(e.Job), Progress: run.shown.report,
		Deliver: func(r *publish.Result) error {
			run.got("%v", r.Claim())
			if run.file == nil {
				return t.print(estimates{r})
			}
			return t.deliver(run.file, ", which may be published", release.FileWriter(r))
		}})
	if errors.Is(err, eval.ErrColumn) {
		return unsuitable(err)
	}
	return run.end(s, err)
}

// checkPublish checks everything that can be checked without rows.
func (e *evaluate) checkPublish(cmd *cobra.Command) (*privacy.Rows, *ledger.File, error) {
	fail := func(err error) (*privacy.Rows, *ledger.File, error) { return nil, nil, err }
	name := "--holdout"
	switch {
	case e.train != "" && e.holdout != "":
		return fail(usagef("--epsilon takes one private table: --holdout (better: rows that the " +
			"synthesizer did not see) or --train, not both"))
	case e.holdout == "" && e.train == "":
		return fail(usagef("--holdout or --train is required"))
	case e.html != "" || e.quasi != "" || cmd.Flags().Changed("pairs") || e.models != nil ||
		e.classifier != "":
		return fail(usagef("--report, --quasi, --pairs, --model and --classifier are for what is not " +
			"private; --epsilon gives numbers only (--json)"))
	case len(e.synthetic) > 1:
		return fail(usagef("--epsilon takes one --synthetic table"))
	case e.holdout == "":
		name = "--train"
	}
	e.Input = cmp.Or(e.holdout, e.train)
	if err := e.checkBudget(); err != nil {
		return fail(err)
	}
	synthetic := e.synthetic[0]
	if e.Input == job.Standard && synthetic == job.Standard {
		return fail(usagef("only one table can come from standard input"))
	}
	var err error
	if e.options.Drop, err = list("--drop", e.drop); err != nil {
		return fail(err)
	}
	if _, err := job.FormatOf("--synthetic", synthetic); err != nil {
		return fail(err)
	}
	if err := job.Readable(synthetic); err != nil {
		return fail(err)
	}
	program, elsewhere, err := job.Counter(e.Input, e.Ledger)
	switch {
	case !elsewhere:
		return e.private(cmd, name, e.Input)
	case err != nil:
		return fail(err)
	case e.options.Target != "":
		return fail(usagef("--target: its figures need rows, and %s %s is a table elsewhere, of which "+
			"there are counts: leave --target out, or give an extract", name, e.Input))
	}
	return e.tableOf(cmd, e.Input, func(s *schema.Schema) (*privacy.Rows, error) {
		return job.CountedRows(cmd.Context(), program, e.Input, s, publish.Sets(s), &e.counting)
	})
}

// estimates is what was bought.
type estimates struct{ *publish.Result }

func (r estimates) text(w io.Writer) {
	fmt.Fprintf(w, "publishable: %v\n\n", r.Claim())
	fmt.Fprintf(w, "metric\tvalue\tstandard error\tof\n")
	for _, e := range r.Estimates {
		if e.LeftOut != "" {
			fmt.Fprintf(w, "%s\t–\t\t%s: %s\n", e.Name, e.Of, e.LeftOut)
			continue
		}
		of := e.Of
		if e.Name == "RareClassRate" || e.Name == "AUROC" {
			of = fmt.Sprintf("%s = %s, %s", r.Target, r.Positive, e.Of)
		}
		fmt.Fprintf(w, "%s\t%s\t%.2g\t%s\n", e.Name, job.Short(e.Value), e.StdErr,
			strings.ToValidUTF8(of, "?"))
	}
}
