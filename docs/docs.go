// Package docs holds those pages of the documentation that the program prints.
package docs

import _ "embed"

// Glossary is the page glossary.md: the terms of the help and the reports.
//
//go:embed glossary.md
var Glossary string
