package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/release"
)

type trainRun struct {
	jobFlags
	options analysis.Training
}

func trainCommand(t *terminal) *cobra.Command {
	r := &trainRun{jobFlags: newJob()}
	r.options.By = analysis.Descent
	return t.verb("train", r.run, r.flags(), flags{"target": &r.options.Target,
		"drop": (*names)(&r.options.Drop), "by": &r.options.By})
}

func (r *trainRun) run(cmd *cobra.Command, t *terminal, args []string) error {
	if err := r.checkPrivate(); err != nil {
		return err
	}
	if !configs.IsStandard(r.Out) && filepath.Ext(r.Out) != ".json" {
		return usagef("--out %s: a classifier is JSON: give it a name that ends in .json", r.Out)
	}
	rows, l, err := r.private(cmd, "INPUT", args[0])
	if err != nil {
		return err
	}
	r.options.Rows = r.Rows
	run, err := r.pay(t, l, "train", args[0], "--out", r.Out)
	if err != nil {
		return err
	}
	_, s, err := analysis.Train(cmd.Context(), rows, r.options, analysis.Run[*analysis.Classifier]{
		Options: run.Options(r.Job), Progress: run.shown.report,
		Deliver: func(c *analysis.Classifier) error {
			run.got("%v", c.Claim)
			r.sayDelta(t, c.Rows)
			return t.deliver(run.file, fmt.Sprintf(": %d classes, %d coefficients", len(c.Classes),
				len(c.Coefficients)*len(c.Coefficients[0])), release.FileWriter(c))
		}})
	return run.end(s, err)
}
