package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/internal/job"
)

type schemaUnits struct{ jobFlags }

func schemaUnitsCommand(t *terminal) *cobra.Command {
	u := &schemaUnits{}
	cmd := manual{
		operands: "INPUT  private table, .csv or .parquet",
		exits:    []int{exitBudget, exitLocked, exitData},
		session: `
$ printf 'patient,ward\n1,a\n1,b\n2,a\n3,b\n' > visits.csv
$ printf 'decoy: 1\nunit: patient\nmax_rows_per_unit: 2\n' > visits.yaml
$ printf 'columns: [{name: ward, kind: categorical, categories: [a, b]}]\n' >> visits.yaml
$ decoy schema units visits.csv --schema visits.yaml --epsilon 0.1
`}.document(&cobra.Command{
		Use:   "units INPUT --schema S --epsilon E [flags]",
		Short: "buy a report on how many rows the units have, and what max_rows_per_unit leaves out",
		Long: `Count, with noise, how many privacy units (patients, customers) have one row, two rows and
so on, and say what max_rows_per_unit of the schema does to them: how many units are used whole, how
many lose rows, and how many rows are left out at least.

The noise does not depend on max_rows_per_unit, so the report may be bought once, for little, to
choose it. The cost is entered in the ledger, and adds to that of every other run. The report itself
may be shown to anyone.`,
		Args: operands("INPUT"),
	})
	u.addPrivate(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return u.run(cmd, t, args[0]) }
	return addJSON(cmd, t)
}

func (u *schemaUnits) run(cmd *cobra.Command, t *terminal, input string) error {
	if err := u.checkPrivate(cmd); err != nil {
		return err
	}
	if input == job.Standard {
		return usagef("INPUT must be a file")
	}
	rows, ledger, err := u.private("INPUT", input, nil, nil)
	switch {
	case err != nil:
		return err
	case rows.Schema().Unit == "":
		return usagef("--schema %s names no unit: every row is a unit of its own, and nothing is bounded",
			u.Schema)
	}
	run, err := u.pay(t, ledger, "schema units", input, "", "")
	if err != nil {
		return err
	}
	o := infer.Options{Options: run.Options(u.Job)}
	_, s, err := infer.Units(cmd.Context(), rows, o, func(r *infer.UnitSizes) error {
		run.got("the report is (ε = %v, δ = %v)-differentially private, %v neighbours of one %q",
			u.Epsilon, u.Delta, r.Adjacency, r.Unit)
		return t.print(shownUnits{r})
	})
	return run.end(s, err)
}

// shownUnits is the report.
type shownUnits struct{ *infer.UnitSizes }

// text has a dash for a count that does not stand out of the noise; behind the last that does, one
// line stands for the rest.
func (r shownUnits) text(w io.Writer) {
	visible := func(n int64) bool { return float64(n) >= 3*r.Sigma }
	last := slices.Index(r.UpTo, r.MaxRowsPerUnit)
	for i, n := range r.Counts {
		if visible(n) {
			last = max(last, i)
		}
	}
	fmt.Fprintf(w, "ROWS\tUNITS (±%.0f)\tUSED\n", r.Sigma)
	from := 1
	for i, n := range r.Counts {
		rows, used, count := fmt.Sprint(from), "all", "-"
		switch {
		case i > last || i == len(r.UpTo):
			rows = fmt.Sprintf("%d or more", from)
		case r.UpTo[i] > from:
			rows = fmt.Sprintf("%d to %d", from, r.UpTo[i])
		}
		if from > r.MaxRowsPerUnit {
			used = fmt.Sprintf("%d of them", r.MaxRowsPerUnit)
		}
		if visible(n) {
			count = fmt.Sprint(n)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", rows, count, used)
		if i > last || i == len(r.UpTo) {
			break
		}
		from = r.UpTo[i] + 1
	}
	all := math.Max(1, r.Whole+r.Bounded)
	fmt.Fprintf(w, "\nused whole: about %.0f units (%.0f %%)\nbounded: about %.0f units (%.0f %%), "+
		"of whose rows at least about %.0f are left out\n", r.Whole, 100*r.Whole/all, r.Bounded,
		100*r.Bounded/all, r.LeftOut)
}
