package schema

import (
	"fmt"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// csvForm is the csv: of a schema file.
type csvForm struct {
	Header     bool   `yaml:"header"`
	Comma      string `yaml:"comma"`
	Encoding   string `yaml:"encoding"`
	HeaderLine int    `yaml:"header_line"`
	Sheet      string `yaml:"sheet"`
	Quotes     string `yaml:"quotes"`
	LineEnd    string `yaml:"line_end"`
}

func (c *CSV) read(r yamlfile.Reader, n *yaml.Node) {
	form := csvForm{Header: true, Comma: "\x00", Quotes: "needed", LineEnd: "lf"} // no comma is given
	r.Decode(n, "", &form)
	*c = CSV{NoHeader: !form.Header, Encoding: form.Encoding, HeaderLine: form.HeaderLine,
		Sheet: form.Sheet, Quoted: form.Quotes == "all", CRLF: form.LineEnd == "crlf"}
	switch {
	case len(form.Comma) != 1:
		r.Report(n.Line, "comma must be one ASCII character, such as \",\" or \"\\t\"")
	case form.Quotes != "needed" && form.Quotes != "all":
		r.Report(n.Line, "quotes must be needed or all")
	case form.LineEnd != "lf" && form.LineEnd != "crlf":
		r.Report(n.Line, "line_end must be lf or crlf")
	default:
		c.Comma = form.Comma[0]
	}
}

// text is csv: of a schema file; what has its default is left out, but for header and comma.
func (c CSV) text() string {
	out := fmt.Sprintf("header: %t, comma: %s", !c.NoHeader, scalar(string(rune(c.Comma))))
	if c.Encoding != "" {
		out += ", encoding: " + scalar(c.Encoding)
	}
	if c.HeaderLine != 0 {
		out += fmt.Sprintf(", header_line: %d", c.HeaderLine)
	}
	if c.Sheet != "" {
		out += ", sheet: " + scalar(c.Sheet)
	}
	if c.Quoted {
		out += ", quotes: all"
	}
	if c.CRLF {
		out += ", line_end: crlf"
	}
	return out
}

// mostTitles is the largest HeaderLine.
const mostTitles = 1000

// Problem says what is wrong with how CSV files are said to be read; "" if nothing is.
func (c CSV) Problem() string {
	_, err := c.Text()
	switch {
	case err != nil:
		return err.Error()
	case c.HeaderLine < 0 || c.HeaderLine > mostTitles:
		return fmt.Sprintf("header_line must be from 1 to %d", mostTitles)
	case c.HeaderLine > 0 && c.NoHeader:
		return "header_line is of a file with a header"
	}
	return ""
}

// Text is the encoding of CSV files, nil for UTF-8. In all that there are a line end is a line end
// whatever is before it, so that no row changes how another is read.
func (c CSV) Text() (encoding.Encoding, error) {
	e, err := htmlindex.Get(c.Encoding)
	name, _ := htmlindex.Name(e)
	_, single := e.(*charmap.Charmap)
	switch {
	case c.Encoding == "" || name == "utf-8":
		return nil, nil
	case err == nil && single:
		return e, nil
	case err == nil && name == "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), nil
	case err == nil && name == "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), nil
	}
	return nil, fmt.Errorf("encoding %q is none of utf-8, utf-16le, utf-16be, latin1, windows-1252 "+
		"and others of one byte a character, such as windows-1250, iso-8859-15, macintosh", c.Encoding)
}
