package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/synth"
)

// schemaShare is the part of the noise budget that buys the schema of a run without one.
const schemaShare = 1. / 3

// purchase checks a run without a schema; nothing but the header is read.
func (g *generate) purchase(
	cmd *cobra.Command, t *terminal, j *job.Checked,
) (*purchase, error) {
	f, ok := j.Fitter.(synth.Continuer)
	switch {
	case !g.texts.public && !g.texts.noHeader:
		return nil, usagef(`--schema is missing: it says what is publicly known of the columns. Without
it a third of the budget buys one from the private rows, if --header-is-public says
that the names of the columns, which become part of it, may be shown to anyone. A
schema that you write (decoy help schema), or draft from a public file with the same
columns (decoy schema draft), costs nothing`)
	case !ok:
		return nil, usagef("--method %s plans by a schema, and --schema is missing: auto, aim and mst "+
			"can go on from one that is bought in the same run", j.Method)
	}
	s := &schemaInfer{g.jobFlags, g.texts}
	s.maxCategories = maxCategories
	p, err := s.purchase(cmd, g.Input)
	if err != nil {
		return nil, err
	}
	if _, err := f.Unseen(p.table.Names()); err != nil {
		return nil, &job.UsageError{Err: err}
	}
	if j.Bought, err = besides(j.Out, j.Model); err != nil {
		return nil, err
	}
	sayIDs(t, s.unit, p.table.Names())
	p.plan.Share = schemaShare
	t.say("a third of the budget buys a schema: a column needs about %d rows that hold a value",
		wholeRows(p.plan.Needs().Kind))
	return p, nil
}

// besides is the file of a bought schema, beside the synthetic table or the model.
func besides(out, model string) (string, error) {
	if out == "" || job.IsStandard(out) {
		out = model
	}
	if out == "" {
		return "", usagef("--out -: the schema that is bought is kept beside a file: give --model, too")
	}
	dir, name := filepath.Split(out)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return dir + strings.TrimSuffix(name, filepath.Ext(name)) + ".schema.yaml", nil
}

// buy is fit on a table whose schema is bought first.
func (g *generate) buy(
	ctx context.Context, t *terminal, j *job.Checked, p *purchase, account *job.Account,
	outputs *job.Outputs,
) error {
	shown := t.privateProgress()
	o := g.options(ctx, t, j, account, outputs, shown)
	_, s, err := synth.RunBought(ctx, p.table, p.plan, infer.Options{CSV: p.csv,
		MaxCategories: maxCategories,
		Deliver: func(r *infer.Result) error {
			yaml, err := r.YAML()
			if err != nil {
				return err
			}
			bought := r.Schema()
			t.say("bought: a schema of %s, of about %.0f rows", sizeText(len(bought.Columns),
				cells(bought)), r.Rows)
			sayDoubts(t, r)
			return outputs.WriteSchema(yaml, t.force, t.say)
		}}, j.Fitter.(synth.Continuer), o)
	switch {
	case errors.Is(err, infer.ErrNothing):
		return sayNothing(t, err)
	case err != nil:
		return account.Explain(err, s != nil)
	}
	return nil
}
