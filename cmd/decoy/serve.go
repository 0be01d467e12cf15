package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/serve"
)

func serveCommand(t *terminal) *cobra.Command {
	port := 0
	return t.verb("serve", func(cmd *cobra.Command, t *terminal, args []string) error {
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
	}, flags{"port": &port})
}
