package schema

import (
	"math"
	"strconv"
	"strings"
)

// maxNumberText is the longest text, in bytes, that is read as a number.
const maxNumberText = 128

// maxWhole bounds the values of integer and timestamp columns. float64 holds every integer up to
// it, and rounds none beyond it into the range.
const maxWhole = 1<<53 - 1

// maxReal bounds the values of real columns, so that their range is finite.
const maxReal = 1e300

// integerFacts: a whole number.
var integerFacts = facts{
	name: "integer", stored: StoredInt, keys: wholeKeys, notOne: errInteger, singles: singleValues,
	parse: numberCell, least: -maxWhole, most: maxWhole, outside: "is not between -2^53 and 2^53",
}

// realFacts: a finite number.
var realFacts = facts{
	name: "real", stored: StoredFloat, keys: realKeys, notOne: errNumber,
	parse: numberCell, least: -maxReal, most: maxReal, outside: "is beyond ±1e300",
}

func numberCell(_ string, cell []byte) (float64, bool) { return parseNumber(cell) }

// pow10 holds the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseNumber reads a decimal number: an optional sign, digits with an optional point among or
// beside them, an optional exponent: 17, -4.0, +5, .5, 5., 1e3. Anything else is no number: spaces,
// thousands separators, hexadecimal, underscores, Inf and NaN. The result is the float64 nearest to
// the decimal; past the range of float64 it is ±Inf. It does not allocate for texts of up to 32
// bytes.
func parseNumber(cell []byte) (v float64, ok bool) {
	mantissa, decimals, negative, ok := parseDecimal(cell)
	if !ok || decimals != 0 && (mantissa >= 1<<53 || decimals >= len(pow10)) {
		return parseSlow(cell)
	}
	v = float64(mantissa)
	if decimals != 0 {
		v /= pow10[decimals] // both exact, so the quotient is correctly rounded
	}
	if negative {
		v = -v
	}
	return v, true
}

// parseDecimal reads a number of at most 18 digits without an exponent as mantissa·10^-decimals.
func parseDecimal(cell []byte) (mantissa int64, decimals int, negative, ok bool) {
	i := 0
	if len(cell) > 0 && (cell[0] == '-' || cell[0] == '+') {
		negative = cell[0] == '-'
		i = 1
	}
	if len(cell)-i > 19 { // 18 digits and a point
		return 0, 0, false, false
	}
	digits, point := 0, -1
	for ; i < len(cell); i++ {
		if d := cell[i] - '0'; d <= 9 {
			mantissa = mantissa*10 + int64(d)
			digits++
		} else if cell[i] == '.' && point < 0 {
			point = i
		} else {
			return 0, 0, false, false
		}
	}
	if point >= 0 {
		decimals = len(cell) - 1 - point
	}
	return mantissa, decimals, negative, digits > 0 && digits <= 18
}

// parseSlow reads what parseDecimal does not.
func parseSlow(cell []byte) (v float64, ok bool) {
	if len(cell) == 0 || len(cell) > maxNumberText {
		return 0, false
	}
	for _, b := range cell {
		switch {
		case b >= '0' && b <= '9', b == '.', b == '+', b == '-', b == 'e', b == 'E':
		default:
			return 0, false // in particular hexadecimal, underscores, Inf, NaN
		}
	}
	v, err := strconv.ParseFloat(string(cell), 64)
	return v, err == nil || math.IsInf(v, 0) // the error holds the cell and stays here
}

// formatNumber writes the shortest decimal that is read back as x; -0 as 0.
func formatNumber(x float64) string {
	if x == 0 {
		return "0"
	}
	format := byte('f')
	if a := math.Abs(x); a < 1e-6 || a >= 1e21 {
		format = 'e'
	}
	return strings.Replace(strconv.FormatFloat(x, format, -1, 64), "e+", "e", 1)
}

// write appends a real number with the decimals of the column or, without a step, as many as it
// takes to read it back.
func (g *ticks) write(dst []byte, x float64) []byte {
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
	unit := uint64(g.scale)
	dst = strconv.AppendUint(dst, uint64(t)/unit, 10)
	if g.decimals == 0 {
		return dst
	}
	dst = append(dst, '.')
	fraction := uint64(t) % unit
	for unit /= 10; unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+fraction/unit%10))
	}
	return dst
}
