package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/docs"
	"github.com/decoy-dp/decoy/internal/spelling"
)

// printHelp writes the help of a command.
func printHelp(out io.Writer, cmd *cobra.Command) error {
	w, usage := &strings.Builder{}, cmd.Use+" VERB ..."
	if cmd.HasParent() {
		usage = cmd.Parent().CommandPath() + " " + cmd.Use
	}
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(cmd.Long), usage)
	section := func(head, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			fmt.Fprintf(w, "\n%s:\n%s\n", head, text)
		}
	}
	section("Operands", indent(cmd.Annotations[operandsKey]))
	var verbs strings.Builder
	for _, sub := range cmd.Commands() {
		fmt.Fprintf(&verbs, "  %-*s  %s\n", cmd.NamePadding(), sub.Name(), sub.Short)
	}
	section("Verbs", verbs.String())
	if !cmd.HasParent() {
		section("Topics of 'decoy help TOPIC'", topicList())
	} else {
		section("Flags", cmd.LocalNonPersistentFlags().FlagUsagesWrapped(100))
	}
	section("Flags of every verb", cmd.Root().PersistentFlags().FlagUsagesWrapped(100)+
		"  Flags are also environment variables (--epsilon is DECOY_EPSILON) and keys of the --config "+
		"file\n  (epsilon: 1), but for those that have to be typed each time, such as --force and "+
		"--resume.\n  The command line wins over the environment, the environment over the file.")
	section("Exit status", cmd.Annotations[exitsKey])
	section("Example", indent(cmd.Example))
	_, err := io.WriteString(out, w.String())
	return err
}

// indent moves the lines of a text to the right; an empty one has none.
func indent(text string) string {
	text = strings.TrimSpace(text)
	return strings.Repeat("  ", min(1, len(text))) + strings.ReplaceAll(text, "\n", "\n  ")
}

func topicList() string {
	var b strings.Builder
	for _, topic := range docs.Topics() {
		fmt.Fprintf(&b, "  %-11s  %s\n", topic.Name, topic.Short)
	}
	return b.String()
}

func helpCommand(t *terminal) *cobra.Command {
	cmd := t.verb("help", func(cmd *cobra.Command, t *terminal, args []string) error {
		return help(t, cmd.Root(), args)
	})
	cmd.Args = cobra.ArbitraryArgs
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil } // needs no config
	return cmd
}

// help prints what there is on a name: the help of a verb, and the page of a topic as it is.
func help(t *terminal, root *cobra.Command, args []string) error {
	name := strings.Join(args, " ")
	page := docs.Page(name)
	found, rest, err := root.Find(args)
	verb := err == nil && len(rest) == 0
	if verb {
		if err := printHelp(t.stdout, found); err != nil || page == "" {
			return err
		}
		page = "\n" + page
	}
	if page != "" {
		_, err := io.WriteString(t.stdout, page)
		return err
	}
	var names []string
	for _, topic := range docs.Topics() {
		names = append(names, topic.Name)
	}
	for _, sub := range root.Commands() {
		names = append(names, sub.Name())
	}
	return usagef("there is no help on %q%s; 'decoy help' lists the verbs and the topics", name,
		spelling.Hint(args[0], names))
}
