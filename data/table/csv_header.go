package table

import (
	"bytes"
	"fmt"
	"io"

	"golang.org/x/text/transform"

	"github.com/decoy-dp/decoy/data/schema"
)

// decoded is the text of a CSV file in UTF-8. A byte-order mark of UTF-16 is looked for where there
// is a header, of which it is part.
func (l *layout) decoded(r io.Reader) (io.Reader, error) {
	if l.framed && !l.objects {
		return r, nil
	}
	if l.header && l.csv.Encoding == "" {
		start := make([]byte, len("\xff\xfe"))
		n, err := io.ReadFull(r, start)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, readingError(err)
		}
		r = io.MultiReader(bytes.NewReader(start[:n]), r)
		switch string(start[:n]) {
		case "\xff\xfe":
			l.csv.Encoding = "utf-16le"
		case "\xfe\xff":
			l.csv.Encoding = "utf-16be"
		}
	}
	e, err := l.csv.Text()
	if err != nil {
		return nil, fmt.Errorf("table: %w: %w", err, schema.ErrInvalid)
	}
	if e != nil {
		r = transform.NewReader(r, e.NewDecoder())
	}
	return r, nil
}

// openCSV binds the columns of a file. No row is read, nor waited for, but the first of a file that
// has neither a header nor a known number of columns, and the byte behind a carriage return.
func (l *layout) openCSV(split *splitter, maxCell int) error {
	if l.header {
		return l.openHeader(split, maxCell)
	}
	if l.schema != nil || l.lenient {
		return l.bind(nil)
	}
	line, err := split.firstLine(false)
	if err != nil && err != io.EOF {
		return readingError(err)
	}
	names := []string(nil)
	if text := bytes.TrimPrefix(line, []byte(mark)); len(text) > 0 {
		if names, err = l.namesOf(bytes.TrimSuffix(text, []byte{'\n'}), 1, maxCell); err != nil {
			return err
		}
	}
	split.carry, split.line = line, 0
	return l.bind(names)
}

// mostAbove is how many blank lines and comments may stand above a header.
const mostAbove = 1000

// openHeader finds the header, and binds the columns. Where a line is said to which it may stand, a
// schema finds it by its names, as synthetic rows have no title lines.
func (l *layout) openHeader(split *splitter, maxCell int) error {
	last, passed := l.csv.HeaderLine, l.framed && !l.objects
	for at := 1; ; at++ {
		text, err := l.headerLine(split, at)
		if err != nil {
			return err
		}
		names, err := l.namesOf(text, at, maxCell)
		if err == nil && l.schema != nil {
			if err = l.bind(names); err == nil {
				return nil
			}
		}
		// a line that spreadsheets write before the header: sep=;
		sep := len(text) == len("sep=;") && bytes.HasPrefix(text, []byte("sep="))
		switch named := last == 0 && at == 1 && sep; {
		case named || at < last || last == 0 && above(text) && at < mostAbove:
			passed = passed || !named
		case err != nil:
			return err
		case last == 0 && passed && len(names) == 1:
			return fmt.Errorf("table: line %d: %w", at, errTitles)
		default:
			return l.bind(names)
		}
	}
}

// headerLine is the line of a number, without its end.
func (l *layout) headerLine(split *splitter, at int) ([]byte, error) {
	text, err := split.firstLine(true)
	if err != nil && err != io.EOF {
		return nil, readingError(err)
	}
	if at == 1 {
		text = bytes.TrimPrefix(text, []byte(mark))
	}
	if split.line = at; len(text) == 0 {
		return nil, fmt.Errorf("table: %w", errEmptyFile)
	}
	l.csv.CRLF = bytes.HasSuffix(text, []byte("\r\n"))
	return bytes.TrimRight(text, "\r\n"), nil
}

// above reports whether a line stands above the header: it is blank, or a comment without what may
// separate names.
func above(line []byte) bool {
	return len(line) == 0 || line[0] == '#' && !bytes.ContainsAny(line, ",;\t|")
}

// namesOf reads a line as column names, and from them how the file is written: a name that is not
// the first and begins with a blank says that blanks stand behind the separators.
func (l *layout) namesOf(line []byte, at, maxCell int) (names []string, err error) {
	z := tokenizer{comma: l.comma, framed: l.framed, line: bytes.TrimSuffix(line, []byte{'\r'})}
	switch {
	case len(z.line) == 0:
		return nil, l.wrap("line", at, -1, errBlankLine)
	case len(line) > lineCells*maxCell:
		return nil, l.wrap("line", at, -1, errLongLine(maxCell))
	}
	l.spaced, l.numbered, l.csv.Quoted = false, false, !l.framed
	for last := false; !last; {
		var cell []byte
		if cell, last = z.next(); l.framed {
			cell = []byte(oneLine.Replace(string(cell)))
		}
		if l.header && !z.spaced && !z.inQuotes && names != nil && bytes.HasPrefix(cell, []byte{' '}) {
			z = tokenizer{comma: l.comma, line: bytes.Trim(z.line, " "), spaced: true}
			names, last, l.spaced = nil, false, true
			continue
		}
		if err := z.checkName(cell); err != nil {
			return nil, l.wrap("line", at, len(names), err)
		}
		if len(cell) > maxCell {
			return nil, l.wrap("line", at, len(names), errLongCell(maxCell))
		}
		if len(names) == maxColumns {
			return nil, l.wrap("line", at, len(names), errTooMany)
		}
		l.csv.Quoted = l.csv.Quoted && z.inQuotes
		names = append(names, string(cell))
	}
	if !l.header || len(names) == 1 {
		return names, nil
	}
	if l.numbered = names[0] == ""; l.numbered { // row numbers, which the rows lose too
		names = names[1:]
	}
	if end := len(names) - 1; end > 0 && names[end] == "" { // a separator at the end of each line
		names = names[:end]
	}
	return names, nil
}

// checkName reports why the cell at hand is no name.
func (z *tokenizer) checkName(cell []byte) error {
	switch err := checkText(cell); {
	case err != nil:
		return err
	case z.inQuotes:
	case bytes.IndexByte(cell, '\r') >= 0: // all rows may be on this line, and are no names
		return errLoneCR
	case bytes.HasPrefix(cell, []byte{'"'}):
		if err := checkText(z.line); err != nil {
			return err
		}
		return errOpenQuote
	}
	return nil
}

// crReader has line feeds in place of carriage returns.
type crReader struct{ io.Reader }

func (r crReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// firstLine takes the first line off a file. It reads no byte behind it, as the rows may have to
// be paid for first; but where it is a header whose line ends with a carriage return, one: if that
// is no line feed, the lines of the file end so.
func (s *splitter) firstLine(header bool) (line []byte, err error) {
	quoted, returned := false, false
	for one := make([]byte, 1); len(line) <= s.most+len(mark); {
		n, err := s.r.Read(one)
		if returned && (n > 0 && one[0] != '\n') {
			line[len(line)-1] = '\n'
			s.r = crReader{io.MultiReader(bytes.NewReader(one), s.r)}
			return line, nil
		}
		line = append(line, one[:n]...)
		switch {
		case n > 0 && one[0] == '\n':
			return line, nil
		case err == io.EOF && len(line) > 0:
			return line, nil
		case err != nil:
			return nil, err
		}
		quoted = quoted != (n > 0 && one[0] == '"')
		returned = header && !quoted && n > 0 && one[0] == '\r'
	}
	return line, nil
}
