package configs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/url"

	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// checkInput checks the name of the private table.
func (t *Task) checkInput() error {
	_, elsewhere, err := Counter(t.Input, t.Job.Ledger)
	switch {
	case !elsewhere:
		_, err := FormatOf(t.name("input"), t.Input)
		return err
	case t.owner != "":
		return Usagef("%s %s: a batch reads files", t.name("input"), t.Input)
	case t.Domain == nil:
		return Usagef("--schema is required for %s: none is bought there", t.Input)
	}
	return err
}

// Counter is the program that counts a private table which lies elsewhere, and whether it does. The
// error says what such a table lacks.
func Counter(input, ledger string) (program string, elsewhere bool, err error) {
	name, program := engine.Program(input)
	u, bad := url.Parse(input)
	secret := false
	if bad == nil {
		_, secret = u.User.Password()
	}
	switch {
	case name == "":
	case bad == nil && (secret || u.Query().Has("password")):
		err = Usagef("everyone on this machine can see a password in an address: give PGPASSWORD, or " +
			"~/.pgpass: decoy help scale")
	case ledger == "":
		err = Usagef("--ledger is required for %s: there is no file to keep the account beside, and "+
			"every run on that table must name the same one", input)
	case program == "":
		err = Usagef("%s is counted by the program %s, which is neither beside this one nor "+
			"on the PATH: decoy help scale", input, name)
	}
	return program, name != "", err
}

// Describer is [Counter] for what is asked of a table before there is a schema that bounds it: not
// every engine can.
func Describer(input, ledger string) (program string, elsewhere bool, err error) {
	program, elsewhere, err = Counter(input, ledger)
	if name, _ := engine.Program(input); err == nil && name != engine.Spark && elsewhere {
		err = Usagef("%s: PostgreSQL counts for fits and evaluations only; here a file is needed, such "+
			"as an extract of the rows: decoy help scale", input)
	}
	return program, elsewhere, err
}

// elsewhere is a private table that an engine counts; nothing is counted yet.
func (t *Task) elsewhere(ctx context.Context, program string) (*privacy.Rows, error) {
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
	return CountedRows(ctx, program, t.Input, t.Domain, f.Joints)
}

// CountedRows is a private table that a program counts over these sets of columns; nothing is
// counted yet. It counts until ctx ends.
func CountedRows(
	ctx context.Context, program, input string, s *schema.Schema, sets [][]int,
) (*privacy.Rows, error) {
	if _, err := synth.CountedCells(sets, s); err != nil {
		return nil, err
	}
	return rowsOf(ctx, program, input, s, engine.AskSets(sets, s.Sizes()))
}

// CountedUnits is a private table of which a program counts how many units have at most so many
// rows each, and nothing else, as [CountedRows].
func CountedUnits(
	ctx context.Context, program, input string, s *schema.Schema, upTo []int,
) (*privacy.Rows, error) {
	return rowsOf(ctx, program, input, s, engine.AskUnits(upTo))
}

// rowsOf is a private table of which a program is asked that first.
func rowsOf(
	ctx context.Context, program, input string, s *schema.Schema, begin engine.Question,
) (*privacy.Rows, error) {
	from, err := sourceOf(ctx, program, input, s)
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
			s.Columns = append(s.Columns, schema.Column{Name: name, Kind: schema.Categorical,
				Categories: []string{"(other)"}, OnInvalid: schema.Other, Other: "(other)"})
		}
	}
	return s
}

// CountedTexts is a private table of texts of which a program counts these columns of the schema,
// as [CountedRows].
func CountedTexts(
	ctx context.Context, program, input string, s *schema.Schema, asked []int,
) (*text.Table, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	from, err := sourceOf(ctx, program, input, s)
	if err != nil {
		return nil, err
	}
	return text.FromEngine(s, asked, from.Sealed()), nil
}

// ColumnsOf are the names of the columns of a table that a program counts, which the caller knows
// to be public. No row is read.
func ColumnsOf(
	ctx context.Context, program, input string, csv schema.CSV,
) (names []string, err error) {
	from, err := sourceOf(ctx, program, input, Undescribed([]string{"(row)"}, csv, "", 0))
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

// sourceOf is a table that a program counts.
func sourceOf(
	ctx context.Context, program, input string, s *schema.Schema,
) (engine.Source, error) {
	text, err := s.ForPrivate().YAML()
	if err != nil {
		return engine.Source{}, err
	}
	r := engine.Request{Source: input, Schema: string(text), Nonce: make([]byte, 16)}
	rand.Read(r.Nonce)
	ask := func(q engine.Question, check bool) ([]int64, error) {
		r.Question, r.Check = q, check
		return engine.Count(ctx, program, r)
	}
	return engine.Source{
		Ask: func(q engine.Question) ([]int64, error) { return ask(q, false) },
		Check: func(q engine.Question) error {
			_, err := ask(q, true)
			return err
		},
	}, nil
}
