package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/table"
	"github.com/decoy-dp/decoy/workload"
)

// sampleFlags are the flags of the verbs that draw rows from a model.
type sampleFlags struct {
	rows int
	seed uint64
	out  string
	safe bool
}

func (s *sampleFlags) add(cmd *cobra.Command, defaultRows string) {
	f := cmd.Flags()
	f.IntVar(&s.rows, "rows", 0, "number of synthetic rows `N`, at least 1 (default "+defaultRows+")")
	f.Uint64Var(&s.seed, "seed", 0, "public seed `K` of the sampling; the same model, rows and seed "+
		"give the same bytes (default random)")
	f.BoolVar(&s.safe, "spreadsheet-safe", false,
		"in a CSV output: an apostrophe before texts that a spreadsheet would run as formulas")
	f.StringVar(&s.out, "out", "", "synthetic table `OUT`: .csv, .parquet, or - for CSV on standard "+
		"output (required)")
}

// drawing is how many rows to draw and from which seed.
type drawing struct {
	rows int // 0: the model's noisy row count
	seed uint64
	safe bool // no cell of a CSV file is a formula
}

func (s *sampleFlags) drawing(cmd *cobra.Command) (drawing, error) {
	d := drawing{rows: s.rows, seed: s.seed, safe: s.safe}
	if format, err := formatOf("--out", s.out); s.safe && err == nil && format != table.CSV {
		return d, usagef("--spreadsheet-safe is for CSV, which %s is not", s.out)
	}
	if cmd.Flags().Changed("rows") && s.rows < 1 {
		return d, usagef("--rows %d must be at least 1", s.rows)
	}
	if !cmd.Flags().Changed("seed") {
		d.seed = randomSeed()
	}
	return d, nil
}

// to draws into the output; given is nil without a condition.
func (d drawing) to(ctx context.Context, t *terminal, p *progress, m *release.Model,
	given *release.Given, out *output) error {
	var from sampler = m
	rows := m.Rows
	if given != nil {
		from, rows = given, given.Rows()
	}
	if d.rows == 0 {
		d.rows = wholeRows(rows)
	}
	out.safe = d.safe
	err := out.sample(ctx, from, m.Schema(), d.rows, d.seed, p.of("writing rows"))
	p.finish()
	if err != nil {
		return err
	}
	t.say("wrote %s: %d rows, %d columns (seed %d)", out.name(), d.rows, len(m.Schema().Columns),
		d.seed)
	return nil
}

func sampleCommand(t *terminal) *cobra.Command {
	var s sampleFlags
	var where, uncertainty string
	cmd := manual{
		operands: "MODEL  model file of decoy fit or decoy generate --model",
		session: `
$ decoy fit --dataset icu-mortality --epsilon 1 --model icu.model
$ decoy sample icu.model --rows 500 --seed 7 --out synthetic.csv
guarantee: (ε = 1, δ = 1e-09)-differential privacy under adding or removing one row
wrote synthetic.csv: 500 rows, 12 columns (seed 7)
$ decoy sample icu.model --where "mortality = 1 and sofa >= 8" --rows 100 --out severe.csv --uncertainty noise.json
`}.document(&cobra.Command{
		Use:   "sample MODEL [--rows N] [--seed K] --out OUT",
		Short: "draw synthetic rows from a model; costs nothing, needs no private data",
		Long: `Draw synthetic rows from a model file. It costs no budget, however often it is done: what a model may tell was decided when it
was fitted. 'decoy verify MODEL' checks the guarantee that the file claims.`,
		Args: operands("MODEL"),
	})
	addForce(cmd, t)
	s.add(cmd, "the noisy row count in the model, or its share under --where")
	cmd.Flags().StringVar(&where, "where", "", "draw only rows that satisfy `CONDITION`, such as "+
		"\"age >= 30 and not (sex = F)\": exactly, from the model")
	cmd.Flags().StringVar(&uncertainty, "uncertainty", "", "also write the noisy marginals behind "+
		"the model, with the σ of their noise, to `U.json`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := need(cmd, "out"); err != nil {
			return err
		}
		draw, err := s.drawing(cmd)
		if err != nil {
			return err
		}
		m, err := release.Open(args[0])
		if err != nil {
			return err
		}
		var given *release.Given
		if cmd.Flags().Changed("where") {
			if given, err = givenOf(m, where); err != nil {
				return err
			}
		}
		if err := distinct([]place{{"--out", s.out}, {"--uncertainty", uncertainty}},
			[]place{{"MODEL", args[0]}}); err != nil {
			return err
		}
		out, err := openOutput(t, s.out)
		if err != nil {
			return err
		}
		defer out.abort()
		t.say("guarantee: %v", m.Claim)
		if given != nil {
			t.say("condition: %.1f of %.1f rows in the model (%.2g %%)", given.Rows(), m.Rows,
				100*given.Rows()/m.Rows)
		}
		if uncertainty != "" {
			if err := writeUncertainty(t, uncertainty, m); err != nil {
				return err
			}
		}
		return draw.to(cmd.Context(), t, t.progress(), m, given, out)
	}
	return cmd
}

// givenOf is the model under a condition.
func givenOf(m *release.Model, where string) (*release.Given, error) {
	items, err := workload.Conditions(m.Schema(), where)
	if err != nil {
		return nil, &usageError{fmt.Errorf("--where %w", err)}
	}
	g, err := m.Given(items[0].Where)
	if err != nil {
		return nil, fmt.Errorf("--where %w", err)
	}
	return g, nil
}
