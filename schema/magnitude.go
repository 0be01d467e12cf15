package schema

import (
	"math"
	"time"
)

// The magnitudes of a number: eight cells for each power of two from 2^-20 to 2^64, on either side
// of zero, one cell for zero, and one on either side for what is closer to it. The cells are
// public, in the order of their values. Whole numbers up to 15 have a cell each.
const (
	leastPower = -20
	powers     = 64 - leastPower
	perPower   = 8
	oneSide    = 1 + powers*perPower // the first is what is below 2^leastPower
)

// The years of dates and timestamps, a cell each; the first and the last also take what is before
// and after them.
const (
	firstYear = 1800
	lastYear  = 2199
	yearCells = lastYear - firstYear + 1
)

// Magnitudes is the number of cells of the magnitudes of an ordered kind; 0 for others.
func (k Kind) Magnitudes() int {
	if o := k.ordered(); o != nil {
		return o.magnitudes()
	}
	return 0
}

// Magnitude gives the cell of the magnitude of a text, 0 to k.Magnitudes()−1; false for a text that
// is no value of kind k, or one out of its range. Years beyond the first and last cell, and numbers
// of 2^64 and more, are in those cells.
func (k Kind) Magnitude(cell []byte) (int, bool) {
	o := k.ordered()
	if o == nil {
		return 0, false
	}
	x, ok := o.parse(o.traits().format, cell)
	if !ok {
		return 0, false
	}
	return o.magnitude(x)
}

// MagnitudeBounds gives the smallest and the greatest value of a cell, as Column.Min and Max have
// them: of a Real the upper end is itself in the next cell. An Integer cell without whole numbers
// has min > max. It panics for a cell that there is not.
func (k Kind) MagnitudeBounds(cell int) (lo, hi float64) {
	if cell < 0 || cell >= k.Magnitudes() {
		panic("schema: no such magnitude")
	}
	return k.ordered().magnitudeBounds(cell)
}

func (numberRules) magnitudes() int { return 2*oneSide + 1 }

func (numberRules) magnitude(x float64) (int, bool) {
	if math.Abs(x) > maxReal {
		return 0, false
	}
	switch side := sideCell(math.Abs(x)); {
	case x > 0:
		return oneSide + 1 + side, true
	case x < 0:
		return oneSide - 1 - side, true
	}
	return oneSide, true
}

// sideCell is the cell of x > 0, from zero outward.
func sideCell(x float64) int {
	fraction, exponent := math.Frexp(x) // x = fraction·2^exponent, ½ ≤ fraction < 1
	power := exponent - 1 - leastPower
	switch {
	case power < 0:
		return 0
	case power >= powers:
		return oneSide - 1
	}
	return 1 + power*perPower + int((fraction-.5)*2*perPower)
}

// sideBounds are the ends of a cell on the side of the positive numbers.
func sideBounds(side int) (lo, hi float64) {
	if side == 0 {
		return 0, math.Ldexp(1, leastPower)
	}
	power, part := (side-1)/perPower, (side-1)%perPower
	lo = math.Ldexp(1+float64(part)/perPower, power+leastPower)
	return lo, math.Ldexp(1+float64(part+1)/perPower, power+leastPower)
}

// mirrored gives the bounds of a cell on either side, or zero, from those of the positive side.
func mirrored(cell int, bounds func(side int) (lo, hi float64)) (lo, hi float64) {
	switch {
	case cell > oneSide:
		return bounds(cell - oneSide - 1)
	case cell < oneSide:
		lo, hi = bounds(oneSide - 1 - cell)
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
