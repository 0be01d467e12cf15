package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
)

type trainRun struct {
	jobFlags
	options analysis.Training
	dryRun  bool
}

func trainCommand(t *terminal) *cobra.Command {
	r := &trainRun{jobFlags: newJob()}
	r.options.By = analysis.Descent
	return t.verb("train", r.run, r.flags(), flags{"target": &r.options.Target,
		"drop": (*names)(&r.options.Drop), "by": &r.options.By, "dry-run": &r.dryRun})
}

func (r *trainRun) run(cmd *cobra.Command, t *terminal, args []string) error {
	if err := r.checkPrivate(); err != nil {
		return err
	}
	if err := need(cmd, "out"); err != nil && !r.dryRun {
		return err
	}
	switch {
	case r.Out != "" && !configs.IsStandard(r.Out) && filepath.Ext(r.Out) != ".json":
		return usagef("--out %s: a classifier is JSON: give it a name that ends in .json", r.Out)
	case t.json && !r.dryRun:
		return usagef("--json is for what --dry-run prints: give both")
	}
	rows, l, err := r.private(cmd, "INPUT", args[0])
	if err != nil {
		return err
	}
	o := &r.options
	o.Rows = r.Rows
	nb := privacy.NeighboursOf(rows.Schema(), r.Relation())
	p, err := analysis.NewPlan(rows.Schema(), nb, *o, r.Budget())
	switch {
	case errors.Is(err, analysis.ErrTarget), errors.Is(err, accountant.ErrBudgetRange):
		return &configs.UsageError{Err: err}
	case err != nil:
		return err
	}
	if r.dryRun {
		return t.print(r.needs(p, nb.Units(rows.Schema().Unit).Words()))
	}
	run, err := r.pay(t, l, "train", args[0], "--out", r.Out)
	if err != nil {
		return err
	}
	_, s, err := analysis.Train(cmd.Context(), rows, *o, analysis.Run[*analysis.Classifier]{
		Options: run.Options(r.Job), Progress: run.shown.report,
		Deliver: func(c *analysis.Classifier) error {
			run.got("%v", c.Claim)
			r.sayDelta(t, c.Rows)
			return t.deliver(run.file, fmt.Sprintf(": %d classes, %d coefficients", len(c.Classes),
				len(c.Coefficients)*len(c.Coefficients[0])), release.FileWriter(c))
		}})
	return run.end(s, err)
}

// trainNeeds is what --dry-run prints.
type trainNeeds struct {
	By          string                 `json:"by"`
	Budget      accountant.Budget      `json:"budget"`
	Composition accountant.Composition `json:"composition"`
	// of a descent
	Rows     int     `json:"rows,omitempty"`
	Assumed  bool    `json:"rows_assumed,omitempty"`
	Steps    int     `json:"steps,omitempty"`
	StepSize float64 `json:"step_size,omitempty"`
	Sigma    float64 `json:"sigma,omitempty"` // of a step's gradient
	// of a minimum
	Penalty   float64 `json:"penalty,omitempty"`
	Objective float64 `json:"objective_sigma,omitempty"`
	Output    float64 `json:"output_sigma,omitempty"`

	Neighbours string `json:"-"`
	Drowned    bool   `json:"-"` // the noise of a step is larger than what all rows add
}

func (r *trainRun) needs(p *analysis.Plan, neighbours string) trainNeeds {
	n := trainNeeds{By: r.options.By, Budget: r.Budget(), Composition: p.Composition(),
		Neighbours: neighbours}
	if n.By != analysis.Descent {
		at := p.Perturbation()
		n.Penalty, n.Objective, n.Output = at.Penalty, at.Objective, at.Output
		return n
	}
	n.Assumed = r.Rows == 0
	n.Rows = cmp.Or(r.Rows, configs.AssumedRows)
	steps := p.Expected(n.Rows, !n.Assumed)
	n.Steps, n.StepSize, n.Sigma = steps.Count, steps.Size, steps.Sigma
	n.Drowned = n.Sigma > float64(n.Rows)
	return n
}
