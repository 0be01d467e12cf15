package schema

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// ErrLinked is returned by readers of one table for a file that describes several.
var ErrLinked = fmt.Errorf("schema: the file describes linked tables (tables:), and this takes "+
	"the schema of one table: %w", ErrInvalid)

// Linked describes a table of units, such as patients, and tables whose rows each belong to one of
// them, such as visits:
//
//	decoy: 1
//	unit: patient_id
//	tables:
//	  - name: patients
//	    columns: [...]
//	  - name: visits
//	    parent: patients
//	    key: patient_id
//	    order: {by: date, rows: 15}
//	    weight: 1
//	    remember: [diagnosis]
//	    columns: [...]
type Linked struct {
	Unit   string        // name of the id column of the first table
	Tables []LinkedTable // at least two; the first is that of the units, the others are its children
}

// LinkedTable is one of several tables.
type LinkedTable struct {
	Name   string
	Parent string // name of the first table; "" in this itself
	Order  Order  // of the rows of a unit; none in the first table
	// how many rows of a unit count fully in questions about its rows; with more rows than that, each
	// counts less. ≥ 1, 0 in the first table
	Weight int
	// columns of whose categories it is asked whether an earlier row had them
	Remember []string
	// Unit is the column that holds the id of the unit, MaxRowsPerUnit is Order.Rows, 1 in the first
	// table
	Schema *Schema
}

// Order of the rows of a unit.
type Order struct {
	By   string // a column whose values have an order; rows where it is missing are not used
	Rows int    // further rows are not used
}

// Bounds of what linked tables may say.
const (
	maxLinkedRows = 1000
	maxWeight     = 1000
	maxRemembered = 16 // categories that a table remembers
)

// LoadLinked reads the file at path, as [ParseLinked] does.
func LoadLinked(path string) (*Linked, error) { return load(path, ParseLinked) }

// ParseLinked reads a schema file with the key tables. As [Parse], it joins what is wrong, and each
// error wraps ErrInvalid; how the tables belong together is looked at once each is right. The first
// table of the result is that of the units.
func ParseLinked(data []byte) (*Linked, error) {
	ps, err := document(data)
	if err != nil {
		return nil, err
	}
	l := &Linked{}
	nodes := readAll(ps.reader(""), ps.root, "", nil,
		[]field{{"decoy", nil}, {"unit", &l.Unit}, {"tables", nil}})
	var each []*problems // of each table
	switch tables := nodes["tables"]; {
	case l.Unit == "":
		ps.add(-1, "unit", -1, "the key unit is missing: the id column of the table of the units")
	case tables == nil || len(tables.Content) == 0 || tables.Kind != yaml.SequenceNode:
		ps.add(-1, "tables", -1, "tables: must be a list of tables")
	default:
		for _, n := range tables.Content {
			own := &problems{root: n, table: "table " + yamlfile.Quote(scalarOf(n, "name"))}
			l.Tables = append(l.Tables, own.linked(l.Unit))
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
	first := slices.IndexFunc(l.Tables, func(t LinkedTable) bool { return t.Parent == "" })
	root := l.Tables[first]
	l.Tables = slices.Insert(slices.Delete(l.Tables, first, first+1), 0, root)
	return l, nil
}

// fields of a table, besides those of its rows. Its key is the unit of its schema.
func (t *LinkedTable) fields() []field {
	return []field{{"name", &t.Name}, {"parent", &t.Parent}, {"key", &t.Schema.Unit},
		{"weight", &t.Weight}, {"remember", &t.Remember}, {"order", &t.Order}}
}

// notYet is what is refused of a key that is a list, where a text belongs.
var notYet = map[string]string{
	"parent": "parent: a table has one parent: the table of the units. Describe the rows of another " +
		"parent as columns of this table",
	"key": "key: a key is one column: write the parts of a key into one column, in both tables",
}

// linked reads an item of the list of tables.
func (ps *problems) linked(unit string) LinkedTable {
	p := &Partial{Schema: Schema{MaxRowsPerUnit: 1}}
	t := LinkedTable{Schema: &p.Schema}
	ps.s = t.Schema
	if valueOf(ps.root, "parent") == nil {
		t.Schema.Unit = unit
	}
	for key, text := range notYet {
		if v := valueOf(ps.root, key); v != nil && v.Kind == yaml.SequenceNode {
			ps.add(-1, key, -1, "%s", text)
		}
	}
	if ps.found != nil {
		return t
	}
	ps.rows(p, t.fields())
	if slices.Contains(p.Open, true) ||
		slices.ContainsFunc(p.Columns, func(c Column) bool { return c.BuyBins > 0 }) {
		ps.add(-1, "", -1, "columns of linked tables need their values and bins: nothing of them is "+
			"bought; write them, or buy them for each table by itself: decoy schema infer TABLE")
	}
	t.Schema.MaxRowsPerUnit = max(1, t.Order.Rows)
	return t
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
		at := slices.Index(names, t.Parent)
		switch {
		case t.Name == "" || strings.ContainsAny(t.Name, `/\*=.`) || badText(t.Name) != "":
			wrong("name", "a table needs a name without / \\ * = and dots: its files are called so")
		case slices.Index(names, t.Name) < i:
			wrong("name", "another table has this name")
		case t.Parent == "" && (roots > 1 || len(names) == 1):
			wrong("name", "one table, that of the units, has no parent, and each of the others names "+
				"it as its parent; with one table only, a schema has no key tables")
		case t.Parent == "" && (t.Schema.Unit != l.Unit || t.Order != (Order{}) || t.Weight != 0 ||
			t.Remember != nil):
			wrong("name", "key, order, weight and remember are of tables with a parent; the id of this one "+
				"is unit")
		case t.Parent == "":
		case at < 0:
			wrong("parent", "there is no table %s to be the parent%s", yamlfile.Quote(t.Parent),
				spelling.Hint(t.Parent, names))
		case roots == 0:
			wrong("parent", "the parents go round in a circle: leave parent out of the table of the "+
				"units")
		case l.Tables[at].Parent != "":
			wrong("parent", "the parent must be the table of the units: children of children are not "+
				"made yet. Give the rows the id of their unit, and name that as key")
		case t.Schema.Unit == "":
			wrong("key", "key is missing: the column that holds the id of the unit")
		default:
			l.Tables[i].check(wrong)
		}
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
	case t.Order.Rows < 2 || t.Order.Rows > maxLinkedRows:
		wrong("order", "order: rows must be 2 to %d; what a unit has once is a column of its table",
			maxLinkedRows)
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
	out := &Linked{l.Unit, slices.Clone(l.Tables)}
	for i := range out.Tables {
		out.Tables[i].Schema = out.Tables[i].Schema.ForPrivate()
	}
	return out
}

// YAML writes l in its canonical form, which [ParseLinked] reads: see [Schema.YAML].
func (l *Linked) YAML() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "decoy: %d\nunit: %s\ntables:\n", formatVersion, scalar(l.Unit))
	for i, t := range l.Tables {
		fields := t.fields()
		if i == 0 {
			fields = fields[:1]
		}
		b.WriteString(item(fields, nil))
		text, err := t.Schema.YAML()
		if err != nil {
			return nil, err
		}
		lines := strings.SplitAfter(string(text), "\n")
		for _, line := range lines[3 : len(lines)-1] { // without decoy, unit and max_rows_per_unit
			b.WriteString("    " + line)
		}
	}
	return b.Bytes(), nil
}

// Fingerprint is the SHA-256 of YAML, in hexadecimal. It panics for what [ParseLinked] did not
// give.
func (l *Linked) Fingerprint() string { return fingerprint(l.YAML()) }

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
	if c.missing >= 0 {
		coarse = append(coarse, uint16(c.missing))
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
