package job

import (
	"context"
	"crypto/rand"
	"slices"

	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/internal/engine/helper"
	"github.com/decoy-dp/decoy/privacy"
	_ "github.com/decoy-dp/decoy/privacy/counted" // binds engine.Rows
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// checkInput checks the name of the private table.
func (c *Checked) checkInput() error {
	_, elsewhere, err := Counter(c.Input, c.Job.Ledger)
	switch {
	case !elsewhere:
		_, err := FormatOf(c.name("input"), c.Input)
		return err
	case c.owner != "":
		return Usagef("%s %s: a batch reads files", c.name("input"), c.Input)
	case c.Domain == nil:
		return Usagef("--schema is required for %s: none is bought there", c.Input)
	}
	return err
}

// Counter is the program that counts a private table which lies elsewhere, and whether it does. The
// error says what such a table lacks.
func Counter(input, ledger string) (program string, elsewhere bool, err error) {
	name, program := helper.Program(input)
	switch {
	case name == "":
	case ledger == "":
		err = Usagef("--ledger is required for %s: there is no file to keep the account beside, and "+
			"every run on that table must name the same one", input)
	case program == "":
		err = Usagef("%s is counted by the program %s, which is neither beside this one nor "+
			"on the PATH: decoy help scale", input, name)
	}
	return program, name != "", err
}

// elsewhere is a private table that an engine counts; nothing is counted yet.
func (c *Checked) elsewhere(ctx context.Context, program string) (*privacy.Rows, error) {
	plan, err := c.plan()
	if err != nil {
		return nil, err
	}
	joints, _, err := synth.JointCells(plan, c.Domain)
	if err != nil {
		return nil, err
	}
	if synth.Sums(plan) > 0 && !helper.Sums(c.Input) {
		return nil, Usagef("--method %s: %s counts marginals, and cannot add up gradients: take mst or "+
			"aim, or Spark", c.Method, c.Input)
	}
	return CountedRows(ctx, program, c.Input, c.Domain, joints, &c.Counting)
}

// CountedRows is a private table that a program counts over these sets of columns, and tells how
// far it is; nothing is counted yet. It counts until ctx ends.
func CountedRows(
	ctx context.Context, program, input string, s *schema.Schema, sets [][]int,
	counting *func(float64),
) (*privacy.Rows, error) {
	text, err := s.YAML()
	if err != nil {
		return nil, err
	}
	if _, err := synth.CountedCells(sets, s); err != nil {
		return nil, err
	}
	r := helper.Request{Source: input, Schema: string(text), Nonce: make([]byte, 16)}
	rand.Read(r.Nonce)
	ask := func(ctx context.Context, sets [][]int, q *engine.Question) ([][]int64, error) {
		r.Sets, r.Question = sets, q
		return helper.Count(ctx, program, r, *counting)
	}
	rows := engine.Rows(s, engine.Source{Sets: sets,
		Count: func(ctx context.Context) ([][]int64, error) { return ask(ctx, sets, nil) },
		Sum: func(q engine.Question) ([]int64, error) {
			sums, err := ask(ctx, nil, &q)
			return slices.Concat(sums...), err
		}})
	return rows.(*privacy.Rows), nil
}
