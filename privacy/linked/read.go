// Package linked reads linked tables of private rows, and makes views of them: each row of a view
// from the rows of one unit.
package linked

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Files names the private files of linked tables, in the order of l.Tables, to be read by
// [privacy.Open] when the headers of all of them have been looked at. The session has the views of
// [schema.Views] by their names. What becomes of a row is decided by the rows of its id alone,
// whatever their order in the files:
//
//   - a row whose id is empty is left out, and so is one of a child table whose id the first table
//     has not, or whose order is missing;
//   - of several rows of the first table with one id the least is kept: of the least code in the
//     first column in which they differ;
//   - rows of a child table follow each other by their order, then by their other codes, and those
//     behind the first Order.Rows are left out.
func Files(l *schema.Linked, paths []string) (*privacy.Rows, error) {
	views, err := schema.Views(l)
	if err != nil {
		return nil, err
	}
	schemas := []*schema.Schema{l.Tables[0].Schema}
	for _, v := range views[1:] {
		schemas = append(schemas, v.Fine())
	}
	return rowsOf(l, views, func(ctx context.Context, begin func() error) ([]*table.Table, error) {
		return read(ctx, schemas, paths, begin)
	}), nil
}

// rowsOf is the rows of tables that load reads.
func rowsOf(
	l *schema.Linked, views []*schema.View,
	load func(ctx context.Context, begin func() error) ([]*table.Table, error),
) *privacy.Rows {
	joint := func(ctx context.Context, begin func() error, _ access.Bound) (*access.Joint, error) {
		tables, err := load(ctx, begin)
		if err != nil {
			return nil, err
		}
		out := &access.Joint{Views: map[string]access.View{}}
		for i, t := range viewed(l, views, tables) {
			out.Views[views[i].Name] = access.View{Schema: views[i].Schema, Full: views[i].Full(),
				Table: func() *table.Table { return t }}
		}
		return out, nil
	}
	return privacy.FromLoader(access.Loader{Load: joint, Fingerprint: l.Fingerprint(),
		Schema: &schema.Schema{Unit: l.Unit, MaxRowsPerUnit: 1}})
}

// read reads tables, whose units have the same numbers. It calls begin when it has found nothing
// wrong with the header of any file, and before it reads a row.
func read(
	ctx context.Context, schemas []*schema.Schema, paths []string, begin func() error,
) ([]*table.Table, error) {
	ids, tables := &table.IDs{}, make([]*table.Table, len(schemas))
	var from func(i int) error
	from = func(i int) (err error) {
		if i == len(schemas) {
			return begin()
		}
		var rest error // whose files errors name already
		tables[i], _, err = table.Read(ctx, paths[i], schemas[i].ForPrivate(), table.ReadOptions{
			IDs: ids, Begin: func() error { rest = from(i + 1); return rest }})
		if err != nil && rest == nil {
			err = fmt.Errorf("%s: %w", paths[i], err)
		}
		return err
	}
	return tables, from(0)
}

// less compares two rows of a table by their codes in column by, then in all others.
func less(t *table.Table, by, a, b int) int {
	order := cmp.Compare(t.Column(by).At(a), t.Column(by).At(b))
	for c := 0; order == 0 && c < len(t.Schema().Columns); c++ {
		order = cmp.Compare(t.Column(c).At(a), t.Column(c).At(b))
	}
	return order
}

// rooted is the row of each unit in the first table, and the unit of each id; −1: none.
func rooted(t *table.Table) (rows, unit []int) {
	for row, id := range t.Units() {
		for int(id) >= len(unit) {
			unit = append(unit, -1)
		}
		switch u := unit[id]; {
		case u < 0:
			unit[id] = len(rows)
			rows = append(rows, row)
		case less(t, 0, row, rows[u]) < 0:
			rows[u] = row
		}
	}
	return rows, unit
}

// histories are the rows of each of n units in a child table, in their order.
func histories(t *table.Table, order schema.Order, n int, unit []int) [][]int {
	out, by := make([][]int, n), t.Schema().Index(order.By)
	column, missing := t.Column(by), t.Schema().Sizes()[by]
	if len(t.Schema().Columns[by].Missing) > 0 {
		missing--
	}
	for row, id := range t.Units() {
		if int(id) < len(unit) && unit[id] >= 0 && int(column.At(row)) != missing {
			out[unit[id]] = append(out[unit[id]], row)
		}
	}
	for u, rows := range out {
		slices.SortFunc(rows, func(a, b int) int { return less(t, by, a, b) })
		out[u] = rows[:min(len(rows), order.Rows)]
	}
	return out
}

// viewed are the views of tables, in their order.
func viewed(
	l *schema.Linked, views []*schema.View, tables []*table.Table,
) (out []*table.Table) {
	rows, unit := rooted(tables[0])
	of := make([][][]int, len(tables))
	for i := 1; i < len(tables); i++ {
		of[i] = histories(tables[i], l.Tables[i].Order, len(rows), unit)
	}
	for i, v := range views {
		b := newBuilder(v.Schema)
		for u, row := range rows {
			one := codesOf(tables[0], row)
			if i > 0 {
				b.addSteps(u, v.Past(), one, tables[i], of[i][u])
				continue
			}
			n, first := make([]int, len(tables)-1), make([][]uint16, len(tables)-1)
			for k := range n {
				if n[k] = len(of[k+1][u]); n[k] > 0 {
					first[k] = codesOf(tables[k+1], of[k+1][u][0])
				}
			}
			b.add(u, v.Unit(one, n, first))
		}
		out = append(out, b.table())
	}
	return out
}

// codesOf is the codes of a row.
func codesOf(t *table.Table, row int) (codes []uint16) {
	for c := range t.Schema().Columns {
		codes = append(codes, t.Column(c).At(row))
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

// addSteps adds the steps of a unit with these rows in t, as a past says them that knows of no
// other unit. Nothing is left out of them: each has the row before it.
func (b *builder) addSteps(
	unit int, p *schema.Past, one []uint16, t *table.Table, rows []int,
) {
	for i, row := range rows {
		next := codesOf(t, row)
		if i == 0 {
			p.Start(one, len(rows), next)
			continue
		}
		b.add(unit, p.Step(next))
		p.Add(next)
	}
}

// table is the rows of the view.
func (b *builder) table() *table.Table {
	t, err := table.FromColumns(b.schema, b.cols, b.units)
	if err != nil {
		panic("linked: a row that is none of its view") // no row can be
	}
	return t
}
