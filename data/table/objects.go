package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"
)

// objects is JSON lines, an object a line, as the text of a framed file. The first object says the
// names, and is the first row too; no more is read for them. A row has what its object has under
// these names, and nothing else of it: a text, a number or a truth as it is written, and an empty
// cell for null and for what is not there. What has cells within it cannot be read; a line that is
// no object, or longer than one may be, is a row that cannot be read.
type objects struct {
	text  io.Reader
	lines *bufio.Reader
	most  int // bytes of a line
	names map[string]int
	line  []byte
	cells []json.RawMessage
	out   []byte // what is still to be taken is out[at:]
	at    int
}

// mostFirst is how many bytes the first object has at most, which is read byte by byte.
const mostFirst = 1 << 20

func newObjects(text io.Reader, most int) *objects {
	return &objects{text: text, lines: bufio.NewReader(oneByte{text}), most: most}
}

// oneByte reads no byte behind those that are asked for.
type oneByte struct{ io.Reader }

func (r oneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(1, len(p))]) }

func (o *objects) Read(p []byte) (int, error) {
	for o.at == len(o.out) {
		o.out, o.at = o.out[:0], 0
		if err := o.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, o.out[o.at:])
	o.at += n
	return n, nil
}

// next turns the next line; of the first object, and what is blank before it, the header too.
func (o *objects) next() error {
	if o.names != nil {
		whole, err := o.take(o.most)
		if err == nil {
			o.row(whole)
		}
		return err
	}
	whole, err := o.take(min(mostFirst, o.most))
	blank := 0
	for ; err == nil && whole && len(bytes.TrimSpace(o.line)) == 0; blank++ {
		if whole, err = o.take(min(mostFirst, o.most)); blank > mostAbove {
			return errNoObjects
		}
	}
	if err != nil {
		return err
	}
	o.lines = bufio.NewReaderSize(o.text, 1<<16)
	o.names = map[string]int{}
	is := whole && eachField(o.line, func(name string, _ json.RawMessage) {
		if _, twice := o.names[name]; !twice {
			o.out = appendFramed(o.out, name, len(o.names) == 0)
			o.names[name] = len(o.names)
		}
	})
	if !is || len(o.names) == 0 {
		return errNoObjects
	}
	for range blank + 1 {
		o.out = append(o.out, '\n')
	}
	o.cells = make([]json.RawMessage, len(o.names))
	o.row(true)
	return nil
}

// take reads the next line, of so many bytes at most. A longer one is not whole; of the first
// object no more is read then.
func (o *objects) take(most int) (whole bool, err error) {
	o.line = o.line[:0]
	for whole = true; ; {
		piece, err := o.lines.ReadSlice('\n')
		if whole = whole && len(o.line)+len(piece) <= most+len("\r\n"); whole {
			o.line = append(o.line, piece...)
		}
		switch {
		case !whole && o.names == nil:
			return false, nil
		case err == bufio.ErrBufferFull:
		case err == io.EOF && (len(o.line) > 0 || !whole), err == nil:
			return whole, nil
		default:
			return false, err
		}
	}
}

// row appends the row of the line. A blank one is none, and stays one for the numbers of lines.
func (o *objects) row(whole bool) {
	clear(o.cells)
	switch {
	case whole && len(bytes.TrimSpace(o.line)) == 0:
	case !whole || !eachField(o.line, func(name string, value json.RawMessage) {
		if i, is := o.names[name]; is {
			o.cells[i] = value
		}
	}):
		o.out = append(o.out, frameRow)
	default:
		for i, value := range o.cells {
			o.out = appendFramed(o.out, cellOf(value), i == 0)
		}
		if len(o.out) == 0 { // of one column, and no blank line
			o.out = append(o.out, `""`...)
		}
	}
	o.out = append(o.out, '\n')
}

// eachField calls f for each field of the object that a line holds; false if it is none.
func eachField(line []byte, f func(name string, value json.RawMessage)) bool {
	line = bytes.TrimPrefix(line, []byte(mark))
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		text, is := name.(string)
		var value json.RawMessage
		if err != nil || !is || d.Decode(&value) != nil {
			return false
		}
		f(text, value)
	}
	if _, err := d.Token(); err != nil {
		return false
	}
	_, err := d.Token()
	return err == io.EOF
}

// cellOf is the cell of a value. One that holds others, or is no text in UTF-8, is none.
func cellOf(value json.RawMessage) (text string) {
	switch {
	case len(value) == 0 || value[0] == 'n':
		return ""
	case value[0] == '{' || value[0] == '[' || !utf8.Valid(value):
		return string([]byte{frameCell})
	case value[0] != '"':
		return string(value)
	}
	json.Unmarshal(value, &text) // which the decoder has looked at
	return text
}
