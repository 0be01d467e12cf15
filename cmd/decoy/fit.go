package main

import "github.com/spf13/cobra"

func fitCommand(t *terminal) *cobra.Command {
	g := newGenerate()
	var answers string
	cmd := t.verb("fit", g.flags(), flags{"randomized": &answers})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("randomized") {
			return g.fitAnswers(cmd, t, answers, args)
		}
		return g.run(cmd, t, args)
	}
	return cmd
}
