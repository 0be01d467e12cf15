package table

import (
	"bytes"
	"unicode/utf8"
)

// mark is the byte-order mark of UTF-8.
const mark = "\xef\xbb\xbf"

// tokenizer cuts CSV into records, and a record into cells, by RFC 4180. No space is trimmed.
//
// A lenient one takes every line for a record, and makes no error of it: where no quote closes a
// quoted cell, or something else than a separator follows that quote, quotes are ordinary
// characters of that cell, and any byte may be in a cell of any length. Of a strict one a record is
// as many lines as make its quotes even; CR is in quoted cells only; cells are UTF-8 without NUL.
type tokenizer struct {
	comma   byte
	strict  bool
	maxCell int       // bytes
	stop    [256]bool // bytes that end the plain part of an unquoted cell
	dirty   bool      // the text has a NUL byte or is not UTF-8 somewhere
	record  []byte    // at hand
	pos     int       // in it, of the next cell
	scratch []byte    // a quoted cell without its doubled quotes
}

func newTokenizer(comma byte, maxCell int, strict bool) *tokenizer {
	z := &tokenizer{comma: comma, maxCell: maxCell, strict: strict}
	z.stop[comma], z.stop['"'], z.stop['\r'] = true, strict, strict
	return z
}

// cut cuts the first record off a text, without its line feed. The first one with a mistake begins
// where it should, since all before it is well formed.
func (z *tokenizer) cut(text []byte) (record, rest []byte) {
	for end, odd := 0, false; ; {
		i := bytes.IndexByte(text[end:], '\n')
		if i < 0 {
			return text, nil
		}
		if z.strict && bytes.Count(text[end:end+i], []byte{'"'})%2 == 1 {
			odd = !odd
		}
		if end += i + 1; !odd {
			return text[:end-1], text[end:]
		}
	}
}

// open makes ready for the cells of a record.
func (z *tokenizer) open(record []byte) {
	z.record, z.pos = bytes.TrimSuffix(record, []byte{'\r'}), 0
}

// next returns the next cell and whether it is the last of its record. The cell is valid until the
// following call. After an error, which a strict one alone makes, pos is where the cell starts.
func (z *tokenizer) next() (cell []byte, last bool, err error) {
	rest, n := z.record[z.pos:], 0
	if len(rest) > 0 && rest[0] == '"' {
		if cell, n, err = z.quoted(rest); err != nil && z.strict {
			return nil, false, z.mistake(rest, err)
		}
	}
	if n == 0 {
		for n < len(rest) && !z.stop[rest[n]] {
			n++
		}
		cell = rest[:n]
	}
	if z.strict {
		if err := z.check(cell, rest, n); err != nil {
			return nil, false, err
		}
	}
	z.pos += n + 1
	return cell, n == len(rest), nil
}

// quoted is the cell, in quotes, that rest begins with, and its length there; 0 if it is none.
func (z *tokenizer) quoted(rest []byte) (cell []byte, n int, err error) {
	z.scratch = z.scratch[:0]
	for from := 1; ; {
		i := bytes.IndexByte(rest[from:], '"')
		if i < 0 {
			return nil, 0, errOpenQuote
		}
		end := from + i
		switch behind := rest[end+1:]; {
		case len(behind) > 0 && behind[0] == '"':
			z.scratch = append(z.scratch, rest[from:end+1]...)
			from = end + 2
			continue
		case len(behind) > 0 && behind[0] != z.comma:
			return nil, 0, errAfterQuote
		case from == 1:
			return rest[1:end], end + 1, nil
		}
		z.scratch = append(z.scratch, rest[from:end]...)
		return z.scratch, end + 1, nil
	}
}

// isText reports whether a cell, or a whole chunk, is UTF-8 without NUL.
func isText(text []byte) bool { return checkText(text) == nil }

// checkText reports what a cell must not contain.
func checkText(cell []byte) error {
	switch {
	case bytes.IndexByte(cell, 0) >= 0:
		return errNUL
	case !utf8.Valid(cell):
		return errUTF8
	}
	return nil
}
