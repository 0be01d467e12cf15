// Package linked reads linked tables of private rows, and makes views of them: each row of a view
// from the rows of one unit.
package linked

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Files names the private files of linked tables, in the order of l.Tables, to be read by
// [privacy.Open] when the headers of all of them have been looked at. The session has the views of
// [schema.Views] by their names. What becomes of a row is decided by the rows of its units alone,
// whatever their order in the files:
//
//   - a row of which an id is empty is nobody's, or nobody's parent;
//   - of several rows of the first table with one id the least is kept: of the least code in the
//     first column in which they differ;
//   - a row of a child table belongs to every row of the parent table whose id is its key; without
//     one, or if its order is missing, it is left out;
//   - rows of a child table follow each other by their order, then by their other codes, and those
//     of a parent behind the first Order.Rows are left out.
//
// One table of single rows is [privacy.File].
func Files(l *schema.Linked, paths []string) (*privacy.Rows, error) {
	if l.Single() {
		return privacy.File(paths[0], l.Tables[0].Schema), nil
	}
	l = l.Clone()
	views, err := schema.Views(l)
	if err != nil {
		return nil, err
	}
	return rowsOf(l, views, func(ctx context.Context, begin func() error) ([]table.Linked, error) {
		return table.ReadLinked(ctx, l.ForPrivate(), paths, begin)
	}), nil
}

// CheckHeaders is the error that a session on these files has before it pays: that one is not
// there, or lacks a column. No row is read.
func CheckHeaders(ctx context.Context, l *schema.Linked, paths []string) error {
	rows := errors.New("rows follow")
	_, err := table.ReadLinked(ctx, l.ForPrivate(), paths, func() error { return rows })
	if errors.Is(err, rows) {
		return nil
	}
	return err
}

// rowsOf is the rows of tables that load reads.
func rowsOf(
	l *schema.Linked, views []*schema.View,
	load func(ctx context.Context, begin func() error) ([]table.Linked, error),
) *privacy.Rows {
	joint := func(
		ctx context.Context, begin func() error, _ access.Bound) (out access.Loaded, err error) {
		tables, err := load(ctx, begin)
		if err != nil {
			return out, err
		}
		out.Joint = &access.Joint{Views: map[string]access.View{}}
		for i, t := range viewed(l, views, tables) {
			out.Joint.Views[views[i].Name] = access.View{Schema: views[i].Schema, Full: schema.Full,
				Table: func() *table.Table { return t }}
		}
		return out, nil
	}
	return privacy.FromLoader(access.Loader{Tables: l, Load: joint})
}

// reader makes the rows of views.
type reader struct {
	l      *schema.Linked
	views  []*schema.View
	tables []table.Linked
	below  [][]int   // the child tables of each table
	of     [][][]int // of each table, by the number of a key: its rows, in their order
	made   []*builder
}

// compare compares two rows of a table by their order, then by all codes, then by the rows below
// them. Rows that are equal are so in every view.
func (r *reader) compare(i, a, b int) int {
	t, by := r.tables[i], r.tables[i].Column(r.by(i))
	order := cmp.Compare(by.At(a), by.At(b))
	for c := 0; order == 0 && c < len(t.Schema().Columns); c++ {
		order = cmp.Compare(t.Column(c).At(a), t.Column(c).At(b))
	}
	for k := 0; order == 0 && k < len(r.below[i]); k++ {
		j := r.below[i][k]
		order = slices.CompareFunc(r.rows(j, a), r.rows(j, b), func(a, b int) int {
			return r.compare(j, a, b)
		})
	}
	return order
}

// rows are those of child table i that belong to a row of its parent, in their order.
func (r *reader) rows(i, parent int) []int {
	id := r.tables[r.l.Of(i)].ID[parent]
	if int64(id) >= int64(len(r.of[i])) {
		return nil
	}
	return r.of[i][id]
}

// order sets the rows of each key of table i; those of its child tables have been set. Of the first
// table it is one row of each id.
func (r *reader) order(i int) {
	t, keys, missing := r.tables[i], r.tables[i].Key, func(int) bool { return false }
	if by := r.by(i); i == 0 {
		keys = t.ID
	} else if len(t.Schema().Columns[by].Missing) > 0 {
		column, code := t.Column(by), t.Schema().Sizes()[by]-1
		missing = func(row int) bool { return int(column.At(row)) == code }
	}
	for row, id := range keys {
		if id == table.Nobody || missing(row) {
			continue
		}
		for int(id) >= len(r.of[i]) {
			r.of[i] = append(r.of[i], nil)
		}
		r.of[i][id] = append(r.of[i][id], row)
	}
	for id, rows := range r.of[i] {
		slices.SortFunc(rows, func(a, b int) int { return r.compare(i, a, b) })
		r.of[i][id] = rows[:min(len(rows), r.l.Tables[i].Schema.MaxRowsPerUnit)]
	}
}

// by is the column by which the rows of table i have their order.
func (r *reader) by(i int) int { return max(0, r.tables[i].Schema().Index(r.l.Tables[i].Order.By)) }

// viewed are the views of tables, in their order.
func viewed(
	l *schema.Linked, views []*schema.View, tables []table.Linked,
) (out []*table.Table) {
	r := &reader{l, views, tables, make([][]int, len(tables)), make([][][]int, len(tables)), nil}
	for i := range tables[1:] {
		r.below[l.Of(i+1)] = append(r.below[l.Of(i+1)], i+1)
	}
	for i := range slices.Backward(tables) {
		r.order(i)
	}
	for _, v := range views {
		r.made = append(r.made, newBuilder(v.Schema))
	}
	for unit, rows := range r.of[0] {
		for _, row := range rows {
			r.add(unit, 0, row, nil)
		}
	}
	for _, b := range r.made {
		out = append(out, b.table())
	}
	return out
}

// add adds what a row of table i, and the rows below it, are in the views: those of one unit, as a
// past says them that knows of no other. above is what is known of its parent. No step is left out:
// each has the row before it.
func (r *reader) add(unit, i, row int, above []uint16) {
	known := r.codes(i, row)
	if i > 0 {
		known = r.views[i].Known(above, known)
	}
	all := make([][][]uint16, len(r.below[i])) // rows of each child table
	for k, j := range r.below[i] {
		past := r.views[j].Past()
		rows := r.rows(j, row)
		for place, row := range rows {
			next := r.codes(j, row)
			all[k] = append(all[k], next)
			if place == 0 {
				past.Start(known, len(rows), next)
			} else {
				r.made[j].add(unit, past.Step(next))
				past.Add(next)
			}
			r.add(unit, j, row, known)
		}
	}
	for v, view := range r.views {
		for _, row := range view.Of(i, known, all) {
			r.made[v].add(unit, row)
		}
	}
}

// codes is the codes of a row of table i.
func (r *reader) codes(i, row int) (codes []uint16) {
	for c := range r.tables[i].Schema().Columns {
		codes = append(codes, r.tables[i].Column(c).At(row))
	}
	return codes
}

// builder is the table of a view that is being made.
type builder struct {
	schema *schema.Schema
	cols   []table.Codes
	units  []uint32
}

func newBuilder(s *schema.Schema) *builder {
	b := &builder{schema: s, units: []uint32{}}
	for _, size := range s.Sizes() {
		b.cols = append(b.cols, table.NewCodes(size, 0))
	}
	return b
}

// add adds a row of a unit.
func (b *builder) add(unit int, row []uint16) {
	for i, code := range row {
		if c := &b.cols[i]; c.U16 != nil {
			c.U16 = append(c.U16, code)
		} else {
			c.U8 = append(c.U8, uint8(code))
		}
	}
	b.units = append(b.units, uint32(unit))
}

// table is the rows of the view.
func (b *builder) table() *table.Table {
	t, err := table.FromColumns(b.schema, b.cols, b.units)
	if err != nil {
		panic("linked: a row that is none of its view") // no row can be
	}
	return t
}
