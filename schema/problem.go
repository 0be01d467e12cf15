package schema

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// key is a key of a schema file, or the field of the same name.
type key uint8

const (
	keyVersion key = iota
	keyUnit
	keyMaxRows
	keyLenient
	keyCSV
	keyColumns
	keyRules
	keyName
	keyKind
	keyCategories
	keyBins
	keySpacing // in a file: bins.spacing
	keyFormat
	keyMissing
	keyOnInvalid
	keyOther
	keyDecimals
	keyAfter
	keyBuy   // in a file: bins.dp
	keyShare // in a file: bins.share
	keyMin   // this and what follows is read when kind and format are known
	keyMax
	keyEdges
	keyNone // the column or the schema as a whole
)

var keyNames = [...]string{
	"decoy", "unit", "max_rows_per_unit", "lenient", "csv", "columns", "rules",
	"name", "kind", "categories", "bins", "spacing", "format", "missing", "on_invalid", "other",
	"decimals", "after", "dp", "share", "min", "max", "edges", "",
}

// field gives the field of a column that a key is about.
func (c *Column) field(k key) any {
	return [...]any{
		&c.Name, &c.Kind, &c.Categories, &c.Bins, &c.Spacing, &c.Format, &c.Missing, &c.OnInvalid,
		&c.Other, &c.Decimals, &c.After, &c.BuyBins, &c.BuyShare, &c.Min, &c.Max, &c.Edges,
	}[k-keyName]
}

func (k key) String() string { return keyNames[k] }

// keys is a set of keys.
type keys uint32

func (s keys) has(k key) bool { return s&(1<<k) != 0 }
func (s *keys) add(k key)     { *s |= 1 << k }

// A place is where a problem is: a key, and the item of its list if it holds one.
type place struct {
	column int // -1: not in a column
	key    key
	item   int // -1: not in a list
}

// A problem is one thing wrong with a schema.
type problem struct {
	line   int    // 0: the schema does not come from a file
	column string // "" or e.g. `column "age"`
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
	line  func(place) int // nil: the schema does not come from a file
	found []*problem
}

// maxProblems is the most problems that are reported one by one.
const maxProblems = 50

// add reports a problem at a place. The name is the column's, if it has one.
func (ps *problems) add(at place, name string, format string, args ...any) {
	line := 0
	if ps.line != nil {
		line = ps.line(at)
	}
	ps.addAt(line, at.column, name, format, args...)
}

// addAt reports a problem in a line; column is -1 if it is in none.
func (ps *problems) addAt(line, column int, name string, format string, args ...any) {
	p := &problem{line: line, text: fmt.Sprintf(format, args...)}
	switch {
	case column >= 0 && name != "":
		p.column = "column " + yamlfile.Quote(name)
	case column >= 0:
		p.column = fmt.Sprintf("column number %d", column+1)
	}
	ps.found = append(ps.found, p)
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
