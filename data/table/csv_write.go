package table

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

const flushSize = 1 << 16 // bytes of CSV that are written at once

// csvWriter writes CSV.
type csvWriter struct {
	decoder
	w      io.Writer
	packed io.WriteCloser // nil: w is the file
	comma  byte
	end    string // of a line
	buf    []byte
	safe   bool  // no cell is a formula
	err    error // of the stream, which ends the file
}

func newCSVWriter(w io.Writer, f Format, d decoder, safe bool) (*csvWriter, error) {
	comma := d.schema.CSV.Separator()
	if f&Tabs != 0 {
		comma = '\t'
	}
	if err := checkComma(comma); err != nil {
		return nil, err
	}
	c := &csvWriter{decoder: d, w: w, comma: comma, end: "\n", safe: safe}
	if d.schema.CSV.CRLF {
		c.end = "\r\n"
	}
	if f&Gzip != 0 {
		c.packed = gzip.NewWriter(w)
		c.w = c.packed
	}
	e, err := d.schema.CSV.Text()
	if err != nil {
		return nil, err
	}
	if e != nil { // what the encoding has no sign for becomes a question mark or the like
		c.w = transform.NewWriter(c.w, encoding.ReplaceUnsupported(e.NewEncoder()))
		if strings.HasPrefix(d.schema.CSV.Encoding, "utf-16") {
			c.buf = append(c.buf, mark...)
		}
	}
	if !d.schema.CSV.NoHeader {
		for i, column := range d.columns {
			if i > 0 {
				c.buf = append(c.buf, comma)
			}
			start := len(c.buf)
			c.buf = c.quote(append(c.buf, column.Name...), start)
		}
		c.buf = append(c.buf, c.end...)
	}
	return c, nil
}

// Write appends the rows of t.
func (c *csvWriter) Write(t *Table) error {
	if err := c.check(t); err != nil {
		return err
	}
	for row := range t.rows {
		c.draw(t, row)
		for k, f := range c.columns {
			if k > 0 {
				c.buf = append(c.buf, c.comma)
			}
			start := len(c.buf)
			c.buf = c.quote(c.codec.AppendText(c.buf, f, c.values[f.At]), start)
		}
		c.buf = append(c.buf, c.end...)
		if len(c.buf) >= flushSize {
			c.flush()
		}
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// Close writes what is left.
func (c *csvWriter) Close() error {
	c.flush()
	if c.err == nil && c.packed != nil {
		c.err = c.packed.Close()
	}
	return c.err
}

// flush hands the buffer to the stream.
func (c *csvWriter) flush() {
	if c.err == nil && len(c.buf) > 0 {
		_, c.err = c.w.Write(c.buf)
	}
	c.buf = c.buf[:0]
}

// quote puts quotes around the cell buf[start:] if it needs them, or all have them, and doubles
// those inside. A lone empty cell needs them to be told from a blank line; a space at an end, or
// what could be a byte-order mark, is quoted for the sake of other readers. In a file for
// spreadsheets an apostrophe goes before a formula.
func (c *csvWriter) quote(buf []byte, start int) []byte {
	if c.safe && mayBeFormula(buf[start:]) && Formula(string(buf[start:])) {
		buf = slices.Insert(buf, start, '\'')
	}
	cell, needed := buf[start:], len(c.columns) == 1 || c.schema.CSV.Quoted
	if len(cell) > 0 {
		first, last := cell[0], cell[len(cell)-1]
		needed = c.schema.CSV.Quoted || first == ' ' || first == '\t' || last == ' ' || last == '\t' ||
			first == 0xef
	}
	for _, b := range cell {
		needed = needed || b == c.comma || b == '"' || b == '\r' || b == '\n'
	}
	if !needed {
		return buf
	}
	doubled := bytes.ReplaceAll(cell, []byte{'"'}, []byte(`""`))
	buf = append(buf[:start], '"')
	buf = append(buf, doubled...)
	return append(buf, '"')
}

// Formula reports whether a spreadsheet may take the text of a cell for a formula
// and run it: whether it starts with =, +, -, @, a tab or a line end, and is not
// a number (https://owasp.org/www-community/attacks/CSV_Injection).
func Formula(text string) bool {
	if !mayBeFormula([]byte(text)) {
		return false
	}
	if strings.Trim(text, "0123456789.eE+-") != "" { // ParseFloat takes more than decimals
		return true
	}
	_, err := strconv.ParseFloat(text, 64)
	return err != nil
}

// mayBeFormula reports whether a cell starts as a formula does.
func mayBeFormula(cell []byte) bool {
	return len(cell) > 0 && strings.IndexByte("=+-@\t\r\n", cell[0]) >= 0
}

// checkComma refuses separators that CSV cannot have.
func checkComma(comma byte) error {
	if comma == 0 || comma == '"' || comma == '\r' || comma == '\n' || comma >= 0x80 {
		return errors.New("table: the separator must be one ASCII character and neither a quote nor a " +
			"line end")
	}
	return nil
}
