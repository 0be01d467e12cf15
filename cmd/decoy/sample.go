package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/workload"
)

type sample struct {
	jobFlags
	where, uncertainty string
	texts              []string
}

func sampleCommand(t *terminal) *cobra.Command {
	s := &sample{}
	return t.verb("sample", func(cmd *cobra.Command, t *terminal, args []string) error {
		m, err := s.open(args[0])
		if err != nil {
			return err
		}
		return s.run(cmd, t, m)
	}, s.flags(), flags{"where": &s.where, "uncertainty": &s.uncertainty,
		"texts": &s.texts})
}

// open opens the model, and checks --texts against its columns.
func (s *sample) open(path string) (*release.Model, error) {
	m, err := openModel(path)
	if err != nil {
		return nil, err
	}
	rows, err := m.Schema().RowCodec()
	if err != nil {
		return nil, err
	}
	for _, name := range s.texts {
		named := func(c schema.FileColumn) bool { return c.Name == name }
		if !slices.ContainsFunc(rows.Columns(), named) {
			return nil, usagef("--texts: the model has no column %q", name)
		}
	}
	return m, nil
}

func (s *sample) run(cmd *cobra.Command, t *terminal, m *release.Model) error {
	var from configs.Sampler = m
	rows, condition := m.Rows, ""
	if cmd.Flags().Changed("where") {
		given, text, err := givenOf(m, s.where)
		if err != nil {
			return err
		}
		from, rows, condition = given, given.Rows(), text
	}
	out, err := configs.CreateOutput("--out", s.Out, t.stdout, t.force)
	if err != nil {
		return err
	}
	out.Safe, out.Texts = s.SpreadsheetSafe, s.texts
	defer out.Abort()
	t.sayGuarantee(m)
	if condition != "" {
		t.say("%s", condition)
	}
	if s.uncertainty != "" {
		if err := writeUncertainty(t, s.uncertainty, m); err != nil {
			return err
		}
	}
	n := configs.DrawnRows(s.Rows, rows, m.Claim.Epsilon, t.say)
	err = out.Sample(cmd.Context(), from, m.Schema(), n, s.Seed, t.progress().of("writing rows"))
	if err == nil {
		t.say("wrote %s: %d rows, %d columns (seed %d)", out.Name(), n, m.Schema().Width(), s.Seed)
	}
	return err
}

// givenOf is the model under a condition, and what it says of the number of such rows.
func givenOf(m *release.Model, where string) (*release.Given, string, error) {
	items, err := workload.Conditions(m.Schema(), where)
	if err != nil {
		return nil, "", usagef("--where %w", err)
	}
	g, err := m.Given(items[0])
	if err != nil {
		return nil, "", fmt.Errorf("--where %w", err)
	}
	w, err := workload.New(m.Schema(), items)
	if err != nil {
		return nil, "", fmt.Errorf("--where %w", err)
	}
	answers, err := m.Answers(w)
	if err != nil {
		return nil, "", fmt.Errorf("--where %w", err)
	}
	known := "how far that is off is not known"
	if e := answers[0].StandardError; e != nil {
		known = fmt.Sprintf("its standard error is %.2g rows, of the noise", *e)
	}
	return g, fmt.Sprintf("condition: the model expects it of about %.0f of its %.0f rows (%s); "+
		"%s", g.Rows(), m.Rows, percent(g.Rows()/m.Rows), known), nil
}

// writeUncertainty writes the noisy marginals of a model.
func writeUncertainty(t *terminal, path string, m *release.Model) error {
	u, err := m.Uncertainty()
	if err != nil {
		return usagef("--uncertainty: %w", err)
	}
	cells, below := 0, 0
	for _, n := range u.Marginals {
		for _, b := range n.Below {
			cells++
			if b {
				below++
			}
		}
	}
	note := fmt.Sprintf(": %d noisy marginals, %d of %d cells below the noise", len(u.Marginals),
		below, cells)
	return t.write("--uncertainty", path, configs.ReleaseMode, note, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(u)
	})
}
