package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/docs"
	"github.com/decoy-dp/decoy/internal/job"
)

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
		f, err := t.create("--man", path, job.ReleaseMode)
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
