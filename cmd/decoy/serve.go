package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/serve"
)

func serveCommand(t *terminal) *cobra.Command {
	port := 0
	cmd := manual{
		operands: "FOLDER  folder of the tables (default the one you are in)",
		session: `
$ decoy serve
open this page in a browser: http://127.0.0.1:41873/?token=K5UKWZ2F4YRYN4IXQZ7ZQ4D2ZY
press Ctrl-C to end
`}.document(&cobra.Command{
		Use:   "serve [FOLDER] [--port N]",
		Short: "a page in the browser on this machine: from a table to a synthetic one in five steps",
		Long: `Open a local page that leads from a private table to a synthetic one in five steps: table,
schema, plan, run, result. Every step shows the command line that it stands for, and this program
carries it out, so that ledgers, models and outputs are the same.

The page listens on 127.0.0.1 only, and answers only those who know the token in its address. No
request leaves the machine, and no cell of a private table is on a page but in the report of an
evaluation, which says so. A run goes on when the browser is closed. When this command ends, with
Ctrl-C, runs under way are interrupted, and can be resumed at no further cost.`,
		Args: operands("FOLDER?"),
	})
	cmd.Flags().IntVar(&port, "port", 0, "port `N`; 0 is any that is free")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if port < 0 || port > 65535 {
			return usagef("--port: %d is not 0 to 65535", port)
		}
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		s, err := serve.Listen(dir, self, port)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.stdout, "open this page in a browser: %s\n", s.Address())
		t.say("press Ctrl-C to end")
		return s.Serve(cmd.Context())
	}
	return cmd
}
