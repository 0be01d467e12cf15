package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/release"
)

// sampleFlags are the flags of the verbs that draw rows from a model.
type sampleFlags struct {
	rows int
	seed uint64
	out  string
}

func (s *sampleFlags) add(cmd *cobra.Command, defaultRows string) {
	f := cmd.Flags()
	f.IntVar(&s.rows, "rows", 0, "number of synthetic rows `N`, at least 1 (default "+defaultRows+")")
	f.Uint64Var(&s.seed, "seed", 0, "public seed `K` of the sampling; the same model, rows and seed give the same bytes (default random)")
	f.StringVar(&s.out, "out", "", "synthetic table `OUT`: .csv, .parquet, or - for CSV on standard output (required)")
}

// drawing is how many rows to draw and from which seed.
type drawing struct {
	rows int // 0: the model's noisy row count
	seed uint64
}

func (s *sampleFlags) drawing(cmd *cobra.Command) (drawing, error) {
	d := drawing{rows: s.rows, seed: s.seed}
	if cmd.Flags().Changed("rows") && s.rows < 1 {
		return d, usagef("--rows %d must be at least 1", s.rows)
	}
	if !cmd.Flags().Changed("seed") {
		d.seed = randomSeed()
	}
	return d, nil
}

// to draws into the output.
func (d drawing) to(ctx context.Context, t *terminal, p *progress, m *release.Model, out *output) error {
	if d.rows == 0 {
		d.rows = noisyRows(m)
	}
	err := out.sample(ctx, m, d.rows, d.seed, p.of("writing rows"))
	p.finish()
	if err != nil {
		return err
	}
	t.say("wrote %s: %d rows, %d columns (seed %d)", out.name(), d.rows, len(m.Schema().Columns), d.seed)
	return nil
}

func sampleCommand(t *terminal) *cobra.Command {
	var s sampleFlags
	cmd := manual{
		operands: "MODEL  model file of decoy fit or decoy generate --model",
		session: `
$ decoy fit --dataset icu-mortality --epsilon 1 --model icu.model
$ decoy sample icu.model --rows 500 --seed 7 --out synthetic.csv
guarantee: (ε = 1, δ = 1e-09)-differential privacy under adding or removing one row
wrote synthetic.csv: 500 rows, 12 columns (seed 7)
`}.document(&cobra.Command{
		Use:   "sample MODEL [--rows N] [--seed K] --out OUT",
		Short: "draw synthetic rows from a model; costs nothing, needs no private data",
		Long: `Draw synthetic rows from a model file. It costs no budget, however often it is done: what a model may tell was decided when it
was fitted. 'decoy verify MODEL' checks the guarantee that the file claims.`,
		Args: operands("MODEL"),
	})
	s.add(cmd, "the noisy row count in the model")
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
		if err := distinct([]place{{"--out", s.out}}, []place{{"MODEL", args[0]}}); err != nil {
			return err
		}
		out, err := openOutput(s.out, t.stdout)
		if err != nil {
			return err
		}
		defer out.abort()
		t.say("guarantee: %v", m.Claim)
		return draw.to(cmd.Context(), t, t.progress(), m, out)
	}
	return cmd
}
