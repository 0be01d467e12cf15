package table

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

const (
	sheetColumns = 1 << 14 // of a spreadsheet
	sheetRows    = 1 << 20 // likewise
	mostShared   = 1 << 30 // bytes of the texts that cells share, and unitCost for each
)

// sheet is a sheet of an Excel workbook as the text of a framed file: a line is the row of its
// number, blank where no cell holds anything. Cells are what a formula came to last, numbers with a
// point and without their format, days and times as 2006-01-02, 2006-01-02 15:04:05 and 15:04:05,
// true and false, texts as they are; an error (#N/A) is an empty cell, as are all but the first of
// merged ones. No row but those that are taken is read, and none that is well-formed XML ends the
// reading: a row that is longer than a line may be is one that cannot be read.
type sheet struct {
	book    workbook
	xml     *xml.Decoder
	most    int   // bytes of a row
	left    int64 // bytes that may still be given
	rows    int   // so far
	cells   []string
	out     []byte // what is still to be taken is out[at:]
	at      int
	shared  []string // texts, as far as cells have asked for them
	texts   *xml.Decoder
	sharing int // bytes of shared
}

func (s *sheet) Read(p []byte) (int, error) {
	for s.at == len(s.out) {
		s.out, s.at = s.out[:0], 0
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.out[s.at:])
	s.at += n
	return n, nil
}

// next turns the next row.
func (s *sheet) next() error {
	for {
		t, err := token(s.xml)
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			if t.Name.Local == "sheetData" {
				return io.EOF
			}
		case xml.StartElement:
			if t.Name.Local == "row" {
				n, err := strconv.Atoi(attribute(t, "r"))
				if err == nil && n <= sheetRows {
					for ; s.rows+1 < n; s.rows++ {
						s.out = append(s.out, '\n')
					}
				}
				return s.row()
			}
		}
	}
}

// row turns the row whose element has begun.
func (s *sheet) row() error {
	clear(s.cells)
	s.cells = s.cells[:0]
	size, column := 0, 0
	for {
		t, err := token(s.xml)
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			if t.Name.Local == "row" {
				return s.put(size)
			}
		case xml.StartElement:
			if t.Name.Local != "c" {
				continue
			}
			if at := columnOf(attribute(t, "r")); at > 0 {
				column = at - 1
			}
			text, err := s.cell(t)
			if err != nil {
				return err
			}
			if column++; text == "" || column > sheetColumns {
				continue
			}
			if n := column - len(s.cells); n > 0 {
				s.cells = append(s.cells, make([]string, n)...)
			}
			size += len(text) - len(s.cells[column-1])
			s.cells[column-1] = text
		}
	}
}

// put appends the line of a row, whose cells have so many bytes.
func (s *sheet) put(size int) error {
	before := len(s.out)
	if size+len(s.cells) > s.most {
		s.out = append(s.out, frameRow)
		s.cells = nil
	}
	for i, text := range s.cells {
		s.out = appendFramed(s.out, text, i == 0)
	}
	s.out = append(s.out, '\n')
	s.rows++
	if s.left -= int64(len(s.out) - before); s.left < 0 {
		return errPackedBomb
	}
	return nil
}

// cell is the text of the cell whose element has begun.
func (s *sheet) cell(start xml.StartElement) (string, error) {
	value, inline, err := cellTexts(s.xml)
	if err != nil {
		return "", err
	}
	switch style := attribute(start, "s"); attribute(start, "t") {
	case "s":
		n, err := strconv.Atoi(value)
		if err != nil {
			return "", nil
		}
		return s.sharedText(n)
	case "inlineStr":
		return unescaped(inline), nil
	case "str":
		return unescaped(value), nil
	case "b":
		if value == "" {
			return "", nil
		}
		return strconv.FormatBool(value == "1" || value == "true"), nil
	case "e":
		return "", nil
	case "d":
		return value, nil
	default:
		return s.book.number(value, style), nil
	}
}

// cellTexts are the value and the text of a cell to its end.
func cellTexts(d *xml.Decoder) (value, inline string, err error) {
	for depth := 1; depth > 0; {
		t, err := token(d)
		if err != nil {
			return "", "", err
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "v":
				value, err = textOf(d, "v")
			case "is":
				inline, err = textOf(d, "is")
			default:
				depth++
			}
			if err != nil {
				return "", "", err
			}
		case xml.EndElement:
			depth--
		}
	}
	return value, inline, nil
}

// textOf is the text within an element that has begun, to its end, without how it is said.
func textOf(d *xml.Decoder, name string) (string, error) {
	var text strings.Builder
	said, shown := 0, name == "v"
	for {
		t, err := token(d)
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.CharData:
			if said == 0 && shown {
				text.Write(t)
			}
		case xml.StartElement:
			switch t.Name.Local {
			case "rPh":
				said++
			case "t":
				shown = true
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "rPh":
				said--
			case "t":
				shown = name == "v"
			case name:
				return text.String(), nil
			}
		}
	}
}

// sharedText is one of the texts that cells share; texts are read as far as they are asked for.
// What is behind something wrong in them is empty: no row decides whether it is found.
func (s *sheet) sharedText(n int) (string, error) {
	for n >= len(s.shared) && s.texts != nil {
		t, err := token(s.texts)
		if err != nil {
			return "", s.endTexts(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			if t.Name.Local == "sst" {
				s.texts = nil
			}
		case xml.StartElement:
			if t.Name.Local != "si" {
				continue
			}
			text, err := textOf(s.texts, "si")
			if err != nil {
				return "", s.endTexts(err)
			}
			text = unescaped(text)
			if s.sharing += len(text) + unitCost; s.sharing > mostShared {
				return "", errPackedBomb
			}
			s.shared = append(s.shared, text)
		}
	}
	if n < 0 || n >= len(s.shared) {
		return "", nil
	}
	return s.shared[n], nil
}

// endTexts reads no more of the texts. It is err if the disk made that.
func (s *sheet) endTexts(err error) error {
	s.texts = nil
	if disk := (*fs.PathError)(nil); errors.As(err, &disk) || errors.Is(err, errPackedBomb) {
		return err
	}
	return nil
}

// columnOf is the column of a cell such as AB12, from 1; 0 if it is none.
func columnOf(ref string) (column int) {
	for i := 0; i < len(ref) && ref[i] >= 'A'; i++ {
		if column = 26*column + int(ref[i]&^0x20-'A') + 1; column > sheetColumns || ref[i]&^0x20 > 'Z' {
			return sheetColumns + 1
		}
	}
	return column
}

// attribute is that of an element, "" if it has none.
func attribute(e xml.StartElement, name string) string {
	i := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return ""
	}
	return e.Attr[i].Value
}

// token is the next one. That there is none is an error, as files end with the end of an element.
func token(d *xml.Decoder) (xml.Token, error) {
	t, err := d.RawToken()
	if err != nil {
		return nil, packedAs(err, errDamagedPack)
	}
	return t, nil
}

// unescaped has the characters for which a workbook writes _x000D_.
func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	var out strings.Builder
	for {
		at := strings.Index(text, "_x")
		if at < 0 {
			return out.String() + text
		}
		out.WriteString(text[:at])
		if text = text[at:]; len(text) >= len("_x000D_") && text[6] == '_' {
			if n, err := strconv.ParseUint(text[2:6], 16, 16); err == nil {
				out.WriteRune(rune(n))
				text = text[len("_x000D_"):]
				continue
			}
		}
		out.WriteString("_x")
		text = text[len("_x"):]
	}
}

// openPart opens a part of a workbook as XML.
func openPart(f *zip.File, size int64) (*xml.Decoder, error) {
	text, err := fileIn(f, size)
	if err != nil {
		return nil, err
	}
	d := xml.NewDecoder(newTame(text))
	d.Strict = false // no text of a cell is an error
	return d, nil
}
