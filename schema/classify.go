package schema

import (
	"bytes"
	"math"
	"strings"
)

// Class is what a cell of a column of unknown kind looks like. Every cell has exactly one class,
// which depends on its text alone.
type Class uint8

// The classes. Those of the eight missing tokens come first; a number is whole, or has so many
// digits behind its point.
const (
	// a whole number below 2^53 in size, without leading zeros or a plus sign
	ClassWhole     = Class(8) + iota
	ClassDecimals1 // a number with one digit behind the point, and so on up to six
	_
	_
	_
	_
	_
	ClassReal      // a number with more digits, with an exponent, or with a value of 2^53 and more
	ClassBoolean   // true or false, in any case
	ClassDate      // 2006-01-02
	ClassTimestamp // RFC 3339, or a time of no zone with parts of a second
	ClassText      // anything else
	ClassDaySlash  // 31/12/2006: the month cannot come first
	ClassMonthSlash
	ClassEitherSlash // 05/04/2006
	ClassDayDot      // 31.12.2006
	ClassDayDash     // 31-12-2006
	// the same five with a day or a month below 10 that has no zero before it, such as 1.11.2006
	ClassShortDates
)

const (
	ClassComma     = ClassShortDates + shortDates // a number with a decimal comma
	ClassSpaceTime = ClassComma + 1               // 2006-01-02 15:04:05, of no zone
	ClassPlainTime = ClassComma + 2               // 2006-01-02T15:04:05, likewise
	// digits with a leading zero or a plus sign, with a point or without: postal codes, telephone
	// numbers, 008.45
	ClassPadded = ClassComma + 3
	// at most twelve letters and digits, at least one of each, and points, hyphens and slashes: V45,
	// I21.4, A10BA02
	ClassCode = ClassComma + 4
	Classes   = ClassComma + 5 // their number
)

// shortDates is how many classes from ClassShortDates on are of dates.
const shortDates = ClassShortDates - ClassDaySlash

// MissingToken is the text of a class that means missing: "" and the like.
func (c Class) MissingToken() (string, bool) {
	if int(c) < len(draftTokens) {
		return draftTokens[c], true
	}
	return "", false
}

// Looks is the kind whose values look so, Real for numbers that are not whole, and the layout of
// dates and times if it is not that of the kind; 0 for what means missing.
func (c Class) Looks() (kind Kind, layout string) {
	if c >= ClassShortDates && c < ClassComma {
		kind, layout = (c - shortDates).Looks()
		return kind, strings.NewReplacer("02", "2", "01", "1").Replace(layout)
	}
	x := looks[c]
	return x.kind, x.layout
}

var looks = [Classes]struct {
	kind   Kind
	layout string
}{
	ClassWhole: {Integer, ""}, ClassDecimals1: {Real, ""}, ClassDecimals1 + 1: {Real, ""},
	ClassDecimals1 + 2: {Real, ""}, ClassDecimals1 + 3: {Real, ""}, ClassDecimals1 + 4: {Real, ""},
	ClassDecimals1 + 5: {Real, ""}, ClassReal: {Real, ""}, ClassBoolean: {Boolean, ""},
	ClassDate: {Date, ""}, ClassDaySlash: {Date, "02/01/2006"}, ClassMonthSlash: {Date, "01/02/2006"},
	ClassEitherSlash: {Date, "02/01/2006"}, ClassDayDot: {Date, "02.01.2006"},
	ClassDayDash: {Date, "02-01-2006"}, ClassTimestamp: {Timestamp, ""},
	ClassSpaceTime: {Timestamp, spaceFormat}, ClassPlainTime: {Timestamp, plainFormat},
	ClassText: {Categorical, ""}, ClassComma: {Categorical, ""}, ClassPadded: {Categorical, ""},
	ClassCode: {Categorical, ""},
}

// Classify gives the class of a cell.
func Classify(cell []byte) Class {
	for i, token := range draftTokens {
		if string(cell) == token {
			return Class(i)
		}
	}
	if c, ok := classifyNumber(cell); ok {
		return c
	}
	if bytes.EqualFold(cell, []byte("true")) || bytes.EqualFold(cell, []byte("false")) {
		return ClassBoolean
	}
	is := func(f *facts) bool {
		x, ok := f.parse(f.format, cell)
		return ok && f.wrong(x) == ""
	}
	if is(&dateFacts) {
		return ClassDate
	}
	if is(&timestampFacts) {
		switch {
		case len(cell) > len(plainFormat): // it says its zone, or parts of a second
			return ClassTimestamp
		case cell[10] == ' ':
			return ClassSpaceTime
		}
		return ClassPlainTime
	}
	if i := bytes.IndexByte(cell, ','); i >= 0 && len(cell) <= 32 {
		point := bytes.Replace(cell, []byte(","), []byte("."), 1)
		if _, ok := classifyNumber(point); ok && // 1,234 may be a thousand, 0,234 is not
			(len(cell)-i != len(",234") || bytes.TrimLeft(cell, "-")[0] == '0') {
			return ClassComma
		}
	}
	if c := classifyDate(cell); c != ClassText {
		return c
	}
	return classifyCode(cell)
}

// classifyCode is Classify for what is no value of another kind.
func classifyCode(cell []byte) Class {
	const most = 12
	if _, ok := parseNumber(cell); ok && (cell[0] == '+' || cell[0] == '0') {
		return ClassPadded
	}
	letters, digits := 0, 0
	for _, b := range cell {
		switch {
		case b >= '0' && b <= '9':
			digits++
		case b >= 'A' && b <= 'Z', b >= 'a' && b <= 'z':
			letters++
		case b != '.' && b != '-' && b != '/':
			return ClassText
		}
	}
	if letters == 0 || digits == 0 || len(cell) > most {
		return ClassText
	}
	return ClassCode
}

// classifyDate is Classify for what has the day and the month before the year.
func classifyDate(cell []byte) Class {
	const longest = len("31/12/2006")
	if len(cell) < len("1/1/2006") || len(cell) > longest {
		return ClassText
	}
	is := func(layout string) bool {
		t, ok := parseTime(layout, cell)
		return ok && t.Year() > 0
	}
	dayFirst, class := is("2/1/2006"), ClassText
	switch monthFirst := is("1/2/2006"); {
	case dayFirst && monthFirst:
		class = ClassEitherSlash
	case dayFirst:
		class = ClassDaySlash
	case monthFirst:
		class = ClassMonthSlash
	case is("2.1.2006"):
		class = ClassDayDot
	case is("2-1-2006"):
		class = ClassDayDash
	default:
		return ClassText
	}
	if len(cell) < longest {
		class += shortDates
	}
	return class
}

// classifyNumber is Classify for what [Drafter] takes for a number.
func classifyNumber(cell []byte) (Class, bool) {
	x, ok := parseNumber(cell)
	digits := bytes.TrimPrefix(cell, []byte("-"))
	switch {
	case !ok || math.Abs(x) > maxReal,
		digits[0] == '+',
		// postal codes, telephone numbers
		len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9':
		return 0, false
	case bytes.ContainsAny(cell, "eE"):
		return ClassReal, true
	}
	_, behind, _ := strings.Cut(string(digits), ".")
	switch n := len(strings.TrimRight(behind, "0")); {
	case n == 0 && math.Abs(x) <= maxWhole:
		return ClassWhole, true
	case n >= 1 && n <= 6:
		return ClassDecimals1 + Class(n-1), true
	}
	return ClassReal, true
}
