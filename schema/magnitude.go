package schema

import (
	"cmp"
	"math"
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
}

const (
	leastPower = -20
	powers     = 64 - leastPower
)

// The years of dates and timestamps, a cell each; the first and the last also take what is before
// and after them.
const (
	firstYear = 1800
	lastYear  = 2199
	yearCells = lastYear - firstYear + 1
)

// Len is the number of cells; 0 for a kind without an order, or another PerPower.
func (m Magnitudes) Len() int {
	if o := m.Kind.ordered(); o != nil {
		return o.magnitudes(m.PerPower)
	}
	return 0
}

// Of gives the cell of a text, 0 to m.Len()−1; false for a text that is no value of the kind, or
// one out of its range. Years beyond the first and last cell, and numbers of 2^64 and more, are in
// those cells.
func (m Magnitudes) Of(text []byte) (int, bool) {
	if m.Len() == 0 {
		return 0, false
	}
	o := m.Kind.ordered()
	x, ok := o.parse(cmp.Or(m.Format, o.traits().format), text)
	if !ok {
		return 0, false
	}
	return o.magnitude(x, m.PerPower)
}

// Bounds gives the smallest and the greatest value of a cell, as Column.Min and Max have them: of a
// Real the upper end is itself in the next cell. An Integer cell without whole numbers has min >
// max. It panics for a cell that there is not.
func (m Magnitudes) Bounds(cell int) (lo, hi float64) {
	if cell < 0 || cell >= m.Len() {
		panic("schema: no such magnitude")
	}
	return m.Kind.ordered().magnitudeBounds(cell, m.PerPower)
}

// oneSide is the number of cells on a side of zero. The first is what is below 2^leastPower.
func oneSide(perPower int) int { return 1 + powers*perPower }

func (numberRules) magnitudes(perPower int) int {
	switch perPower {
	case 1, 2, 4, 8:
		return 2*oneSide(perPower) + 1
	}
	return 0
}

func (numberRules) magnitude(x float64, perPower int) (int, bool) {
	if math.Abs(x) > maxReal {
		return 0, false
	}
	zero := oneSide(perPower)
	switch side := sideCell(math.Abs(x), perPower); {
	case x > 0:
		return zero + 1 + side, true
	case x < 0:
		return zero - 1 - side, true
	}
	return zero, true
}

// sideCell is the cell of x > 0, from zero outward.
func sideCell(x float64, perPower int) int {
	fraction, exponent := math.Frexp(x) // x = fraction·2^exponent, ½ ≤ fraction < 1
	power := exponent - 1 - leastPower
	switch {
	case power < 0:
		return 0
	case power >= powers:
		return oneSide(perPower) - 1
	}
	return 1 + power*perPower + int((fraction-.5)*2*float64(perPower))
}

// sideBounds are the ends of a cell on the side of the positive numbers.
func sideBounds(side, perPower int) (lo, hi float64) {
	if side == 0 {
		return 0, math.Ldexp(1, leastPower)
	}
	power, part := (side-1)/perPower, float64((side-1)%perPower)
	lo = math.Ldexp(1+part/float64(perPower), power+leastPower)
	return lo, math.Ldexp(1+(part+1)/float64(perPower), power+leastPower)
}

// mirrored gives the bounds of a cell on either side, or zero, from those of the positive side.
func mirrored(cell, perPower int, bounds func(side, perPower int) (lo, hi float64)) (
	lo, hi float64,
) {
	switch zero := oneSide(perPower); {
	case cell > zero:
		return bounds(cell-zero-1, perPower)
	case cell < zero:
		lo, hi = bounds(zero-1-cell, perPower)
		return -hi, -lo
	}
	return 0, 0
}

// yearCell is the cell of an instant.
func yearCell(t time.Time) int {
	return min(max(t.UTC().Year(), firstYear), lastYear) - firstYear
}

// yearDays are the first and the last day of a cell.
func yearDays(cell int) (first, last int64) {
	year := firstYear + cell
	return daysOf(year, 1, 1), daysOf(year+1, 1, 1) - 1
}
