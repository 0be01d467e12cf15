package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/table"
)

type datasetsExport struct{ out, schemaOut string }

func datasetsExportCommand(t *terminal) *cobra.Command {
	e := &datasetsExport{}
	cmd := manual{
		operands: "NAME  data set of decoy datasets list",
		session: `
$ decoy datasets export icu-mortality --out icu.csv --schema-out icu.yaml
$ decoy datasets export icu-mortality --out icu.parquet
`}.document(&cobra.Command{
		Use:   "export NAME [--out OUT] [--schema-out S]",
		Short: "write an embedded example or a schema to a file",
		Long: "Write the rows of an embedded example (--out), the schema of any known table " +
			"(--schema-out), or both.",
		Args: operands("NAME"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return datasets.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	})
	cmd.Flags().StringVar(&e.out, "out", "",
		"table `OUT`: .csv, .parquet, or - for CSV on standard output")
	addForce(cmd, t)
	cmd.Flags().StringVar(&e.schemaOut, "schema-out", "", "schema file `S` (YAML)")
	cmd.RunE = func(_ *cobra.Command, args []string) error { return e.run(t, args[0]) }
	return cmd
}

func (e *datasetsExport) run(t *terminal, name string) error {
	if e.out == "" && e.schemaOut == "" {
		return usagef("--out or --schema-out is required")
	}
	if err := distinct([]place{{"--out", e.out}, {"--schema-out", e.schemaOut}}, nil); err != nil {
		return err
	}
	d, err := datasets.Get(name)
	if err != nil {
		return err
	}
	if e.schemaOut != "" && e.schemaOut != standard { // before the table is written
		if err := t.try("--schema-out", e.schemaOut); err != nil {
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
	return e.write(t, "--schema-out", e.schemaOut, func(w io.Writer) error {
		_, err := w.Write(d.SchemaYAML())
		return err
	})
}

// rows writes the table as it is: no code, bin or rounding in between.
func (e *datasetsExport) rows(t *terminal, d datasets.Dataset) error {
	format, err := formatOf("--out", e.out)
	if err != nil {
		return err
	}
	return e.write(t, "--out", e.out, func(w io.Writer) error {
		if format == table.Parquet {
			return writeParquet(w, d)
		}
		_, err := w.Write(d.CSV())
		return err
	})
}

func (e *datasetsExport) write(t *terminal, flag, path string, to func(io.Writer) error) error {
	if path == standard {
		return to(t.stdout)
	}
	f, err := t.create(flag, path, releaseMode)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := to(f); err != nil {
		return err
	}
	if err := f.Commit(); err != nil {
		return err
	}
	t.say("wrote %s", path)
	return nil
}
