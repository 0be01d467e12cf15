package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// pool is from how many times as many rows the further rows of a unit are drawn.
const pool = 30

// flat is a table of units: the columns of the parent, the number of rows, and the first rows, or
// in place of them any one, fitted by aim. Of any one, further rows are those of drawn units with
// the same parent and number of rows. It is for one child table.
func (t *linkedTables) flat(rows int, b accountant.Budget) []*table.Table {
	h := t.real.History(&t.real.Children[0])
	parents, width := len(t.real.Parents.Schema().Columns), len(t.coarse.Schema().Columns)
	sizes := append(t.real.Parents.Schema().Sizes(), t.real.Children[0].Most+1)
	for range max(1, rows) {
		for _, size := range t.coarse.Schema().Sizes() {
			sizes = append(sizes, size+1) // the last code: there is no such row
		}
	}
	s := &schema.Schema{}
	for k, size := range sizes {
		s.Columns = append(s.Columns, codesColumn(fmt.Sprint("column ", k), size))
	}
	chance := rand.Perm(t.real.Parents.Rows())
	flat := tableOf(s, len(chance), nil, func(k, unit int) uint16 {
		at := h.Rows[h.From[unit]:h.From[unit+1]]
		place, column := (k-parents-1)/width, (k-parents-1)%width
		if rows == 0 && len(at) > 0 {
			place = chance[unit] % len(at)
		}
		switch {
		case k < parents:
			return t.real.Parents.Column(k).At(unit)
		case k == parents:
			return uint16(len(at))
		case place >= len(at):
			return uint16(sizes[k] - 1)
		}
		return t.coarse.Column(column).At(at[place])
	})
	m := must(must(variant("aim", nil))(flat, b))
	n, times := max(1, int(math.Round(m.Rows))), 1
	if rows == 0 {
		times = pool
	}
	return t.unfolded(must(sampled(m, times*n)), n, rows)
}

// tableOf is a table of rows that belong to units; nil: to none.
func tableOf(
	s *schema.Schema, n int, units []uint32, code func(k, row int) uint16,
) *table.Table {
	var columns []table.Codes
	for k, size := range s.Sizes() {
		columns = append(columns, table.NewCodes(size, n))
		for row := range n {
			columns[k].Set(row, code(k, row))
		}
	}
	return must(table.FromColumns(s, columns, units))
}

// unfolded makes n units of rows of flat.
func (t *linkedTables) unfolded(drawn *table.Table, n, rows int) []*table.Table {
	c := &t.real.Children[0]
	parents, sizes := len(t.real.Parents.Schema().Columns), t.coarse.Schema().Sizes()
	order := must(schema.NewCodec(t.coarse.Schema().Columns[c.By]))
	fine := must(schema.NewCodec(c.Rows.Schema().Columns[c.By]))
	alike, key := map[string][]int{}, make([]string, drawn.Rows())
	for i := range key {
		for k := range parents + 1 {
			key[i] += string(rune(drawn.Column(k).At(i))) // never a surrogate: codes are small
		}
		if drawn.Column(parents+1).At(i) < uint16(sizes[0]) {
			alike[key[i]] = append(alike[key[i]], i)
		}
	}
	type row struct {
		i, at int // its row of drawn, and there the first of its columns
		order uint16
	}
	var made []row
	var ids, of []uint32 // the units, and that of each row
	for unit := range n {
		first := len(made)
		for place := range drawn.Column(parents).At(unit) {
			r := row{i: unit, at: parents + 1 + int(place)*len(sizes)}
			if others := alike[key[unit]]; rows == 0 && len(others) > 0 {
				r = row{i: others[rand.IntN(len(others))], at: parents + 1}
			}
			if r.at >= len(drawn.Schema().Columns) {
				break
			}
			code := drawn.Column(r.at + c.By).At(r.i)
			whole := int(code) < order.Values()
			for k, size := range sizes {
				whole = whole && int(drawn.Column(r.at+k).At(r.i)) < size
			}
			if whole {
				lo, hi := order.Bin(code)
				x := math.Floor(lo + rand.Float64()*(hi-lo+1))
				r.order = must(fine.EncodeText([]byte(strconv.FormatFloat(x, 'f', 0, 64))))
				made, of = append(made, r), append(of, uint32(unit))
			}
		}
		ids = append(ids, uint32(unit))
		slices.SortFunc(made[first:], func(a, b row) int { return cmp.Compare(a.order, b.order) })
	}
	units := tableOf(t.real.Parents.Schema(), n, ids, func(k, unit int) uint16 {
		return drawn.Column(k).At(unit)
	})
	children := tableOf(c.Rows.Schema(), len(made), of, func(k, i int) uint16 {
		if k == c.By {
			return made[i].order
		}
		return drawn.Column(made[i].at + k).At(made[i].i)
	})
	return []*table.Table{units, children}
}
