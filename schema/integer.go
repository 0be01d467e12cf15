package schema

import (
	"math"
	"strconv"
)

// maxWhole bounds the values of integer and timestamp columns. float64 holds every integer up to
// it, and rounds none beyond it into the range.
const maxWhole = 1<<53 - 1

// integerRules: a whole number.
type integerRules struct{ numberRules }

func (integerRules) traits() traits {
	return traits{
		name: "integer", stored: StoredInt, keys: binKeys | 1<<keySpacing | 1<<keyAfter,
		notOne:  errInteger,
		singles: singleValues,
	}
}

func (integerRules) write(dst []byte, _ *Codec, v Value) []byte {
	return strconv.AppendInt(dst, v.Int, 10)
}

func (integerRules) step(*Column) (int64, bool) { return 1, true }

func (integerRules) wrong(x float64) string {
	if math.Abs(x) > maxWhole {
		return "is not between -2^53 and 2^53"
	}
	return ""
}

// magnitudeBounds are whole, so that lo > hi for a cell without whole numbers.
func (integerRules) magnitudeBounds(cell, perPower int) (lo, hi float64) {
	return mirrored(cell, perPower, func(side, perPower int) (lo, hi float64) {
		if lo, hi = sideBounds(side, perPower); side == 0 {
			return 1, 0 // it would be zero
		}
		return min(math.Ceil(lo), maxWhole), min(math.Ceil(hi)-1, maxWhole)
	})
}
