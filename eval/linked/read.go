package linked

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
)

// Read reads linked tables whose files are in the order of l.Tables, for those who may see every
// row. A row of the first table whose id was there before is left out, and counted. Errors name the
// file; those about what is in a file wrap [schema.ErrSchema].
func Read(ctx context.Context, l *schema.Linked, paths []string) (*Tables, error) {
	tables, err := table.ReadLinked(ctx, l, paths, func() error { return nil })
	if err != nil {
		return nil, err
	}
	return Of(l, tables)
}

// Of is [Read] of tables that are there.
func Of(l *schema.Linked, tables []table.Linked) (*Tables, error) {
	out := &Tables{Name: l.Tables[0].Name}
	of := make([]map[uint32]int, len(tables)) // the parent that each id is, of rows the first of it
	units := make([][]int, len(tables))       // of parents
	for i, rows := range tables {
		t, doubled := l.Tables[i], 0
		if rows.Rows() == 0 {
			return nil, fmt.Errorf("%s: no rows to compare: %w", t.Name, eval.ErrTables)
		}
		var first []int // row of each id
		of[i] = map[uint32]int{}
		for row, id := range rows.ID {
			if _, before := of[i][id]; before {
				doubled++
			} else if id != table.Nobody {
				of[i][id] = len(first)
				first = append(first, row)
			}
		}
		if i == 0 {
			out.Parents, out.Doubled = rows.Select(first), doubled
			continue
		}
		above := l.Of(i)
		c := child{Name: t.Name, Rows: rows.Table, Above: above, Units: units[above], Doubled: doubled,
			Keyed: rows.ID != nil, By: rows.Schema().Index(t.Order.By), Most: t.Order.Rows}
		codec, err := schema.NewCodec(rows.Schema().Columns[c.By])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		for row, id := range rows.Key {
			parent, known := of[above][id]
			if !known {
				parent = -1
			}
			at := math.NaN()
			if code := rows.Column(c.By).At(row); int(code) < codec.Values() {
				at, _ = codec.Bin(code)
			}
			c.Parent, c.Order = append(c.Parent, parent), append(c.Order, at)
		}
		out.Children = append(out.Children, c)
		place := slices.Repeat([]int{-2}, rows.Rows()) // among the rows that count
		for at, row := range out.History(&c).Rows {
			unit := c.Parent[row]
			if above > 0 {
				unit = c.Units[unit]
			}
			place[row], units[i] = at, append(units[i], unit)
		}
		for id, k := range of[i] {
			of[i][id] = place[first[k]]
		}
	}
	return out, nil
}
