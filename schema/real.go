package schema

import (
	"math"
	"strconv"
)

// maxReal bounds the values of real columns, so that their range is finite.
const maxReal = 1e300

// realRules: a finite number.
type realRules struct{ numberRules }

func (realRules) traits() traits {
	return traits{
		name: "real", stored: StoredFloat, keys: binKeys | 1<<keySpacing | 1<<keyAfter | 1<<keyDecimals,
		notOne: errNumber,
	}
}

func (realRules) step(*Column) (int64, bool) { return 0, true }

func (realRules) wrong(x float64) string {
	if math.Abs(x) > maxReal {
		return "is beyond ±1e300"
	}
	return ""
}

func (realRules) magnitudeBounds(cell, perPower int) (lo, hi float64) {
	return mirrored(cell, perPower, sideBounds)
}

// write has the column's decimals or, without a step, as many as it takes to read x back.
func (realRules) write(dst []byte, c *Codec, v Value) []byte {
	g, x := &c.bins.ticks, v.Float
	if g.scale == 0 {
		return strconv.AppendFloat(dst, x, 'g', -1, 64)
	}
	t := math.Round(x * g.scale)
	if math.Abs(t) > 1<<53 || t/g.scale != x { // not one of our own values
		return strconv.AppendFloat(dst, x, 'f', g.decimals, 64)
	}
	if t < 0 {
		dst = append(dst, '-')
		t = -t
	}
	if g.decimals == 0 {
		return strconv.AppendUint(dst, uint64(t), 10)
	}
	unit := uint64(g.scale)
	dst = strconv.AppendUint(dst, uint64(t)/unit, 10)
	dst = append(dst, '.')
	fraction := uint64(t) % unit
	for unit /= 10; unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+fraction/unit%10))
	}
	return dst
}
