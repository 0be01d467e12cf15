package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// generate are the flags of decoy generate, and of decoy fit, which has fewer of them.
type generate struct{ jobFlags }

func generateCommand(t *terminal) *cobra.Command {
	g := generate{newJob()}
	return t.verb("generate", g.run, g.flags())
}

// run reserves the budget, reads, fits and, for generate, samples: when the outputs are durable the
// run is done.
func (g *generate) run(cmd *cobra.Command, t *terminal, args []string) error {
	j, err := g.check(cmd, args)
	if err == nil && j.Domain == nil {
		err = g.purchase(cmd, t, j)
	} else if err == nil {
		_, err = j.Table(cmd.Context())
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
	if named, err := g.outcome(cmd, t, j); err != nil {
		return account.Explain(err, false)
	} else if named {
		if j, err = g.check(cmd, args); err == nil && j.Domain == nil {
			err = j.Buy(cmd.Context())
		}
		if err != nil {
			return err
		}
	}
	shown := t.privateProgress()
	o := g.options(cmd.Context(), t, j, account, outputs, shown)
	_, begun, ignored, err := j.Run(cmd.Context(), o, func(r *analysis.Inferred, yaml []byte) error {
		sayBought(t, j, r)
		t.say("bought: a schema of %s, of about %.0f rows", schemaSize(r.Schema()), r.Rows)
		return outputs.WriteSchema(yaml, t.force, t.say)
	})
	if err != nil {
		return account.Explain(err, begun)
	}
	t.sayIgnored("", ignored)
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
			needsOf(m.Schema(), forecast).sayLost(t, m)
			sayFavoured(t, m)
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
	j, err := configs.Check(g.Job)
	if wrong := (*configs.ValueError)(nil); errors.As(err, &wrong) {
		name := strings.ReplaceAll(wrong.Key, "_", "-")
		err = usagef("%s: --%s %s", placeOf(cmd.Flag(name)), name, wrong.Problem)
	}
	return j, err
}

func fitCommand(t *terminal) *cobra.Command {
	g := generate{newJob()}
	var answers string
	return t.verb("fit", func(cmd *cobra.Command, t *terminal, args []string) error {
		if cmd.Flags().Changed("randomized") {
			return g.fitAnswers(cmd, t, answers, args)
		}
		return g.run(cmd, t, args)
	}, g.flags(), flags{"randomized": &answers})
}

// purchase checks a run without a schema; nothing but the header is read.
func (g *generate) purchase(cmd *cobra.Command, t *terminal, j *configs.Task) error {
	err := j.Buy(cmd.Context())
	if err == nil {
		sayHeader(t, g.Unit, j.Purchase.Table.Names())
		t.say("a third of the budget buys a schema: a column needs about %d rows that hold a value",
			wholeRows(j.Purchase.Plan.Needs().Kind))
	}
	return err
}

// sayBought tells what may be wrong in the schema that a job has bought.
func sayBought(t *terminal, j *configs.Task, r *analysis.Inferred) {
	sayDoubts(t, r)
	if name := j.Purchase.Want.Target; name != "" && r.Schema().Index(name) < 0 {
		t.say("the outcome %q is left out: nothing here can predict it", name)
	}
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
				named = append(named, column.Name)
			}
		}
		return nil
	})
	t.sayNames(named, nil, "nearly all cells are missing, or could not be read (if that is not so in "+
		"the table, look at its separator, decimal commas and dates: decoy schema check SCHEMA %s)",
		input)
	return err
}
