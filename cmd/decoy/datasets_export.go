package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/table"
)

type datasetsExport struct{ out, schemaOut string }

func datasetsExportCommand(t *terminal) *cobra.Command {
	e := &datasetsExport{}
	cmd := t.verb("datasets export", flags{"out": &e.out, "schema-out": &e.schemaOut})
	cmd.ValidArgsFunction = cobra.FixedCompletions(datasets.Names(),
		cobra.ShellCompDirectiveNoFileComp)
	cmd.RunE = func(_ *cobra.Command, args []string) error { return e.run(t, args[0]) }
	return cmd
}

func (e *datasetsExport) run(t *terminal, name string) error {
	if e.out == "" && e.schemaOut == "" {
		return usagef("--out or --schema-out is required")
	}
	d, err := datasets.Get(name)
	if err != nil {
		return err
	}
	if e.schemaOut != "" && e.schemaOut != job.Standard { // before the table is written
		if err := job.TryCreate("--schema-out", e.schemaOut, t.force); err != nil {
			return err
		}
	}
	if e.out != "" {
		if !d.Embedded {
			return fmt.Errorf("%s is %w: the rows come from %s (--schema-out alone writes its schema)", name,
				datasets.ErrNotEmbedded, d.Origin)
		}
		if err := e.rows(t, d); err != nil {
			return err
		}
	}
	if e.schemaOut == "" {
		return nil
	}
	return t.writeText("--schema-out", e.schemaOut, d.SchemaYAML())
}

// rows writes the table as it is: no code, bin or rounding in between.
func (e *datasetsExport) rows(t *terminal, d datasets.Dataset) error {
	format, err := job.FormatOf("--out", e.out)
	if err != nil {
		return err
	}
	if format != table.CSV && format != table.Parquet {
		return usagef("--out %s: the rows are written as they are, to .csv or .parquet", e.out)
	}
	if format == table.CSV {
		return t.writeText("--out", e.out, d.CSV())
	}
	return t.write("--out", e.out, func(w io.Writer) error { return writeParquet(w, d) })
}
