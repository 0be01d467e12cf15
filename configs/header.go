package configs

import (
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
)

// publicHeader is [Header] of a private table, whose names must be beyond doubt unless it is said
// where they stand.
func publicHeader(path string, csv schema.CSV) (names []string, found schema.CSV, err error) {
	names, found, err = Header(path, csv)
	if err == nil && csv.HeaderLine == 0 {
		err = doubtful(names)
	}
	return names, found, err
}

// doubtful refuses a header that may be a title, a comment or a row, by its text alone: no row has
// a say. Whoever says where the header stands is not asked.
func doubtful(names []string) error {
	const mend = "%s Say in which line the names of the columns stand: --header-line N " +
		"(1: it is the first, as it is). If it is a row, the file has no header, and the names " +
		"come from a schema with csv: {header: false} (decoy help schema)"
	switch {
	case len(names) == 1 && strings.Contains(names[0], " "):
		return Usagef(mend, "the header has one name only, of several words: is it a title?")
	case strings.HasPrefix(names[0], "#"):
		return Usagef(mend, "the header begins with #: is it a comment?")
	case hasValues(names):
		return Usagef(mend, "a name in the header is a number or a date: is it a row?")
	}
	return nil
}

// hasValues reports whether a name is a number, a date or a time. Years are none, nor are whole
// numbers that count from 0 or 1.
func hasValues(names []string) bool {
	next, years := -1, false // of the whole numbers so far
	for _, name := range names {
		look := schema.Classify([]byte(name)).Looks()
		n, err := strconv.Atoi(name)
		switch whole := err == nil; {
		case !whole && look.Kind.Ordered():
			return true
		case !whole:
		case next < 0 && n >= 1800 && n < 2200:
			next, years = n+1, true
		case next < 0 && (n == 0 || n == 1):
			next = n + 1
		case n == next || years && n > next && n < 2200:
			next = n + 1
		default:
			return true
		}
	}
	return false
}
