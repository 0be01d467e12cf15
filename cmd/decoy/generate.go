package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/model/release"
)

// generate are the flags of decoy generate, and of decoy fit, which has fewer of them.
type generate struct{ jobFlags }

func generateCommand(t *terminal) *cobra.Command {
	g := generate{newJob()}
	return t.verb("generate", g.run, g.flags())
}

// run checks what was asked for, says what is known of it, and carries it out.
func (g *generate) run(cmd *cobra.Command, t *terminal, args []string) error {
	if err := g.named(cmd, args); err != nil {
		return err
	}
	j, err := g.check(cmd, args)
	if err == nil && j.Domain == nil {
		err = j.Buy(cmd.Context())
	}
	if err != nil {
		return err
	}
	t.sayTask(j)
	if j.Purchase != nil {
		t.say("a third of the budget buys a schema: a column needs about %d %s a value",
			wholeRows(j.Purchase.Plan.Needs().Kind), j.Purchase.Holds)
	}
	written, read := j.Files()
	if j.Ledger != nil {
		written = append(written, configs.NamedPath{Name: "the ledger", Path: j.Ledger.Path()})
	}
	if err := configs.Distinct(written, append(read, configPath(cmd))); err != nil {
		return err
	}
	shown := t.privateProgress()
	w := configs.Runner{Tool: tool(), Force: t.force, Resume: g.resume, Stdout: t.stdout, Say: t.say,
		Expect: shown.expect, Last: func() error { return g.outcome(cmd, t, j) },
		Tell: func(_ *configs.Task, made configs.Made) []string {
			if made.Model != nil {
				t.sayGuarantee(made.Model)
				made.Account.SayTotal()
			}
			t.sayMade(j, made)
			return nil
		}}
	return w.Run(cmd.Context(), cmd.Name(), j, &configs.Record{}, shown.report)
}

// sayTask says what is known of a job before it runs.
func (t *terminal) sayTask(j *configs.Task) {
	(&jobFlags{Job: j.Job}).sayWeak(t)
	switch {
	case j.Domain != nil:
		for _, s := range j.Schemas() {
			t.sayKnown(s)
		}
	case j.Purchase != nil:
		unit, _ := j.Purchase.Table.Unit()
		sayHeader(t, unit, j.Purchase.Table.Names())
	}
}

// sayMade says what is to be known of what a run has made, from what it releases.
func (t *terminal) sayMade(j *configs.Task, made configs.Made) {
	if made.Bought != nil {
		for _, r := range made.Bought.Tables {
			sayDoubts(t, r)
			if name, err := j.Unseen(); err == nil && name != "" && r.Schema().Index(name) < 0 {
				t.say("the outcome %q is left out: nothing here can predict it", name)
			}
			t.say("bought: a schema of %s, of about %.0f %s", schemaSize(r.Schema()), r.Rows,
				j.Purchase.Of)
		}
	}
	if m := made.Model; m != nil {
		(&jobFlags{Job: j.Job}).sayDelta(t, m.Rows)
		sayFavoured(t, m)
		needsOf(m.Schema(), made.Forecast).sayLost(t, m)
		sayDrawn(t, m, cmp.Or(strings.Join(j.Inputs, " "), j.Input))
		if l := m.Tables(); l.MostRows() > 0 && j.Out != "" && j.Rows == 0 {
			t.say("rows beyond %d of one %s are left out, so the number of rows that is written may "+
				"differ from the table's; --rows N writes N", l.MostRows(), l.Unit)
		}
	}
	t.sayIgnored("", made.Ignored)
}

// named checks that the command line names a table and an output.
func (g *generate) named(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && g.Input != "" && typedNow(cmd, "input"):
		return usagef("INPUT %s and --input %s: one table a run", args[0], g.Input)
	case g.Dataset != "" && (g.Input != "" || len(args) > 0):
		return usagef("INPUT %s and --dataset %s: one table a run",
			cmp.Or(strings.Join(args, " "), g.Input), g.Dataset)
	case g.Dataset == "" && g.Input == "" && len(args) == 0:
		return usagef("INPUT or --dataset is missing")
	case g.OutDir == "" && cmd.Name() == "generate":
		return need(cmd, "out")
	}
	return nil
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

// sayDrawn draws some rows of a model, and tells of what its owner would see at a glance.
func sayDrawn(t *terminal, m *release.Model, input string) {
	const rows, seed, nearlyNone = 400, 1, .05
	ctx := context.Background()
	drawn, err := m.Drawn(ctx, rows, seed)
	var unreadable []string // columns, and linked tables in which nearly no unit has rows
	for i := 0; i < len(drawn) && err == nil; i++ {
		err = drawn[i].Sample(ctx, rows, seed, func(one *table.Table) error {
			if float64(one.Rows()) <= nearlyNone*rows {
				unreadable = append(unreadable, m.Tables().Described()[i].Name)
				return nil
			}
			var d eval.Doubts
			if d, err = eval.DoubtsOf(one, release.ValueRand(seed)); len(d.Reversed) > 0 {
				sayReversed(t, d.Reversed[0])
			}
			unreadable = append(unreadable, d.Unreadable...)
			return err
		})
	}
	t.sayNames(unreadable, nil, "nearly all cells are missing, or could not be read (if that is not "+
		"so in the table, look at its separator, decimal commas and dates: decoy schema check SCHEMA "+
		"%s)", input)
	if err != nil {
		t.say("warning: %v", err)
	}
}

// sayReversed tells of dates that end before they begin.
func sayReversed(t *terminal, r eval.Reversal) {
	with := ""
	if !r.Alike {
		with = "give both one format, and "
	}
	t.say("dates may end before they begin: %q and %q have one order in some rows, and in about "+
		"%.0f %% the other. If one is never before the other, %swrite it into the schema as kind: "+
		"integer, after: the other (decoy help schema)", r.First, r.Second, 100*r.Synthetic, with)
}
