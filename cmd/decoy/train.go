package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/stats"
	"github.com/decoy-dp/decoy/synth"
)

type trainRun struct {
	jobFlags
	options stats.Training
	student string
}

func trainCommand(t *terminal) *cobra.Command {
	r := &trainRun{jobFlags: newJob()}
	r.options.By, r.options.Model = stats.Descent, synth.Drawable
	return t.verb("train", r.run, r.flags(), flags{"target": &r.options.Target,
		"drop": (*names)(&r.options.Drop), "by": &r.options.By,
		"aggregator": &r.options.Aggregator, "student": &r.student, "cost": &r.options.Cost})
}

func (r *trainRun) run(cmd *cobra.Command, t *terminal, args []string) error {
	if err := r.checkPrivate(); err != nil {
		return err
	}
	if !configs.IsStandard(r.Out) && filepath.Ext(r.Out) != ".json" {
		return usagef("--out %s: a classifier is JSON: give it a name that ends in .json", r.Out)
	}
	if err := r.taught(); err != nil {
		return err
	}
	rows, l, err := r.private(cmd, "INPUT", args[0])
	if err == nil && configs.SameFile(r.student, args[0]) {
		err = usagef("--student and INPUT are the same file: a student sees public rows alone")
	}
	if err == nil && r.student != "" {
		r.options.Student, err = r.readStudent(cmd, t, rows.Schema())
	}
	if err != nil {
		return err
	}
	r.options.Rows = r.Rows
	run, err := r.pay(t, l, "train", args[0], "--out", r.Out)
	if err != nil {
		return err
	}
	_, s, err := stats.Train(cmd.Context(), rows, r.options, stats.Run[*stats.Classifier]{
		Options: run.Options(r.Job), Progress: run.shown.report,
		Deliver: func(c *stats.Classifier) error {
			run.got("%v", c.Claim)
			r.sayDelta(t, c.Rows)
			return t.deliver(run.file, fmt.Sprintf(": %d classes, %d coefficients", len(c.Classes),
				len(c.Coefficients)*len(c.Coefficients[0])), release.FileWriter(c))
		}})
	if err == nil && r.options.Cost != "" {
		t.say("wrote %s, which depends on the private rows without noise: it is no guarantee, keep "+
			"it as safe as the table, and never publish it", r.options.Cost)
	}
	return run.end(s, err)
}

// taught checks what is about teachers.
func (r *trainRun) taught() error {
	o := r.options
	switch {
	case o.By != stats.PATE && (o.Aggregator != "" || r.student != "" || o.Cost != ""):
		return usagef("--aggregator, --student and --cost are for --by %s", stats.PATE)
	case o.Cost == "":
		return nil
	case !strings.HasSuffix(o.Cost, ".private.json"):
		return usagef("--cost %s: what it holds is not to be released: give it a name that ends in "+
			".private.json", o.Cost)
	case r.resume:
		return usagef("--cost: of a run that is continued, the votes of before are gone: leave it out")
	}
	if _, err := os.Lstat(o.Cost); err == nil {
		return usagef("--cost %s: there is a file already", o.Cost)
	}
	return nil
}

// readStudent reads public rows, of which the columns to predict from are needed alone.
func (r *trainRun) readStudent(
	cmd *cobra.Command, t *terminal, s *schema.Schema,
) (*table.Table, error) {
	if err := checkTable("--student", r.student); err != nil {
		return nil, err
	}
	needed, err := r.options.From(s)
	if err != nil {
		return nil, err
	}
	return reader{cmd.Context(), t, t.progress()}.codes("--student", r.student, needed)
}
