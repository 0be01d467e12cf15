package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/model/workload"
)

type sample struct {
	jobFlags
	where string
	texts []string
}

func sampleCommand(t *terminal) *cobra.Command {
	s := &sample{}
	return t.verb("sample", func(cmd *cobra.Command, t *terminal, args []string) error {
		m, err := s.open(args[0])
		if err != nil {
			return err
		}
		return s.run(cmd, t, m)
	}, s.flags(), flags{"where": &s.where, "texts": &s.texts})
}

// open opens the model, and checks --texts against its columns.
func (s *sample) open(path string) (*release.Model, error) {
	open := openModel
	if s.where != "" {
		open = openTable // a condition is on single rows
	}
	m, err := open(path)
	if err != nil {
		return nil, err
	}
	var columns []schema.FileColumn
	for _, one := range m.Tables().Described() {
		rows, err := one.Schema.RowCodec()
		if err != nil {
			return nil, err
		}
		columns = append(columns, rows.Columns()...)
	}
	for _, name := range s.texts {
		of := func(c schema.FileColumn) bool { return c.Name == name }
		if !slices.ContainsFunc(columns, of) {
			return nil, usagef("--texts: the model has no column %q", name)
		}
	}
	return m, nil
}

func (s *sample) run(cmd *cobra.Command, t *terminal, m *release.Model) error {
	switch folder := m.Tables().Folder(); {
	case folder && (s.OutDir == "" || s.Out != ""):
		return usagef("the model is of linked tables: --out-dir names a folder for them")
	case !folder && s.Out == "":
		return need(cmd, "out")
	case !folder && s.OutDir != "":
		return usagef("--out-dir is for linked tables, and the model is of one table")
	}
	var given *release.Given
	rows, condition := m.Rows, ""
	if cmd.Flags().Changed("where") {
		g, expected, err := s.given(cmd.Context(), m)
		if err != nil {
			return fmt.Errorf("--where %w", err)
		}
		given, rows = g, expected.Answer
		condition = fmt.Sprintf("condition: the model expects it of about %.0f of its %.0f rows (%s)",
			rows, m.Rows, percent(rows/m.Rows))
		if e := expected.StandardError; e != nil {
			condition += fmt.Sprintf("; its standard error is %.2g rows, of the %s", *e, expected.Covers)
		}
	}
	out, err := configs.CreateTables(s.OutDir, s.Out, m.Tables(), t.stdout, t.force,
		table.WriterOptions{Safe: s.SpreadsheetSafe, Texts: s.texts})
	for _, one := range out {
		defer one.Abort()
	}
	if err != nil {
		return err
	}
	t.sayGuarantee(m)
	if condition != "" {
		t.say("%s", condition)
	}
	n := configs.DrawnRows(s.Rows, rows, m.Claim.Epsilon, t.say)
	return configs.SampleTables(cmd.Context(), out, given, m, n, s.Seed, t.say,
		t.progress().of("writing rows"))
}

// given is the model under --where, and how many of its rows satisfy that.
func (s *sample) given(
	ctx context.Context, m *release.Model,
) (g *release.Given, of release.Answered, err error) {
	items, err := workload.Conditions(m.Schema(), s.where)
	if err != nil {
		return nil, of, usagef("%w", err)
	}
	w, err := workload.New(m.Schema(), items)
	if err != nil {
		return nil, of, err
	}
	ask := m.Answers
	if !m.Exact() {
		ask = func(w *workload.Workload) ([]release.Answered, error) {
			return m.SampledAnswers(ctx, w, defaultDraws/10, s.Seed, func(float64) {})
		}
	}
	answers, err := ask(w)
	if err != nil {
		return nil, of, err
	}
	if of = answers[0]; !(of.Answer > 0) {
		return nil, of, release.ErrImpossible
	}
	g, err = m.Given(items[0])
	return g, of, err
}
