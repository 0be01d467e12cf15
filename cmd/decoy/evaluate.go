package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/eval/report"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// unprotectedMode are the permissions of what is not private: only who made it may read it.
const unprotectedMode = 0o600

type evaluate struct {
	jobFlags          // the schema, and what a published evaluation costs
	train, holdout    string
	synthetic, models []string
	html, json, pairs string
	classifier        string
	options           report.Options
}

func evaluateCommand(t *terminal) *cobra.Command {
	e := &evaluate{jobFlags: newJob(), pairs: "0", options: report.Options{Seed: 1}}
	return t.verb("evaluate", func(cmd *cobra.Command, t *terminal, _ []string) error {
		if cmd.Flags().Changed("epsilon") {
			return e.publish(cmd, t)
		}
		return e.run(cmd, t)
	}, e.flags(), flags{"train": &e.train, "holdout": &e.holdout,
		"synthetic": &e.synthetic, "model": &e.models, "target": &e.options.Target,
		"positive": &e.options.Positive, "drop": (*names)(&e.options.Drop),
		"quasi": (*names)(&e.options.Quasi), "seed": &e.options.Seed,
		"classifier": &e.classifier, "pairs": &e.pairs, "report": &e.html, "json": &e.json})
}

func (e *evaluate) run(cmd *cobra.Command, t *terminal) error {
	if err := need(cmd, "train"); err != nil {
		return err
	}
	s, err := e.check()
	if err != nil {
		return err
	}
	if err := e.named(s); err != nil {
		return err
	}
	if e.html == configs.Standard {
		return usagef("--report -: a page needs a file")
	}
	if e.options.Pairs, err = pairs(e.pairs); err != nil {
		return err
	}
	claims, err := e.claims(s)
	if err != nil {
		return err
	}
	page, err := t.create("--report", e.html, unprotectedMode)
	if err != nil {
		return err
	}
	defer page.Abort()
	figures, err := t.create("--json", e.json, unprotectedMode)
	if err != nil {
		return err
	}
	defer figures.Abort()
	shown := t.progress()
	in, err := e.read(cmd.Context(), t, shown, s)
	if err != nil {
		return err
	}
	for i, c := range claims {
		in.Synthetic[i].Claim = c
	}
	if in.Classifier, err = e.predicted(in.Holdout.Rows); err != nil {
		return err
	}
	e.options.Tool = tool()
	e.options.Progress = shown.report
	r, err := report.Compute(cmd.Context(), in, e.options)
	switch {
	case errors.Is(err, eval.ErrColumn):
		return unsuitable(err)
	case err != nil:
		return err
	case page == nil && figures == nil:
		shown.finish()
		return r.Text(t.stdout)
	}
	const note = ", which is not private: keep it as safe as the real table"
	if err := t.deliver(page, note, r.HTML); err != nil {
		return err
	}
	return t.deliver(figures, note, r.JSON)
}

// check refuses what cannot work before anything is read.
func (e *evaluate) check() (*schema.Schema, error) {
	tables := []configs.NamedPath{configs.At("--train", e.train), configs.At("--holdout", e.holdout)}
	for _, path := range e.synthetic {
		tables = append(tables, configs.At("--synthetic", path))
	}
	if n := len(e.models); n > 0 && n != len(e.synthetic) {
		return nil, usagef("--model must be given once for each --synthetic, in their order")
	}
	if e.holdout != "" && !configs.IsStandard(e.holdout) && configs.SameFile(e.holdout, e.train) {
		return nil, usagef("--holdout and --train are the same file: a holdout is rows that the " +
			"synthesizer did not see")
	}
	var standards []string
	for _, p := range tables {
		if p.Path == "" {
			continue
		}
		if _, err := configs.FormatOf(p.Name, p.Path); err != nil {
			return nil, err
		}
		if err := configs.Readable(p.Path); err != nil {
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
	return configs.LoadSchema(e.Schema)
}

// unsuitable is an eval.ErrColumn in the user's words.
func unsuitable(err error) error {
	return usagef("%s", strings.TrimSuffix(err.Error(), ": "+eval.ErrColumn.Error()))
}

// named refuses names that are no columns of the schema.
func (e *evaluate) named(s *schema.Schema) error {
	for _, f := range []struct {
		flag  string
		names []string
	}{{"--target", []string{e.options.Target}}, {"--drop", e.options.Drop},
		{"--quasi", e.options.Quasi}} {
		for _, name := range f.names {
			if name != "" && s.Index(name) < 0 {
				return usagef("%s: the schema has no column %q to compare%s", f.flag, name, s.Hint(name))
			}
		}
	}
	return nil
}

// pairs is how many pairs of columns are drawn, −1 for all.
func pairs(text string) (int, error) {
	if text == "all" {
		return -1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, usagef("--pairs %q is neither a number of pairs nor all", text)
	}
	return n, nil
}

// claims verifies the models of the synthetic tables.
func (e *evaluate) claims(s *schema.Schema) ([]*report.Claim, error) {
	var out []*report.Claim
	for _, path := range e.models {
		m, err := openModel(path)
		if err != nil {
			return nil, fmt.Errorf("--model: %w", err)
		}
		if _, err := m.Verify(pld.Epsilon); err != nil {
			return nil, fmt.Errorf("--model %s: %w", path, err)
		}
		if !m.IsOf(s) {
			return nil, usagef("--model %s has another schema than --schema %s: its claim is not about "+
				"this table", path, e.Schema)
		}
		out = append(out, new(claimOf(m)))
	}
	return out, nil
}

// predicted is what the classifier says of the holdout; nil without one.
func (e *evaluate) predicted(holdout *table.Table) (*report.Classifier, error) {
	if e.classifier == "" {
		return nil, nil
	}
	c, err := openClassifier(e.classifier)
	if err != nil {
		return nil, fmt.Errorf("--classifier: %w", err)
	}
	if holdout == nil || c.Target != e.options.Target {
		return nil, usagef("--classifier %s predicts %s: it needs --target %[2]s and --holdout",
			e.classifier, c.Target)
	}
	if _, err := release.Verify(c, pld.Epsilon); err != nil {
		return nil, fmt.Errorf("--classifier %s: %w", e.classifier, err)
	}
	if c.SchemaSHA256 != holdout.Schema().Fingerprint() {
		return nil, usagef("--classifier %s has another schema than --schema %s: its codes are not "+
			"those of this table", e.classifier, e.Schema)
	}
	p, err := c.Probabilities(holdout)
	if err != nil {
		return nil, fmt.Errorf("--classifier %s: %w", e.classifier, err)
	}
	return &report.Classifier{Claim: c.Claim.String(), Classes: c.Classes, Probabilities: p}, nil
}

// read reads the tables.
func (e *evaluate) read(
	ctx context.Context, t *terminal, shown *progress, s *schema.Schema,
) (in report.Tables, err error) {
	for _, path := range e.synthetic {
		one, err := readBoth(ctx, t, shown, "--synthetic", path, free(s))
		if err != nil {
			return in, err
		}
		in.Synthetic = append(in.Synthetic, one)
	}
	if in.Train, err = readBoth(ctx, t, shown, "--train", e.train, s); err != nil {
		return in, err
	}
	if e.holdout != "" {
		in.Holdout, err = readBoth(ctx, t, shown, "--holdout", e.holdout, s)
	}
	return in, err
}

// readBoth reads a table as codes and, if it can be read twice, its cells too.
func readBoth(
	ctx context.Context, t *terminal, shown *progress, name, path string, s *schema.Schema,
) (out report.Table, err error) {
	out.Name = filepath.Base(path)
	if out.Rows, err = readTable(ctx, t, shown, name, path, s); err != nil ||
		path == configs.Standard || out.Rows.Rows() == 0 {
		return out, err
	}
	if out.Values, err = readValues(path, s); err != nil {
		return out, fmt.Errorf("%s: %w", name, configs.Bare(path, err))
	}
	return out, nil
}

// readTable reads a table without protection.
func readTable(
	ctx context.Context, t *terminal, shown *progress, name, path string, s *schema.Schema,
) (*table.Table, error) {
	out, ignored, err := table.Read(ctx, path, s,
		table.ReadOptions{Progress: shown.of("reading " + strings.TrimLeft(name, "-"))})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, configs.Bare(path, err))
	}
	t.sayIgnored(name+": ", ignored.Ignored)
	return out, nil
}

// readValues reads the cells of a table as the file has them.
func readValues(path string, s *schema.Schema) (*eval.Values, error) {
	rows, err := s.RowCodec()
	if err != nil {
		return nil, err
	}
	var header []string
	if s.Unit != "" {
		header = append(header, s.Unit)
	}
	for _, c := range rows.Columns() {
		header = append(header, c.Name)
	}
	if !s.CSV.NoHeader {
		if header, err = table.Header(path, s.CSV.Separator(), s); err != nil {
			return nil, err
		}
	}
	var scanned error
	v, err := eval.NewValues(s, header, func(yield func([]string) bool) {
		o := table.ScanOptions{CSV: s.CSV, Lenient: s.Lenient, Columns: len(header), Schema: s}
		scanned = table.ScanText(path, o, func(_, row []string) error {
			if !yield(row) {
				return errEnough
			}
			return nil
		})
	})
	return v, cmp.Or(scanned, err)
}

var errEnough = errors.New("enough")

// free is the schema of synthetic rows, which belong to no unit, and about which an error hides
// nothing.
func free(s *schema.Schema) *schema.Schema {
	out := *s
	out.Unit, out.MaxRowsPerUnit, out.Lenient = "", 0, false
	return &out
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
	defer run.file.Abort()
	synthetic, err := readTable(cmd.Context(), t, run.shown, "--synthetic", e.synthetic[0],
		free(rows.Schema()))
	if err != nil {
		return err
	}
	o := analysis.Evaluation{Target: e.options.Target, Positive: e.options.Positive,
		Drop: e.options.Drop}
	_, s, err := analysis.Publish(cmd.Context(), rows, synthetic, o, analysis.Run[*analysis.Published]{
		Options: run.Options(e.Job), Progress: run.shown.report,
		Deliver: func(r *analysis.Published) error {
			run.got("%v", r.Claim())
			if run.file == nil {
				return t.print(estimates{r})
			}
			return t.deliver(run.file, ", which may be published", release.FileWriter(r))
		}})
	if errors.Is(err, eval.ErrColumn) {
		return unsuitable(err)
	}
	return run.end(s, err)
}

// checkPublish checks everything that can be checked without rows.
func (e *evaluate) checkPublish(cmd *cobra.Command) (*privacy.Rows, *ledger.File, error) {
	fail := func(err error) (*privacy.Rows, *ledger.File, error) { return nil, nil, err }
	name := "--holdout"
	switch {
	case e.train != "" && e.holdout != "":
		return fail(usagef("--epsilon takes one private table: --holdout (better: rows that the " +
			"synthesizer did not see) or --train, not both"))
	case e.holdout == "" && e.train == "":
		return fail(usagef("--holdout or --train is required"))
	case e.html != "" || e.options.Quasi != nil || cmd.Flags().Changed("pairs") || e.models != nil ||
		e.classifier != "":
		return fail(usagef("--report, --quasi, --pairs, --model and --classifier are for what is not " +
			"private; --epsilon gives numbers only (--json)"))
	case len(e.synthetic) > 1:
		return fail(usagef("--epsilon takes one --synthetic table"))
	case e.holdout == "":
		name = "--train"
	}
	e.Input = cmp.Or(e.holdout, e.train)
	if err := e.checkBudget(); err != nil {
		return fail(err)
	}
	synthetic := e.synthetic[0]
	if e.Input == configs.Standard && synthetic == configs.Standard {
		return fail(usagef("only one table can come from standard input"))
	}
	if _, err := configs.FormatOf("--synthetic", synthetic); err != nil {
		return fail(err)
	}
	if err := configs.Readable(synthetic); err != nil {
		return fail(err)
	}
	program, elsewhere, err := configs.Counter(e.Input, e.Ledger)
	switch {
	case !elsewhere:
		return e.private(cmd, name, e.Input)
	case err != nil:
		return fail(err)
	case e.options.Target != "":
		return fail(usagef("--target: its figures need rows, and %s %s is a table elsewhere, of which "+
			"there are counts: leave --target out, or give an extract", name, e.Input))
	}
	return e.tableOf(cmd, e.Input, func(s *schema.Schema) (*privacy.Rows, error) {
		return configs.CountedRows(cmd.Context(), program, e.Input, s, analysis.PublishedSets(s),
			&e.counting)
	})
}

// estimates is what was bought.
type estimates struct{ *analysis.Published }

func (r estimates) text(w io.Writer) {
	fmt.Fprintf(w, "publishable: %v\n\n", r.Claim())
	fmt.Fprintf(w, "metric\tvalue\tstandard error\tof\n")
	for _, e := range r.Estimates {
		if e.LeftOut != "" {
			fmt.Fprintf(w, "%s\t–\t\t%s: %s\n", e.Name, e.Of, e.LeftOut)
			continue
		}
		of := e.Of
		if e.Name == "RareClassRate" || e.Name == "AUROC" {
			of = fmt.Sprintf("%s = %s, %s", r.Target, r.Positive, e.Of)
		}
		fmt.Fprintf(w, "%s\t%s\t%.2g\t%s\n", e.Name, configs.Short(e.Value), e.StdErr,
			strings.ToValidUTF8(of, "?"))
	}
}
