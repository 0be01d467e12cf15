package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/eval/linked"
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
	return t.verb("evaluate", func(cmd *cobra.Command, t *terminal, _ []string) error {
		if cmd.Flags().Changed("epsilon") {
			return e.publish(cmd, t)
		}
		return e.run(cmd, t)
	}, e.flags(), flags{"train": &e.train, "holdout": &e.holdout,
		"synthetic": &e.synthetic, "model": &e.model, "target": &e.options.Target,
		"positive": &e.options.Positive, "drop": (*names)(&e.options.Drop), "seed": &e.options.Seed,
		"report": &e.html, "json": &e.json})
}

func (e *evaluate) run(cmd *cobra.Command, t *terminal) error {
	if err := need(cmd, "train"); err != nil {
		return err
	}
	s, err := e.check()
	if errors.Is(err, schema.ErrLinked) {
		return e.linked(cmd, t)
	}
	if err != nil {
		return err
	}
	claim, err := e.claim(cmd.Context(), t, func(m *release.Model) bool { return m.IsOf(s) })
	if err != nil {
		return err
	}
	return e.report(t, func() (evaluation, error) {
		read := reader{cmd.Context(), t, t.progress()}
		in := report.Tables{}
		if in.Synthetic, err = read.both("--synthetic", e.synthetic[0], free(s)); err != nil {
			return evaluation{}, err
		}
		in.Synthetic.Claim = claim
		if in.Train, err = read.both("--train", e.train, s); err != nil {
			return evaluation{}, err
		}
		if e.holdout != "" {
			if in.Holdout, err = read.both("--holdout", e.holdout, s); err != nil {
				return evaluation{}, err
			}
		}
		e.options.Progress = read.shown.report
		r, err := report.Compute(cmd.Context(), in, e.options)
		return evaluation{r.Text, r.HTML, r.JSON}, err
	})
}

// linked is run for linked tables.
func (e *evaluate) linked(cmd *cobra.Command, t *terminal) error {
	l, err := schema.LoadLinked(e.Schema)
	if err != nil {
		return err
	}
	if o := e.options; o.Drop != nil || o.Target != "" {
		return usagef("--target and --drop are for one table, and --schema %s describes linked tables, "+
			"of which every column is predicted", e.Schema)
	}
	private := l.ForPrivate() // as generate reads them
	schemas, files := [3]*schema.Linked{private, l, private}, [3][]string{}
	flags := [3]string{"--train", "--synthetic", "--holdout"}
	for i, paths := range [3][]string{{e.train}, e.synthetic, {e.holdout}} {
		if paths[0] != "" && err == nil {
			paths = strings.Split(strings.Join(paths, ","), ",") // a folder, or files
			files[i], err = configs.LinkedFiles(flags[i], l, paths...)
		}
	}
	if err != nil {
		return err
	}
	claim, err := e.claim(cmd.Context(), t, func(m *release.Model) bool {
		return m.SchemaSHA256 == l.Fingerprint()
	})
	if err != nil {
		return err
	}
	return e.report(t, func() (evaluation, error) {
		e.options.Progress = t.progress().report
		var tables [3]*linked.Tables
		for i, paths := range files {
			if paths == nil {
				continue
			}
			if tables[i], err = linked.Read(cmd.Context(), schemas[i], paths); err != nil {
				return evaluation{}, fmt.Errorf("%s: %w", flags[i], err)
			}
		}
		each, err := alone(reader{cmd.Context(), t, t.progress()}, l, files)
		if err != nil {
			return evaluation{}, err
		}
		r, err := report.ComputeLinked(l, tables, each, claim, e.options)
		return evaluation{r.Text, r.HTML, r.JSON}, err
	})
}

// alone reads the linked tables once more, each by itself with its cells; none if that cannot be.
func alone(read reader, l *schema.Linked, files [3][]string) (out []report.Tables, err error) {
	real, synthetic := files[0], files[1]
	if slices.ContainsFunc(slices.Concat(real, synthetic), configs.IsStandard) {
		return nil, nil
	}
	for i, path := range real {
		t := l.Described()[i]
		if len(t.Schema.Columns) == 0 {
			continue
		}
		inFile, _ := l.Written(len(l.Tables)-len(real)+i, t.Schema)
		inFile.Unit = t.Keys()[0]
		var in report.Tables
		if in.Train, err = read.both("--train", path, inFile.ForPrivate()); err == nil {
			in.Synthetic, err = read.both("--synthetic", synthetic[i], inFile)
		}
		if err != nil {
			return nil, err
		}
		in.Synthetic.Name = t.Name
		out = append(out, in)
	}
	return out, nil
}

// evaluation writes a report in its three forms.
type evaluation struct{ text, page, figures func(io.Writer) error }

// report writes what compute finds where the flags say. The files are made before a row is read.
func (e *evaluate) report(t *terminal, compute func() (evaluation, error)) error {
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
	e.options.Tool = tool()
	r, err := compute()
	if err != nil {
		return suitable(err)
	}
	if figures == nil {
		if err := r.text(t.stdout); err != nil {
			return err
		}
	}
	const note = ", which is not private: keep it as safe as the real table"
	if err := t.deliver(page, note, r.page); err != nil {
		return err
	}
	return t.deliver(figures, note, r.figures)
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
	tables := []configs.NamedPath{configs.At("--train", e.train), configs.At("--holdout", e.holdout),
		configs.At("--synthetic", e.synthetic[0])}
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

// codes reads a table.
func (r reader) codes(name, path string, s *schema.Schema) (*table.Table, error) {
	out, ignored, err := table.Read(r.ctx, path, s,
		table.ReadOptions{})
	if err != nil {
		lines := strings.ReplaceAll(configs.Bare(path, err).Error(), "\n", "\n"+name+": ")
		return nil, &configs.Reworded{Text: name + ": " + lines, Err: err}
	}
	r.t.sayIgnored(name+": ", ignored.Ignored)
	return out, nil
}

// both reads a table as codes and, if it can be read twice, its cells as the file has them too.
func (r reader) both(name, path string, s *schema.Schema) (out report.Table, err error) {
	out.Name = filepath.Base(path)
	if out.Rows, err = r.codes(name, path, s); err != nil || path == configs.Standard ||
		out.Rows.Rows() == 0 {
		return out, err
	}
	if out.Garbled, err = garbled(path); err != nil {
		return out, err
	}
	if out.Values, err = readValues(path, s); err != nil {
		err = fmt.Errorf("%s: %w", name, configs.Bare(path, err))
	}
	return out, err
}

// garbled reports whether a CSV file is in another encoding than UTF-8.
func garbled(path string) (bool, error) {
	if format, _ := table.FormatOf(path); format != table.CSV && format != table.CSV|table.Tabs {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, transform.NewReader(f, encoding.UTF8Validator))
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		return true, nil
	}
	return false, err
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
		if header, err = table.Header(path, s.CSV.Separator()); err != nil {
			return nil, err
		}
	}
	enough := errors.New("enough")
	var scanned error
	v, err := eval.NewValues(s, header, func(yield func([]string) bool) {
		o := table.ScanOptions{CSV: s.CSV, Lenient: s.Lenient, Columns: len(header)}
		scanned = table.ScanText(path, o, func(_, row []string) error {
			if !yield(row) {
				return enough
			}
			return nil
		})
	})
	return v, cmp.Or(scanned, err)
}

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
	synthetic, err := reader{cmd.Context(), t, run.shown}.codes("--synthetic", e.synthetic[0],
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
		return analysis.PublishedSets(s), nil, nil
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
type estimates struct{ *analysis.Published }
