package schema

import (
	"bytes"
	"slices"
	"sync"
)

// form is one way in which the cells of files are written. The table of forms is all that decoy
// knows of texts that are values: what a cell of an unknown column looks like ([Classify]), how the
// cells of a column are read and written ([Codec]), how an engine reads the same texts in its own
// SQL ([Codec.ReadSQL]), and in which format a schema is drafted or bought.
//
// A new form is one more entry, before those of codes, and nothing else (TestAFormIsOneEntry adds
// one). Numbers with marks (1.238,10 €) and layouts of days and times (25.10.2022 17:03) are too
// many to list: [withMarks] and [moreMoments] generate them from the lists of their parts, to which
// a unit or a layout is added by a word. They have no SQL: a text is refused there in words.
//
// The order of the table is that of classes: a cell has the first form that takes it, by its text
// alone, so that the rows of each class are a histogram that one cell moves one row of.
type form struct {
	name   string // each its own: a few words or an example; of what means missing, the text itself
	kind   Kind   // of the values; 0: the cell is missing
	digits int    // of numbers: behind the point; manyDigits
	reading
	// a second one, of cells that do not tell which, which are no others; or, without wider, a format
	// of other cells than these
	also, not reading
	takes     func(c *cell) bool // whether a cell has this form; nil: what follows from the rest
	code      bool               // cells look like codes: of diagnoses, of places
	rare      bool               // one of very many, which few columns have
	key       *key               // of a number with marks
	otherwise []Written          // what its cells are in a column with more cells of that; the first
	*notation                    // nil: that of the format and the kind, if it has an order
}

// reading is how the cells of a form are read.
type reading struct {
	format string // of their column; "" is that of the kind
	wider  string // one that reads also the forms that a column may have beside it; "": format
}

// notation is how values with an order stand in texts.
type notation struct {
	parse func(cell []byte) (x float64, ok bool) // in or out of bounds
	// appends a value that parse gives back; digits as numberForm has them
	print func(dst []byte, v Value, digits int) []byte
	// what parse does, as an expression of an engine for a text, NULL for false; "" if there is none
	sql func(e SQL, text string) string
}

// manyDigits are more behind the point than the classes tell apart, or an exponent.
const manyDigits = 7

// forms are all that there are: those of the table, and those that are generated, once they are
// asked for.
var forms = sync.OnceValue(func() []form {
	return slices.Concat(table, moreMoments(), withMarks(), withZeros())
})

// classText is what has no other form. Codes are behind it.
var classText = slices.IndexFunc(table, func(f form) bool { return f.name == "text" })

// table has the forms that are not generated, in the order in which they are tried; generated ones
// are tried before codes.
var table = []form{
	{name: ""}, {name: "?"}, {name: "NA"}, {name: "N/A"}, {name: "NaN"}, {name: "null"},
	{name: "None"}, {name: "."},
	{name: "20060102", kind: Date, reading: reading{format: "20060102"},
		otherwise: []Written{{Kind: Integer}}},
	{name: "060102", kind: Date, reading: reading{format: "060102"},
		otherwise: []Written{{Period, compactMonth}, {Categorical, "000000"}, {Kind: Integer}}},
	{name: "200601", kind: Period, reading: reading{format: compactMonth},
		otherwise: []Written{{Date, "060102"}, {Kind: Integer}}},
	{name: "200601021504", kind: Timestamp, reading: reading{format: "200601021504"},
		otherwise: []Written{{Kind: Integer}}},
	{name: "20060102150405", kind: Timestamp, reading: reading{format: "20060102150405"},
		otherwise: []Written{{Kind: Integer}}},
	// whole numbers that a program keeps as fractions, as pandas does beside missing cells
	{name: "whole.0", kind: Integer, reading: reading{format: "1234.0"}, takes: isWholeWith(".0")},
	{name: "whole.00", kind: Integer, reading: reading{format: "1234.00"}, takes: isWholeWith(".00")},
	{name: "whole", kind: Integer}, // below 2^53 in size, without leading zeros or a plus sign
	{name: "0.1", kind: Real, digits: 1},
	{name: "0.12", kind: Real, digits: 2},
	{name: "0.123", kind: Real, digits: 3},
	{name: "0.1234", kind: Real, digits: 4},
	{name: "0.12345", kind: Real, digits: 5},
	{name: "0.123456", kind: Real, digits: 6},
	// more digits, an exponent, or a value of 2^53 and more
	{name: "real", kind: Real, digits: manyDigits},
	{name: "boolean", kind: Boolean, takes: isTruth}, // in any case
	{name: "2006-01-02", kind: Date, reading: reading{dateFormat, "2006-1-2"}},
	// or with parts of a second
	{name: "zoned", kind: Timestamp, reading: reading{format: timestampFormat}},
	{name: "2006-01-02 15:04:05", kind: Timestamp, reading: reading{spaceFormat, timestampFormat}},
	{name: "2006-01-02T15:04:05", kind: Timestamp, reading: reading{plainFormat, timestampFormat}},
	{name: "text", kind: Categorical}, // what has no other form
	// digits with a leading zero or a plus sign, with a point or without: postal codes, telephone
	// numbers, 008.45
	{name: "007", kind: Categorical, takes: isPadded, code: true},
	// at most twelve letters and digits, at least one of each, and points, hyphens and slashes: V45,
	// I21.4, A10BA02
	{name: "V45", kind: Categorical, takes: isCode, code: true},
	// what texts look like that are seldom frequent, to say so of a column that is left out
	{name: "free text of many words", kind: Categorical, takes: isLong, rare: true},
	{name: "e-mail addresses", kind: Categorical, takes: isMail, rare: true},
	{name: "long identifiers", kind: Categorical, takes: isIdentifier, rare: true},
	{name: "digits with marks between them, such as 129/87", kind: Categorical, takes: isNumbers,
		rare: true},
}

// has reports whether a cell that has no form before has this one.
func (f *form) has(c *cell) bool {
	switch {
	case f.takes != nil:
		return f.takes(c)
	case f.kind == 0:
		return string(c.text) == f.name
	case f.kind.Numeric():
		digits, number := c.plain()
		return number && digits == f.digits
	case f.otherwise != nil:
		return isCompact(f.format, c.text)
	case f.kind == Date:
		t, ok := parseTime(f.format, c.text)
		return ok && t.Year() > 0
	case f.kind == Timestamp:
		return f.hasInstant(c.text)
	}
	return false
}

// hasInstant is has for instants of the default layout and its relatives. Those with a zone have
// also parts of a second, but for three or six digits: these have a form of their own.
func (f *form) hasInstant(text []byte) bool {
	const n, mark = len(plainFormat), len(dateFormat)
	if f.format != timestampFormat {
		return len(text) == n && text[mark] == f.format[mark] && isInstant(text)
	}
	parts := len(text) - n
	behind := parts // of a point
	if parts > 0 && text[len(text)-1] == 'Z' && text[len(dateFormat)] == 'T' {
		behind--
	}
	if (behind == len(".000") || behind == len(".000000")) && text[n] == '.' &&
		isDigit(text[n+behind-1]) {
		return false
	}
	tail := text[max(0, len(text)-len("+01:00")):]
	return parts > 0 && isInstant(text) && zones[string(tail)] == nil
}

// cell is a text whose form is looked for.
type cell struct {
	text   []byte
	asked  bool // whether it is a number is known:
	number bool
	digits int
}

// plain is digitsOf the cell.
func (c *cell) plain() (digits int, number bool) {
	if !c.asked {
		c.asked = true
		c.digits, c.number = digitsOf(c.text)
	}
	return c.digits, c.number
}

// isWholeWith takes whole numbers with a point and zeros behind them.
func isWholeWith(zeros string) func(c *cell) bool {
	return func(c *cell) bool {
		whole, found := bytes.CutSuffix(c.text, []byte(zeros))
		if !found || len(whole) == 0 || !isDigit(whole[len(whole)-1]) {
			return false
		}
		digits, number := c.plain()
		return number && digits == 0
	}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// isTruth takes true and false.
func isTruth(c *cell) bool {
	return bytes.EqualFold(c.text, []byte("true")) || bytes.EqualFold(c.text, []byte("false"))
}

// isInstant reports whether a timestamp column reads a text by default.
func isInstant(text []byte) bool {
	x, ok := parseInstant(text)
	return ok && timestampFacts.wrong(x) == ""
}

// isCompact takes days, months and instants that are digits alone, of the years 1900 to 2099.
func isCompact(layout string, text []byte) bool {
	if len(text) != len(layout) || layout[:2] == "20" && string(text[:2]) != "19" &&
		string(text[:2]) != "20" {
		return false
	}
	for _, b := range text {
		if !isDigit(b) {
			return false
		}
	}
	_, ok := parseTime(layout, text)
	return ok
}

// isPadded takes numbers that begin with a zero or a plus sign.
func isPadded(c *cell) bool {
	_, ok := parseNumber(c.text)
	return ok && (c.text[0] == '+' || c.text[0] == '0')
}

// isLong takes texts of six words and more.
func isLong(c *cell) bool { return bytes.Count(bytes.TrimSpace(c.text), []byte(" ")) >= 5 }

// isMail takes texts with an @ before a point.
func isMail(c *cell) bool {
	name, host, found := bytes.Cut(c.text, []byte("@"))
	return found && len(name) > 0 && bytes.IndexByte(host, '.') > 0
}

// isIdentifier takes sixteen letters and digits or more, with hyphens and without blanks.
func isIdentifier(c *cell) bool {
	digits := 0
	for _, b := range c.text {
		switch {
		case isDigit(b):
			digits++
		case b != '-' && b != '_' && (b|0x20 < 'a' || b|0x20 > 'z'):
			return false
		}
	}
	return len(c.text) >= 16 && digits > 0
}

// isNumbers takes numbers with marks between them: 129/87, 10.0.20.212, 47.02,8.02.
func isNumbers(c *cell) bool {
	return len(c.text) > 0 && isDigit(c.text[0]) && isDigit(c.text[len(c.text)-1]) &&
		len(bytes.Trim(c.text, "0123456789./,;: xX-")) == 0
}

// isCode takes letters with digits.
func isCode(c *cell) bool {
	const most = 12
	letters, digits := 0, 0
	for _, b := range c.text {
		switch {
		case b >= '0' && b <= '9':
			digits++
		case b >= 'A' && b <= 'Z', b >= 'a' && b <= 'z':
			letters++
		case b != '.' && b != '-' && b != '/':
			return false
		}
	}
	return letters > 0 && digits > 0 && len(c.text) <= most
}
