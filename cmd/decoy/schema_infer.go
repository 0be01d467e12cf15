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
	jobFlags // Schema is a partial one
	inferFlags
	target string
	dryRun bool
}

// inferFlags are those by which a person says of a file what no schema does.
type inferFlags struct {
	public  bool
	unit    string
	maxRows int
}

func (s *inferFlags) flags() flags {
	return flags{"header-is-public": &s.public, "unit": &s.unit, "max-rows-per-unit": &s.maxRows}
}

// purchase is what the flags ask for.
type purchase struct {
	table  *text.Table
	ledger *ledger.File
	want   analysis.Inference
	plan   analysis.InferencePlan
}

func schemaInferCommand(t *terminal) *cobra.Command {
	s := &schemaInfer{jobFlags: newJob()}
	return t.verb("schema infer", s.run, s.jobFlags.flags(), s.inferFlags.flags(), flags{
		"target": &s.target, "dry-run": &s.dryRun})
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
	if s.Schema != "" {
		if err := s.declare(cmd, p); err != nil {
			return nil, err
		}
	}
	program, elsewhere, err := configs.Describer(input, s.Ledger)
	if !elsewhere {
		_, err = configs.FormatOf("INPUT", input)
	}
	if err == nil {
		err = s.checkFlags(input, p.want.CSV)
	}
	if err == nil && !elsewhere {
		err = configs.Readable(input)
	}
	var names []string
	switch {
	case err != nil:
	case elsewhere:
		names, err = configs.ColumnsOf(cmd.Context(), program, input, p.want.CSV)
	case p.want.CSV.NoHeader: // by position, the unit first
		if names = p.want.Declared.Names(); s.unit != "" {
			names = append([]string{s.unit}, names...)
		}
	default: // the header, which is public, decides about the separator
		names, p.want.CSV.Comma, err = configs.Header(input, p.want.CSV.Separator())
	}
	if err != nil {
		return nil, err
	}
	if s.unit != "" && !slices.Contains(names, s.unit) {
		return nil, usagef("--unit: there is no column %q%s", s.unit, spelling.Hint(s.unit, names))
	}
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

// declare takes what a partial schema says.
func (s *schemaInfer) declare(cmd *cobra.Command, p *purchase) (err error) {
	if cmd.Flags().Changed("unit") || cmd.Flags().Changed("max-rows-per-unit") {
		return usagef("--schema says what --unit and --max-rows-per-unit say")
	}
	if p.want.Declared, err = schema.LoadPartial(s.Schema); err != nil {
		return err
	}
	d := p.want.Declared
	if len(d.Made)+len(d.Rules) > 0 || slices.ContainsFunc(d.Columns,
		func(c schema.Column) bool { return c.After != "" }) {
		return usagef("--schema %s relates columns (rules, after, made columns): write these "+
			"into the schema that is bought, a date that is after another as {name: discharged, "+
			"kind: integer, after: admitted, min: 0, max: 90, missing: [\"\"], on_invalid: clamp} in "+
			"place of its column (decoy help schema)", s.Schema)
	}
	if s.unit, p.want.CSV = d.Unit, d.CSV; s.unit != "" {
		s.maxRows = d.MaxRowsPerUnit
	}
	return nil
}

// checkFlags checks the flags one by one.
func (s *schemaInfer) checkFlags(input string, csv schema.CSV) error {
	format, _ := table.FormatOf(input) // 0 of a table in another system
	switch {
	case s.Delta == 0:
		return usagef("--delta 0: categories can only be found with delta > 0")
	case s.unit == "" && s.maxRows != 0, s.unit != "" && s.maxRows < 1:
		return usagef("--unit and --max-rows-per-unit go together: every noise grows with the " +
			"rows that one unit may have")
	case csv.NoHeader && !format.IsCSV():
		return usagef("--schema %s: only CSV files have no header", s.Schema)
	case !csv.NoHeader && !s.public:
		return usagef("the names of the columns become part of the schema: --header-is-public "+
			"says that the first line of %s holds them and may be shown to anyone. If that line is a "+
			"row, a file for --schema has csv: {header: false} and the names", input)
	case input == configs.Standard:
		return usagef("INPUT is CSV on standard input: it is read twice, so it must be a file " +
			"(or Arrow, arrow:-, which is held in memory)")
	}
	return nil
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
	if s.dryRun {
		return t.print(inferNeeds{s.Budget(), p.plan.Columns, p.plan.Needs()})
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
	Columns int               `json:"columns"` // that are bought
	Needs   analysis.Needs    `json:"needs"`
}

// wholeRows rounds up to two digits.
func wholeRows(rows float64) int {
	unit := math.Pow(10, math.Floor(math.Log10(max(rows, 1)))-1)
	return int(math.Ceil(rows/unit) * unit)
}
