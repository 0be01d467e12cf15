package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/docs"
	"github.com/decoy-dp/decoy/internal/spelling"
)

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
	cmd := t.verb("help", func(cmd *cobra.Command, t *terminal, args []string) error {
		if man != "" {
			return writeMan(t, cmd.Root(), man)
		}
		return help(t, cmd.Root(), args)
	}, flags{"man": &man})
	cmd.Args = cobra.ArbitraryArgs
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

var (
	link    = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`) // of which a terminal shows the text
	page    = regexp.MustCompile(`\b([a-z]+)\.md\b`)
	comment = regexp.MustCompile(`(?s)<!--.*?-->\n?`)
)

// pageText is a page of Markdown as a terminal shows it: headings in capitals, code indented,
// tables as a list of their rows.
func pageText(markdown string) string {
	text := comment.ReplaceAllString(markdown, "")
	text = link.ReplaceAllString(strings.ReplaceAll(text, "**", ""), "$1")
	text = page.ReplaceAllStringFunc(text, func(name string) string {
		if topic := strings.TrimSuffix(name, ".md"); docs.Page(topic) != "" {
			return "'decoy help " + topic + "'"
		}
		return name
	})
	var out []string
	var head []string // of the table
	code, table := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			code = !code
			continue
		case code:
			line = "    " + line
		case strings.HasPrefix(line, "#"):
			line = strings.ToUpper(strings.TrimLeft(line, "# "))
		case strings.HasPrefix(trimmed, "|"):
			cells := splitRow(trimmed)
			if !table {
				head, table = cells, true
			} else if strings.Trim(cells[0], "-: ") != "" || cells[0] == "" {
				out = append(out, rowText(head, cells)...)
			}
			continue
		}
		table = false
		out = append(out, strings.TrimRight(line, " "))
	}
	out = slices.CompactFunc(out, func(a, b string) bool { return a == "" && b == "" })
	return strings.Trim(strings.Join(out, "\n"), "\n") + "\n"
}

// splitRow are the cells of a row of a table.
func splitRow(line string) []string {
	const bar = "\x00" // for a bar that belongs to a cell
	line = strings.ReplaceAll(line, `\|`, bar)
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(c), bar, "|")
	}
	return cells
}

// rowText is a row of a table: its first cell, and below it the others after their headings.
func rowText(head, cells []string) []string {
	var out []string
	for i, c := range cells {
		margin := "     "
		switch {
		case i == 0:
			margin = " "
		case c == "":
			continue
		case len(cells) > 2 && i < len(head) && head[i] != "":
			c = head[i] + ": " + c
		}
		line := margin
		for word := range strings.FieldsSeq(c) {
			if len([]rune(line))+1+len([]rune(word)) > 100 {
				out = append(out, line)
				line = margin
			}
			line += " " + word
		}
		out = append(out, line)
	}
	return out
}

// writeMan writes the man pages of every verb (decoy-generate.1) and topic (decoy-epsilon.7), from
// what the help says.
func writeMan(t *terminal, root *cobra.Command, dir string) error {
	n := 0
	write := func(name string, volume int, short string, sections []section) error {
		n++
		path := filepath.Join(dir, fmt.Sprintf("%s.%d", name, volume))
		f, err := t.create("--man", path, configs.ReleaseMode)
		if err != nil {
			return err
		}
		defer f.Abort()
		fmt.Fprintf(f, ".TH %s %d \"\" %q\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), volume,
			thisVersion().Version, roff(name), roff(short))
		for _, s := range sections {
			fmt.Fprintf(f, ".SH %s\n.nf\n%s\n.fi\n", strings.ToUpper(roff(s.head)), roff(s.text))
		}
		return f.Commit()
	}
	var walk func(*cobra.Command) error
	walk = func(c *cobra.Command) error {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		sections := helpOf(c)
		sections[0].head = "Description"
		if err := write(name, 1, c.Short, sections); err != nil {
			return err
		}
		for _, sub := range c.Commands() {
			if sub.Name() == "completion" {
				continue
			}
			if err := walk(sub); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(root); err != nil {
		return err
	}
	for _, topic := range docs.Topics() {
		if err := write("decoy-"+topic.Name, 7, topic.Short,
			[]section{{"Description", pageText(docs.Page(topic.Name))}}); err != nil {
			return err
		}
	}
	t.say("wrote %d man pages to %s", n, dir)
	return nil
}

// roff is a text in which nothing is a command of roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
