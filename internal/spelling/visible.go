package spelling

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is text that a terminal shows as it is: control characters (newlines and tabs too), line
// and paragraph separators, bidirectional controls and bytes that are not UTF-8 become the escapes
// of Go, such as \n, \x1b and \u202e. All else, letters of every script included, stays. It is for
// text that somebody else wrote, which could otherwise move the cursor, hide what follows or forge
// a line of output.
func Visible(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, text[0])
		case hidden(r):
			quoted := strconv.QuoteRuneToASCII(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		default:
			out.WriteString(text[:size])
		}
		text = text[size:]
	}
	return out.String()
}

// hidden reports whether a terminal obeys r instead of showing it.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
