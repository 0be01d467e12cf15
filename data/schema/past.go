package schema

import (
	"math/rand/v2"
	"slices"
	"sort"
)

// Past is what is known of a parent before its next row in a child table. It makes the rows of a
// view of steps, where these are counted and where they are drawn. It is not safe for concurrent
// use. Rows of a child table are in the codes of [View.Fine].
type Past struct {
	*child
	given  int
	place  int      // rows so far
	row    []uint16 // of the view
	before []uint16 // the row before
}

// Past is for steps of the view, which must be one of steps.
func (v *View) Past() *Past {
	return &Past{child: v.child, given: v.Given, row: make([]uint16, len(v.Schema.Columns))}
}

// Start begins the rows of a parent: what is known of it, how many rows it has in the child table,
// at least one and at most Order.Rows, and the first of them.
func (p *Past) Start(known []uint16, rows int, first []uint16) {
	clear(p.row)
	copy(p.row, known)
	p.row[p.root] = uint16(rows)
	p.place = 0
	p.Add(first)
}

// Add adds a row to the past. It keeps the slice.
func (p *Past) Add(row []uint16) {
	p.before = row
	p.place++
	known := p.row[p.root+1 : p.given] // place, the row before, flags
	known[0] = uint16(min(p.place, maxPlace, p.table.Order.Rows-1) - 1)
	flags := known[1+len(row):]
	for c, code := range row {
		if p.seen[c] >= 0 {
			flags[p.seen[c]+int(code)] = 1
		}
		known[1+c] = p.inSchema(c, code)
	}
}

// inSchema is a code of a column as the schema of the table has it.
func (c *child) inSchema(column int, code uint16) uint16 {
	if column == c.by {
		return c.coarse[code]
	}
	return code
}

// Given is the columns of the view that are known before the next step: its first View.Given. It
// is valid until the next call.
func (p *Past) Given() []uint16 { return p.row[:p.given] }

// Step is the row of the view for the next row of the unit, which is not added. It is valid until
// the next call.
func (p *Past) Step(next []uint16) []uint16 {
	drawn := p.row[p.given:]
	drawn[0] = p.gapCode(p.value[next[p.by]] - p.value[p.before[p.by]])
	for c, code := range next {
		if drawn[1+c] = p.inSchema(c, code); p.same[c] > 0 && code == p.before[c] {
			drawn[1+c] = p.same[c]
		}
	}
	return p.row
}

// Plain puts the codes of the row before into a drawn step, the columns of the view behind
// View.Given, where it says that they are the same.
func (p *Past) Plain(drawn []uint16) {
	for c, code := range drawn[1:] {
		if p.same[c] > 0 && code == p.same[c] {
			drawn[1+c] = p.before[c]
		}
	}
}

// NextTo draws the row of the child table that a drawn step stands for, the columns of the view
// behind View.Given: each place in the order that it leaves is as likely. Gap and bin of the order
// are drawn without the place of the row before in its bin. So they often have no place in common,
// or one only that is too likely: then the gap counts, and so it does where the bin is wider. It
// reports false if the past leaves no place.
func (p *Past) NextTo(row, drawn []uint16, u *rand.Rand) bool {
	last := int(p.before[p.by])
	gap := int(drawn[0])
	lo, hi := max(last, sort.SearchFloat64s(p.value, p.value[last]+p.gaps[gap])), len(p.value)
	if gap+1 < len(p.gaps) {
		hi = sort.SearchFloat64s(p.value, p.value[last]+p.gaps[gap+1])
	}
	copy(row, drawn[1:])
	first, next := p.bin(row)
	if next > first && hi-lo >= next-first { // the bin of the order says more
		if lo, hi = max(lo, first), min(hi, next); lo >= hi {
			lo, hi = max(last, first), next
		}
	}
	return p.placeTo(row, lo, hi, u)
}

// FirstTo is NextTo for the first row of a unit: its columns in the view of all rows, behind
// [View.Place].
func (p *Past) FirstTo(row, drawn []uint16, u *rand.Rand) bool {
	copy(row, drawn)
	first, next := p.bin(row)
	return p.placeTo(row, first, next, u)
}

// bin is the fine codes, from first up to but not including next, of the order of a row, a code of
// the schema; none if it is missing.
func (c *child) bin(row []uint16) (first, next int) {
	bins := c.coarse[:len(c.value)]
	first, _ = slices.BinarySearch(bins, row[c.by])
	next, _ = slices.BinarySearch(bins, row[c.by]+1)
	return first, next
}

// placeTo makes the order of a row one of the fine codes from lo up to but not including hi.
func (c *child) placeTo(row []uint16, lo, hi int, u *rand.Rand) bool {
	if hi = min(hi, len(c.value)); lo >= hi {
		return false
	}
	row[c.by] = uint16(lo + u.IntN(hi-lo))
	return true
}
