package main

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
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
	} else if err == nil && j.Linked == nil {
		_, err = j.Table(cmd.Context())
	}
	if err != nil {
		return err
	}
	g.sayWeak(t)
	if j.Domain != nil {
		for _, s := range j.Schemas() {
			t.sayKnown(s)
		}
	}
	written, read := j.Files()
	if j.Ledger != nil {
		written = append(written, configs.NamedPath{Name: "the ledger", Path: j.Ledger.Path()})
	}
	if err := configs.Distinct(written, append(read, configPath(cmd))); err != nil {
		return err
	}
	account := g.account(t, j.Ledger, j.Input)
	if j.Linked != nil {
		account.Linked = j.Inputs[1:]
	}
	if err := account.Begin(cmd.Name(), append(j.Outs(), j.Model, j.Bought)...); err != nil {
		return err
	}
	outputs, err := j.Create(t.stdout, func(path string) bool {
		return t.force || account.Made(path) ||
			account.Resume && (path == j.Bought || j.Linked != nil && path != j.Model)
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
	deliver := func(bought *analysis.Inferred, yaml []byte) error {
		for _, r := range bought.Tables {
			sayBought(t, j, r)
			of := map[bool]string{false: "rows", true: "units with rows, of which each had a say by one: " +
				"of all rows, more may be beyond the bounds"}[j.Linked != nil]
			t.say("bought: a schema of %s, of about %.0f %s", schemaSize(r.Schema()), r.Rows, of)
		}
		return outputs.WriteSchema(yaml, t.force, t.say)
	}
	_, begun, ignored, err := j.Run(cmd.Context(), o, deliver)
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
			if err := g.sayModel(ctx, t, m, forecast); err != nil {
				return err
			}
			if s := m.Schema(); s.Unit != "" && j.Linked == nil && j.Out != "" && j.Rows == 0 {
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
		g.Input, g.Inputs = args[0], args
	}
	switch {
	case g.Dataset != "" && g.Input != "":
		return nil, usagef("INPUT %s and --dataset %s: one table a run", g.Input, g.Dataset)
	case g.Dataset == "" && g.Input == "":
		return nil, usagef("INPUT or --dataset is missing")
	}
	if g.OutDir == "" && cmd.Name() == "generate" {
		if err := need(cmd, "out"); err != nil {
			return nil, err
		}
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
		unit, _ := j.Purchase.Table.Unit()
		sayHeader(t, unit, j.Purchase.Table.Names())
		rows := map[bool]string{true: "units with a row that holds", false: "rows that hold"}
		t.say("a third of the budget buys a schema: a column needs about %d %s a value",
			wholeRows(j.Purchase.Plan.Needs().Kind), rows[j.Linked != nil])
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

// sayModel says what is to be known of the model of a run, from what it releases.
func (f *jobFlags) sayModel(
	ctx context.Context, t *terminal, m *release.Model, forecast synth.Forecast,
) error {
	f.sayDelta(t, m.Rows)
	sayFavoured(t, m)
	needsOf(m.Schema(), forecast).sayLost(t, m)
	return sayDrawn(ctx, t, m, cmp.Or(strings.Join(f.Inputs, " "), f.Input))
}

// sayDrawn draws some rows of a model, and tells of what its owner would see at a glance.
func sayDrawn(ctx context.Context, t *terminal, m *release.Model, input string) (err error) {
	const rows, seed = 400, 1
	var drawn []*table.Table
	if m.Linked() != nil {
		drawn, err = m.SampleLinked(ctx, rows, seed)
	} else {
		err = m.Sample(ctx, rows, seed, func(all *table.Table) error {
			drawn = append(drawn, all)
			return nil
		})
	}
	for i := 0; i < len(drawn) && err == nil; i++ {
		err = sayReversed(t, drawn[i], release.ValueRand(seed))
	}
	if err == nil {
		sayUnreadable(t, tablesOf(m), drawn, input)
	}
	return err
}

// sayReversed tells of dates that end before they begin, of the worst pair of columns.
func sayReversed(t *terminal, drawn *table.Table, u *rand.Rand) error {
	const least = .01 // of the rows
	s := drawn.Schema()
	codecs, err := s.Codecs()
	if err != nil {
		return err
	}
	values, err := eval.NewValues(s, s.Names(), func(yield func([]string) bool) {
		row := make([]string, len(codecs))
		for r := range drawn.Rows() {
			for i, c := range codecs {
				row[i] = string(c.AppendText(nil, c.Decode(drawn.Column(i).At(r), u)))
			}
			yield(row)
		}
	})
	if err != nil {
		return err
	}
	all := eval.Reversals(nil, values, least)
	if len(all) > 0 {
		r, with := all[0], ""
		if !r.Alike {
			with = "give both one format, and "
		}
		t.say("dates may end before they begin: %q and %q have one order in some rows, and in about "+
			"%.0f %% the other. If one is never before the other, %swrite it into the schema as kind: "+
			"integer, after: the other (decoy help schema)", r.First, r.Second, 100*r.Synthetic, with)
	}
	return nil
}

// sayUnreadable tells of columns in which nearly all rows have the code of a cell that cannot be
// read: a missing one, the category for others, or the bin in the middle, and of linked tables in
// which nearly no unit has rows. A wrong separator, decimal commas or texts in a column of numbers
// look like that.
func sayUnreadable(t *terminal, linked []schema.LinkedTable, all []*table.Table, input string) {
	const rows, most, manyBins = 400, 0.95, 5
	var named []string
	for i, drawn := range all {
		if float64(drawn.Rows()) <= (1-most)*rows {
			named = append(named, linked[i].Name)
			continue
		}
		codecs, _ := drawn.Schema().Codecs() // of a schema that was written
		for i, c := range codecs {
			code, n := c.Unreadable(), 0
			for r := range drawn.Rows() {
				if drawn.Column(i).At(r) == code {
					n++
				}
			}
			column := c.Column()
			tells := len(column.Missing) > 0 || column.Other != "" ||
				column.Kind.Ordered() && c.Size() >= manyBins
			if tells && float64(n) >= most*float64(drawn.Rows()) {
				named = append(named, column.Name)
			}
		}
	}
	t.sayNames(named, nil, "nearly all cells are missing, or could not be read (if that is not so in "+
		"the table, look at its separator, decimal commas and dates: decoy schema check SCHEMA %s)",
		input)
}
