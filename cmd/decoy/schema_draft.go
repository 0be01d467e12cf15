package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

type schemaDraft struct {
	public, noHeader bool
	comma            string
}

func schemaDraftCommand(t *terminal) *cobra.Command {
	d := &schemaDraft{comma: ","}
	return t.verb("schema draft", d.run, flags{"public": &d.public, "no-header": &d.noHeader,
		"comma": &d.comma})
}

func (d *schemaDraft) run(_ *cobra.Command, t *terminal, args []string) error {
	path := args[0]
	if !d.public {
		return usagef("a draft shows every category and every extreme of the file without protection: " +
			"--public says that the rows are " +
			"public. The schema of a private file is written by hand, or drafted from a public sample")
	}
	if len(d.comma) != 1 {
		return usagef("--comma %q must be one byte", d.comma)
	}
	if _, err := job.FormatOf("FILE", path); err != nil {
		return err
	}
	if err := job.Readable(path); err != nil {
		return err
	}
	for _, name := range []string{path, job.Resolve(path)} {
		if _, err := os.Lstat(name + ".ledger"); err == nil {
			return usagef("%s has a ledger, %s.ledger: somebody keeps the account of what was spent on it, "+
				"so it is private, and --public would void every guarantee. Buy the schema ('decoy schema "+
				"infer'), or draft it from a public sample", path, name)
		}
	}
	// A notice about a leak is no talk: --quiet does not silence it.
	fmt.Fprintf(t.stderr, "NOTICE: %s is read as PUBLIC. The draft below holds values from its "+
		"rows, without any protection.\n"+
		"NOTICE: if these rows are private, delete the draft: a guarantee that rests on it is void.\n",
		path)
	var drafter *schema.Drafter
	csv := schema.CSV{NoHeader: d.noHeader, Comma: d.comma[0]}
	err := table.ScanText(path, table.ScanOptions{CSV: csv}, func(names, row []string) error {
		if drafter == nil {
			drafter = schema.NewDrafter(names)
		}
		drafter.Add(row)
		return nil
	})
	if err != nil {
		return err
	}
	if drafter == nil {
		return fmt.Errorf("%s has no rows to draft from: %w", path, schema.ErrSchema)
	}
	s, err := drafter.Schema()
	if err != nil {
		return err
	}
	s.CSV = csv
	yaml, err := s.YAML()
	if err != nil {
		return err
	}
	fmt.Fprintf(t.stdout, "# Drafted from rows that were declared public. Check every kind, bound, "+
		"category and bin before use.\n%s", yaml)
	return nil
}
