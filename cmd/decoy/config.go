package main

import (
	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/synth"
)

func configSettingsCommand(t *terminal) *cobra.Command {
	method := synth.Auto
	return t.verb("config settings", func(_ *cobra.Command, t *terminal, _ []string) error {
		settings, err := synth.Settings(method)
		if err != nil {
			return usagef("--method: %w", err)
		}
		return t.print(listing[synth.Setting]{settings, "KEY\tTYPE\tDEFAULT\tMEANING",
			func(s synth.Setting) string { return row(s.Key, s.Type, s.Default, s.Text) }})
	}, flags{"method": &method})
}
