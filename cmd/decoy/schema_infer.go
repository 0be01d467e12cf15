package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

type schemaInfer struct {
	jobFlags
	inferFlags
}

// inferFlags are the flags of the verb.
type inferFlags struct {
	public, noHeader bool
	columns          names
	comma, unit      string
	maxRows          int
	partial, target  string
	dryRun           bool
}

// purchase is what the flags ask for.
type purchase struct {
	table  *text.Table
	ledger *ledger.File
	want   analysis.Inference
	plan   analysis.InferencePlan
}

func schemaInferCommand(t *terminal) *cobra.Command {
	s := &schemaInfer{newJob(), inferFlags{comma: ","}}
	return t.verb("schema infer", s.run, s.jobFlags.flags(), s.inferFlags.flags(), flags{
		"schema": &s.partial, "target": &s.target, "dry-run": &s.dryRun})
}

// flags are those by which a person says of a file what no schema does.
func (s *inferFlags) flags() flags {
	return flags{"header-is-public": &s.public, "no-header": &s.noHeader, "columns": &s.columns,
		"comma": &s.comma, "unit": &s.unit, "max-rows-per-unit": &s.maxRows}
}

// check checks the flags; nothing but the header is read.
func (s *schemaInfer) check(cmd *cobra.Command, input string) (*purchase, error) {
	if err := s.checkBudget(); err != nil {
		return nil, err
	}
	if !s.dryRun {
		if err := need(cmd, "out"); err != nil {
			return nil, err
		}
	}
	return s.purchase(cmd, input)
}

// purchase is check without --epsilon and --out.
func (s *schemaInfer) purchase(cmd *cobra.Command, input string) (*purchase, error) {
	p := &purchase{}
	if s.partial != "" {
		if cmd.Flags().Changed("unit") || cmd.Flags().Changed("max-rows-per-unit") || s.noHeader ||
			cmd.Flags().Changed("comma") {
			return nil, usagef("--schema says what --unit, --max-rows-per-unit, --comma and --no-header say")
		}
		var err error
		if p.want.Declared, err = schema.LoadPartial(s.partial); err != nil {
			return nil, err
		}
		d := p.want.Declared
		if len(d.Made)+len(d.Rules) > 0 || slices.ContainsFunc(d.Columns,
			func(c schema.Column) bool { return c.After != "" }) {
			return nil, usagef("--schema %s relates columns (rules, after, made columns): write these "+
				"into the schema that is bought, a date that is after another as {name: discharged, "+
				"kind: integer, after: admitted, min: 0, max: 90, missing: [\"\"], on_invalid: clamp} in "+
				"place of its column (decoy help schema)", s.partial)
		}
		s.unit, s.noHeader, s.comma = d.Unit, d.CSV.NoHeader, string(rune(d.CSV.Separator()))
		if s.unit != "" {
			s.maxRows = d.MaxRowsPerUnit
		}
	}
	program, elsewhere, err := configs.Describer(input, s.Ledger)
	format := table.Format(0)
	if !elsewhere {
		format, err = configs.FormatOf("INPUT", input)
	}
	if err != nil {
		return nil, err
	}
	if err := s.checkFlags(cmd, input); err != nil {
		return nil, err
	}
	var names []string
	switch {
	case !elsewhere:
		names, err = s.header(cmd, input, format, p.want.Declared)
	case s.noHeader:
		err = usagef("--no-header: the columns of a table in another system have names")
	default:
		names, err = configs.ColumnsOf(cmd.Context(), program, input, schema.CSV{Comma: s.comma[0]})
	}
	if err != nil {
		return nil, err
	}
	if s.unit != "" && !slices.Contains(names, s.unit) {
		return nil, usagef("--unit: there is no column %q%s", s.unit, spelling.Hint(s.unit, names))
	}
	p.want.CSV = schema.CSV{NoHeader: s.noHeader, Comma: s.comma[0]}
	columns := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == s.unit })
	asked, err := p.want.Asked(columns)
	if err != nil {
		return nil, err
	}
	if d := p.want.Declared; s.target != "" && d.Index(s.target) < 0 {
		return nil, usagef("--target: there is no column %q%s", s.target,
			spelling.Hint(s.target, d.Names()))
	}
	if elsewhere {
		p.table, err = configs.CountedTexts(cmd.Context(), program, input,
			configs.Undescribed(names, p.want.CSV, s.unit, s.maxRows), asked)
	} else {
		p.table, err = text.File(input, text.Options{Names: names, CSV: p.want.CSV, Unit: s.unit,
			MaxRowsPerUnit: s.maxRows})
	}
	if err != nil {
		return nil, err
	}
	p.plan, err = analysis.PlanInference(len(asked), p.table.Neighbours(s.Relation()), s.Budget())
	if err != nil {
		return nil, err
	}
	if p.ledger, err = configs.LedgerOf(s.Ledger, input); err != nil || s.dryRun {
		return p, err
	}
	return p, apart(cmd, p.ledger)
}

// checkFlags checks the flags one by one.
func (s *schemaInfer) checkFlags(cmd *cobra.Command, input string) error {
	switch {
	case s.Delta == 0:
		return usagef("--delta 0: categories can only be found with delta > 0")
	case len(s.comma) != 1:
		return usagef("--comma %q must be one byte", s.comma)
	case s.unit == "" && s.maxRows != 0, s.unit != "" && s.maxRows < 1:
		return usagef("--unit and --max-rows-per-unit go together: every noise grows with the " +
			"rows that one unit may have")
	case s.noHeader && len(s.columns) == 0 && s.partial == "":
		return usagef("--no-header needs the names of the columns: --columns a,b,c")
	case !s.noHeader && len(s.columns) > 0:
		return usagef("--columns names the columns of a file without a header: it needs --no-header")
	case s.noHeader && s.unit != "" && (len(s.columns) == 0 || s.columns[0] != s.unit):
		return usagef("--no-header: columns go by position, and the unit must be the first")
	case !s.noHeader && !s.public:
		return usagef("the names of the columns become part of the schema: --header-is-public "+
			"says that the first line of %s holds them and "+
			"may be shown to anyone. If that line is a row, give --no-header --columns a,b,c", input)
	case input == configs.Standard:
		return usagef("INPUT is CSV on standard input: it is read twice, so it must be a file " +
			"(or Arrow, arrow:-, which is held in memory)")
	}
	return nil
}

// header is the public names of the columns.
func (s *schemaInfer) header(
	cmd *cobra.Command, input string, format table.Format, declared *schema.Partial,
) (names []string, err error) {
	if s.noHeader && !format.IsCSV() {
		return nil, usagef("--no-header: only CSV files have none")
	}
	if err := configs.Readable(input); err != nil {
		return nil, err
	}
	names = s.columns
	if s.noHeader && declared != nil { // by position, the unit first
		names = nil
		if s.unit != "" {
			names = []string{s.unit}
		}
		for _, c := range declared.Columns {
			names = append(names, c.Name)
		}
	}
	switch comma := s.comma[0]; {
	case s.noHeader:
	case cmd.Flags().Changed("comma"):
		names, err = table.Header(input, comma)
	default: // the header, which is public, decides
		names, comma, err = configs.Header(input, comma)
		s.comma = string(rune(comma))
	}
	return names, err
}

func (s *schemaInfer) run(cmd *cobra.Command, t *terminal, args []string) error {
	input := args[0]
	p, err := s.check(cmd, input)
	if err != nil {
		return err
	}
	if t.json && !s.dryRun {
		return usagef("--json is for what --dry-run prints: give both")
	}
	sayIDs(t, s.unit, p.table.Names())
	needs := inferNeeds{s.Budget(), p.plan.Columns, s.Rows, p.plan.Needs()}
	if s.dryRun {
		return t.print(needs)
	}
	if err := needs.refuse(t); err != nil {
		return err
	}
	run, err := s.pay(t, p.ledger, "schema infer", input, "--out", s.Out)
	if err != nil {
		return err
	}
	defer run.file.Abort()
	p.want.Target = s.target
	r, session, err := analysis.Infer(cmd.Context(), p.table, p.want, analysis.Run[*analysis.Inferred]{
		Options: run.Options(s.Job), Progress: run.shown.report,
		Deliver: func(r *analysis.Inferred) error {
			sayBought(t, r)
			run.SayTotal()
			yaml, err := r.YAML()
			if err != nil {
				return err
			}
			return run.file.Complete(func(w io.Writer) error { _, err := w.Write(yaml); return err })
		},
	})
	switch {
	case errors.Is(err, release.ErrNothing):
		return sayNothing(t, err)
	case err != nil:
		return run.Explain(err, session != nil)
	case run.file.IsFile():
		t.say("wrote %s: %s. Read it, then: decoy generate %s --schema %s --epsilon E --out OUT.csv",
			s.Out, sizeText(len(r.Schema().Columns), cells(r.Schema())), input, s.Out)
	}
	return nil
}

// sayNothing is the end of a run that bought nothing.
func sayNothing(t *terminal, err error) error {
	t.say("the budget of this run stays spent")
	return fmt.Errorf("%w; a schema can be written by hand (decoy help schema)", err)
}

// sayBought says what a schema guarantees, and what is not in it.
func sayBought(t *terminal, r *analysis.Inferred) {
	t.say("guarantee: the schema is (ε = %v, δ = %v)-differentially private, %v", r.Budget.Epsilon,
		r.Budget.Delta, r.Neighbours.Units(r.Schema().Unit).Words())
	sayDoubts(t, r)
}

// sayDoubts names the columns that are not in a bought schema, and those that may be wrong in it.
func sayDoubts(t *terminal, r *analysis.Inferred) {
	var left, joined, doubtful []string
	for _, column := range r.Columns {
		name := fmt.Sprintf("%q", column.Name)
		switch found := column.Found; {
		case column.Commas:
			t.say("cells of %s look like numbers with a decimal comma, which are not read as numbers: "+
				"write points into a copy of the table, and go on with the ledger of this one (--ledger)",
				name)
		case found == nil:
			left = append(left, name)
		case found.Other != "" && !column.Codes:
			joined = append(joined, name)
		case column.Codes || found.Kind == schema.Categorical:
			doubtful = append(doubtful, name)
		}
	}
	if len(left) > 0 {
		t.say("left out: %s (see the comments in the schema)", strings.Join(left, ", "))
	}
	if len(joined) > 0 {
		t.say("texts in fewer than about %d rows are \"(other)\" in %s", r.Threshold,
			strings.Join(joined, ", "))
	}
	if len(doubtful) > 0 {
		t.say("texts in fewer than about %d rows, and codes that do not exist, may be wrong in %s: what "+
			"you know costs nothing, so correct the schema, or declare them before (decoy schema infer "+
			"--schema)", r.Threshold, strings.Join(doubtful, ", "))
	}
	if text := unordered(r.Schema()); text != "" {
		t.say("%s", text)
	}
}

// inferNeeds is how many rows a purchase of a schema needs. It follows from public knowledge.
type inferNeeds struct {
	Budget  accountant.Budget `json:"budget"`
	Columns int               `json:"columns"`        // that are bought
	Rows    int               `json:"rows,omitempty"` // of the table, if that is public
	Needs   analysis.Needs    `json:"needs"`
}

// Fails reports that the table is likely to end up without a usable schema.
func (n inferNeeds) Fails() bool { return float64(n.Rows) < n.Needs.Kind }

// refuse refuses a purchase that is likely to come to nothing, unless it is forced.
func (n inferNeeds) refuse(t *terminal) error {
	if n.Rows > 0 && n.Fails() && !t.force {
		return usagef("%s\nnothing was spent; --force buys it all the same", n.Why())
	}
	return nil
}

// Why says what a table of few rows lacks.
func (n inferNeeds) Why() string {
	return fmt.Sprintf("%s are too few: at epsilon %v a schema of %s needs about %s, or epsilon "+
		"about %.2g. A schema that you write yourself costs nothing: decoy help schema",
		plural(n.Rows, "row", "rows"), n.Budget.Epsilon, plural(n.Columns, "column", "columns"),
		plural(wholeRows(n.Needs.Kind), "row", "rows"),
		n.Budget.Epsilon*n.Needs.Kind/float64(max(1, n.Rows)))
}

// wholeRows rounds up to two digits.
func wholeRows(rows float64) int {
	unit := math.Pow(10, math.Floor(math.Log10(max(rows, 1)))-1)
	return int(math.Ceil(rows/unit) * unit)
}
