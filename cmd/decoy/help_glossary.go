package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/docs"
)

// link is a link of Markdown, of which a terminal shows the text.
var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

func glossaryCommand(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "glossary",
		Short: "the terms of the help and the reports",
		Long:  "Print the glossary: what the terms of the help and the reports mean.",
		Args:  operands(),
		RunE: func(*cobra.Command, []string) error {
			text := link.ReplaceAllString(strings.ReplaceAll(docs.Glossary, "**", ""), "$1")
			_, err := fmt.Fprint(t.stdout, strings.TrimPrefix(text, "# Glossary\n\n"))
			return err
		},
	}
}
