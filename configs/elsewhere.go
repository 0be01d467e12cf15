package configs

import (
	"context"
	"crypto/rand"
	"encoding/json"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/engine/sql"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/mech/text"
	"github.com/decoy-dp/decoy/synth"
)

// checkElsewhere checks the name of a private table that lies elsewhere.
func (t *Task) checkElsewhere() error {
	_, err := Counter(t.Input, t.Job.Ledger, true)
	switch {
	case t.Evaluate != nil:
		return Usagef("%s %s is a table elsewhere, whose rows cannot be compared with: leave "+
			"evaluate out", t.name("input"), t.Input)
	case t.Domain == nil:
		return Usagef("--schema is required for %s: none is bought there", t.Input)
	}
	return err
}

// Counter reports whether a private table lies elsewhere, where it is counted. The error says what
// such a table lacks. bounded tells of a schema: not every engine can be asked without.
func Counter(input, ledger string, bounded bool) (elsewhere bool, err error) {
	if !engine.Elsewhere(input) {
		return false, nil
	}
	switch wrong := engine.CheckAddress(input); {
	case wrong != nil:
		err = Usagef("%w", wrong)
	case ledger == "":
		err = Usagef("--ledger is required for %s: there is no file to keep the account beside, and "+
			"every run on that table must name the same one", input)
	case !engine.Sums(input) && !bounded:
		err = Usagef("%s: a schema is bought of a file, or in Spark; here an extract of the rows is "+
			"needed: decoy help scale", input)
	case engine.Sums(input) && engine.Program() == "":
		err = Usagef("%s is counted by the program %s, which is neither beside this one nor "+
			"on the PATH: decoy help scale", input, engine.Helper)
	}
	return true, err
}

// elsewhere is a private table that an engine counts; nothing is counted yet.
func (t *Task) elsewhere(ctx context.Context) (*privacy.Rows, error) {
	plan, err := t.Plan()
	if err != nil {
		return nil, err
	}
	f := plan.Forecast(0)
	if _, err := synth.JointCells(f, t.Domain); err != nil {
		return nil, err
	}
	if f.Sums > 0 && !engine.Sums(t.Input) {
		return nil, Usagef("--method %s: %s counts marginals, and cannot add up gradients: take mst or "+
			"aim, or Spark", t.Method, t.Input)
	}
	return CountedRows(ctx, t.Input, t.Domain, f.Joints, nil)
}

// CountedRows is a private table that is counted elsewhere until ctx ends: how many rows have each
// value of these sets of columns or, of none, how many units have at most so many rows. Nothing is
// counted yet.
func CountedRows(
	ctx context.Context, input string, s *schema.Schema, sets [][]int, upTo []int,
) (*privacy.Rows, error) {
	begin := engine.AskUnits(upTo)
	if sets != nil {
		if _, err := synth.CountedCells(sets, s); err != nil {
			return nil, err
		}
		begin = engine.AskSets(sets, s.Sizes())
	}
	from, err := sourceOf(ctx, input, s)
	if err != nil {
		return nil, err
	}
	from.Begin = begin
	return privacy.FromEngine(s, from.Sealed()), nil
}

// Undescribed is the schema of a table of texts with these columns, of which nothing else is known.
func Undescribed(names []string, csv schema.CSV, unit string, maxRows int) *schema.Schema {
	s := &schema.Schema{CSV: csv, Unit: unit, MaxRowsPerUnit: maxRows, Lenient: true}
	for _, name := range names {
		if name != unit {
			s.Columns = append(s.Columns, schema.UnknownColumn(name))
		}
	}
	return s
}

// countedTexts is a private table of texts elsewhere, of which these columns of the schema are
// counted, as [CountedRows].
func countedTexts(
	ctx context.Context, input string, s *schema.Schema, asked []int,
) (*text.Table, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	from, err := sourceOf(ctx, input, s)
	if err != nil {
		return nil, err
	}
	return text.FromEngine(s, asked, from.Sealed()), nil
}

// columnNames are the names of the columns of a table elsewhere, which the caller knows
// to be public. No row is read.
func columnNames(
	ctx context.Context, input string, csv schema.CSV,
) (names []string, err error) {
	from, err := sourceOf(ctx, input, Undescribed([]string{"(row)"}, csv, "", 0))
	if err != nil {
		return nil, err
	}
	answer, err := from.Ask(engine.Question{Kind: engine.Columns})
	if err != nil {
		return nil, err
	}
	var list []byte
	for _, b := range answer[1:] {
		list = append(list, byte(b))
	}
	if json.Unmarshal(list, &names) != nil {
		err = engine.ErrCounts
	}
	return names, err
}

// sourceOf is a table elsewhere.
func sourceOf(
	ctx context.Context, input string, s *schema.Schema,
) (engine.Source, error) {
	text, err := s.ForPrivate().YAML()
	if err != nil {
		return engine.Source{}, err
	}
	r := engine.Request{Source: input, Schema: string(text), Nonce: make([]byte, 16)}
	rand.Read(r.Nonce)
	ask := func(q engine.Question, check bool) ([]int64, error) {
		r.Question, r.Check = q, check
		if engine.Sums(input) {
			return engine.Count(ctx, engine.Program(), r)
		}
		return sql.Count(ctx, r)
	}
	return engine.Source{
		Ask: func(q engine.Question) ([]int64, error) { return ask(q, false) },
		Check: func(q engine.Question) error {
			_, err := ask(q, true)
			return err
		},
	}, nil
}
