// Package spelling finds the name that a mistyped one may have meant, makes foreign text visible,
// and writes sizes for people.
package spelling

import (
	"fmt"
	"strings"
)

// longest is the longest text, in bytes, that [Nearest] looks for.
const longest = 256

// Nearest is the name at the smallest distance of text, the first of several, or "" where that is
// more than a third of the longer of both, and neither begins with the other (three letters at
// least). One that differs in upper and lower case alone is the nearest.
func Nearest(text string, names []string) string {
	best, least := "", -1
	if len(text) > longest {
		return ""
	}
	for _, n := range names {
		if strings.EqualFold(text, n) {
			return n
		}
		if least < 0 && best == "" && min(len(n), len(text)) >= 3 &&
			(strings.HasPrefix(n, text) || strings.HasPrefix(text, n)) {
			best = n
		}
		if 2*len(n) > 3*len(text) {
			continue // it is too long to be near
		}
		d := distance(text, n)
		if 3*d <= max(len(text), len(n)) && (least < 0 || d < least) {
			best, least = n, d
		}
	}
	return best
}

// Hint asks whether the [Nearest] of the names was meant, as the end of a sentence; "" if none is
// near.
func Hint(text string, names []string) string {
	if near := Nearest(text, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// distance is Levenshtein's: the fewest insertions, deletions and replacements of a byte that turn
// a into b. It takes len(a)·len(b) steps.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// Size is a number of bytes for people.
func Size(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 10_000_000_000:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f GB", float64(n)/1e9)
}

// Time is a forecast of some seconds for people.
func Time(seconds float64) string {
	switch {
	case seconds < 1:
		return fmt.Sprintf("%.2g s", seconds)
	case seconds < 100:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 100*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.0f h", seconds/3600)
}
