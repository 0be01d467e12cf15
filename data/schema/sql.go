package schema

import (
	"fmt"
	"math"
	"strings"
)

// daySQL reads days of a layout of a year of four digits, a month and a day of two, and marks
// between them, by arithmetic of our own, since engines take other texts for dates too. It is ""
// for other layouts.
func daySQL(layout string, e SQL, text string) string {
	pattern, place := "", map[string]int{}
	for at := 0; at < len(layout); {
		rest, n := layout[at:], 1
		for _, part := range []string{"2006", "01", "02"} {
			if strings.HasPrefix(rest, part) {
				n, place[part] = len(part), at+1
			}
		}
		switch {
		case n > 1:
			pattern += fmt.Sprintf("[0-9]{%d}", n)
		case strings.IndexByte("-/.", rest[0]) < 0:
			return ""
		default:
			pattern += "[" + rest[:1] + "]"
		}
		at += n
	}
	if len(place) < 3 || len(layout) > len(dateFormat) {
		return ""
	}
	part := func(of string) string {
		return e.Whole(fmt.Sprintf("SUBSTR(%s, %d, %d)", text, place[of], len(of)))
	}
	return fmt.Sprintf("CASE WHEN %s THEN %s END", e.Matches(text, pattern),
		dayOf(e, part("2006"), part("01"), part("02")))
}

// dayOf is the day, from 1970, of a year, a month and a day of it, which are whole numbers and not
// negative; NULL where there is none.
func dayOf(e SQL, year, month, day string) string {
	// years that begin in March: H. Hinnant, chrono-compatible low-level date algorithms
	from := fmt.Sprintf("(%s - CASE WHEN %s <= 2 THEN 1 ELSE 0 END)", year, month)
	days := fmt.Sprintf("365 * %s + %s - %s + %s + %s + %s - 719469", from, e.Over(from, 4),
		e.Over(from, 100), e.Over(from, 400), e.Over(fmt.Sprintf("153 * MOD(%s + 9, 12) + 2", month), 5),
		day)
	leap := fmt.Sprintf("MOD(%[1]s, 4) = 0 AND (MOD(%[1]s, 100) <> 0 OR MOD(%[1]s, 400) = 0)", year)
	last := fmt.Sprintf("CASE WHEN %[1]s IN (4, 6, 9, 11) THEN 30 WHEN %[1]s <> 2 THEN 31 WHEN %[2]s "+
		"THEN 29 ELSE 28 END", month, leap)
	return fmt.Sprintf("CASE WHEN %s BETWEEN 1 AND 12 AND %s BETWEEN 1 AND %s THEN %s END", month, day,
		last, e.ToFloat(days))
}

// numberSQL is parseNumber, but that what is beyond float64 is its largest number.
func numberSQL(e SQL, text string) string {
	const digits = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)"
	is := func(pattern string) string { return e.Matches(text, pattern) }
	return fmt.Sprintf("CASE WHEN LENGTH(%s) > %d THEN NULL WHEN %s THEN %s WHEN NOT %s THEN NULL "+
		// an exponent that no other digit makes up for
		"WHEN %s THEN %s WHEN %s THEN %s ELSE %s END", text, maxNumberText,
		is(digits+"([eE][+-]?0*[0-9]{1,3})?"), e.Float(text), is(digits+"[eE][+-]?[0-9]+"),
		is("[+-]?[0.]*([eE].*)|[^eE]*[eE]-.*"), e.Number(0), is("-.*"), e.Number(-math.MaxFloat64),
		e.Number(math.MaxFloat64))
}

// SQL writes in the words of an engine what forms ask of a text. Arguments and results are
// expressions; a pattern is a regular expression of ASCII, of a whole text, without backslashes.
type SQL interface {
	Matches(text, pattern string) string
	Trim(text, characters string) string
	Float(text string) string // of a decimal number: the nearest float64
	Number(x float64) string
	Whole(text string) string    // of digits: an integer, which
	Over(a string, b int) string // divides by b, rounded down, if it is not negative, and
	ToFloat(a string) string     // is made a float64
}

// ReadSQL is the expression by which an engine reads a text as the codec does: its value as a
// float64, NULL where it is none. The error, which wraps [ErrSchema], is for a form that cannot be
// read so.
func (c *Codec) ReadSQL(e SQL, text string) (string, error) {
	value := c.sql(e, text)
	if value == "" {
		return "", fmt.Errorf("texts in the format %s are not read in SQL: %w", spelled(c.column.Format),
			ErrSchema)
	}
	return fmt.Sprintf("COALESCE(%s, %s)", value, c.sql(e, e.Trim(text, censoring))), nil
}
