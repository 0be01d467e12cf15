package schema

import "math"

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
)

// Magnitudes is the number of cells of the magnitudes of a numeric kind; 0 for others.
func (k Kind) Magnitudes() int {
	switch {
	case k.moment():
		return lastYear - firstYear + 1
	case k.numeric():
		return 2*oneSide + 1
	}
	return 0
}

// Magnitude gives the cell of the magnitude of a text, 0 to k.Magnitudes()−1; false for a text that
// is no value of kind k, or one out of its range. Years beyond the first and last cell, and numbers
// of 2^64 and more, are in those cells.
func (k Kind) Magnitude(cell []byte) (int, bool) {
	if k.moment() {
		v, ok := parseMoment(k, Column{Kind: k}.filled().Format, cell)
		if !ok || badValue(k, float64(v)) != "" {
			return 0, false
		}
		return yearCell(k, float64(v)), true
	}
	x, ok := parseNumber(cell)
	if !k.numeric() || !ok || math.Abs(x) > maxReal {
		return 0, false
	}
	side := oneSideCell(math.Abs(x))
	switch {
	case x > 0:
		return oneSide + 1 + side, true
	case x < 0:
		return oneSide - 1 - side, true
	}
	return oneSide, true
}

// oneSideCell is the cell of x > 0, from zero outward.
func oneSideCell(x float64) int {
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

// MagnitudeBounds gives the smallest and the greatest value of a cell, as Column.Min and Max have
// them: of a Real the upper end is itself in the next cell. An Integer cell without whole numbers
// has min > max. It panics for a cell that there is not.
func (k Kind) MagnitudeBounds(cell int) (lo, hi float64) {
	if cell < 0 || cell >= k.Magnitudes() {
		panic("schema: no such magnitude")
	}
	if k.moment() {
		year := firstYear + cell
		from, to := daysOf(year, 1, 1), daysOf(year+1, 1, 1)-1
		if k == Date {
			return float64(from), float64(to)
		}
		return float64(from * microsPerDay), float64((to+1)*microsPerDay - microsPerSecond)
	}
	if cell == oneSide {
		return 0, 0
	}
	side := cell - oneSide - 1
	if cell < oneSide {
		side = oneSide - 1 - cell
	}
	lo, hi = 0, math.Ldexp(1, leastPower)
	if side > 0 {
		power, part := (side-1)/perPower, (side-1)%perPower
		lo = math.Ldexp(1+float64(part)/perPower, power+leastPower)
		hi = math.Ldexp(1+float64(part+1)/perPower, power+leastPower)
	}
	if k == Integer {
		lo, hi = math.Ceil(lo), math.Ceil(hi)-1
		lo, hi = min(lo, maxWhole), min(hi, maxWhole)
	}
	if cell < oneSide {
		return -hi, -lo
	}
	return lo, hi
}

// yearCell is the cell of a day or an instant.
func yearCell(k Kind, v float64) int {
	lo, hi := 0, k.Magnitudes()-1
	for lo < hi {
		mid := (lo + hi) / 2
		if _, end := k.MagnitudeBounds(mid); v <= end || k == Timestamp && v < end+microsPerSecond {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
