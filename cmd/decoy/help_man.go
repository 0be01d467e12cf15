package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/docs"
	"github.com/decoy-dp/decoy/internal/job"
)

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
