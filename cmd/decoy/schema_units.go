package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/stats"
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
	case args[0] == configs.Standard:
		return usagef("INPUT must be a file")
	}
	rows, ledger, err := u.counted(cmd, "INPUT", args[0],
		func(s *schema.Schema) ([][]int, []int, error) {
			return nil, stats.UnitRanges(s.MaxRowsPerUnit), nil
		}, u.described)
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
	_, s, err := stats.Units(cmd.Context(), rows, stats.Run[*stats.UnitSizes]{
		Options: run.Options(u.Job), Deliver: func(r *stats.UnitSizes) error {
			run.got("the report is (ε = %v, δ = %v)-differentially private, %v neighbours of one %q",
				u.Epsilon, u.Delta, r.Adjacency, r.Unit)
			return t.print(shownUnits{r})
		}})
	return run.end(s, err)
}

// described is the schema of the table.
func (u *schemaUnits) described() (*schema.Schema, error) {
	if u.unit == "" {
		return u.jobFlags.described()
	}
	// whatever else is in a row is all one
	s := configs.Undescribed([]string{"(row)"}, schema.CSV{}, u.unit, u.maxRows)
	if err := s.Validate(); err != nil {
		return nil, usagef("--unit: %w", err)
	}
	return s, nil
}

// shownUnits is the report.
type shownUnits struct{ *stats.UnitSizes }

// unitRange is how many units have so many rows.
type unitRange struct{ Rows, Count, Used string }

// Ranges have a dash for a count that does not stand out of the noise.
func (r shownUnits) Ranges() (out []unitRange) {
	from := 1
	for i, n := range r.Counts {
		one := unitRange{Rows: fmt.Sprintf("%d or more", from), Count: "-", Used: "all"}
		switch {
		case i < len(r.UpTo) && r.UpTo[i] == from:
			one.Rows = fmt.Sprint(from)
		case i < len(r.UpTo):
			one.Rows = fmt.Sprintf("%d to %d", from, r.UpTo[i])
		}
		if from > r.MaxRowsPerUnit {
			one.Used = fmt.Sprintf("%d of them", r.MaxRowsPerUnit)
		}
		if float64(n) >= 3*r.Sigma {
			one.Count = fmt.Sprint(n)
		}
		out = append(out, one)
		if i < len(r.UpTo) {
			from = r.UpTo[i] + 1
		}
	}
	return out
}
