package main

import (
	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/schema/exchange"
)

type schemaImport struct{ from, table, out string }

func schemaImportCommand(t *terminal) *cobra.Command {
	s := &schemaImport{out: job.Standard}
	return t.verb("schema import", s.run, flags{"from": &s.from, "table": &s.table, "out": &s.out})
}

func (s *schemaImport) run(_ *cobra.Command, t *terminal, args []string) error {
	data, err := job.ReadBounded(args[0], 64<<20)
	if err != nil {
		return job.Bare(args[0], err)
	}
	d, err := exchange.Import(s.from, data, s.table)
	if err != nil {
		return err
	}
	yaml, err := d.YAML()
	if err != nil {
		return err
	}
	for _, c := range d.Columns {
		if c.Open != "" {
			t.say("to fill in: column %q, %s", c.Name, spelling.Visible(c.Open))
		}
	}
	return t.writeText("--out", s.out, job.ReleaseMode, yaml)
}

type schemaExport struct {
	jsonSchema bool
	out        string
}

func schemaExportCommand(t *terminal) *cobra.Command {
	s := &schemaExport{out: job.Standard}
	return t.verb("schema export", func(_ *cobra.Command, t *terminal, args []string) error {
		if !s.jsonSchema {
			return usagef("--json-schema is required: it is the one form that there is")
		}
		in, err := job.LoadSchema(args[0])
		if err != nil {
			return err
		}
		text, err := exchange.JSONSchema(in)
		if err != nil {
			return err
		}
		return t.writeText("--out", s.out, job.ReleaseMode, text)
	}, flags{"json-schema": &s.jsonSchema, "out": &s.out})
}
