// Package docs holds those pages of the documentation that the program prints.
package docs

import (
	"embed"
	"slices"
)

//go:embed *.md
var pages embed.FS

// topic is a page that 'decoy help' prints.
type topic struct{ Name, Short string }

// Topics are the pages, those to read first before the others.
func Topics() []topic {
	return []topic{
		{"schema", "how to describe the columns of a table"},
		{"epsilon", "what ε and δ mean, and which to choose"},
		{"methods", "which method to take"},
		{"glossary", "the terms of the help and the reports"},
		{"hospital", "one private table, from the first command to the hand-over"},
		{"serve", "the same in a browser, on your own machine"},
		{"linked", "patients with their visits: tables that belong together"},
		{"repeated", "a table that is released every month"},
		{"join", "several parties, one table, no pooled rows"},
		{"party", "the same with less noise, over a network"},
		{"collect", "a survey whose asker is not trusted"},
		{"batch", "many tables, methods and budgets"},
		{"scale", "a table that lies in Spark"},
		{"queries", "numbers in place of rows"},
		{"train", "a private classifier in place of a table"},
		{"validate", "one statistic of the real rows"},
		{"evaluate", "what the figures of a report mean"},
		{"audit", "what an audit shows"},
		{"library", "research on synthetic tables, and a Go program of your own"},
		{"claims", "why a claim may be believed, and how much there is to read"},
		{"pitfalls", "how people lose the guarantee"},
		{"aim", "the method aim and its settings"},
		{"wgan", "the method wgan and its settings"},
		{"pategan", "the method pategan and its settings"},
	}
}

// Page is the Markdown of a topic; "" if there is no such topic.
func Page(name string) string {
	if !slices.ContainsFunc(Topics(), func(t topic) bool { return t.Name == name }) {
		return ""
	}
	text, err := pages.ReadFile(name + ".md")
	if err != nil {
		return ""
	}
	return string(text)
}
