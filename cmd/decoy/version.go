package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// tool is the program and its version, as ledgers and models record it.
func tool() string {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" &&
		info.Main.Version != "(devel)" {
		version = info.Main.Version
	}
	return "decoy " + version
}

func versionCommand(t *terminal) *cobra.Command {
	return manual{session: `
$ decoy version
`}.document(&cobra.Command{
		Use:   "version",
		Short: "print the version",
		Long:  "Print the version of decoy, the Go release that built it, and the platform.",
		Args:  operands(),
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(t.stdout, "%s %s %s/%s\n", tool(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	})
}
