package job

import (
	"context"

	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/internal/engine/helper"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
)

// checkInput checks the name of the private table.
func (c *Checked) checkInput() error {
	program, elsewhere := helper.Program(c.Input)
	switch {
	case !elsewhere:
		_, err := FormatOf(c.name("input"), c.Input)
		return err
	case c.owner != "":
		return Usagef("%s %s: a batch reads files", c.name("input"), c.Input)
	case c.Job.Ledger == "":
		return Usagef("--ledger is required for %s: there is no file to keep the account beside, and "+
			"every run on that table must name the same one", c.Input)
	case c.Domain == nil:
		return Usagef("--schema is required for %s: none is bought there", c.Input)
	case program == "":
		return Usagef("%s is counted by the program decoy-spark, which is neither beside this one nor "+
			"on the PATH: decoy help scale", c.Input)
	}
	return nil
}

// elsewhere is a private table that an engine counts; nothing is counted yet.
func (c *Checked) elsewhere(program string) (*privacy.Rows, error) {
	plan, err := c.Plan()
	if err != nil {
		return nil, err
	}
	joints, _, err := synth.JointCells(plan, c.Domain)
	if err != nil {
		return nil, err
	}
	text, err := c.Domain.YAML()
	if err != nil {
		return nil, err
	}
	r := helper.Request{Source: c.Input, Schema: string(text), Sets: joints}
	rows := engine.Rows(c.Domain, engine.Source{Sets: joints,
		Count: func(ctx context.Context) ([][]int64, error) {
			return helper.Count(ctx, program, r, c.Counting)
		}})
	return rows.(*privacy.Rows), nil
}
