package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// manual is what the help of a verb says besides its flags.
type manual struct {
	operands string // "NAME  what it is" lines
	exits    []int  // exit codes besides 0, 1 and 2
	// one worked session: the lines after "$ " run as they are, in order, in an empty directory
	session string
}

const (
	operandsKey = "operands"
	exitsKey    = "exits"
)

// document attaches the manual to the verb.
func (m manual) document(cmd *cobra.Command) *cobra.Command {
	var exits strings.Builder
	for _, code := range append([]int{exitOK, exitError, exitUsage}, m.exits...) {
		fmt.Fprintf(&exits, "  %-3d %s\n", code, exitMeaning[code])
	}
	cmd.Annotations = map[string]string{operandsKey: m.operands, exitsKey: exits.String()}
	cmd.Example = strings.Trim(m.session, "\n")
	return cmd
}

// printHelp writes the help of a command.
func printHelp(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintf(w, "%s\n\n", strings.TrimSpace(cmd.Long))
	fmt.Fprintf(w, "Usage:\n  %s\n", usageLine(cmd))
	if operands := cmd.Annotations[operandsKey]; operands != "" {
		fmt.Fprintf(w, "\nOperands:\n%s\n", indent(operands))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(w, "\nVerbs:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(w, "  %-*s  %s\n", cmd.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	if flags := cmd.LocalNonPersistentFlags(); flags.HasAvailableFlags() && cmd.HasParent() {
		fmt.Fprintf(w, "\nFlags:\n%s", flags.FlagUsagesWrapped(100))
	}
	fmt.Fprintf(w, "\nFlags of every verb:\n%s", cmd.Root().PersistentFlags().FlagUsagesWrapped(100))
	fmt.Fprint(w, "  Flags are also environment variables (--epsilon is DECOY_EPSILON) and keys of "+
		"the --config file\n"+
		"  (epsilon: 1), but for those that have to be typed each time, such as --force and --resume.\n"+
		"  The command line wins over the environment, the environment over the file.\n")
	if exits := cmd.Annotations[exitsKey]; exits != "" {
		fmt.Fprintf(w, "\nExit status:\n%s", exits)
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExample:\n%s\n", indent(cmd.Example))
	}
}

// usageLine is the synopsis: Use of the command after the names of its parents.
func usageLine(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return cmd.Use + " VERB ..."
	}
	return cmd.Parent().CommandPath() + " " + cmd.Use
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}
