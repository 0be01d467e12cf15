package table

import (
	"bytes"
	"unicode/utf8"
)

// mark is the byte-order mark of UTF-8.
const mark = "\xef\xbb\xbf"

// tokenizer cuts a line of CSV into cells, as RFC 4180 has it where cells end on their lines. No
// space is trimmed. No line is an error: where no quote closes a quoted cell, or something else
// than a separator follows that quote, quotes are ordinary characters of that cell, and any byte
// may be in a cell of any length.
type tokenizer struct {
	comma   byte
	line    []byte // at hand
	pos     int    // in it, of the next cell
	scratch []byte // a quoted cell without its doubled quotes
}

// open makes ready for the cells of a line.
func (z *tokenizer) open(line []byte) {
	z.line, z.pos = bytes.TrimSuffix(line, []byte{'\r'}), 0
}

// next returns the next cell and whether it is the last of its line. The cell is valid until the
// following call.
func (z *tokenizer) next() (cell []byte, last bool) {
	rest, n := z.line[z.pos:], 0
	if len(rest) > 0 && rest[0] == '"' {
		cell, n = z.quoted(rest)
	}
	if n == 0 {
		for n < len(rest) && rest[n] != z.comma {
			n++
		}
		cell = rest[:n]
	}
	z.pos += n + 1
	return cell, n == len(rest)
}

// quoted is the cell, in quotes, that rest begins with, and its length there; 0 if it is none.
func (z *tokenizer) quoted(rest []byte) (cell []byte, n int) {
	z.scratch = z.scratch[:0]
	for from := 1; ; {
		i := bytes.IndexByte(rest[from:], '"')
		if i < 0 {
			return nil, 0
		}
		end := from + i
		switch behind := rest[end+1:]; {
		case len(behind) > 0 && behind[0] == '"':
			z.scratch = append(z.scratch, rest[from:end+1]...)
			from = end + 2
			continue
		case len(behind) > 0 && behind[0] != z.comma:
			return nil, 0
		case from == 1:
			return rest[1:end], end + 1
		}
		z.scratch = append(z.scratch, rest[from:end]...)
		return z.scratch, end + 1
	}
}

// isText reports whether a cell, or a whole chunk, is UTF-8 without NUL.
func isText(text []byte) bool { return checkText(text) == nil }

// checkText reports what a text must not contain.
func checkText(cell []byte) error {
	switch {
	case bytes.IndexByte(cell, 0) >= 0:
		return errNUL
	case !utf8.Valid(cell):
		return errUTF8
	}
	return nil
}
