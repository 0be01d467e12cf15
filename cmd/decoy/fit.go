package main

import "github.com/spf13/cobra"

func fitCommand(t *terminal) *cobra.Command {
	g := &generate{}
	var answers string
	cmd := verb("fit")
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
