package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/eval/linked"
	"github.com/decoy-dp/decoy/eval/report"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/stats"
)

// unprotectedMode are the permissions of what is not private: only who made it may read it.
const unprotectedMode = 0o600

type evaluate struct {
	jobFlags   // the schema, and what a published evaluation costs
	train      string
	holdout    string
	synthetic  []string
	model      string
	html, json string
	options    report.Options
}

func evaluateCommand(t *terminal) *cobra.Command {
	e := &evaluate{jobFlags: newJob(), options: report.Options{Seed: 1}}
	cmd := t.verb("evaluate", func(cmd *cobra.Command, t *terminal, _ []string) error {
		if cmd.Flags().Changed("epsilon") {
			return e.publish(cmd, t)
		}
		return e.run(cmd, t)
	}, e.flags(), flags{"train": &e.train, "holdout": &e.holdout,
		"synthetic": &e.synthetic, "model": &e.model, "target": &e.options.Target,
		"positive": &e.options.Positive, "drop": (*names)(&e.options.Drop), "seed": &e.options.Seed,
		"report": &e.html, "json": &e.json})
	cmd.AddCommand(evaluateHoldoutCommand(t))
	return cmd
}

func (e *evaluate) run(cmd *cobra.Command, t *terminal) error {
	if err := need(cmd, "train"); err != nil {
		return err
	}
	s, err := e.check()
	isOf := func(m *release.Model) bool { return m.IsOf(s) }
	read := func(r reader) (report.Study, error) { return e.table(r, s) }
	if errors.Is(err, schema.ErrLinked) {
		var l *schema.Linked
		var files [3][]string
		l, files, err = e.checkLinked()
		isOf = func(m *release.Model) bool { return m.SchemaSHA256 == l.Fingerprint() }
		read = func(r reader) (report.Study, error) { return linkedTables(r, l, files) }
	}
	if err != nil {
		return err
	}
	claim, err := e.claim(cmd.Context(), t, isOf)
	if err != nil {
		return err
	}
	return e.report(cmd.Context(), t, claim, read)
}

// table reads the samples of one table.
func (e *evaluate) table(read reader, s *schema.Schema) (in report.Tables, err error) {
	if in.Synthetic, err = read.both("--synthetic", e.synthetic[0], s.ForSynthetic()); err != nil {
		return in, err
	}
	if in.Train, err = read.both("--train", e.train, s); err == nil && e.holdout != "" {
		in.Holdout, err = read.both("--holdout", e.holdout, s)
	}
	return in, err
}

// linkedFlags name the samples of linked tables.
var linkedFlags = [3]string{"--train", "--synthetic", "--holdout"}

// checkLinked is check for linked tables: their files, of each of linkedFlags.
func (e *evaluate) checkLinked() (l *schema.Linked, files [3][]string, err error) {
	if l, err = schema.LoadLinked(e.Schema); err != nil {
		return nil, files, err
	}
	if o := e.options; o.Drop != nil || o.Target != "" {
		return nil, files, usagef("--target and --drop are for one table, and --schema %s describes "+
			"linked tables, of which every column is predicted", e.Schema)
	}
	for i, paths := range [3][]string{{e.train}, e.synthetic, {e.holdout}} {
		if paths[0] != "" && err == nil {
			paths = strings.Split(strings.Join(paths, ","), ",") // a folder, or files
			files[i], err = configs.LinkedFiles(linkedFlags[i], l, paths...)
		}
	}
	return l, files, err
}

// linkedTables reads linked tables and, unless one of them can be read once only, each by itself
// with its cells.
func linkedTables(
	read reader, l *schema.Linked, files [3][]string,
) (in report.Linked, err error) {
	private := l.ForPrivate() // as generate reads them
	schemas, tables := [3]*schema.Linked{private, l, private}, [3]*linked.Tables{}
	for i, paths := range files {
		if paths == nil {
			continue
		}
		if tables[i], err = linked.Read(read.ctx, schemas[i], paths); err != nil {
			return in, fmt.Errorf("%s: %w", linkedFlags[i], err)
		}
	}
	in = report.Linked{Schema: l, Train: tables[0], Synthetic: tables[1], Holdout: tables[2]}
	real, synthetic := files[0], files[1]
	if slices.ContainsFunc(slices.Concat(real, synthetic), configs.IsStandard) {
		return in, nil
	}
	for i, path := range real {
		t := l.Described()[i]
		if len(t.Schema.Columns) == 0 {
			continue
		}
		inFile, _ := l.Written(len(l.Tables)-len(real)+i, t.Schema)
		inFile.Unit = t.Keys()[0]
		var of report.Tables
		if of.Train, err = read.both("--train", path, inFile.ForPrivate()); err == nil {
			of.Synthetic, err = read.both("--synthetic", synthetic[i], inFile)
		}
		if err != nil {
			return in, err
		}
		of.Synthetic.Name = t.Name
		in.Tables = append(in.Tables, of)
	}
	return in, nil
}

// report writes what is found about tables where the flags say. The files are made before a row is
// read.
func (e *evaluate) report(
	ctx context.Context, t *terminal, claim *report.Claim, read func(reader) (report.Study, error),
) error {
	if e.html == configs.Standard {
		return usagef("--report -: a page needs a file")
	}
	page, err := t.create("--report", e.html, unprotectedMode)
	if err != nil {
		return err
	}
	figures, err := t.create("--json", e.json, unprotectedMode)
	if err != nil {
		return err
	}
	shown := t.progress()
	in, err := read(reader{ctx, t, shown})
	if err != nil {
		return err
	}
	e.options.Claim, e.options.Tool, e.options.Progress = claim, tool(), shown.report
	r, err := report.Compute(ctx, in, e.options)
	if err != nil {
		return suitable(err)
	}
	if figures == nil {
		if err := r.Text(t.stdout); err != nil {
			return err
		}
	}
	const note = ", which is not private: keep it as safe as the real table"
	if err := t.deliver(page, note, r.HTML); err != nil {
		return err
	}
	return t.deliver(figures, note, r.JSON)
}

// check refuses what cannot work before anything is read.
func (e *evaluate) check() (*schema.Schema, error) {
	if e.holdout != "" && !configs.IsStandard(e.holdout) && configs.SameFile(e.holdout, e.train) {
		return nil, usagef("--holdout and --train are the same file: a holdout is rows that the " +
			"synthesizer did not see")
	}
	s, err := configs.LoadSchema(e.Schema)
	if err != nil {
		return nil, err
	}
	if len(e.synthetic) > 1 {
		return nil, usagef("--synthetic is one table: evaluate each by itself, and lay the reports (or " +
			"--json) side by side")
	}
	tables := []configs.NamedPath{{Name: "--train", Path: e.train},
		{Name: "--holdout", Path: e.holdout}, {Name: "--synthetic", Path: e.synthetic[0]}}
	var standards []string
	for _, p := range tables {
		if p.Path == "" {
			continue
		}
		if err := checkTable(p.Name, p.Path); err != nil {
			return nil, err
		}
		if configs.IsStandard(p.Path) {
			if slices.Contains(standards, p.Path) || p.Path == configs.Standard && len(standards) > 0 {
				return nil, usagef("only one table can come from standard input, or several as Arrow " +
					"streams: arrow:-, arrow:-2, arrow:-3")
			}
			standards = append(standards, p.Path)
		}
	}
	for flag, names := range map[string][]string{"--target": {e.options.Target},
		"--drop": e.options.Drop} {
		for _, name := range names {
			if name != "" && s.Index(name) < 0 {
				return nil, usagef("%s: the schema has no column %q to compare%s", flag, name, s.Hint(name))
			}
		}
	}
	return s, nil
}

// suitable has an eval.ErrColumn in the user's words.
func suitable(err error) error {
	if errors.Is(err, eval.ErrColumn) {
		return usagef("%s", strings.TrimSuffix(err.Error(), ": "+eval.ErrColumn.Error()))
	}
	return err
}

// claim verifies a model, which must be of the schema of the synthetic table, and whether it gives
// that table, byte for byte; nil without one.
func (e *evaluate) claim(
	ctx context.Context, t *terminal, isOf func(m *release.Model) bool,
) (*report.Claim, error) {
	if e.model == "" {
		return nil, nil
	}
	m, err := openModel(e.model)
	if err != nil {
		return nil, fmt.Errorf("--model: %w", err)
	}
	if _, err := m.Verify(pld.Epsilon); err != nil {
		return nil, fmt.Errorf("--model %s: %w", e.model, err)
	}
	if !isOf(m) {
		return nil, usagef("--model %s has another schema than --schema %s: its claim is not about "+
			"this table", e.model, e.Schema)
	}
	c := claimOf(m)
	c.Text = fmt.Sprintf("made by %s with %v; the model gives this table, byte for byte", m.Method,
		m.Claim)
	if _, err := t.drew(ctx, configs.Job{}, e.model, e.synthetic); err != nil {
		c.Text = fmt.Sprintf("nothing shows that the model gave this table; its tables are made by %s "+
			"with %v", m.Method, m.Claim)
	}
	return &c, nil
}

// checkTable checks that a table that is to be read has a format and can be, and reads nothing.
func checkTable(name, path string) error {
	if _, err := configs.FormatOf(name, path); err != nil {
		return err
	}
	return configs.Readable(path)
}

// reader reads tables without protection.
type reader struct {
	ctx   context.Context
	t     *terminal
	shown *progress
}

// said says what a table has that its schema does not name, and puts the table's name before each
// line of an error.
func (r reader) said(name, path string, ignored []int, err error) error {
	if err != nil {
		lines := strings.ReplaceAll(configs.Bare(path, err).Error(), "\n", "\n"+name+": ")
		return &configs.Reworded{Text: name + ": " + lines, Err: err}
	}
	r.t.sayIgnored(name+": ", ignored)
	return nil
}

// codes reads a table.
func (r reader) codes(name, path string, s *schema.Schema) (*table.Table, error) {
	out, ignored, err := report.Read(r.ctx, path, s, true)
	return out.Rows, r.said(name, path, ignored, err)
}

// both reads a table as codes and, if it can be read twice, its cells as the file has them too.
func (r reader) both(name, path string, s *schema.Schema) (report.Table, error) {
	out, ignored, err := report.Read(r.ctx, path, s, path == configs.Standard)
	return out, r.said(name, path, ignored, err)
}

// publish buys an evaluation through the gate and charges the ledger of the private table.
func (e *evaluate) publish(cmd *cobra.Command, t *terminal) error {
	rows, ledger, err := e.checkPublish(cmd)
	if err != nil {
		return err
	}
	run, err := e.pay(t, ledger, "evaluate", e.Input, "--json", e.json)
	if err != nil {
		return err
	}
	synthetic, err := reader{cmd.Context(), t, run.shown}.codes("--synthetic", e.synthetic[0],
		rows.Schema().ForSynthetic())
	if err != nil {
		return err
	}
	o := stats.Evaluation{Target: e.options.Target, Positive: e.options.Positive,
		Drop: e.options.Drop}
	_, s, err := stats.Publish(cmd.Context(), rows, synthetic, o, stats.Run[*stats.Published]{
		Options: run.Options(e.Job), Progress: run.shown.report,
		Deliver: func(r *stats.Published) error {
			run.got("%v", r.Claim())
			if run.file == nil {
				return t.print(estimates{r})
			}
			return t.deliver(run.file, ", which may be published", release.FileWriter(r))
		}})
	if errors.Is(err, eval.ErrColumn) {
		return suitable(err)
	}
	return run.end(s, err)
}

// checkPublish checks everything that can be checked without rows.
func (e *evaluate) checkPublish(cmd *cobra.Command) (*privacy.Rows, *ledger.File, error) {
	e.Input = cmp.Or(e.holdout, e.train)
	if err := e.publishable(); err != nil {
		return nil, nil, err
	}
	name := map[bool]string{true: "--train", false: "--holdout"}[e.holdout == ""]
	return e.counted(cmd, name, e.Input, func(s *schema.Schema) ([][]int, []int, error) {
		if e.options.Target != "" {
			return nil, nil, usagef("--target: its figures need rows, and %s %s is a table elsewhere, of "+
				"which there are counts: leave --target out, or give an extract", name, e.Input)
		}
		return stats.PublishedSets(s), nil, nil
	}, e.described)
}

// publishable refuses flags with which nothing can be published.
func (e *evaluate) publishable() error {
	switch {
	case e.train != "" && e.holdout != "":
		return usagef("--epsilon takes one private table: --holdout (better: rows that the " +
			"synthesizer did not see) or --train, not both")
	case e.Input == "":
		return usagef("--holdout or --train is required")
	case e.html != "" || e.model != "":
		return usagef("--report and --model are for what is not private; " +
			"--epsilon gives numbers only (--json)")
	case len(e.synthetic) > 1:
		return usagef("--epsilon takes one --synthetic table")
	case e.Input == configs.Standard && e.synthetic[0] == configs.Standard:
		return usagef("only one table can come from standard input")
	}
	return cmp.Or(e.checkBudget(), checkTable("--synthetic", e.synthetic[0]))
}

// estimates is what was bought.
type estimates struct{ *stats.Published }
