package schema

import (
	"bytes"
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
	if len(cell) == 0 || len(cell) > maxNumberText {
		return 0, false
	}
	whole, plain := 0.0, len(cell) <= 15
	for _, b := range cell {
		switch {
		case b >= '0' && b <= '9':
			whole = whole*10 + float64(b-'0')
		case b == '.', b == '+', b == '-', b == 'e', b == 'E':
			plain = false
		default:
			return 0, false
		}
	}
	if plain {
		return whole, true
	}
	v, err := strconv.ParseFloat(string(cell), 64)
	return v, err == nil || math.IsInf(v, 0) // the error holds the cell and stays here
}

// Censored is the value in a text that says that there is more or less: 90+, >85, < 0.1, ≤5.
func Censored(cell []byte) []byte { return bytes.Trim(cell, "<>=≤≥+ ") }

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
	return strconv.AppendFloat(dst, x, 'f', g.decimals, 64)
}
