package main

import "github.com/spf13/cobra"

func fitCommand(t *terminal) *cobra.Command {
	g := &generate{}
	var answers string
	cmd := manual{
		operands: "INPUT  private table, .csv, .parquet or .arrow; - (CSV on standard input),\n" +
			"       arrow:- (Arrow), sc://HOST/TABLE and postgres://HOST/DATABASE/TABLE need --ledger",
		exits: []int{exitBudget, exitLocked, exitData},
		session: `
$ decoy datasets export icu-severity --out icu.csv --schema-out icu.yaml
$ decoy fit icu.csv --schema icu.yaml --epsilon 1 --model icu.model
guarantee: (ε = 1, δ = 1e-09)-differential privacy under adding or removing one row
ledger: icu.csv.ledger, spent epsilon 1, delta 1e-09 in all, no limit is set (decoy ledger limit)
wrote icu.model
$ decoy verify icu.model
$ decoy sample icu.model --rows 1000 --out synthetic.csv
`}.document(&cobra.Command{
		Use:   "fit INPUT|--dataset NAME|--randomized ANSWERS [--schema S] --epsilon E --model FILE",
		Short: "fit a model to a private table",
		Long: `Fit a model to a private table under (epsilon, delta)-differential privacy and keep it in
one file, which may be given away: it holds no private row, and carries the guarantee and the
account that proves it.

The whole budget is reserved in the ledger before a row is read, and stays spent whatever happens
then, except that a run whose rows cannot be read is void and costs nothing, unless the limit is
strict (decoy ledger limit --strict).

Without --schema a third of the budget buys one in the same run, as decoy generate does, and it is
kept beside FILE.

--randomized fits a model to answers that were made private before they were collected, with the
schema and the epsilon that their form had; it costs nothing (decoy help collect).`,
		Args: operands("INPUT?"),
	})
	g.addFit(cmd, t, "model `FILE` to write (required)")
	cmd.Flags().StringVar(&answers, "randomized", "", "in place of INPUT, the lines that respondents "+
		"handed over, `ANSWERS.csv` (decoy collect)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := need(cmd, "model"); err != nil {
			return err
		}
		if cmd.Flags().Changed("randomized") {
			return g.fitAnswers(cmd, t, answers, args)
		}
		return g.run(cmd, t, args)
	}
	return cmd
}
