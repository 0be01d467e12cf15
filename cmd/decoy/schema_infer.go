package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

type schemaInfer struct {
	jobFlags // Schema is a partial one
	dryRun   bool
}

func schemaInferCommand(t *terminal) *cobra.Command {
	s := &schemaInfer{jobFlags: newJob()}
	return t.verb("schema infer", s.run, s.flags(), flags{"dry-run": &s.dryRun})
}

// declare takes what a partial schema says.
func (s *schemaInfer) declare(cmd *cobra.Command, want *infer.Inference) (err error) {
	if cmd.Flags().Changed("unit") || cmd.Flags().Changed("max-rows-per-unit") {
		return usagef("--schema says what --unit and --max-rows-per-unit say")
	}
	if want.Declared, err = schema.LoadPartial(s.Schema); err != nil {
		return err
	}
	d := want.Declared
	if len(d.Made)+len(d.Rules) > 0 || slices.ContainsFunc(d.Columns,
		func(c schema.Column) bool { return c.After != "" }) {
		return usagef("--schema %s relates columns (rules, after, made columns): write these "+
			"into the schema that is bought, a date that is after another as {name: discharged, "+
			"kind: integer, after: admitted, min: 0, max: 90, missing: [\"\"], on_invalid: clamp} in "+
			"place of its column (decoy help schema)", s.Schema)
	}
	if s.Unit, want.CSV = d.Unit, d.CSV; s.Unit != "" {
		s.MaxRowsPerUnit = d.MaxRowsPerUnit
	}
	return nil
}

// run checks the flags first, for which nothing but the header is read.
func (s *schemaInfer) run(cmd *cobra.Command, t *terminal, args []string) error {
	s.Input = args[0]
	err := s.checkBudget()
	if err == nil && !s.dryRun {
		err = need(cmd, "out")
	}
	var want infer.Inference
	if err == nil && s.Schema != "" {
		err = s.declare(cmd, &want)
	}
	if err != nil {
		return err
	}
	p, err := configs.NewPurchase(cmd.Context(), s.Job, want)
	if err != nil {
		return err
	}
	l, err := configs.LedgerOf(s.Ledger, s.Input)
	switch {
	case err != nil:
		return err
	case s.dryRun:
		sayHeader(t, s.Unit, p.Table.Names())
		return t.print(inferNeeds{s.Budget(), p.Plan.Columns, p.Plan.Needs()})
	case t.json:
		return usagef("--json is for what --dry-run prints: give both")
	}
	if err := apart(cmd, l); err != nil {
		return err
	}
	sayHeader(t, s.Unit, p.Table.Names())
	run, err := s.pay(t, l, "schema infer", s.Input, "--out", s.Out)
	if err != nil {
		return err
	}
	r, session, err := infer.Infer(cmd.Context(), p.Table, p.Want, infer.Run{
		Options: run.Options(s.Job), Progress: run.shown.report,
		Deliver: func(r *infer.Inferred) error {
			run.got("the schema is (ε = %v, δ = %v)-differentially private, %v", r.Budget.Epsilon,
				r.Budget.Delta, r.Neighbours.Units(r.Schema().Unit).Words())
			sayDoubts(t, r)
			if text := unordered(r.Schema()); text != "" {
				t.say("%s", text)
			}
			yaml, err := r.YAML()
			if err == nil {
				err = run.file.Text(yaml)
			}
			return err
		},
	})
	if err != nil {
		return run.Explain(err, session != nil)
	}
	if run.file.IsFile() {
		t.say("wrote %s: %s. Read it, then: decoy generate %s --schema %s --epsilon E --out OUT.csv",
			s.Out, schemaSize(r.Schema()), s.Input, s.Out)
	}
	return nil
}

// sayDoubts names the columns that are not in a bought schema, and those that may be wrong in it.
func sayDoubts(t *terminal, r *infer.Inferred) {
	type list struct{ names, values []string }
	var left, doubted, cut, taken, joined, doubtful list
	for _, column := range r.Columns {
		add := func(to *list, is bool, value string) {
			if is {
				to.names, to.values = append(to.names, column.Name), append(to.values, value)
			}
		}
		c := column.Found
		add(&doubted, column.Doubt != "", column.Doubt)
		if add(&left, c == nil, strings.TrimPrefix(column.Note, "left out: ")); c == nil {
			continue
		}
		add(&cut, column.Cut != "", column.Cut)
		add(&taken, column.Taken != nil, quoted(column.Taken))
		isJoined := c.Other != "" && !column.Codes
		add(&joined, isJoined, valuesOf(c))
		add(&doubtful, !isJoined && (column.Codes || c.Kind.Stored() == schema.StoredText), valuesOf(c))
	}
	each := func(l list, says string) {
		if l.names != nil {
			t.say("%s:", says)
			t.sayEach(l.names, l.values)
		}
	}
	each(left, fmt.Sprintf("columns left out of the schema: %d of %d%s", len(left.names),
		len(r.Columns), keeping(r)))
	t.sayEach(doubted.names, doubted.values)
	each(cut, "ends that hold few rows were cut (to correct the schema costs nothing)")
	each(taken, "texts among values are read as missing")
	t.sayNames(joined.names, joined.values, "texts in fewer than about %d rows are \"(other)\"",
		r.Threshold)
	t.sayNames(doubtful.names, doubtful.values, "please check these values: one in fewer than about "+
		"%d rows may be missing, or made up (to correct the schema costs nothing)", r.Threshold)
	sayRules(t, r)
}

// sayRules names what was found always to hold between the cells of a row, and what may.
func sayRules(t *terminal, r *infer.Inferred) {
	for _, rule := range r.Rules {
		if rule.Kept {
			t.say("found, and kept in every row: %v", rule)
		}
	}
	for _, rule := range r.Rules {
		if !rule.Kept {
			t.say("likely, but hidden by the noise; if it always holds, this line in place of the column's "+
				"in the schema keeps it, for nothing: %s", rule.Line())
		}
	}
}

// valuesOf are the values of a column, of texts or whole numbers, in words.
func valuesOf(c *schema.Column) string {
	if c.Kind.Whole() {
		return fmt.Sprintf("%v to %v", c.Min, c.Max)
	}
	return clip(strings.Join(c.Categories, ", "))
}

// keeping is, in words, the ε of which a third would have been enough for columns of two or three
// texts, by the noisy number of rows; "" where it was.
func keeping(r *infer.Inferred) string {
	needs := r.Needs()
	enough := r.Budget.Epsilon * max(needs.Kind, needs.Bounds, 2*needs.Category) / max(r.Rows, 1)
	if enough <= r.Budget.Epsilon || r.Rows < r.Noise.Kinds {
		return ""
	}
	return fmt.Sprintf(" (of about %.0f rows; epsilon %.2g would keep those of two or three values)",
		r.Rows, enough)
}

// inferNeeds is how many rows a purchase of a schema needs. It follows from public knowledge.
type inferNeeds struct {
	Budget  accountant.Budget `json:"budget"`
	Columns int               `json:"columns"` // that are bought
	Needs   infer.Needs       `json:"needs"`
}

// wholeRows rounds up to two digits.
func wholeRows(rows float64) int {
	unit := math.Pow(10, math.Floor(math.Log10(max(rows, 1)))-1)
	return int(math.Ceil(rows/unit) * unit)
}
