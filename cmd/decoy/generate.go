package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// generate are the flags of decoy generate, and of decoy fit, which has fewer of them.
type generate struct {
	jobFlags
	texts inferFlags // of a table without a schema
}

func generateCommand(t *terminal) *cobra.Command {
	g := newGenerate()
	return t.verb("generate", g.run, g.flags(), g.texts.flags())
}

func newGenerate() generate { return generate{jobFlags: newJob()} }

// run reserves the budget, reads, fits and, for generate, samples: when the outputs are durable the
// run is done.
func (g *generate) run(cmd *cobra.Command, t *terminal, args []string) error {
	j, err := g.check(cmd, args)
	if err != nil {
		return err
	}
	var rows *privacy.Rows
	var p *purchase
	if j.Domain == nil {
		p, err = g.purchase(cmd, t, j)
	} else {
		rows, err = j.Table(cmd.Context())
	}
	if err != nil {
		return err
	}
	g.sayWeak(t)
	if j.Domain != nil {
		t.sayKnown(j.Domain)
	}
	written, read := j.Files()
	if j.Ledger != nil {
		written = append(written, configs.NamedPath{Name: "the ledger", Path: j.Ledger.Path()})
	}
	if err := configs.Distinct(written, append(read, configPath(cmd))); err != nil {
		return err
	}
	account := g.account(t, j.Ledger, j.Input)
	if err := account.Begin(cmd.Name(), j.Out, j.Model, j.Bought); err != nil {
		return err
	}
	outputs, err := j.Create(t.stdout, func(path string) bool {
		return t.force || account.Made(path) || account.Resume && path == j.Bought
	})
	if err != nil {
		return err
	}
	defer outputs.Abort()
	shown := t.privateProgress()
	o := g.options(cmd.Context(), t, j, account, outputs, shown)
	if p != nil {
		return g.buy(cmd.Context(), t, p, outputs, j, account, o)
	}
	_, s, err := synth.Run(cmd.Context(), rows, j.Fitter, o)
	if err != nil {
		return account.Explain(err, s != nil)
	}
	t.sayIgnored("", s.Report().Ignored)
	return nil
}

// options are those of a run that completes the outputs.
func (g *generate) options(
	ctx context.Context, t *terminal, j *configs.Task, account *configs.Account,
	outputs *configs.Outputs, shown *progress,
) synth.RunOptions {
	var forecast synth.Forecast
	return synth.RunOptions{
		Options: account.Options(j.Job), Chosen: j.Chosen(), Progress: shown.report,
		Forecast: func(f synth.Forecast) {
			shown.expect(f)
			forecast = f
		},
		Deliver: func(m *release.Model) error {
			t.sayGuarantee(m)
			account.SayTotal()
			g.sayDelta(t, m.Rows)
			needsOf(m.Schema(), forecast).say(t, m.Rows, j.Domain == nil)
			if err := sayUnreadable(ctx, t, m, j.Input); err != nil {
				return err
			}
			if s := m.Schema(); s.Unit != "" && j.Out != "" && j.Rows == 0 {
				t.say("rows beyond %d of one %s are left out, so the number of rows that is written may "+
					"differ from the table's; --rows N writes N", s.MaxRowsPerUnit, s.Unit)
			}
			_, err := outputs.Write(ctx, m, t.say, shown.of("writing rows"))
			return err
		},
	}
}

// check checks everything that can be checked without the rows.
func (g *generate) check(cmd *cobra.Command, args []string) (*configs.Task, error) {
	if _, err := g.method(cmd); err != nil {
		return nil, err
	}
	if len(args) > 0 {
		if g.Input != "" && typedNow(cmd, "input") {
			return nil, usagef("INPUT %s and --input %s: one table a run", args[0], g.Input)
		}
		g.Input = args[0]
	}
	switch {
	case g.Dataset != "" && g.Input != "":
		return nil, usagef("INPUT %s and --dataset %s: one table a run", g.Input, g.Dataset)
	case g.Dataset == "" && g.Input == "":
		return nil, usagef("INPUT or --dataset is missing")
	}
	if err := g.checkTexts(cmd); err != nil {
		return nil, err
	}
	return configs.Check(g.Job)
}

// checkTexts refuses what is said of a table without a schema where there is one: a unit that is
// passed over would leave a guarantee for single rows.
func (g *generate) checkTexts(cmd *cobra.Command) error {
	for name := range g.texts.flags() {
		if f := cmd.Flag(name); f.Changed && (g.Schema != "" || g.Dataset != "") {
			return usagef("%s: --%s is for a table without a schema: this one has one; write it there",
				placeOf(f), name)
		}
	}
	return nil
}

func fitCommand(t *terminal) *cobra.Command {
	g := newGenerate()
	var answers string
	return t.verb("fit", func(cmd *cobra.Command, t *terminal, args []string) error {
		if cmd.Flags().Changed("randomized") {
			return g.fitAnswers(cmd, t, answers, args)
		}
		return g.run(cmd, t, args)
	}, g.flags(), g.texts.flags(), flags{"randomized": &answers})
}

// schemaShare is the part of the noise budget that buys the schema of a run without one.
const schemaShare = 1. / 3

// purchase checks a run without a schema; nothing but the header is read.
func (g *generate) purchase(
	cmd *cobra.Command, t *terminal, j *configs.Task,
) (*purchase, error) {
	f, ok := j.Fitter.(synth.Continuer)
	switch {
	case !g.texts.public:
		return nil, usagef(`--schema is missing: it says what is publicly known of the columns. Without
it a third of the budget buys one from the private rows, if --header-is-public says
that the names of the columns, which become part of it, may be shown to anyone. A
schema that you write (decoy help schema), or draft from a public file with the same
columns (decoy schema draft), costs nothing`)
	case !ok:
		return nil, usagef("--method %s plans by a schema, and --schema is missing: auto, aim and mst "+
			"can go on from one that is bought in the same run", j.Method)
	}
	s := &schemaInfer{jobFlags: g.jobFlags, inferFlags: g.texts}
	p, err := s.purchase(cmd, g.Input)
	if err != nil {
		return nil, err
	}
	if p.want.Target, err = f.Unseen(p.table.Names()); err != nil {
		return nil, &configs.UsageError{Err: err}
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
	if out == "" || configs.IsStandard(out) {
		out = model
	}
	if out == "" {
		return "", usagef("--out -: the schema that is bought is kept beside a file: give --model, too")
	}
	dir, name := filepath.Split(out)
	name = strings.TrimSuffix(name, ".gz")
	return dir + strings.TrimSuffix(name, filepath.Ext(name)) + ".schema.yaml", nil
}

// buy is fit on a table whose schema is bought first.
func (g *generate) buy(
	ctx context.Context, t *terminal, p *purchase, outputs *configs.Outputs, j *configs.Task,
	account *configs.Account, o synth.RunOptions,
) error {
	var r *analysis.Inferred
	_, s, err := synth.RunBought(ctx, p.table, synth.Purchase{Plan: p.plan.Composition(),
		Buy: func(s *text.Session, progress func(float64)) (_ synth.Bought, err error) {
			r, err = p.plan.Buy(ctx, p.table, s, p.want, progress)
			return r, err
		},
		Deliver: func() error {
			yaml, err := r.YAML()
			if err != nil {
				return err
			}
			t.say("bought: a schema of %s, of about %.0f rows", sizeText(len(r.Schema().Columns),
				cells(r.Schema())), r.Rows)
			sayDoubts(t, r)
			return outputs.WriteSchema(yaml, t.force, t.say)
		}}, j.Fitter.(synth.Continuer), o)
	switch {
	case errors.Is(err, release.ErrNothing):
		return sayNothing(t, err)
	case err != nil:
		return account.Explain(err, s != nil)
	}
	return nil
}

// sayUnreadable tells of columns in which nearly all rows of the model have the code that a cell
// gets that cannot be read: a missing one, or the category for others. A wrong separator or decimal
// commas look like that. It sees rows of the model only.
func sayUnreadable(ctx context.Context, t *terminal, m *release.Model, input string) error {
	const rows, most, seed = 400, 0.95, 1
	codecs, err := m.Schema().Codecs()
	if err != nil {
		return err
	}
	var named []string
	err = m.Sample(ctx, rows, seed, func(drawn *table.Table) error {
		for i, c := range codecs {
			code, n := c.Unreadable(), 0
			for r := range drawn.Rows() {
				if drawn.Column(i).At(r) == code {
					n++
				}
			}
			column := c.Column()
			if float64(n) >= most*rows && (len(column.Missing) > 0 || column.Other != "") {
				named = append(named, fmt.Sprintf("%q", column.Name))
			}
		}
		return nil
	})
	if len(named) > 0 {
		t.say("nearly all cells are missing, or could not be read, in %s: if that is not so in the "+
			"table, look at its separator, decimal commas and dates (decoy schema check SCHEMA %s)",
			strings.Join(named, ", "), input)
	}
	return err
}
