package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// manyCodes is where a column gets so fine that at usual budgets most of its cells are below the
// noise: at ε = 1 and 15 columns, σ of a one-way marginal is some 20 rows (decoy plan).
const manyCodes = 1000

func schemaCheckCommand(t *terminal) *cobra.Command {
	return addJSON(manual{
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
			out := checkedSchema{len(s.Columns), cells(s), s.Unit, max(1, s.MaxRowsPerUnit), s.Lenient,
				columnsOf(s), s.Constraints(), advice(s)}
			for _, text := range out.Advice {
				t.say("advice: %s", text)
			}
			return t.print(out)
		},
	}), t)
}

// checkedSchema is a schema that is valid.
type checkedSchema struct {
	Columns        int                            `json:"columns"`
	Cells          float64                        `json:"cells"`
	Unit           string                         `json:"unit,omitempty"`
	MaxRowsPerUnit int                            `json:"max_rows_per_unit"`
	Lenient        bool                           `json:"lenient"`
	Each           listing[schema.ColumnOverview] `json:"each"`
	Constraints    []string                       `json:"constraints,omitempty"`
	Advice         []string                       `json:"advice,omitempty"`
}

func (s checkedSchema) text(w io.Writer) {
	unit := "one row"
	if s.Unit != "" {
		unit = fmt.Sprintf("all rows of one %q, of which at most %d are used", s.Unit, s.MaxRowsPerUnit)
	}
	broken := "end a run with an error, which is for the operator who holds the file " +
		"(lenient: true changes that)"
	if s.Lenient {
		broken = "become missing or clamped; no content of a table ends a run with an error " +
			"(lenient: true)"
	}
	fmt.Fprintf(w, "ok: %s\n", sizeText(s.Columns, s.Cells))
	fmt.Fprintf(w, "privacy unit: %s\n", unit)
	fmt.Fprintf(w, "rows that break the schema: %s\n\n", broken)
	s.Each.text(w)
	if len(s.Constraints) > 0 {
		fmt.Fprintln(w, "\ntaken as public knowledge, and kept in every row that is written:")
	}
	for _, text := range s.Constraints {
		fmt.Fprintf(w, "  %s\n", spelling.Visible(text))
	}
}

// sayGuarantee says what a model promises, and what is taken for granted besides.
func (t *terminal) sayGuarantee(m *release.Model) {
	t.say("guarantee: %v", m.Claim)
	if n := len(m.Schema().Constraints()); n > 0 {
		t.say("taken as public knowledge, and kept in every row: %s of the schema "+
			"(decoy inspect names them)", plural(n, "constraint", "constraints"))
	}
}

// columnsOf are the columns of a valid schema.
func columnsOf(s *schema.Schema) listing[schema.ColumnOverview] {
	columns, err := s.Overview()
	if err != nil {
		panic("decoy: " + err.Error()) // the schema was validated
	}
	return listing[schema.ColumnOverview]{columns, "COLUMN\tKIND\tCODES\tMISSING\tFROM\tTO",
		func(c schema.ColumnOverview) string {
			return row(c.Name, c.Kind, c.Codes, map[bool]string{true: "yes", false: "no"}[c.Missing],
				clip(c.From), clip(c.To))
		}}
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
