package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
)

type schemaUnits struct {
	jobFlags
	unit    string // of a table without a schema
	maxRows int
}

func schemaUnitsCommand(t *terminal) *cobra.Command {
	u := &schemaUnits{jobFlags: newJob(), maxRows: 1}
	return t.verb("schema units", u.run, u.flags(), flags{"unit": &u.unit,
		"max-rows-per-unit": &u.maxRows})
}

func (u *schemaUnits) run(cmd *cobra.Command, t *terminal, args []string) error {
	if err := u.checkBudget(); err != nil {
		return err
	}
	switch {
	case u.unit == "" && u.Schema == "":
		return usagef("--schema or --unit is missing: which column holds the ids of the units?")
	case u.unit != "" && u.Schema != "":
		return usagef("--unit %s and --schema %s: a schema names its unit", u.unit, u.Schema)
	case u.unit == "" && cmd.Flags().Changed("max-rows-per-unit"):
		return usagef("--max-rows-per-unit goes with --unit: a schema has its own")
	case u.unit != "": // whatever else is in a row is all one
		u.made = configs.Undescribed([]string{"(row)"}, schema.CSV{}, u.unit, u.maxRows)
		if err := u.made.Validate(); err != nil {
			return usagef("--unit: %w", err)
		}
	}
	if args[0] == configs.Standard {
		return usagef("INPUT must be a file")
	}
	rows, ledger, err := u.table(cmd, args[0])
	switch {
	case err != nil:
		return err
	case rows.Schema().Unit == "":
		return usagef("--schema %s names no unit: every row is a unit of its own, and nothing is bounded",
			u.Schema)
	}
	run, err := u.pay(t, ledger, "schema units", args[0], "", "")
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

// table is the private table, and the ledger that pays.
func (u *schemaUnits) table(
	cmd *cobra.Command, input string,
) (rows *privacy.Rows, l *ledger.File, err error) {
	program, elsewhere, err := configs.Describer(input, u.Ledger)
	switch {
	case !elsewhere:
		return u.private(cmd, "INPUT", input)
	case err != nil:
		return nil, nil, err
	}
	return u.tableOf(cmd, input, func(s *schema.Schema) (*privacy.Rows, error) {
		return configs.CountedUnits(cmd.Context(), program, input, s, infer.UnitRanges(s.MaxRowsPerUnit),
			&u.counting)
	})
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
		"which lose at least about %.0f rows in all\n", r.Whole, 100*r.Whole/all, r.Bounded,
		100*r.Bounded/all, r.LeftOut)
}
