package table

import (
	"strings"
	"unicode/utf8"
)

// A framed file is the text that JSON lines and spreadsheets are turned into as they are read: CSV
// whose rows are lines, whatever is in the cells. Bytes that no text in UTF-8 has stand for what
// would part cells and rows, so that no cell can: docs/claims/records.md.
const (
	frameComma = 0xff // between cells
	frameLF    = 0xfe // in a cell, a line feed
	frameCR    = 0xfd // in a cell, a carriage return
	frameCell  = 0xfc // alone in a cell: it is none that can be read
	frameRow   = 0xfb // alone in a line: likewise, the row
)

// appendFramed appends a cell, and before it, unless it is the first of its row, what parts cells.
func appendFramed(dst []byte, cell string, first bool) []byte {
	if !first {
		dst = append(dst, frameComma)
	}
	if !utf8.ValidString(cell) {
		return append(dst, frameCell)
	}
	// what begins so means something else in a header, or is quoted
	quoted := cell != "" && strings.IndexByte("\" #", cell[0]) >= 0
	if quoted {
		dst = append(dst, '"')
	}
	for i := range len(cell) {
		switch b := cell[i]; {
		case b == '\n':
			dst = append(dst, frameLF)
		case b == '\r':
			dst = append(dst, frameCR)
		case quoted && b == '"':
			dst = append(dst, '"', '"')
		default:
			dst = append(dst, b)
		}
	}
	if quoted {
		dst = append(dst, '"')
	}
	return dst
}

// unframe puts the line ends of a cell back in their place.
func unframe(cell []byte) {
	for i, b := range cell {
		switch b {
		case frameLF:
			cell[i] = '\n'
		case frameCR:
			cell[i] = '\r'
		}
	}
}

// oneLine has blanks for the line ends of a name, which spreadsheets have for its looks.
var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")
