package table

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
)

// Linked is one of several tables, with the numbers of its ids. Two rows have the same number where
// their ids are the same bytes in each of their columns, blanks at both ends left out
// ([schema.IDBlanks]).
type Linked struct {
	*Table
	ID  []uint32 // of each row; nil in a table that is nobody's parent
	Key []uint32 // of each row: its parent's; nil in the first table
}

// Nobody is the number of an id of which a column is empty, or cannot be read.
const Nobody = math.MaxUint32

// ReadLinked reads linked tables, whose files are in the order of l.Tables: child tables in the
// codes of [schema.View.Fine]. begin is called when nothing was found wrong with the header of any
// file, and before a row is read. An error names the file. Of a table that is described by itself
// the first table, which has no file, is its ids, each once.
func ReadLinked(
	ctx context.Context, l *schema.Linked, paths []string, begin func() error,
) ([]Linked, error) {
	var views []*schema.View
	tables := make([]Linked, len(l.Tables))
	paths = append(make([]string, len(tables)-len(paths)), paths...)
	var from func(i int) error
	from = func(i int) (err error) {
		switch {
		case i == len(paths):
			return begin()
		case l.Alone && i == 0:
			return from(i + 1)
		}
		s := l.Tables[i].Schema
		if i > 0 {
			if views, err = schema.Views(l); err != nil {
				return err
			}
			s = views[i].Fine()
		}
		var rest error // whose files errors name already
		tables[i].Table, _, err = Read(ctx, paths[i], s, ReadOptions{keys: l.Tables[i].Keys(),
			Begin: func() error { rest = from(i + 1); return rest }})
		if err != nil && rest == nil {
			err = fmt.Errorf("%s: %w", paths[i], err)
		}
		return err
	}
	err := from(0)
	if err != nil {
		return nil, err
	}
	numbers := make([]numbering, len(tables)) // of the ids of each table
	for i, t := range l.Tables {
		if l.Alone && i == 0 {
			continue
		}
		if tables[i].ID = tables[i].numbered(&numbers[i], t.Keys(), t.ID); i > 0 {
			tables[i].Key = tables[i].numbered(&numbers[l.Of(i)], t.Keys(), t.Key)
		}
		tables[i].keys = nil
	}
	if l.Alone {
		ids := slices.Compact(slices.Sorted(slices.Values(tables[1].Key)))
		ids = slices.DeleteFunc(ids, func(id uint32) bool { return id == Nobody })
		tables[0].ID = ids
		tables[0].Table, err = FromColumns(l.Tables[0].Schema, nil, ids)
	}
	return tables, err
}

// numbered are the numbers of the ids in some of the key columns; nil of no column.
func (t *Table) numbered(numbers *numbering, keys, columns []string) []uint32 {
	if columns == nil {
		return nil
	}
	out, id := make([]uint32, t.rows), []byte(nil)
	for row := range out {
		id = id[:0]
		for _, name := range columns {
			c := t.keys[slices.Index(keys, name)]
			part := strings.Trim(c.Texts[c.Cells[row]], schema.IDBlanks)
			if len(part) == 0 {
				out[row] = Nobody
			}
			id = append(binary.AppendUvarint(id, uint64(len(part))), part...)
		}
		if out[row] != Nobody {
			out[row] = numbers.addBytes(id)
		}
	}
	return out
}
