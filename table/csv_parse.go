package table

import (
	"bytes"
	"slices"

	"github.com/decoy-dp/decoy/schema"
)

// csvPart is what became of one chunk.
type csvPart struct {
	part
	bytes int
	blank int   // the line of the first of the blank lines at its end; 0 = none
	err   error // about the first mistake in it; the rows are then of no use
}

// csvParser turns chunks into codes. It is not for concurrent use.
type csvParser struct {
	*layout
	z         *tokenizer
	lines     lenientLines // instead of z under a lenient schema
	hasUnit   bool
	blankCell bool // a blank line is an empty cell of the one column
	units     units
	id        []byte // of the line at hand, under a lenient schema
	lanes     []lane
}

// lane is where the cells of one file column go.
type lane struct {
	codec  *schema.Codec // nil unless the cells become codes
	unread uint16        // code of a cell that cannot be read, under a lenient schema
	unit   bool
	u8     []uint8
	u16    []uint16
}

// set stores the code of a row; without codes there is nothing to store.
func (l *lane) set(row int, code uint16) {
	switch {
	case l.u8 != nil:
		l.u8[row] = uint8(code)
	case l.u16 != nil:
		l.u16[row] = code
	}
}

func newCSVParser(l *layout, o ReadOptions) *csvParser {
	comma := l.schema.CSV.Separator()
	p := &csvParser{
		layout: l, z: newTokenizer(comma, o.MaxCell), hasUnit: slices.Contains(l.target, toUnit),
		lines: lenientLines{
			comma: comma, columns: len(l.target), maxCell: o.MaxCell, headed: !l.schema.CSV.NoHeader,
		},
	}
	if len(l.target) == 1 && l.target[0] >= 0 {
		_, err := l.codecs[l.target[0]].EncodeText(nil)
		p.blankCell = err == nil
	}
	return p
}

// parse encodes a chunk. Of several mistakes in it, it reports the first; a
// record with the wrong number of cells is reported as such, whatever is in
// them.
func (p *csvParser) parse(c chunk) csvPart {
	if p.schema.Lenient {
		return p.parseLenient(c)
	}
	out := csvPart{bytes: len(c.buf)}
	p.open(&out, min(c.lines, len(c.buf)/len(p.target))+1)
	z := p.z
	z.reset(c.buf, c.final, c.line)
	for z.more() {
		line := z.line
		if !p.blankCell && z.blank() {
			if out.blank == 0 {
				out.blank = line
			}
			continue
		}
		if out.blank != 0 {
			out.err = place{unit: "line", number: out.blank}.wrap(errBlankLine)
			return out
		}
		start := z.pos
		if out.err = p.record(&out, line); out.err == nil && z.pos-start > maxRecord(z.maxCell)+1 {
			out.err = place{unit: "line", number: line}.wrap(errLongRecord(z.maxCell))
		}
		if out.err != nil {
			return out
		}
		out.rows++
	}
	p.close(&out)
	return out
}

// close cuts out to its rows and takes the units.
func (p *csvParser) close(out *csvPart) {
	for i, col := range out.cols {
		if p.has[i] {
			out.cols[i] = col.slice(0, out.rows)
		}
	}
	if out.units != nil {
		out.units = out.units[:out.rows]
		out.ids = p.units.take()
	}
}

// open makes room for rows rows in out and points the lanes at it.
func (p *csvParser) open(out *csvPart, rows int) {
	out.cols = make([]Codes, len(p.sizes))
	p.lanes = p.lanes[:0]
	for _, t := range p.target {
		var l lane
		switch t {
		case toNothing:
		case toUnit:
			l.unit = true
			out.units = make([]uint32, rows)
		default:
			out.cols[t] = NewCodes(p.sizes[t], rows)
			l.codec, l.unread = p.codecs[t], p.codecs[t].Unreadable()
			l.u8, l.u16 = out.cols[t].U8, out.cols[t].U16
		}
		p.lanes = append(p.lanes, l)
	}
}

// record encodes the record at the tokenizer, which starts on the given line,
// into row out.rows.
func (p *csvParser) record(out *csvPart, line int) error {
	var (
		row    = out.rows
		bad    error // about the first cell that is not allowed
		badCol int
	)
	for col := 0; ; col++ {
		cell, last, err := p.z.next()
		if err != nil {
			switch err {
			case errShort: // the splitter gave up on a record that has no end
				return place{unit: "line", number: line}.wrap(errLongRecord(p.z.maxCell))
			case errOpenQuote:
				line = p.z.line
			}
			return place{"line", line, col + 1, p.name(col)}.wrap(err)
		}
		if col == len(p.lanes) {
			return place{unit: "line", number: line}.wrap(errManyCells)
		}
		l := &p.lanes[col]
		switch {
		case l.codec != nil:
			code, err := l.codec.EncodeText(cell)
			if err != nil && bad == nil {
				bad, badCol = err, col
			}
			if l.u8 != nil {
				l.u8[row] = uint8(code)
			} else {
				l.u16[row] = code
			}
		case l.unit:
			if len(cell) == 0 && bad == nil {
				bad, badCol = errEmptyUnit, col
			}
			out.units[row] = p.units.of(cell)
		}
		if !last {
			continue
		}
		if col+1 < len(p.lanes) {
			return place{unit: "line", number: line}.wrap(errFewCells)
		}
		if bad != nil {
			return place{"line", line, badCol + 1, p.name(badCol)}.wrap(bad)
		}
		return nil
	}
}

// header reads the first record of a file as column names and returns c
// without it. In a lenient file that is the first line: no row has a say in it.
func header(z *tokenizer, c chunk, lenient bool) (names []string, rest chunk, err error) {
	head := c
	if lenient {
		head.buf, head.final = c.buf[:1+bytes.IndexByte(c.buf, '\n')], true
		if len(head.buf) == 0 {
			head.buf = c.buf
		}
	}
	z.reset(head.buf, head.final, head.line)
	if !c.skipped && z.blank() {
		return nil, chunk{}, place{unit: "line", number: 1}.wrap(errBlankLine)
	}
	for last := false; !last; {
		var cell []byte
		cell, last, err = z.next()
		if c.skipped || err == errShort || z.pos > maxRecord(z.maxCell)+1 {
			return nil, chunk{}, place{unit: "line", number: 1}.wrap(errLongRecord(z.maxCell))
		}
		if err != nil {
			at := place{unit: "line", number: z.line, column: len(names) + 1}
			return nil, chunk{}, at.wrap(err)
		}
		if len(names) == maxColumns {
			return nil, chunk{}, place{unit: "line", number: 1}.wrap(errTooMany)
		}
		names = append(names, string(cell))
	}
	c.buf, c.line = c.buf[z.pos:], z.line
	c.lines = bytes.Count(c.buf, []byte{'\n'})
	return names, c, nil
}
