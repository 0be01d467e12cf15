package table

import (
	"bytes"

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
	z     *tokenizer
	units units
	lanes []lane
}

// lane is where the cells of one file column go.
type lane struct {
	codec *schema.Codec // nil unless the cells become codes
	unit  bool
	u8    []uint8
	u16   []uint16
}

func newCSVParser(l *layout, o ReadOptions) *csvParser {
	return &csvParser{layout: l, z: newTokenizer(l.schema.CSV.Separator(), o.MaxCell)}
}

// parse encodes a chunk. Of several mistakes in it, it reports the first; a
// record with the wrong number of cells is reported as such, whatever is in
// them.
func (p *csvParser) parse(c chunk) csvPart {
	out := csvPart{bytes: len(c.buf)}
	p.open(&out, min(c.lines, len(c.buf)/len(p.target))+1)
	z := p.z
	z.reset(c.buf, c.final, c.line)
	for z.more() {
		line := z.line
		if z.blank() {
			if out.blank == 0 {
				out.blank = line
			}
			continue
		}
		if out.blank != 0 {
			out.err = place{unit: "line", number: out.blank}.wrap(errBlankLine)
			return out
		}
		if out.err = p.record(&out, line); out.err != nil {
			return out
		}
		out.rows++
	}
	for i, col := range out.cols {
		if p.has[i] {
			out.cols[i] = col.slice(0, out.rows)
		}
	}
	if out.units != nil {
		out.units = out.units[:out.rows]
		out.ids = p.units.take()
	}
	return out
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
			l.codec = p.codecs[t]
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
			if err == errOpenQuote {
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
// without it.
func header(z *tokenizer, c chunk) (names []string, rest chunk, err error) {
	z.reset(c.buf, c.final, c.line)
	if z.blank() {
		return nil, chunk{}, place{unit: "line", number: 1}.wrap(errBlankLine)
	}
	for last := false; !last; {
		var cell []byte
		if cell, last, err = z.next(); err != nil {
			return nil, chunk{}, place{unit: "line", number: z.line, column: len(names) + 1}.wrap(err)
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
