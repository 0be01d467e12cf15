package main

import (
	"crypto/rand"
	"encoding/binary"
	"math"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/atomicfile"
	"github.com/decoy-dp/decoy/release"
)

type generate struct {
	privateFlags
	sampleFlags
	model string
}

func generateCommand(t *terminal) *cobra.Command {
	g := &generate{}
	cmd := manual{
		operands: "INPUT  private table, .csv or .parquet; - is CSV on standard input (then --ledger " +
			"is required)",
		exits: []int{exitBudget, exitLocked, exitData},
		session: `
$ decoy datasets export icu-mortality --out patients.csv --schema-out patients.yaml
$ decoy ledger limit patients.csv.ledger --epsilon 2 --delta 1e-6
$ decoy generate patients.csv --schema patients.yaml --epsilon 1 --out synthetic.csv
guarantee: (ε = 1, δ = 1e-09)-differential privacy under adding or removing one row
ledger: patients.csv.ledger, spent epsilon 1, delta 1e-09 of epsilon 2, delta 1e-06 (rule basic)
wrote synthetic.csv: 2077 rows, 12 columns (seed 12157665459056928801)
$ decoy ledger show patients.csv.ledger
`}.document(&cobra.Command{
		Use:   "generate INPUT|--dataset NAME --schema S --epsilon E --out OUT [flags]",
		Short: "fit a model to a private table and sample a synthetic one, in one go",
		Long: `Fit a model to a private table under (epsilon, delta)-differential privacy and sample a synthetic table from it.

The whole budget is reserved in the ledger before a row is read, and stays spent whatever happens then. Everything that can go
wrong without the rows (schema, budget, ledger limit, output) is checked first. With --model the model is kept: any number of
tables may be sampled from it at no further cost.`,
		Args: operands("INPUT?"),
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return g.run(cmd, t, args) }
	g.privateFlags.add(cmd, t)
	g.sampleFlags.add(cmd, "the noisy row count of the table")
	cmd.Flags().StringVar(&g.model, "model", "", "also keep the fitted model in `FILE`")
	return cmd
}

func (g *generate) run(cmd *cobra.Command, t *terminal, args []string) error {
	if err := need(cmd, "out"); err != nil {
		return err
	}
	draw, err := g.drawing(cmd)
	if err != nil {
		return err
	}
	j, err := g.job(cmd, t, args)
	if err != nil {
		return err
	}
	written := []place{{"--out", g.out}, {"--model", g.model}, j.ledgerPlace()}
	if err := distinct(written, g.read(cmd, j)); err != nil {
		return err
	}
	if err := j.begin("generate", g.out, g.model); err != nil {
		return err
	}
	out, err := openOutput(t, g.out)
	if err != nil {
		return err
	}
	defer out.abort()
	var model *atomicfile.File
	if g.model != "" {
		if model, err = openModel(t, g.model); err != nil {
			return err
		}
		defer model.Abort()
	}
	return j.fit(cmd.Context(), func(m *release.Model) error {
		if model != nil {
			if err := writeModel(model, m); err != nil {
				return err
			}
			t.say("wrote %s", g.model)
		}
		return draw.to(cmd.Context(), t, j.shown, m, nil, out)
	})
}

// randomSeed is a public seed.
func randomSeed() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// wholeRows is an expected number of rows as a number of rows to draw.
func wholeRows(rows float64) int { return int(math.Round(min(max(rows, 1), math.MaxInt32))) }
