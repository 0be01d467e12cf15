package linked

import (
	"context"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Read reads linked tables whose files are in the order of l.Tables, for those who may see every
// row. A row of the first table whose id was there before is left out, and counted. Errors name the
// table; those about what is in a file wrap [schema.ErrSchema].
func Read(ctx context.Context, l *schema.Linked, paths []string) (*Tables, error) {
	views, err := schema.Views(l)
	if err != nil {
		return nil, err
	}
	var tables []*table.Table
	ids := &table.IDs{}
	for i, t := range l.Tables {
		s := t.Schema
		if i > 0 {
			s = views[i].Fine()
		}
		rows, _, err := table.Read(ctx, paths[i], s, table.ReadOptions{IDs: ids})
		if err == nil && rows.Rows() == 0 {
			err = fmt.Errorf("no rows to compare: %w", eval.ErrTables)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		tables = append(tables, rows)
	}
	return Of(l, tables)
}

// Of is [Read] of tables that are there: the first, and the others by [schema.View.Fine]. They
// number their units alike.
func Of(l *schema.Linked, tables []*table.Table) (*Tables, error) {
	parents := tables[0]
	unitOf := map[uint32]int{} // the row of the first table that each id has
	var keep []int
	for row, id := range parents.Units() {
		if _, before := unitOf[id]; !before {
			unitOf[id] = len(keep)
			keep = append(keep, row)
		}
	}
	out := &Tables{Name: l.Tables[0].Name, Parents: parents.Select(keep),
		Doubled: parents.Rows() - len(keep)}
	for i, rows := range tables[1:] {
		t := l.Tables[i+1]
		c := Child{Name: t.Name, Rows: rows, By: rows.Schema().Index(t.Order.By), Most: t.Order.Rows}
		codec, err := schema.NewCodec(rows.Schema().Columns[c.By])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		missing, may := codec.MissingCode()
		for row, id := range rows.Units() {
			unit, known := unitOf[id]
			if !known {
				unit = -1
			}
			at := math.NaN()
			if code := rows.Column(c.By).At(row); !may || code != missing {
				at, _ = codec.Bin(code)
			}
			c.Parent, c.Order = append(c.Parent, unit), append(c.Order, at)
		}
		out.Children = append(out.Children, c)
	}
	return out, nil
}
