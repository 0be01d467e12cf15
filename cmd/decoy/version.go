package main

import (
	"fmt"
	"io"
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
	return addJSON(manual{session: `
$ decoy version
`}.document(&cobra.Command{
		Use:   "version",
		Short: "print the version",
		Long:  "Print the version of decoy, the Go release that built it, and the platform.",
		Args:  operands(),
		RunE: func(*cobra.Command, []string) error {
			return t.print(version{tool(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
		},
	}), t)
}

type version struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (v version) text(w io.Writer) { fmt.Fprintf(w, "%s %s %s\n", v.Version, v.Go, v.Platform) }
