package schema

import (
	"fmt"
	"slices"
	"strconv"
)

// View is a flat table that follows from linked tables. That of the units has a row for each row of
// the first child table, or one for a unit without such: the unit's columns, how many rows it has
// in each child table, the place of the row, and the row. They weigh 1 together. That of the
// parents among the rows of another table has a row for each of these, behind the columns of its
// own parents, which are known. That of the steps of a child table has a row for each row of that
// table but the first of a parent: what is known before the step, and the step itself. That of the
// rows of a child table but the first has a row for each of them. Of a unit with k rows in a view
// each weighs min(1, C/k), where C is the table's Weight, and 1 of the units.
type View struct {
	Name  string // public and unique: the table's, or that with .children or .rows
	Table int    // whose rows, or steps, it has
	Steps bool
	// valid; its unit is that of the tables. Counts are in units of 2^-16 rows, of which
	// MaxRowsPerUnit says how many one unit may move them by
	Schema *Schema
	Given  int // the first columns are known before a row is drawn; 0: none
	Above  int // of a child table: of these, what is known of the parent of a row
	// of a child table: where the view of the parents has their number
	Rows   int
	All    int // the child table that it has all rows of; 0: none
	Number int // of steps and of all rows: the column of how many rows the parent has
	Place  int // of these: that of the place of the row; of all rows their columns follow

	parent   int      // the table that has the parents of its rows
	at       int      // of rows: which child table of that it is
	child    *child   // of Table; nil in the view of the units
	children []*child // of parents
	all      *child   // of All
}

// child is what a child table of a schema decides.
type child struct {
	table  LinkedTable
	fine   *Schema   // of the table, with finer bins of the order
	by     int       // column of the order
	coarse []uint16  // of each fine code of the order: the code of the schema
	value  []float64 // of each fine code: the least value of its bin
	gaps   []float64 // the least value of each bin of gaps
	seen   []int     // the first flag of each column; −1: none is remembered
	same   []uint16  // of each column: the code of a step that says that it is as it was; 0: none
	root   int       // columns that say what is known of its parent
}

// fullBits is the grid of weights: a row that counts fully weighs 2^fullBits.
const fullBits = 16

// maxPlace is from where on places are not told apart.
const maxPlace = 8

// Views are the views of linked tables: that of the units, those of the steps of each child table
// in their order, then those of the rows of each child table that is a parent, then those of all
// rows of each child table but the first. They follow from the public schema alone. The error is
// for a view that is no schema, and for one table of single rows.
func Views(l *Linked) ([]*View, error) {
	if l.Single() {
		return nil, fmt.Errorf("one table of single rows has no views: %w", ErrInvalid)
	}
	var views, parents, all []*View
	known := make([][]Column, len(l.Tables)) // of a row of each table, and of its parents
	for i, t := range l.Tables {
		v := &View{Name: t.Name, Table: i, Schema: &Schema{Unit: l.Unit, MaxRowsPerUnit: 1 << fullBits},
			parent: i}
		if i == 0 {
			v.add(t.Name+".", t.Schema.Columns...)
			known[0], v.Schema.Columns = v.Schema.Columns, slices.Clone(t.Schema.Columns)
			views, parents = append(views, v), append(parents, v)
			continue
		}
		of := l.Of(i)
		c, err := newChild(t, len(known[of]))
		if err != nil {
			return nil, err
		}
		v.child, v.Above, v.Schema.MaxRowsPerUnit = c, c.root, t.Weight<<fullBits
		steps := *v
		steps.Schema, steps.Rows = v.Schema.Clone(), len(parents[of].Schema.Columns)
		v.Name += ".children"
		v.add("", known[of]...)
		v.add(t.Name+".", t.Schema.Columns...)
		v.Given, known[i] = len(v.Schema.Columns), slices.Clone(v.Schema.Columns)
		if i > 1 {
			rows := steps
			rows.Schema, rows.Name = steps.Schema.Clone(), t.Name+".rows"
			rows.parent, rows.at = of, len(parents[of].children)
			rows.add("", known[of]...)
			rows.addNumber(c)
			rows.addAll(i, c, len(known[of]))
			rows.Given = rows.Place + 1
			all = append(all, &rows)
		}
		steps.addSteps(known[of])
		parents[of].children = append(parents[of].children, c)
		parents[of].addNumber(c)
		views, parents = append(views, &steps), append(parents, v)
	}
	views[0].addAll(1, views[1].child, views[1].Rows)
	for _, v := range parents[1:] {
		if v.children != nil {
			views = append(views, v)
		}
	}
	views = append(views, all...)
	for _, v := range views {
		if err := v.Schema.Validate(); err != nil {
			return nil, fmt.Errorf("schema: the view %q of linked tables: %w", v.Name, err)
		}
	}
	return views, nil
}

// addSteps adds the columns of a view of steps, of a table whose parents have these.
func (v *View) addSteps(parent []Column) {
	c := v.child
	columns := c.table.Schema.Columns
	v.add("", parent...)
	v.add("", whole("rows", 0, c.table.Order.Rows),
		whole("place", 1, min(maxPlace, c.table.Order.Rows-1)))
	v.add("before.", columns...)
	for j, at := range c.seen {
		for code := 0; at >= 0 && code < c.table.Schema.Sizes()[j]; code++ {
			v.add("", Column{Name: fmt.Sprintf("seen.%s.%d", columns[j].Name, code), Kind: Boolean})
		}
	}
	v.Steps, v.Given, v.Number, v.Place = true, len(v.Schema.Columns), c.root, c.root+1
	v.add("", Column{Name: "gap", Kind: Real,
		Edges: append(slices.Clone(c.gaps), 2*c.gaps[len(c.gaps)-1])})
	for j := range columns {
		v.add("next.", c.orSame(j))
	}
}

// addNumber adds how many rows a parent has in a child table.
func (v *View) addNumber(c *child) {
	v.add(c.table.Name+".", whole("rows", 0, c.table.Order.Rows))
}

// addAll adds the rows of table i, of which another column has the number.
func (v *View) addAll(i int, c *child, number int) {
	v.All, v.all, v.Number, v.Place = i, c, number, len(v.Schema.Columns)
	v.add("", withNone(whole("place", 1, min(maxPlace, c.table.Order.Rows))))
	for _, column := range c.table.Schema.Columns {
		v.add(c.table.Name+".", withNone(column))
	}
}

// add adds columns to the view, with names that begin so. What they say of their row alone they say
// in codes that are settled.
func (v *View) add(prefix string, columns ...Column) {
	for _, c := range columns {
		c.Name, c.After = prefix+c.Name, ""
		for v.Schema.Index(c.Name) >= 0 { // of a table whose columns or name are like those of a view
			c.Name += "+"
		}
		v.Schema.Columns = append(v.Schema.Columns, c)
	}
}

// whole is a column of whole numbers, one a code.
func whole(name string, least, most int) Column {
	return Column{Name: name, Kind: Integer, Min: float64(least), Max: float64(most),
		Bins: most - least + 1}
}

// withNone is a column of a row, which is missing where there is none.
func withNone(c Column) Column {
	if len(c.Missing) == 0 {
		token := "-"
		for slices.Contains(c.Categories, token) {
			token += "-"
		}
		c.Missing = []string{token}
	}
	return c
}

// orSame is a column of a step.
func (c *child) orSame(column int) Column {
	own := c.table.Schema.Columns[column]
	if c.same[column] == 0 {
		return own
	}
	out := Column{Name: own.Name, Kind: Categorical}
	for code := range c.same[column] + 1 {
		out.Categories = append(out.Categories, strconv.Itoa(int(code)))
	}
	return out
}

// A column of at least sameFrom categories has a code more in a step: that it is as it was. Most
// often it is, which a noisy table of two rows would say of each category for itself. One whose
// categories are remembered does not repeat them. Chosen on nlswork at ε = 1, where transitions are
// .133 off with it and .152 without, and numbers of distinct values .06 and .10.
const sameFrom = 8

// newChild prepares a child table, whose parents have so many columns.
func newChild(t LinkedTable, root int) (*child, error) {
	c := &child{table: t, by: t.Schema.Index(t.Order.By), root: root}
	flags := 0
	for i, n := range t.Schema.Sizes() {
		at, same, column := -1, uint16(0), t.Schema.Columns[i]
		if slices.Contains(t.Remember, column.Name) {
			at = flags
			flags += n
		} else if !column.Kind.Ordered() && n >= sameFrom {
			same = uint16(n)
		}
		c.seen, c.same = append(c.seen, at), append(c.same, same)
	}
	return c, c.refine()
}

// Parents reports whether it is a view of rows that are parents: of units, if Table is 0.
func (v *View) Parents() bool { return v.children != nil }

// Full is what a row of a unit of few weighs in the counts of a view.
const Full = 1 << fullBits

// Dates are the columns of a view of steps that say when a row is: the order of the row before, the
// gap, and the order of the row.
func (v *View) Dates() []int {
	return []int{v.child.root + 2 + v.child.by, v.Given, v.Given + 1 + v.child.by}
}

// Transitions are the pairs of columns of a view of steps that are one column of the table, in the
// row before and in the row.
func (v *View) Transitions() (out [][]int) {
	for c := range v.child.seen {
		out = append(out, []int{v.child.root + 2 + c, v.Given + 1 + c})
	}
	return out
}

// Of is the rows of the view for a row of table i, given what is known of it, as [View.Known] has
// it, and the rows of each child table that belong to it, in the codes of [View.Fine]. There is
// none if the view is of steps, or of other parents.
func (v *View) Of(i int, known []uint16, rows [][][]uint16) (out [][]uint16) {
	if v.parent != i || v.children == nil && v.All == 0 {
		return nil
	}
	row, sizes := slices.Clone(known), v.Schema.Sizes()
	if v.children == nil {
		row = append(row, uint16(len(rows[v.at])))
	}
	for k := range v.children {
		row = append(row, uint16(len(rows[k])))
	}
	if v.All == 0 {
		return [][]uint16{row}
	}
	for place, own := range rows[v.at] {
		out = append(out, v.Row(slices.Clone(row), place, own))
	}
	if len(out) == 0 && v.Parents() {
		for _, size := range sizes[len(row):] {
			row = append(row, uint16(size-1)) // there is none
		}
		out = append(out, row)
	}
	return out
}

// Row is a row of a view of all rows: its columns before Place, which of the rows of a parent it
// is, from 0, and its own columns.
func (v *View) Row(before []uint16, place int, row []uint16) []uint16 {
	before = append(before, uint16(min(place, maxPlace-1)))
	for column, code := range row {
		before = append(before, v.all.inSchema(column, code))
	}
	return before
}

// Known is what is known of a row of a child table where it is a parent: what is known of its own
// parent, and its codes, which are those of [View.Fine]. In a row of the first table these are all.
func (v *View) Known(parent, row []uint16) []uint16 {
	out := slices.Clone(parent)
	for c, code := range row {
		out = append(out, v.child.inSchema(c, code))
	}
	return out
}

// gapCode is the bin of a gap.
func (c *child) gapCode(gap float64) uint16 {
	at, found := slices.BinarySearch(c.gaps, gap)
	if !found {
		at--
	}
	return uint16(max(0, at))
}

// Fine is the schema by which the child table of a view of steps is read and written: that of the
// table, with bins of its order so fine that most have one value.
func (v *View) Fine() *Schema { return v.child.fine.Clone() }

// maxFine is the most fine bins of an order. It leaves bins wider than those that package schema
// takes for single values.
const maxFine = 40_000

// gapSteps is how many fine bins the order of real numbers is divided into for the least gap.
const gapSteps = 1 << 12

// refine sets what follows from the order: its fine codes, and the bins of gaps, of which there are
// two an octave.
func (c *child) refine() error {
	column := c.table.Schema.Columns[c.by]
	codec, err := NewCodec(column)
	if err != nil {
		return err
	}
	fine, coarse, err := codec.finer(maxFine)
	if err != nil {
		return err
	}
	c.fine, c.coarse = c.table.Schema.Clone(), coarse
	c.fine.Columns[c.by] = fine.Column()
	follows := func(other Column) bool { return other.After == column.Name }
	if !slices.ContainsFunc(c.fine.Columns, follows) { // which would need a missing token, too
		c.fine.Columns[c.by] = withNone(fine.Column()) // a time that cannot be read is none
	}
	n := fine.Values()
	for code := range n {
		lo, _ := fine.Bin(uint16(code))
		c.value = append(c.value, lo)
	}
	span := c.value[n-1] - c.value[0]
	step := max(1, span/gapSteps)
	if column.Kind.Stored() == StoredFloat && span > 0 {
		step = span / gapSteps
	} else if n > 1 {
		step = c.value[1] - c.value[0]
	}
	c.gaps = []float64{0, step}
	for x := 2 * step; x < span; x *= 2 {
		c.gaps = append(c.gaps, x, 1.5*x)
	}
	return nil
}
