package table

import "bytes"

// recordLines is the most lines of a record.
const recordLines = 1000

// recordRule says which runs of several lines are one row: a record, of which quotes hold the line
// ends. It looks at those lines alone, and no line of a record begins another, so that records are
// the same wherever reading begins, and a line changes at most the record that it is in:
// docs/claims/records.md.
type recordRule struct {
	comma  byte
	cells  int  // of a row; one more at its end may be empty
	bytes  int  // of a record at most, its last line end not counted
	lines  int  // likewise
	marked bool // a byte-order mark at its start is no part of it
}

// recordRule is the rule of a file whose columns are known.
func (l *layout) recordRule(maxCell int) recordRule {
	r := recordRule{l.comma, len(l.columns), lineCells * maxCell, recordLines, !l.header}
	if l.numbered {
		r.cells++
	}
	if l.spaced || l.framed { // a line is a row
		r.lines = 1
	}
	return r
}

// mayBegin reports whether a record may begin with that line: only one of an odd number of quotes
// leaves a cell open.
func (r recordRule) mayBegin(line []byte) bool {
	return bytes.Count(line, []byte{'"'})%2 == 1
}

// length is that of the record that text begins with, its last line end not counted; 0 if it begins
// with none. Unless text is all there is, more says that longer text might begin with one.
func (r recordRule) length(text []byte, all bool) (n int, more bool) {
	if limit := r.bytes + len("\r\n"); len(text) > limit {
		text, all = text[:limit], true
	}
	z := recordScan{recordRule: r, text: text, all: all}
	if r.marked && bytes.HasPrefix(text, []byte(mark)) {
		z.pos = len(mark)
	}
	for !z.short && !z.bad {
		if z.cell(); z.ended {
			return z.accepted(), false
		}
	}
	return 0, z.short && !all
}

// recordScan is the scan of one record.
type recordScan struct {
	recordRule
	text  []byte
	all   bool // there is no more of it
	pos   int  // behind the last cell and its separator
	size  int  // of the last cell in the text
	count int  // of cells
	ends  int  // line ends in quotes
	ended bool
	short bool // the text ends before the record does
	bad   bool // no record
}

// accepted is the length of the record that has ended, if it is one of several lines.
func (z *recordScan) accepted() int {
	fits := z.count == z.cells || z.count == z.cells+1 && z.size == 0
	if z.ends == 0 || !fits || z.pos > z.bytes {
		return 0
	}
	return z.pos
}

// cell scans the next cell and what ends it.
func (z *recordScan) cell() {
	rest := z.text[z.pos:]
	if z.count++; z.count > z.cells+1 {
		z.bad = true
		return
	}
	z.size = 0
	if len(rest) > 0 && rest[0] == '"' {
		if z.quoted(rest); z.short || z.bad {
			return
		}
	}
	for quoted := z.size > 0; ; z.size++ {
		switch end := rest[z.size:]; {
		case len(end) == 0 || len(end) == 1 && end[0] == '\r':
			z.ended, z.short = z.all, !z.all
		case end[0] == '\n' || end[0] == '\r' && end[1] == '\n':
			z.ended = true
		case end[0] == z.comma:
			z.pos += z.size + 1
			return
		case quoted || end[0] == '"': // in a cell of no quotes it is no part of CSV
			z.bad = true
			return
		default:
			continue
		}
		z.pos += z.size
		return
	}
}

// quoted scans the quoted cell that rest begins with. The two rules that have to do with
// separators make sure that a line of a record never begins another: its first quote that closes a
// cell were one that opens a cell there.
func (z *recordScan) quoted(rest []byte) {
	at := quotes(rest)
	inside := at%2 == 1
	if inside && z.count == 1 && at < len(rest) &&
		(rest[at] == z.comma || rest[at] == '\r' || rest[at] == '\n') {
		z.bad = true // the first cell begins with what ends a cell
		return
	}
	for inside {
		i := bytes.IndexByte(rest[at:], '"')
		if i < 0 {
			z.short = true
			z.bad = z.ends+bytes.Count(rest, []byte{'\n'}) >= z.lines
			return
		}
		close := at + i
		run := quotes(rest[close:])
		at = close + run
		if inside = run%2 == 0; inside {
			continue
		}
		n := bytes.Count(rest[:close], []byte{'\n'})
		z.ends += n
		// a separator stands before the quote that closes a cell of several lines
		z.bad = z.ends >= z.lines || n > 0 && rest[close-1] == z.comma
	}
	z.size = at
	z.short = at == len(rest) && !z.all
}

// quotes is how many quotes text begins with.
func quotes(text []byte) int { return len(text) - len(bytes.TrimLeft(text, `"`)) }
