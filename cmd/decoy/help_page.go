package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/docs"
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
