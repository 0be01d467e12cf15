package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// manyCodes is where a column gets so fine that at usual budgets most of its cells are below the
// noise: at ε = 1 and 15 columns, σ of a one-way marginal is some 20 rows (decoy plan).
const manyCodes = 1000

func schemaCheckCommand(t *terminal) *cobra.Command {
	return manual{
		operands: "SCHEMA  schema file (YAML)",
		session: `
$ decoy datasets export icu-mortality --schema-out icu.yaml
$ decoy schema check icu.yaml
`}.document(&cobra.Command{
		Use:   "check SCHEMA",
		Short: "check a schema and show its columns",
		Long:  "Check a schema file: list every problem with its line, or show the columns, with advice.",
		Args:  operands("SCHEMA"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := job.LoadSchema(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(t.stdout, "ok: %s\n", sizeText(len(s.Columns), cells(s)))
			fmt.Fprintf(t.stdout, "privacy unit: %s\n", unitText(s))
			fmt.Fprintf(t.stdout, "rows that break the schema: %s\n\n", lenientText(s))
			printColumns(t, s)
			for _, text := range advice(s) {
				t.say("advice: %s", text)
			}
			return nil
		},
	})
}

// unitText says what one privacy unit of a schema is.
func unitText(s *schema.Schema) string {
	if s.Unit == "" {
		return "one row"
	}
	return fmt.Sprintf("all rows of one %q, of which at most %d are used", s.Unit,
		max(1, s.MaxRowsPerUnit))
}

// lenientText says whether the rows of a table can end a run.
func lenientText(s *schema.Schema) string {
	if s.Lenient {
		return "become missing or clamped; no content of a table ends a run with an error " +
			"(lenient: true)"
	}
	return "end a run with an error, which is for the operator who holds the file " +
		"(lenient: true changes that)"
}

// printColumns is the table of a schema's columns. The schema is valid.
func printColumns(t *terminal, s *schema.Schema) {
	w := t.table()
	fmt.Fprintln(w, "COLUMN\tKIND\tCODES\tMISSING\tFROM\tTO")
	codecs, err := s.Codecs()
	if err != nil {
		panic("decoy: " + err.Error()) // the schema was validated
	}
	for _, c := range codecs {
		column, last, missing := c.Column(), c.Size()-1, "no"
		if _, ok := c.MissingCode(); ok {
			missing = "yes"
			last--
		}
		fmt.Fprintf(w, "%s\t%v\t%d\t%s\t%s\t%s\n", spelling.Visible(column.Name), column.Kind,
			c.Size(), missing, clip(c.Label(0)), clip(c.Label(uint16(last))))
	}
	w.Flush()
}

// clip shortens a label for the table.
func clip(label string) string {
	const most = 32
	label = spelling.Visible(label)
	if r := []rune(label); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return label
}

// advice names what is allowed but makes a poor synthetic table.
func advice(s *schema.Schema) []string {
	var out []string
	for _, c := range s.Columns {
		texts := append([]string{c.Name}, c.Categories...)
		if len(c.Missing) > 0 {
			texts = append(texts, c.Missing[0])
		}
		for _, text := range texts {
			if table.Formula(text) {
				out = append(out, fmt.Sprintf("column %q: a spreadsheet would run %q as a formula; "+
					"--spreadsheet-safe of generate and sample writes it as a text", c.Name, text))
				break
			}
		}
	}
	for i, size := range s.Sizes() {
		name := s.Columns[i].Name
		switch {
		case size > manyCodes:
			out = append(out, fmt.Sprintf("column %q has %d codes: at usual budgets most of them "+
				"drown in noise; fewer bins, or rare categories joined into one (on_invalid: other), keep "+
				"more of the rest", name, size))
		case size == 1:
			out = append(out, fmt.Sprintf("column %q has one code only: it says nothing, and measuring it "+
				"still costs", name))
		}
	}
	return out
}
