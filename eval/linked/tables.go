package linked

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
)

// Tables are linked tables as their files have them.
type Tables struct {
	Name     string       // of the parents' table
	Parents  *table.Table // a row a unit
	Doubled  int          // further rows of its file, whose key an earlier one has
	Children []child
}

// child is a child table. Its rows are in the order of the file, which may mix units.
type child struct {
	Name   string
	Rows   *table.Table
	Above  int   // whose rows its parents are: 0 Parents, n those that count of the n-th child table
	Units  []int // of each of these parents: the row of Parents that it belongs to; nil of Parents
	Parent []int // the parent of each row; -1: none has its key, -2: it does not count
	By     int   // the column of Rows that says the order
	// the values of that column as the file has them, in the units of [schema.Codec.Bin]; NaN where a
	// cell has none, and then the row does not count
	Order []float64
	Most  int // rows of a parent that count, from its first on; 0: all
	// whether rows have ids, of which so many were there before
	Keyed   bool
	Doubled int
}

// history is the rows of a child table that count, by parent and in order.
type history struct {
	Rows    []int // those of the table
	From    []int // where in Rows those of each parent begin, and the end
	Orphans int   // rows of the file without a parent
	Unused  int   // rows of the file that have a parent, and do not count
	// rows of the file that another row of their unit is before, and those behind a later one
	steps, behind int
}

// History puts the rows of a child table in order.
func (t *Tables) History(c *child) *history {
	h, byUnit := &history{From: []int{0}}, make([][]int, t.Parents.Rows())
	if c.Above > 0 {
		byUnit = make([][]int, len(c.Units))
	}
	latest := make([]float64, len(byUnit))
	for row, unit := range c.Parent {
		at := c.Order[row]
		switch {
		case unit == -1:
			h.Orphans++
			continue
		case unit < 0 || math.IsNaN(at):
			continue
		case byUnit[unit] == nil:
			latest[unit] = at
		default:
			h.steps++
		}
		if at < latest[unit] {
			h.behind++
		}
		byUnit[unit], latest[unit] = append(byUnit[unit], row), max(latest[unit], at)
	}
	for _, rows := range byUnit {
		slices.SortFunc(rows, c.compare)
		if c.Most > 0 && len(rows) > c.Most {
			rows = rows[:c.Most]
		}
		h.Rows = append(h.Rows, rows...)
		h.From = append(h.From, len(h.Rows))
	}
	h.Unused = len(c.Parent) - h.Orphans - len(h.Rows)
	return h
}

// compare is the order of two rows of a parent. Those of one place are in the order of their codes,
// as where they are fitted: that of the file has no say.
func (c *child) compare(a, b int) int {
	order := cmp.Compare(c.Order[a], c.Order[b])
	for k := 0; order == 0 && k < len(c.Rows.Schema().Columns); k++ {
		order = cmp.Compare(c.Rows.Column(k).At(a), c.Rows.Column(k).At(b))
	}
	return order
}

const sides = 2 // of a comparison: the real tables, and the synthetic ones

// column is small numbers, of each unit or of each row of its histories.
type column struct {
	name    string
	codes   [sides][]uint8 // less than size, or none
	size    int
	ordered bool
	labels  []string // of the codes
	group   []int    // the code here of each code of the table
	missing int      // the code here of missing cells; -1: there is none
}

const none = math.MaxUint8 // where there is nothing to count

// comparison is a child table on both sides. What a column tells apart, the real rows decide.
type comparison struct {
	*child   // the real one
	history  [sides]*history
	inOrder  [sides]*table.Table // the rows of these
	order    [sides][]float64    // of child
	units    [sides][]int        // of child
	all      [sides][]int        // parents
	parents  []column            // of units, as the next three
	rows     column              // how many, up to mostRows
	number   column              // how many, in numberParts parts
	distinct []column            // how many values of each of the columns
	columns  []column            // of rows, as gap: by how much the order grows from the row before
	gap      column
	gapMean  [sides]float64
}

const (
	mostGroups  = 16 // of a column
	mostRows    = 32 // of a unit that are told apart
	numberParts = 8  // of the numbers of rows, about equally many units in each
	gapParts    = 10 // of the gaps
)

// compare takes the child tables one by one; both sides must have the same tables and columns.
func compare(tables [sides]*Tables) (out []*comparison, err error) {
	a, b := tables[0], tables[1]
	parents, err := columnsOf(a.Name, a.Parents, b.Parents)
	if err == nil && len(a.Children) != len(b.Children) {
		err = fmt.Errorf("linked: %d child tables and %d: %w", len(a.Children), len(b.Children),
			eval.ErrTables)
	}
	for i := 0; err == nil && i < len(a.Children); i++ {
		c := &comparison{child: &a.Children[i], parents: parents}
		if c.Above > 0 {
			c.parents = out[c.Above-1].columns
		}
		for side, t := range tables {
			of := &t.Children[i]
			c.history[side], c.units[side], c.order[side] = t.History(of), of.Units, of.Order
			c.inOrder[side] = of.Rows.Select(c.history[side].Rows)
		}
		if h := c.history[0]; len(h.Rows) == 0 {
			return nil, fmt.Errorf("linked: no row of %s counts in the real tables (--train): of %d rows "+
				"%d have a key that no row above has, and %d no place in the order; keys must be written as "+
				"the ids are, and cells of %s as the schema says: %w", c.Name, len(c.Parent), h.Orphans,
				h.Unused, c.Rows.Schema().Columns[c.By].Name, eval.ErrTables)
		}
		if c.columns, err = columnsOf(c.Name, c.inOrder[0], c.inOrder[1]); err == nil {
			c.look()
			out = append(out, c)
		}
	}
	return out, err
}

// of are the parents of some units of a side.
func (c *comparison) of(side int, units []int) (parents []int) {
	if c.Above == 0 {
		return units
	}
	all := map[int][]int{}
	for parent, unit := range c.units[side] {
		all[unit] = append(all[unit], parent)
	}
	for _, unit := range units {
		parents = append(parents, all[unit]...)
	}
	return parents
}

// columnsOf are the columns of a table, in groups of the codes of real rows.
func columnsOf(name string, a, b *table.Table) (out []column, err error) {
	s := a.Schema()
	if !slices.Equal(s.Names(), b.Schema().Names()) || !slices.Equal(s.Sizes(), b.Schema().Sizes()) {
		return nil, fmt.Errorf("linked: %s: the synthetic table has other columns: %w", name,
			eval.ErrTables)
	}
	if len(s.Columns) == 0 { // of units of which nothing is known
		return nil, nil
	}
	codecs, err := s.Codecs()
	if err != nil {
		return nil, err
	}
	groups, sizes, err := eval.Groups(a, mostGroups)
	if err != nil {
		return nil, fmt.Errorf("linked: %s: %w", name, err)
	}
	for k := range groups {
		c := column{name: s.Columns[k].Name, size: sizes[k], ordered: s.Columns[k].Kind.Ordered(),
			labels: make([]string, sizes[k]), group: groups[k], missing: -1}
		for code, x := range c.group {
			text := codecs[k].Label(uint16(code))
			if code == codecs[k].Values() {
				c.missing = x
			} else if c.ordered {
				least, _ := codecs[k].Bin(uint16(code))
				text = codecs[k].Show(least, plain) + " or more"
			}
			c.labels[x] = cmp.Or(c.labels[x], text)
		}
		for side, t := range [sides]*table.Table{a, b} {
			for row := range t.Rows() {
				c.codes[side] = append(c.codes[side], uint8(c.group[t.Column(k).At(row)]))
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// look counts what the histories have.
func (c *comparison) look() {
	var numbers, gaps [sides][]float64
	var steps [sides]float64
	c.distinct = make([]column, len(c.columns))
	for side, h := range c.history {
		order := c.order[side]
		for unit := range len(h.From) - 1 {
			from, to := h.From[unit], h.From[unit+1]
			c.all[side], numbers[side] = append(c.all[side], unit), append(numbers[side], float64(to-from))
			for at := from; at < to; at++ {
				gap := math.NaN()
				if at > from {
					gap = order[h.Rows[at]] - order[h.Rows[at-1]]
					c.gapMean[side], steps[side] = c.gapMean[side]+gap, steps[side]+1
				}
				gaps[side] = append(gaps[side], gap)
			}
			for k, of := range c.columns {
				d := &c.distinct[k]
				d.name, d.size = of.name, of.size+1
				d.codes[side] = append(d.codes[side], different(of.codes[side][from:to]))
			}
		}
		c.gapMean[side] /= max(1, steps[side])
	}
	var single []float64
	for n := 0.; n <= min(mostRows, slices.Max(numbers[0])); n++ {
		single = append(single, n)
	}
	c.rows = parted("number of rows", numbers, single, plain)
	if c.rows.size > mostRows {
		c.rows.labels[mostRows] += " or more"
	}
	c.number = parted("rows", numbers, quantiles(numbers[0], numberParts), plain)
	by := c.Rows.Schema().Columns[c.By]
	show := plain
	if codec, err := schema.NewCodec(by); err == nil {
		show = func(x float64) string { return codec.ShowDifference(x, plain) }
	}
	c.gap = parted(by.Name, gaps, quantiles(gaps[0], gapParts), show)
}

// different is how many codes there are; none of no rows.
func different(codes []uint8) uint8 {
	if len(codes) == 0 {
		return none
	}
	return uint8(len(slices.Compact(slices.Sorted(slices.Values(codes)))))
}

// quantiles are the least values of so many parts of about equally many values, or of fewer. A NaN
// is in none.
func quantiles(values []float64, parts int) (least []float64) {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(sorted)
	for k := 0; k < parts && len(sorted) > 0; k++ {
		least = append(least, sorted[k*len(sorted)/parts])
	}
	return slices.Compact(least)
}

// parted cuts values into parts, of which least are the least values. A NaN is none.
func parted(
	name string, values [sides][]float64, least []float64, show func(float64) string,
) column {
	c := column{name: name, size: max(1, len(least)), ordered: true}
	for _, x := range least {
		c.labels = append(c.labels, show(x))
	}
	for side := range values {
		for _, x := range values[side] {
			code := sort.Search(len(least), func(k int) bool { return least[k] > x }) - 1
			if code = max(0, code); math.IsNaN(x) {
				code = none
			}
			c.codes[side] = append(c.codes[side], uint8(code))
		}
	}
	return c
}

func plain(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// counting is the numbers below n, as text.
func counting(n int) (out []string) {
	for x := range n {
		out = append(out, strconv.Itoa(x))
	}
	return out
}
