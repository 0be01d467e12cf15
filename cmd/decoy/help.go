package main

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/attack"
	"github.com/decoy-dp/decoy/docs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/synth/all"
	"github.com/decoy-dp/decoy/validate"
)

// manuals hold what the help of a verb says besides its flags, as text, in the file VERB.txt: usage,
// summary and further exit codes; what it does; its operands; one worked session, whose lines after
// "$ " run as they are, in order, in an empty directory.
//
//go:embed manual
var manuals embed.FS

const (
	operandsKey = "operands"
	exitsKey    = "exits"
)

// verb is the command of a manual, with the operands that it names.
func verb(name string) *cobra.Command {
	page, err := manuals.ReadFile("manual/" + strings.ReplaceAll(name, " ", "-") + ".txt")
	if err != nil {
		panic("decoy: " + err.Error())
	}
	lists := strings.NewReplacer("{methods}", strings.Join(all.Names(), ", "),
		"{mechanisms}", strings.Join(attack.GateNames(), ", "), "{statistics}", indent(validate.Kinds),
		"{topics}", topicList())
	head, text, _ := strings.Cut(lists.Replace(string(page)), "\n\n")
	cmd := &cobra.Command{}
	exits := []int{exitOK, exitError, exitUsage}
	for line := range strings.Lines(head) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), ": "); key {
		case "usage":
			cmd.Use = value
		case "short":
			cmd.Short = value
		case "exits":
			for _, code := range strings.Fields(value) {
				n, _ := strconv.Atoi(code)
				exits = append(exits, n)
			}
		}
	}
	text, cmd.Example, _ = strings.Cut(text, "\nExample:\n")
	long, operands, _ := strings.Cut(text, "\nOperands:\n")
	cmd.Long, cmd.Args = long, operandsOf(cmd.Use, operands)
	cmd.Annotations = map[string]string{operandsKey: operands}
	for _, code := range exits {
		cmd.Annotations[exitsKey] += fmt.Sprintf("  %-3d %s\n", code, exitMeaning[code])
	}
	return cmd
}

// operandsOf checks the number of operands, each of which begins a line of the manual. One is
// optional that the usage has in brackets, or with a flag that may stand in its place.
func operandsOf(usage, manual string) cobra.PositionalArgs {
	var names []string
	for line := range strings.Lines(manual) {
		if name, _, _ := strings.Cut(line, "  "); name != "" {
			names = append(names, name)
		}
	}
	return func(_ *cobra.Command, args []string) error {
		if len(args) > len(names) {
			return usagef("unexpected operand %q", args[len(names)])
		}
		for _, name := range names[len(args):] {
			if !strings.Contains(usage, "["+name) && !strings.Contains(usage, name+"|--") {
				return usagef("%s is missing", name)
			}
		}
		return nil
	}
}

// section is a part of a command's help, which is shown in a terminal and in a man page.
type section struct{ head, text string }

const more = "More" // heads the last section of a verb that has a page

// helpOf is the help of a command. The first section has no heading.
func helpOf(cmd *cobra.Command) []section {
	out := []section{{"", strings.TrimSpace(cmd.Long)}, {"Usage", "  " + usageLine(cmd)}}
	add := func(head, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			out = append(out, section{head, text})
		}
	}
	if operands := cmd.Annotations[operandsKey]; operands != "" {
		add("Operands", indent(operands))
	}
	if cmd.HasAvailableSubCommands() {
		var verbs strings.Builder
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&verbs, "  %-*s  %s\n", cmd.NamePadding(), sub.Name(), sub.Short)
			}
		}
		add("Verbs", verbs.String())
	}
	if !cmd.HasParent() {
		add("Topics of 'decoy help TOPIC'", topicList())
	} else {
		add("Flags", cmd.LocalNonPersistentFlags().FlagUsagesWrapped(100))
	}
	add("Flags of every verb", cmd.Root().PersistentFlags().FlagUsagesWrapped(100)+
		"  Flags are also environment variables (--epsilon is DECOY_EPSILON) and keys of the --config "+
		"file\n  (epsilon: 1), but for those that have to be typed each time, such as --force and "+
		"--resume.\n  The command line wins over the environment, the environment over the file.")
	add("Exit status", cmd.Annotations[exitsKey])
	if cmd.Example != "" {
		add("Example", indent(cmd.Example))
	}
	if docs.Page(cmd.Name()) != "" && cmd.Parent() == cmd.Root() {
		add(more, "  decoy help "+cmd.Name())
	}
	return out
}

// printHelp writes the help of a command.
func printHelp(w io.Writer, sections []section) {
	for i, s := range sections {
		if i > 0 {
			fmt.Fprintf(w, "\n%s:\n", s.head)
		}
		fmt.Fprintln(w, s.text)
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

func topicList() string {
	var b strings.Builder
	for _, topic := range docs.Topics() {
		fmt.Fprintf(&b, "  %-11s  %s\n", topic.Name, topic.Short)
	}
	return b.String()
}

func helpCommand(t *terminal) *cobra.Command {
	var man string
	cmd := verb("help")
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVar(&man, "man", "", "write the man pages to the folder `DIR`")
	addForce(cmd, t)
	cmd.ValidArgsFunction = func(
		cmd *cobra.Command, args []string, _ string,
	) (out []string, _ cobra.ShellCompDirective) {
		if at, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
			for _, sub := range at.Commands() {
				out = append(out, sub.Name()+"\t"+sub.Short)
			}
		}
		for _, topic := range docs.Topics() {
			if len(args) == 0 {
				out = append(out, topic.Name+"\t"+topic.Short)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil } // needs no config
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if man != "" {
			return writeMan(t, cmd.Root(), man)
		}
		return help(t, cmd.Root(), args)
	}
	return cmd
}

// help prints what there is on a name.
func help(t *terminal, root *cobra.Command, args []string) error {
	found, rest, err := root.Find(args)
	verb := err == nil && len(rest) == 0
	page := ""
	if len(args) == 1 {
		page = docs.Page(args[0])
	}
	if verb {
		printHelp(t.stdout, slices.DeleteFunc(helpOf(found), func(s section) bool {
			return page != "" && s.head == more
		}))
	}
	if page != "" {
		if verb {
			fmt.Fprintln(t.stdout)
		}
		_, err := io.WriteString(t.stdout, pageText(page))
		return err
	}
	if verb {
		return nil
	}
	var names []string
	for _, topic := range docs.Topics() {
		names = append(names, topic.Name)
	}
	for _, sub := range root.Commands() {
		names = append(names, sub.Name())
	}
	near := spelling.Nearest(args[0], names)
	if len(args) > 1 && slices.Contains(names, args[0]) {
		near = args[0]
	}
	if near != "" {
		return usagef("there is no help on %q, did you mean 'decoy help %s'?", strings.Join(args, " "),
			near)
	}
	return usagef("there is no help on %q; 'decoy help' lists the verbs and the topics",
		strings.Join(args, " "))
}
