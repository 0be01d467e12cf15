package release

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/workload"
)

// kindLinked is the kind of [Linked].
const kindLinked = "linked"

// Linked are the parameters of linked tables: a graphical model of each view, in the order of
// [schema.Views]. As Params they are those of the table of the units.
type Linked struct {
	Schema *schema.Linked
	Views  []*Marginal
	root   int // columns of the table of the units
	views  []*schema.View
}

// Kind is kindLinked.
func (*Linked) Kind() string { return kindLinked }

// Total is the noisy number of units.
func (p *Linked) Total() float64 { return p.Views[0].Total() / schema.Full }

// Sizes is the number of codes of each column of the table of the units.
func (p *Linked) Sizes() []int { return p.Views[0].Sizes()[:p.root] }

// Sample draws n rows of the table of the units.
func (p *Linked) Sample(n int, u *rand.Rand) [][]uint16 { return p.Views[0].Sample(n, u)[:p.root] }

// Describe is about each view, in their order.
func (p *Linked) Describe() (lines []string) {
	for i, v := range p.Views {
		about := v.graph()
		if i == 0 {
			about = v.Describe() // the units' rows are steered
		}
		for _, line := range about {
			lines = append(lines, p.views[i].Name+": "+line)
		}
	}
	return lines
}

// MarshalBinary writes parameters.bin.
func (p *Linked) MarshalBinary() ([]byte, error) {
	f := &fields{}
	f.linked(p)
	return f.out, nil
}

// of makes p the parameters of linked tables.
func (p *Linked) of(l *schema.Linked) error {
	p.Schema, p.root = l, len(l.Tables[0].Schema.Columns)
	var err error
	if p.views, err = schema.Views(l); len(p.views) != len(p.Views) { // of one table there are none
		err = fmt.Errorf("%w: %d views, and the schema has %d", ErrFormat, len(p.Views), len(p.views))
	}
	for i := 0; err == nil && i < len(p.views); i++ {
		if !slices.Equal(p.Views[i].Sizes(), p.views[i].Schema.Sizes()) {
			err = fmt.Errorf("%w: schema and parameters disagree", ErrFormat)
		}
	}
	return err
}

// Tables is the schema of the tables that the model is of.
func (m *Model) Tables() *schema.Linked {
	if p, ok := m.params.(*Linked); ok {
		return p.Schema
	}
	return schema.One(m.schema)
}

// linkedTries is how often a row is drawn again that the past rules out. Then it keeps its other
// cells, and has the time of the row before; a first row is then that of the unit before.
const linkedTries = 64

// MostUnits bounds the memory of linked tables, which are drawn whole.
const MostUnits = 1 << 24

// drawnTable is a table of those that are drawn of a model.
type drawnTable struct {
	Schema *schema.Schema
	Rows   int // for which it is asked: of several tables, as many as it has
	Sample func(ctx context.Context, n int, seed uint64, emit func(*table.Table) error) error
}

// Drawn draws n rows of one table as they are asked for, or n units of linked ones with their rows.
func (m *Model) Drawn(ctx context.Context, n int, seed uint64) ([]drawnTable, error) {
	p, ok := m.params.(*Linked)
	if !ok {
		g, err := m.Given(workload.Item{})
		return []drawnTable{{m.schema, n, g.Sample}}, err
	}
	tables, err := p.Draw(ctx, n, seed)
	var out []drawnTable
	for _, t := range tables {
		out = append(out, drawnTable{t.Schema(), max(1, t.Rows()), func(
			_ context.Context, _ int, _ uint64, emit func(*table.Table) error) error {
			return emit(t)
		}})
	}
	return out, err
}

// Draw draws n units, at least 1 and at most 2^24, with their rows in every table, the table of
// the units first, unless it has no columns. It is post-processing, and costs nothing. The same
// model, n and seed give the same tables on every platform.
//
// Units come from the view of the units, and each further row, exactly, from the distribution of
// the view of its table given the rows of the unit before it. Ids are numbers from 0, and have
// nothing to do with those of the private tables. The rows of a unit follow each other in their
// order, behind those of the unit before: there are no rows without a unit, and none out of order.
func (p *Linked) Draw(ctx context.Context, n int, seed uint64) ([]*table.Table, error) {
	if n < 1 || n > MostUnits {
		return nil, fmt.Errorf("%d units of a model of kind %q: linked tables are drawn of at "+
			"most %d units at a time (--rows)", n, p.Kind(), MostUnits)
	}
	u, first := rand.New(rand.NewPCG(seed, seedStream)), p.Schema.Tables[0].Schema
	units, tables := p.Views[0].Sample(n, u), len(p.Schema.Tables)
	d := &linkedDraw{p, make([]parents, tables), make([]map[string][]uint32, tables), u}
	d.parents[0] = parents{p.Views[0], units}
	if !p.Schema.Alone {
		rules, err := first.RowCodec()
		if err != nil {
			return nil, err
		}
		rules.Repair(units[:p.root], u)
	}
	order := shuffled(n, u)
	for c, codes := range units {
		units[c] = make([]uint16, n)
		for i, from := range order {
			units[c][i] = codes[from]
		}
	}
	out, err := make([]*table.Table, tables), error(nil)
	if p.Schema.Alone {
		d.number(0, n, nil, nil)
	} else if out[0], err = d.written(0, first, units[:p.root], nil, -1); err != nil {
		return nil, err
	}
	for i := 1; i < tables && err == nil; i++ {
		out[i], err = d.table(ctx, i)
	}
	return out[tables-len(p.Schema.Described()):], err
}

// parents are rows that have rows of other tables: the view of them, column-major, and its model.
type parents struct {
	model *Marginal
	rows  [][]uint16
}

// linkedDraw draws linked tables.
type linkedDraw struct {
	p       *Linked
	parents []parents             // of each table
	ids     []map[string][]uint32 // of each table: the numbers in its columns of ids
	u       *rand.Rand
}

// table draws the rows of a child table.
func (d *linkedDraw) table(ctx context.Context, i int) (*table.Table, error) {
	v, own := d.p.views[i], d.p.Schema.Tables[i]
	fine, rows := v.Fine(), v.Rows
	rules, err := own.Schema.RowCodec()
	if err != nil {
		return nil, err
	}
	columns, by, above := len(fine.Columns), fine.Index(own.Order.By), d.parents[d.p.Schema.Of(i)]
	all := slices.IndexFunc(d.p.views, func(v *schema.View) bool { return v.All == i })
	rowsOf := newAllRows(d.p.Views[all], d.p.views[all], by, above.rows[rows], rules, d.u)
	next, err := newSteps(d.p.Views[i], v, own, above.rows[rows], rowsOf, rules, d.u)
	if err != nil {
		return nil, err
	}
	past, below := next.past, d.below(i)
	out, parent := make([][]uint16, columns), make([]uint16, len(above.rows))
	var of []uint32
	before := make([]uint16, columns) // the first row of the parent before
	for r := range above.rows[0] {
		if r%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for c := range parent {
			parent[c] = above.rows[c][r]
		}
		n := int(parent[rows])
		if n == 0 {
			continue
		}
		row := make([]uint16, columns)
		rowsOf.of(parent, parent[:v.Above], n)
		if !rowsOf.firstTo(row, past) {
			copy(row, before)
		}
		before = row
		for _, row := range next.history(parent[:v.Above], n, row) {
			of = append(of, uint32(r))
			for c, code := range row {
				out[c] = append(out[c], code)
			}
			if below != nil {
				below(v.Known(parent[:v.Above], row))
			}
		}
	}
	return d.written(i, fine, out, of, by)
}

// below draws what the rows of table i are as parents, one after the other, given what is known of
// them; nil: they are none.
func (d *linkedDraw) below(i int) func(known []uint16) {
	for k, v := range d.p.views {
		if v.Table == i && v.Parents() {
			draw := newDrawer(d.p.Views[k], v.Given, len(v.Schema.Columns), nil)
			d.parents[i] = parents{d.p.Views[k], make([][]uint16, len(v.Schema.Columns))}
			return func(known []uint16) {
				draw.given(known)
				draw.once(d.u)
				for c, code := range slices.Concat(known, draw.drawn) {
					d.parents[i].rows[c] = append(d.parents[i].rows[c], code)
				}
			}
		}
	}
	return nil
}

// drawer draws a row of a table, as columns of a view given others.
type drawer struct {
	*marginal.Completer
	grouping *marginal.Grouping
	row      []uint16   // of the view, in groups
	drawn    []uint16   // its columns that are drawn, in codes
	cells    [][]uint16 // these, as columns of one row
	expand   *marginal.Grouping
	plain    func(drawn []uint16) // of what is drawn; nil: nothing
	rules    *schema.RowCodec     // of the table, whose columns are the last that are drawn
}

// newDrawer is for the columns from up to to; all others are known.
func newDrawer(p *Marginal, from, to int, rules *schema.RowCodec) *drawer {
	d := &drawer{rules: rules, grouping: p.Grouping, expand: p.Grouping.Columns(from, to),
		row: make([]uint16, len(p.Sizes()))}
	d.drawn = d.row[from:to]
	var known []int
	for c := range d.row {
		if c >= from && c < to {
			d.cells = append(d.cells, d.row[c:c+1])
		} else {
			known = append(known, c)
		}
	}
	d.Completer = p.Model.Completer(known)
	return d
}

// given sets the columns of the view, of which those that are drawn are not looked at.
func (d *drawer) given(row []uint16) {
	for c, code := range row {
		d.row[c] = d.group(c, code)
	}
	d.Given(d.row)
}

// group is that of a code of column k of the view.
func (d *drawer) group(k int, code uint16) uint16 {
	if groups := d.grouping.Groups(k); groups != nil {
		return groups[code]
	}
	return code
}

// once draws the columns that are drawn.
func (d *drawer) once(u *rand.Rand) {
	d.Draw(d.row, u)
	d.expand.Expand(d.cells, u)
}

// draw draws, given a row of the view, until a row is taken, and reports whether one was.
func (d *drawer) draw(row []uint16, to func(drawn []uint16) bool, u *rand.Rand) bool {
	d.given(row)
	for range linkedTries {
		d.once(u)
		if d.take(to, u) {
			return true
		}
	}
	return false
}

// take hands over what was drawn, with its rules kept, if it is a row.
func (d *drawer) take(to func(drawn []uint16) bool, u *rand.Rand) bool {
	if d.plain != nil {
		d.plain(d.drawn)
	}
	own := d.cells[len(d.cells)-len(d.rules.Codecs()):]
	for c, codec := range d.rules.Codecs() {
		if int(own[c][0]) >= codec.Size() { // there is no first row
			return false
		}
	}
	d.rules.Repair(own, u)
	return to(d.drawn)
}

// written is table i as it is written: with its ids, the tails of its columns and, of a column by
// (−1: none), values that follow each other within a parent. of is the parent of each row; nil in
// the first table.
func (d *linkedDraw) written(
	i int, s *schema.Schema, codes [][]uint16, of []uint32, by int,
) (*table.Table, error) {
	s, keys := d.p.Schema.Written(i, s)
	rows, err := s.RowCodec()
	if err != nil {
		return nil, err
	}
	cols, tails := make([]table.Codes, len(codes)), map[int]*schema.Codec{}
	for c, codec := range rows.Codecs() {
		counts := make([]float64, codec.Size())
		cols[c] = table.NewCodes(codec.Size(), len(codes[c]))
		for i, code := range codes[c] {
			cols[c].Set(i, code)
			counts[code]++
		}
		if c != by {
			tails[c] = codec.WithTails(counts)
		}
	}
	t, err := table.Refined(s, rows.Refined(tails), cols)
	if err != nil {
		return nil, err
	}
	own, ids := d.number(i, t.Rows(), keys, of)
	if by < 0 {
		return t.InOrder(own, ids, 0, nil), nil
	}
	values, begin := make([]schema.Value, len(of)), 0
	for i := range values {
		values[i] = rows.Codecs()[by].Decode(codes[by][i], d.u)
		if of[i] != of[begin] || codes[by][i] != codes[by][begin] {
			begin = i
		}
		slices.SortFunc(values[begin:i+1], func(a, b schema.Value) int {
			return cmp.Or(cmp.Compare(a.Int, b.Int), cmp.Compare(a.Float, b.Float))
		})
	}
	return t.InOrder(of, ids, by, values), nil
}

// number numbers the ids of the n rows of table i, which have these parents: own are the numbers of
// the rows, which a column of an id has that is none of the key, and ids by made column those of
// the key.
func (d *linkedDraw) number(
	i, n int, keys []int, of []uint32,
) (own []uint32, ids map[int][]uint32) {
	own, ids, d.ids[i] = make([]uint32, n), map[int][]uint32{}, map[string][]uint32{}
	for row := range own {
		own[row] = uint32(row)
	}
	t, parent := d.p.Schema.Tables[i], d.p.Schema.Of(i)
	for _, name := range t.ID {
		d.ids[i][name] = own
	}
	for k, name := range t.Key {
		numbers := make([]uint32, n)
		for row, above := range of {
			numbers[row] = d.ids[parent][d.p.Schema.Tables[parent].ID[k]][above]
		}
		d.ids[i][name], ids[keys[k]] = numbers, numbers
	}
	return own, ids
}
