package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// ErrLinked is returned by readers of one table for a file that describes several.
var ErrLinked = fmt.Errorf("schema: the file describes linked tables (tables:), or rows in their "+
	"order (order:), and this takes the schema of one table of single rows: %w", ErrInvalid)

// Order of the rows of a parent.
type Order struct {
	By   string // a column whose values have an order; rows where it is missing are not used
	Rows int    // further rows are not used
}

// Bounds of what linked tables may say.
const (
	MaxLinkedRows = 1000 // of one unit
	maxWeight     = 1000
	maxRemembered = 16 // categories that a table remembers
)

// Of is the table whose child table i is, −1 for the first.
func (l *Linked) Of(i int) int {
	if l.Tables[i].Parent == "" {
		return -1
	}
	return slices.IndexFunc(l.Tables, func(t LinkedTable) bool { return t.Name == l.Tables[i].Parent })
}

// LoadLinked reads the file at path, as [ParseLinked] does.
func LoadLinked(path string) (*Linked, error) { return load(path, ParseLinked) }

// ParseLinked reads any schema file: of linked tables, which has the key tables, of one whose rows
// have an order, or of one table, as [Parse] does. It joins what is wrong, and each error wraps
// ErrInvalid; how the tables belong together is looked at once each is right. The first table of
// the result is that of the units.
func ParseLinked(data []byte) (*Linked, error) {
	s, err := Parse(data)
	if err == nil {
		return One(s), nil
	} else if !errors.Is(err, ErrLinked) {
		return nil, err
	}
	ps, err := document(data)
	if err != nil {
		return nil, err
	}
	l, unit := &Linked{}, []string(nil)
	if valueOf(ps.root, "order") != nil {
		return ps.alone(l)
	}
	nodes := readAll(ps.reader(""), ps.root, "", nil,
		[]field{{"decoy", nil}, {"unit", &unit}, {"tables", nil}})
	l.Unit = strings.Join(unit, ", ")
	var each []*problems // of each table
	switch tables := nodes["tables"]; {
	case l.Unit == "":
		ps.add(-1, "unit", -1, "the key unit is missing: the id column of the table of the units")
	case tables == nil || len(tables.Content) == 0 || tables.Kind != yaml.SequenceNode:
		ps.add(-1, "tables", -1, "tables: must be a list of tables")
	default:
		for _, n := range tables.Content {
			own := &problems{root: n, table: "table " + yamlfile.Quote(scalarOf(n, "name"))}
			l.Tables = append(l.Tables, own.linked(unit))
			each, ps.found = append(each, own), append(ps.found, own.found...)
		}
	}
	if err := ps.err(); err != nil {
		return nil, err
	}
	l.family(each)
	for _, own := range each {
		ps.found = append(ps.found, own.found...)
	}
	if err := ps.err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(l.Tables, func(a, b LinkedTable) int {
		return l.level(a) - l.level(b)
	})
	return l, nil
}

// The names of the tables of one that is described by itself.
const (
	unitsName = "units"
	rowsName  = "rows"
)

// Described are the tables with columns, each of which has a file.
func (l *Linked) Described() []LinkedTable {
	if l.Alone {
		return l.Tables[1:]
	}
	return l.Tables
}

// Names are those of the tables with columns.
func (l *Linked) Names() (names []string) {
	for _, t := range l.Described() {
		names = append(names, t.Name)
	}
	return names
}

// alone reads a table whose rows have an order, and makes that of its units.
func (ps *problems) alone(l *Linked) (*Linked, error) {
	t := ps.linked(nil)
	l.Unit = t.Schema.Unit
	wrong := func(key, format string, args ...any) { ps.add(-1, key, -1, format, args...) }
	if l.Unit == "" {
		wrong("order", "order needs unit: the column of ids, each of which has rows in that order")
	}
	if ps.found == nil {
		t.checkKeys(wrong)
		t.check(wrong)
	}
	if err := ps.err(); err != nil {
		return nil, err
	}
	units := LinkedTable{Name: unitsName, ID: t.Key,
		Schema: &Schema{Unit: l.Unit, MaxRowsPerUnit: 1}}
	l.Alone, l.Tables = true, []LinkedTable{units, t}
	return l, nil
}

// level is 0 of the first table, 1 of its child tables, and 2 of others.
func (l *Linked) level(t LinkedTable) int {
	switch root := slices.IndexFunc(l.Tables, func(t LinkedTable) bool { return t.Parent == "" }); {
	case t.Parent == "":
		return 0
	case t.Parent == l.Tables[root].Name:
		return 1
	}
	return 2
}

// fields of a table, besides those of its rows.
func (t *LinkedTable) fields() []field {
	return append([]field{{"name", &t.Name}, {"parent", &t.Parent}, {"key", &t.Key},
		{"id", &t.ID}}, t.aloneFields()...)
}

// aloneFields are those of one that is described by itself.
func (t *LinkedTable) aloneFields() []field {
	return []field{{"weight", &t.Weight}, {"remember", &t.Remember}, {"order", &t.Order}}
}

// linked reads an item of the list of tables.
func (ps *problems) linked(unit []string) LinkedTable {
	p := &Partial{Schema: Schema{MaxRowsPerUnit: 1}}
	t := LinkedTable{Schema: &p.Schema}
	ps.s = t.Schema
	fields := t.fields()
	if ps.table == "" { // alone
		t.Name, t.Parent = rowsName, unitsName
		fields = append(t.aloneFields(), field{"decoy", nil}, field{"unit", &t.Schema.Unit},
			field{"lenient", new(bool)}) // as private rows are read anyway
	}
	if v := valueOf(ps.root, "parent"); v != nil && v.Kind == yaml.SequenceNode {
		ps.add(-1, "parent", -1, "parent: a table has one parent. Describe the rows of another parent "+
			"as columns of this table")
	}
	if valueOf(ps.root, "max_rows_per_unit") != nil {
		ps.add(-1, "max_rows_per_unit", -1, "max_rows_per_unit: order: {by: COLUMN, rows: N} says how "+
			"many rows of a unit are used: leave this out")
	}
	if ps.found != nil {
		return t
	}
	ps.rows(p, fields)
	if slices.Contains(p.Open, true) ||
		slices.ContainsFunc(p.Columns, func(c Column) bool { return c.BuyBins > 0 }) {
		ps.add(-1, "", -1, "columns of linked tables need their values and bins: write them, or "+
			"leave the schema out: with --link and --order, a run buys all of it (decoy help linked)")
	}
	t.Schema.MaxRowsPerUnit = max(1, t.Order.Rows)
	if ps.table == "" && t.Schema.Unit != "" {
		t.Key = []string{t.Schema.Unit}
	}
	if t.Schema.Unit = strings.Join(t.Key, ", "); t.Parent == "" && t.ID == nil {
		t.ID, t.Schema.Unit = unit, strings.Join(unit, ", ")
	}
	return t
}

// Keys are the columns of the files of a table that hold ids, each once.
func (t *LinkedTable) Keys() (out []string) {
	for _, name := range slices.Concat(t.Key, t.ID) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// family checks who is whose parent, and the order of each child.
func (l *Linked) family(each []*problems) {
	var names []string
	roots := 0
	for _, t := range l.Tables {
		names = append(names, t.Name)
		if t.Parent == "" {
			roots++
		}
	}
	for i, t := range l.Tables {
		wrong := func(key, format string, args ...any) { each[i].add(-1, key, -1, format, args...) }
		switch {
		case t.Name == "" || strings.ContainsAny(t.Name, `/\*=.`) || badText(t.Name) != "":
			wrong("name", "a table needs a name without / \\ * = and dots: its files are called so")
		case slices.Contains(names[:i], t.Name):
			wrong("name", "another table has this name")
		case t.Parent == "" && (roots > 1 || len(names) == 1):
			wrong("name", "one table, that of the units, has no parent, and each of the others names it "+
				"as its parent, or another that has one; with one table only, a schema has no key tables")
		case t.Parent == "" && (t.Schema.Unit != l.Unit || t.Key != nil || t.Order != (Order{}) ||
			t.Weight != 0 || t.Remember != nil):
			wrong("name", "key, id, order, weight and remember are of tables with a parent; the id of "+
				"this one is unit")
		case t.Parent == "":
			t.checkKeys(wrong)
		case l.Of(i) < 0:
			wrong("parent", "there is no table %s to be the parent%s", yamlfile.Quote(t.Parent),
				spelling.Hint(t.Parent, names))
		case roots == 0:
			wrong("parent", "the parents go round in a circle: leave parent out of the table of the "+
				"units")
		default:
			l.checkChild(&l.Tables[i], &l.Tables[l.Of(i)], wrong)
		}
	}
}

// checkChild checks a table whose parent is there.
func (l *Linked) checkChild(
	t, parent *LinkedTable, wrong func(key, format string, args ...any),
) {
	switch {
	case l.level(*parent) > 1:
		wrong("parent", "three levels are the most: the parent must be the table of the units, or name "+
			"that as its own parent")
	case len(t.Key) == 0:
		wrong("key", "key is missing: the column that holds the id of the unit, or of another parent")
	case len(parent.ID) == 0:
		wrong("parent", "%s has no id for rows to belong to: its key id names the column of its file "+
			"that holds the id of a row", yamlfile.Quote(t.Parent))
	case len(t.Key) != len(parent.ID):
		wrong("key", "key: %d columns, and the id of %s has %d", len(t.Key),
			yamlfile.Quote(t.Parent), len(parent.ID))
	default:
		t.checkKeys(wrong)
		t.check(wrong)
	}
}

// checkKeys checks the names of columns that hold ids.
func (t *LinkedTable) checkKeys(wrong func(key, format string, args ...any)) {
	for k, name := range slices.Concat(t.Key, t.ID) {
		key, own := "key", t.Key
		if k >= len(t.Key) {
			key, own, k = "id", t.ID, k-len(t.Key)
		}
		made := slices.IndexFunc(t.Schema.Made, func(m Made) bool { return m.Name == name })
		switch {
		case name == "" || badText(name) != "" || slices.Index(own, name) < k:
			wrong(key, "%s: a column needs a name, and can be there once", key)
		case t.Schema.Index(name) >= 0 || made >= 0 && t.Schema.Made[made].Kind != madeID:
			wrong(key, "%s: %s is not a column: ids are made anew, so take it out of columns, or say "+
				"kind: id", key, yamlfile.Quote(name))
		}
	}
	if t.ID != nil && len(t.Keys()) == len(t.Key) {
		wrong("id", "id: a column is missing that key has not, and that tells rows of a parent apart")
	}
}

// check checks the order of a child table, and what it remembers.
func (t *LinkedTable) check(wrong func(key, format string, args ...any)) {
	t.Weight = max(1, t.Weight)
	if t.Weight > maxWeight {
		wrong("weight", "weight: %d is the most", maxWeight)
	}
	by := t.Schema.Index(t.Order.By)
	switch {
	case t.Order.By == "" || t.Order.Rows == 0:
		wrong("order", "order is missing, or not whole: order: {by: COLUMN, rows: N} has the rows of a "+
			"unit follow each other by that column, and uses the first N")
	case by < 0:
		wrong("order", "order: by names %s, but no column is called so%s", yamlfile.Quote(t.Order.By),
			t.Schema.Hint(t.Order.By))
	case !t.Schema.Columns[by].Kind.Ordered() || t.Schema.Columns[by].After != "":
		wrong("order", "order: by must be a number, a date or a time, and not after another column")
	case t.Order.Rows < 2 || t.Order.Rows > MaxLinkedRows:
		wrong("order", "order: rows must be 2 to %d; what a unit has once is a column of its table",
			MaxLinkedRows)
	}
	flags := 0
	for k, name := range t.Remember {
		c := t.Schema.Index(name)
		switch {
		case c < 0:
			wrong("remember", "remember names %s, but no column is called so%s", yamlfile.Quote(name),
				t.Schema.Hint(name))
			continue
		case slices.Contains(t.Remember[:k], name) || name == t.Order.By:
			wrong("remember", "remember names %s, which is the order, or there twice",
				yamlfile.Quote(name))
		}
		flags += t.Schema.Sizes()[c]
	}
	if flags > maxRemembered {
		wrong("remember", "remember: %d categories in all; %d are the most, as each is a column",
			flags, maxRemembered)
	}
}

// ForPrivate returns the tables by which private rows are read: lenient, see [Schema.ForPrivate].
func (l *Linked) ForPrivate() *Linked {
	out := l.Clone()
	for i := range out.Tables {
		out.Tables[i].Schema = out.Tables[i].Schema.ForPrivate()
	}
	return out
}

// Written is the schema s of the files of table i, with its ids and those of its parents: made
// ones, in the first columns unless s has them, in the pattern that the table has for its own. of
// is where they are among the made columns, in the order of the table's Key.
func (l *Linked) Written(i int, s *Schema) (out *Schema, of []int) {
	out = s.Clone()
	made := func(name string) int {
		return slices.IndexFunc(out.Made, func(m Made) bool { return m.Name == name })
	}
	for k, name := range slices.Backward(l.Tables[i].Keys()) {
		at := made(name)
		if at < 0 {
			for j := range out.Made {
				out.Made[j].At++
			}
			out.Made, at = slices.Insert(out.Made, 0, Made{Name: name, Kind: madeID, Pattern: "#"}), 0
		}
		if k < len(l.Tables[i].Key) {
			above := l.Of(i)
			parent, _ := l.Written(above, l.Tables[above].Schema)
			of := func(m Made) bool { return m.Name == l.Tables[above].ID[k] }
			out.Made[at].Pattern = parent.Made[slices.IndexFunc(parent.Made, of)].Pattern
		}
	}
	for _, name := range l.Tables[i].Key {
		of = append(of, made(name))
	}
	return out, of
}

// finer is the codec of the column with its bins divided as finely as its values are, or into at
// most so many, and for each of its codes the code of c. The column has an order, and is not after
// another.
func (c *Codec) finer(most int) (fine *Codec, coarse []uint16, err error) {
	b, column := c.bins, c.column
	if values := (b.max-b.min)/float64(b.ticks.step) + 1; b.whole && values <= float64(most) {
		column.Edges, column.Bins, column.Spacing = nil, int(values), Linear
	} else {
		column.Edges = nil
		for i := range b.lower {
			column.Edges = append(column.Edges, b.parts(i, max(1, most/b.count()))...)
		}
		if column.Edges[len(column.Edges)-1] < b.max {
			column.Edges = append(column.Edges, b.max)
		}
		column.Bins, column.Spacing = 0, Linear
	}
	if fine, err = NewCodec(column); err != nil {
		return nil, nil, err
	}
	for _, x := range fine.bins.lower {
		coarse = append(coarse, uint16(b.find(x)))
	}
	if c.values < c.size {
		coarse = append(coarse, uint16(c.values))
	}
	return fine, coarse, nil
}

// parts are the least values of at most n even parts of bin i.
func (b *bins) parts(i, n int) (edges []float64) {
	lo, hi := b.bounds(i)
	ticks := int64(0)
	if b.ticks.first != nil {
		ticks = b.ticks.last[i] - b.ticks.first[i] + 1
		n = int(min(int64(n), ticks))
	}
	for p := range n {
		x := lo + (hi-lo)*float64(p)/float64(n)
		if p > 0 && ticks > 0 {
			x = b.ticks.value(b.ticks.first[i] + int64(float64(ticks)*float64(p)/float64(n)))
		}
		edges = append(edges, x)
	}
	return edges
}
