package schema

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// A problem is one thing wrong with a schema.
type problem struct {
	line   int    // 0: the schema does not come from a file
	column string // "" or e.g. `column "age"`, of linked tables `table "visits", column "age"`
	text   string
}

func (p *problem) Error() string {
	var b strings.Builder
	b.WriteString("schema: ")
	if p.line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.line)
	}
	if p.column != "" {
		b.WriteString(p.column + ": ")
	}
	b.WriteString(spelling.Visible(p.text)) // YAML errors quote the file as it is
	return b.String()
}

func (p *problem) Unwrap() error { return ErrInvalid }

// problems collects what is wrong with a schema.
type problems struct {
	s     *Schema
	root  *yaml.Node   // of the file; nil: the schema does not come from one
	nodes []*yaml.Node // of each column
	found []*problem
	table string // of linked ones, e.g. `table "visits"`
}

// maxProblems is the most problems that are reported one by one.
const maxProblems = 50

// add reports a problem of a column, −1 being the whole schema, at a key and, if it holds a list,
// an item of it, −1 being all.
func (ps *problems) add(column int, key string, item int, format string, args ...any) {
	p := &problem{column: ps.within(ps.label(column)), text: fmt.Sprintf(format, args...)}
	if ps.root != nil {
		n := ps.root
		if column >= 0 {
			n = ps.nodes[column]
		}
		if v := valueOf(n, key); v != nil {
			n = v
		}
		if item >= 0 && item < len(n.Content) {
			n = n.Content[item]
		}
		p.line = n.Line
	}
	ps.found = append(ps.found, p)
}

// label names a column for a problem.
func (ps *problems) label(column int) string {
	switch {
	case column < 0:
		return ""
	case ps.s.Columns[column].Name == "":
		return fmt.Sprintf("column number %d", column+1)
	}
	return "column " + yamlfile.Quote(ps.s.Columns[column].Name)
}

// within names what has a label in its table.
func (ps *problems) within(label string) string { return strings.Trim(ps.table+", "+label, ", ") }

// reader reports what is wrong in a column of this label; "" is none.
func (ps *problems) reader(label string) yamlfile.Reader {
	return yamlfile.Reader{Report: func(line int, text string) {
		ps.found = append(ps.found, &problem{line, ps.within(label), text})
	}}
}

// err joins the problems in the order of their lines; nil if there are none.
func (ps *problems) err() error {
	sort.SliceStable(ps.found, func(i, j int) bool { return ps.found[i].line < ps.found[j].line })
	var errs []error
	for i, p := range ps.found {
		if i == maxProblems {
			errs = append(errs, &problem{text: fmt.Sprintf("and %d more problems", len(ps.found)-i)})
			break
		}
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}
