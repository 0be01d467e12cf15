package schema

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
)

// Magnitudes is a public partition of the values of a kind with an order, in the order of the
// values. Numbers have cells of equal width between two powers of two, from 2^-20 to 2^64, on
// either side of zero, one cell for zero, and one on either side for what is closer to it. Dates
// and timestamps have a cell a year.
type Magnitudes struct {
	Kind     Kind
	PerPower int    // cells from a power of two to the next: 1, 2, 4 or 8; dates and timestamps: any
	Format   string // of dates and timestamps; "" is that of the kind
	// in place of all that: the cells are from each of these numbers to below the next, of a kind of
	// whole values whole ones, and what is outside is in none
	Edges []float64 `json:",omitempty"`
	// or the cell of a value is the first of these steps that it is a multiple of, and the last cell
	// has the others
	Steps []float64 `json:",omitempty"`
}

const (
	leastPower = -20
	powers     = 64 - leastPower
)

// The years of dates and timestamps, a cell each. What is before or after is in none: 9999-12-31 is
// seldom a day when something happens, but means that there is none.
const (
	firstYear = 1800
	lastYear  = 2199
	yearCells = lastYear - firstYear + 1
)

// Len is the number of cells; 0 for a kind without an order, or another PerPower.
func (m Magnitudes) Len() int {
	switch f := m.Kind.facts(); {
	case !m.Kind.Ordered():
	case m.Edges != nil:
		return max(0, len(m.Edges)-1)
	case m.Steps != nil:
		return len(m.Steps) + 1
	case f.unit > 0:
		return yearCells
	case m.PerPower == 1, m.PerPower == 2, m.PerPower == 4, m.PerPower == 8:
		return 2*m.oneSide() + 1
	}
	return 0
}

// Clone returns a copy that shares no memory with m.
func (m Magnitudes) Clone() Magnitudes {
	m.Edges, m.Steps = slices.Clone(m.Edges), slices.Clone(m.Steps)
	return m
}

// oneSide is the number of cells on a side of zero. The first is what is below 2^leastPower.
func (m Magnitudes) oneSide() int { return 1 + powers*m.PerPower }

// Of gives the cell of a text, 0 to m.Len()−1; false for a text that is no value of the kind, or
// one out of its range, or of another year. Numbers of 2^64 and more are in the last cell.
func (m Magnitudes) Of(text []byte) (int, bool) {
	f := m.Kind.facts()
	if m.Len() == 0 {
		return 0, false
	}
	n := f.notation(cmp.Or(m.Format, f.format))
	if n == nil {
		return 0, false
	}
	x, ok := n.parse(text)
	if !ok {
		return 0, false
	}
	return m.cell(x)
}

// cell is Of for a value.
func (m Magnitudes) cell(x float64) (int, bool) {
	f, zero := m.Kind.facts(), m.oneSide()
	switch {
	case m.Len() == 0, !(math.Abs(x) <= maxReal), f.unit > 0 && f.wrong(x) != "":
		return 0, false
	case m.Steps != nil:
		for at, step := range m.Steps {
			if math.Mod(x, step) == 0 {
				return at, true
			}
		}
		return len(m.Steps), true
	case m.Edges != nil:
		at := sort.Search(len(m.Edges), func(i int) bool { return m.Edges[i] > x }) - 1
		return at, at >= 0 && at < m.Len()
	case f.unit > 0:
		year := time.UnixMicro(int64(x) * f.unit).UTC().Year()
		return year - firstYear, year >= firstYear && year <= lastYear
	case x > 0:
		return zero + 1 + m.side(x), true
	case x < 0:
		return zero - 1 - m.side(-x), true
	}
	return zero, true
}

// side is the cell of x > 0, from zero outward.
func (m Magnitudes) side(x float64) int {
	fraction, exponent := math.Frexp(x) // x = fraction·2^exponent, ½ ≤ fraction < 1
	power := exponent - 1 - leastPower
	switch {
	case power < 0:
		return 0
	case power >= powers:
		return m.oneSide() - 1
	}
	return 1 + power*m.PerPower + int((fraction-.5)*2*float64(m.PerPower))
}

// Bounds gives the smallest and the greatest value of a cell, as Column.Min and Max have them: of a
// Real the upper end is itself in the next cell. An Integer cell without whole numbers has min >
// max. It panics for a cell that there is not, and for steps.
func (m Magnitudes) Bounds(cell int) (lo, hi float64) {
	if cell < 0 || cell >= m.Len() || m.Steps != nil {
		panic("schema: no such magnitude")
	}
	zero := m.oneSide()
	switch f := m.Kind.facts(); {
	case m.Edges != nil && f.stored == StoredFloat:
		return m.Edges[cell], m.Edges[cell+1]
	case m.Edges != nil && f.stored == StoredMicros:
		return m.Edges[cell], m.Edges[cell+1] - m.step()
	case m.Edges != nil:
		return m.Edges[cell], m.Edges[cell+1] - 1
	case f.unit > 0:
		from := time.Date(firstYear+cell, 1, 1, 0, 0, 0, 0, time.UTC)
		last := from.AddDate(1, 0, 0).UnixMicro() - max(f.unit, int64(m.step()))
		return float64(from.UnixMicro() / f.unit), float64(last / f.unit)
	case cell > zero:
		return m.sideBounds(cell - zero - 1)
	case cell < zero:
		lo, hi = m.sideBounds(zero - 1 - cell)
		return -hi, -lo
	}
	return 0, 0
}

// step is what instants are multiples of, in microseconds: what the format shows, and a second at
// least.
func (m Magnitudes) step() float64 {
	f := m.Kind.facts()
	if f.unit == microsPerDay { // whatever the format
		return microsPerDay
	}
	step, _ := f.step(cmp.Or(m.Format, f.format), 0, 0)
	return float64(max(step*f.unit, microsPerSecond))
}

// sideBounds are the ends of a cell on the side of the positive numbers; whole ones of an Integer.
func (m Magnitudes) sideBounds(side int) (lo, hi float64) {
	if side > 0 {
		power, part := (side-1)/m.PerPower, float64((side-1)%m.PerPower)
		lo = math.Ldexp(1+part/float64(m.PerPower), power+leastPower)
		hi = math.Ldexp(1+(part+1)/float64(m.PerPower), power+leastPower)
	} else if lo, hi = 0, math.Ldexp(1, leastPower); m.Kind.Stored() == StoredInt {
		return 1, 0 // it would be zero
	}
	if m.Kind.Stored() == StoredInt {
		return min(math.Ceil(lo), maxWhole), min(math.Ceil(hi)-1, maxWhole)
	}
	return lo, hi
}
