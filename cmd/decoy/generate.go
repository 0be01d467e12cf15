package main

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
)

// generate are the flags of decoy generate, and of decoy fit, which has fewer of them.
type generate struct {
	jobFlags
	texts inferFlags // of a table without a schema
}

func generateCommand(t *terminal) *cobra.Command {
	g := newGenerate()
	return t.verb("generate", g.run, g.flags())
}

func newGenerate() generate { return generate{newJob(), inferFlags{comma: ","}} }

func (g *generate) flags() flags {
	out := g.jobFlags.flags()
	maps.Copy(out, g.texts.flags())
	return out
}

// run fits and, for generate, samples.
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
	g.sayNotes(t)
	if j.Domain != nil {
		t.sayKnown(j.Domain)
	}
	written, read := j.Files()
	if j.Ledger != nil {
		written = append(written, job.NamedPath{Name: "the ledger", Path: j.Ledger.Path()})
	}
	if err := job.Distinct(written, append(read, configPath(cmd))); err != nil {
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
	if p != nil {
		return g.buy(cmd.Context(), t, j, p, account, outputs)
	}
	return g.fit(cmd.Context(), t, j, rows, account, outputs)
}

// fit reserves the budget, reads, fits, and completes the outputs: when these are durable the run
// is done.
func (g *generate) fit(
	ctx context.Context, t *terminal, j *job.Checked, rows *privacy.Rows, account *job.Account,
	outputs *job.Outputs,
) error {
	shown := t.privateProgress()
	if shown.bar { // plain lines are kept by others, and must not tell of rows
		j.Counting = shown.of("counting")
	}
	o := g.options(ctx, t, j, account, outputs, shown)
	_, s, err := synth.Run(ctx, rows, j.Fitter, o)
	if err != nil {
		return account.Explain(err, s != nil)
	}
	t.sayIgnored("", s.Report().Ignored)
	return nil
}

// options are those of a run that completes the outputs.
func (g *generate) options(
	ctx context.Context, t *terminal, j *job.Checked, account *job.Account, outputs *job.Outputs,
	shown *progress,
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
			needs := needsOf(m.Schema(), forecast)
			needs.sayNoise(t, m.Rows)
			if j.Domain == nil {
				needs.sayPairs(t, m.Rows)
			}
			needs.sayTarget(t, m.Schema(), m.Rows, g.Settings)
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
func (g *generate) check(cmd *cobra.Command, args []string) (*job.Checked, error) {
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
	return job.Check(g.Job)
}

// checkTexts refuses what is said of a table without a schema where there is one: a unit that is
// passed over would leave a guarantee for single rows.
func (g *generate) checkTexts(cmd *cobra.Command) error {
	if g.Schema == "" && g.Dataset == "" {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(g.texts.flags())) {
		if f := cmd.Flag(name); f.Changed {
			_, place := origin(f)
			if place != "--"+name {
				place += ": " + name
			}
			return usagef("%s is for a table without a schema: this one has one; write it there", place)
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
	}, g.flags(), flags{"randomized": &answers})
}
