package schema

import (
	"bytes"
	"math"
	"slices"
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
	name: "integer", stored: StoredInt, numeric: true, keys: wholeKeys, notOne: errInteger,
	singles: singleValues, least: -maxWhole, most: maxWhole, outside: "is not between -2^53 and 2^53",
}

// realFacts: a finite number.
var realFacts = facts{
	name: "real", stored: StoredFloat, numeric: true, keys: realKeys, notOne: errNumber,
	least: -maxReal, most: maxReal, outside: "is beyond ±1e300",
}

// decimal is the notation of numbers with a point, and no other marks.
var decimal = notation{parse: parseNumber, print: printNumber, sql: numberSQL}

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

// censoring is the characters around a value that say that there is more or less.
const censoring = "<>=≤≥+ "

// Censored is the value in a text that says that there is more or less: 90+, >85, < 0.1, ≤5.
func Censored(cell []byte) []byte { return bytes.Trim(cell, censoring) }

// Digits behind the point, as numbers are printed.
const (
	asManyDigits = -1 // as it takes to read a real number back
	wholeDigits  = -2 // the number is Value.Int
)

// printNumber appends a number.
func printNumber(dst []byte, v Value, digits int) []byte {
	switch digits {
	case wholeDigits:
		return strconv.AppendInt(dst, v.Int, 10)
	case asManyDigits:
		return strconv.AppendFloat(dst, v.Float, 'g', -1, 64)
	}
	return strconv.AppendFloat(dst, v.Float, 'f', digits, 64)
}

// plainNumbers is the format of numbers without marks.
const plainNumbers = "1234.5"

// Padded numbers have zeros before them, up to a width: 00260. They look like codes of places, and
// are numbers where none is frequent.
const (
	leastWidth = 2
	mostWidth  = 15
)

// withZeros are the forms of padded numbers, by their width.
func withZeros() (out []form) {
	for n := leastWidth; n <= mostWidth; n++ {
		format := strings.Repeat("0", n)
		out = append(out, form{name: format, kind: Categorical, code: true, rare: true,
			otherwise: []Written{{Integer, format}}})
	}
	return out
}

// padded is the format of a form of padded numbers; "" of another.
func (f *form) padded() string {
	if f.kind == Categorical && f.otherwise != nil {
		return f.otherwise[0].Format
	}
	return ""
}

// isPadding reports whether a format is that of padded numbers.
func isPadding(format string) bool {
	return len(format) >= leastWidth && strings.Trim(format, "0") == ""
}

// padding is the notation of whole numbers with zeros before them.
func padding(format string) *notation {
	return &notation{parse: parseNumber, sql: numberSQL,
		print: func(dst []byte, v Value, digits int) []byte {
			from := len(dst)
			dst = printNumber(dst, v, digits)
			if dst[from] == '-' {
				from++
			}
			return slices.Insert(dst, from, []byte(format)[:max(0, len(format)-len(dst)+from)]...)
		}}
}

// pointed is the notation of numbers of which whole ones end in a point and zeros.
func pointed(zeros string) *notation {
	return &notation{parse: parseNumber, sql: numberSQL,
		print: func(dst []byte, v Value, digits int) []byte {
			from := len(dst)
			if dst = printNumber(dst, v, digits); bytes.ContainsAny(dst[from:], ".e") {
				return dst
			}
			return append(dst, zeros...)
		}}
}
