package exchange

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/schema"
)

// described is what a form says of a column, in words that the forms have in common. Of its
// categories, those of a boolean are the texts of false and true.
type described struct {
	schema.Column
	min, max     string   // as they are written; "": not said
	above, below bool     // min, max are no values themselves
	edges        []string // instead
	pattern      string   // of dates and timestamps, as schema.Layout reads it; "": the usual one
	leftOut      string   // why a schema cannot have the column; "": it can
	note         string   // for people
}

// Reasons to leave a column out.
const (
	isID         = "an id. If one person has several rows, name it as unit, with max_rows_per_unit"
	decimalComma = "its numbers have decimal commas or grouped digits: write 1234.5 first"
)

// noValue is the reason for a kind of a form that no schema has.
func noValue(kind string) string {
	return fmt.Sprintf("of the kind %q no synthetic value can be made", kind)
}

// composite are kinds of values that a schema cannot have, whatever else is said of them.
var composite = regexp.MustCompile("(?i)(object|array|url)$")

// described reads what the paths of the form say of a column.
func (r *reading) described(n *yaml.Node) described {
	kinds, _ := texts(n, r.kind)
	null := slices.Contains(kinds, "null")
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "null" })
	x := described{Column: schema.Column{Kind: r.noKind}}
	known := 0
	for _, kind := range kinds {
		said, ok := words[strings.ToLower(shortID(kind))]
		switch {
		case composite.MatchString(kind) || !ok && known == 0:
			x = described{leftOut: noValue(kind)}
		case !ok: // what the values mean
		case known == 0:
			x = said
		case x.Kind != said.Kind: // it may be each of them
			x = described{leftOut: x.leftOut}
		}
		if ok {
			known++
		}
	}
	if text := bound(n, r.min); text != "" {
		x.min = text
	}
	if text := bound(n, r.max); text != "" {
		x.max = text
	}
	x.above, x.below = isTrue(n, r.above), isTrue(n, r.below)
	if categories, among := texts(n, r.categories); len(categories) > 0 {
		x.Categories, null = categories, null || among
	}
	x.pattern = text(n, r.format)
	if isTrue(n, r.lists) {
		x.leftOut = "its cells are lists"
	}
	x.Missing, _ = texts(n, r.missing)
	if null || r.emptyIsMissing && at(n, r.missing) == nil {
		x.Missing = []string{""}
	}
	if text(n, r.required) == "true" {
		x.Missing = nil
	}
	return x
}

// isTrue reports whether something but false is at a path.
func isTrue(n *yaml.Node, paths string) bool {
	said := text(n, paths)
	return said != "" && said != "false"
}

// bound is the first text that is no truth value: draft 4 of JSON Schema has exclusiveMinimum as
// one.
func bound(n *yaml.Node, paths string) string {
	for path := range strings.FieldsSeq(paths) {
		if said := text(n, path); said != "" && said != "true" && said != "false" {
			return said
		}
	}
	return ""
}

// reading is a file that is being read.
type reading struct {
	form
	file, table *yaml.Node
}

// draft reads the columns of a table; "": the only one.
func (r *reading) draft(table string) (*Draft, error) {
	r.table = r.file
	if tables := at(r.file, r.tables); tables != nil {
		list, ok := entriesOf(tables, r.form.table)
		if !ok {
			return nil, invalid("its %s are no list of objects", r.tables)
		}
		list = slices.DeleteFunc(list, func(e entry) bool {
			rows := at(e.node, r.inline)
			return rows != nil && len(rows.Content) > 0
		})
		i, err := choose(list, table)
		if err != nil {
			return nil, err
		}
		r.table = list[i].node
	} else if name := text(r.file, r.form.table); table != "" && name == "" {
		return nil, invalid("it describes one table without a name, not %q", table)
	} else if table != "" && table != name {
		return nil, invalid("it describes the table %q, not %q", name, table)
	}
	if row := at(r.table, r.row); row != nil {
		r.table = row
	}
	var err error
	if r.table, err = r.resolve("", r.table); err != nil {
		return nil, err
	}
	columns := r.table
	if r.columns != "" {
		columns = at(r.table, r.columns)
	}
	list, ok := entriesOf(columns, r.column)
	if !ok || len(list) == 0 {
		return nil, invalid("%s", r.none)
	}
	key, _ := texts(r.table, r.ids)
	d := &Draft{Notes: []string{r.note}}
	for _, e := range list {
		n, err := r.resolve(e.name, e.node)
		if err != nil {
			return nil, err
		}
		if r.inherits != "" {
			n = inherited(r.file, r.table, at(r.table, r.inherits), n)
		}
		x := r.described(n)
		if x.Name = e.name; r.more != nil {
			err = r.more(r, n, &x)
		}
		if len(key) == 1 && key[0] == text(e.node, "name") {
			x.leftOut = isID
		}
		if err == nil {
			err = d.add(x)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// inherited is an object with the keys of several, those of the last before others.
func inherited(objects ...*yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	for _, n := range objects {
		out.Content = append(out.Content, n.Content...)
	}
	return out
}

// add makes a column, or a note that there is none. What is not said stays open.
func (d *Draft) add(x described) (err error) {
	note := func(text string) {
		d.Notes = append(d.Notes, fmt.Sprintf("column %q: %s", x.Name, text))
	}
	if x.leftOut != "" {
		note("left out: " + x.leftOut)
		return nil
	}
	if x.note != "" {
		note(x.note)
	}
	c := Column{Column: x.Column}
	switch {
	case x.Kind == schema.Boolean:
	case len(x.Categories) > 0:
		c.Kind = schema.Categorical
	case x.Kind == 0:
		c.Open = "the kind, and what belongs to it"
	case x.Kind == schema.Categorical:
		c.Open = "the categories"
	default:
		if err = c.bound(x); err != nil {
			err = invalid("column %q: %v", x.Name, err)
		}
	}
	c.Missing = slices.DeleteFunc(slices.Clone(c.Missing), func(token string) bool {
		if slices.Contains(c.Categories, token) {
			return true
		}
		number, err := strconv.ParseFloat(token, 64)
		return err == nil && c.Open == "" && c.Kind.Ordered() && number >= c.Min && number <= c.Max
	})
	d.Columns = append(d.Columns, c)
	return err
}

// bound sets the format and the bounds of a column of an ordered kind.
func (c *Column) bound(x described) error {
	moments := c.Kind == schema.Date || c.Kind == schema.Timestamp
	what := "the bounds min and max, inclusive"
	if moments {
		what = "the bounds min and max, in the format"
	}
	if layout, ok := schema.Layout(x.pattern); ok && moments {
		c.Format = layout
	} else if x.pattern != "" && moments {
		c.Open = fmt.Sprintf("%s; and the format, as a Go layout (the file says %s)", what,
			quoted(x.pattern))
		return nil
	}
	for _, text := range x.edges {
		edge, err := c.valueOf(text)
		if err != nil {
			return err
		}
		c.Edges = append(c.Edges, edge)
	}
	var ends [2]float64
	said := ""
	for i, text := range []string{x.min, x.max} {
		if text == "" {
			continue
		}
		said += fmt.Sprintf(" (the file says only %s %s)", []string{"min", "max"}[i], quoted(text))
		end, err := c.valueOf(text)
		if err != nil {
			return err
		}
		ends[i] = end
	}
	if x.min == "" || x.max == "" {
		c.Open = what + said
		return nil
	}
	if c.Kind == schema.Integer { // the whole numbers within
		first, last := math.Ceil(ends[0]), math.Floor(ends[1])
		if x.above && first == ends[0] {
			first++
		}
		if x.below && last == ends[1] {
			last--
		}
		ends = [2]float64{first, last}
	}
	if c.Min, c.Max = ends[0], ends[1]; len(c.Edges) > 0 {
		c.Min, c.Max = 0, 0
	}
	return nil
}

// valueOf is a bound: of a date or timestamp in the column's format, or in that of ISO 8601.
func (c *Column) valueOf(text string) (float64, error) {
	x, ok := c.ParseValue(text)
	switch {
	case ok:
		return x, nil
	case c.Kind.Stored() == schema.StoredInt || c.Kind.Stored() == schema.StoredFloat:
		return 0, fmt.Errorf("the bound %s is no number", quoted(text))
	}
	return 0, fmt.Errorf("the bound %s is no date", quoted(text))
}

// choose finds one of the tables that a file describes; its only one has no need of a name.
func choose(list []entry, table string) (int, error) {
	var names []string
	for _, e := range list {
		names = append(names, e.name)
	}
	switch at := slices.Index(names, table); {
	case len(names) == 0:
		return 0, invalid("it describes no table")
	case table == "" && len(names) == 1:
		return 0, nil
	case table == "":
		return 0, invalid("it describes %d tables (%s): name one", len(names), strings.Join(names, ", "))
	case at < 0:
		return 0, invalid("it has no table %q, but %s", table, strings.Join(names, ", "))
	default:
		return at, nil
	}
}
