package table

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/decoy-dp/decoy/data/schema"
)

const (
	errNoSheet dataError = "the workbook has no sheet of that name (--sheet, or sheet: in a " +
		"schema's csv:); capitals count"
	errNoSheets dataError = "the workbook has no sheet of cells that is not hidden: --sheet says which"
	errWorkbook dataError = "the file is no Excel workbook (.xlsx), or is damaged"
	errLocked   dataError = "the file is an Excel workbook with a password, or an old one (.xls): " +
		"save it as .xlsx without a password"
)

// mostStyles is how many formats of cells are told apart.
const mostStyles = 1 << 16

// workbook is what a file says of all its cells.
type workbook struct {
	from1904 bool
	styles   []shownAs
}

// shownAs is how a number is shown.
type shownAs uint8

const (
	asNumber  shownAs = iota
	asDay             // 2006-01-02
	asInstant         // 2006-01-02 15:04:05
	asClock           // 15:04
	asSeconds         // 15:04:05
	asElapsed         // likewise, of any number of hours
)

// openSheet opens the sheet of a name, or the first that is not hidden, of a workbook of size
// bytes. It reads what the workbook says of itself, and none of its cells.
func openSheet(r io.ReaderAt, size int64, csv schema.CSV) (*sheet, error) {
	start := make([]byte, len("\xd0\xcf\x11\xe0"))
	if _, err := r.ReadAt(start, 0); err == nil && string(start) == "\xd0\xcf\x11\xe0" {
		return nil, errLocked
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, packedAs(err, errWorkbook)
	}
	parts := map[string]*zip.File{}
	for _, f := range z.File {
		parts[partName(f.Name)] = f
	}
	s := &sheet{most: lineCells << 20, left: atLeast(maxBytes, size)}
	open := func(name string) (*xml.Decoder, error) {
		if parts[partName(name)] == nil {
			return nil, errWorkbook
		}
		return openPart(parts[partName(name)], size)
	}
	main := "xl/workbook.xml"
	if top, err := relations(open, ""); err == nil && top["officeDocument"] != "" {
		main = top["officeDocument"]
	}
	related, err := relations(open, main)
	if err != nil {
		return nil, err
	}
	at, err := s.book.find(open, main, csv.Sheet, related)
	if err != nil {
		return nil, err
	}
	if related["styles"] != "" {
		if err := s.book.readStyles(open, related["styles"]); err != nil {
			return nil, err
		}
	}
	if parts[partName(related["sharedStrings"])] != nil {
		if s.texts, err = open(related["sharedStrings"]); err != nil {
			return nil, err
		}
	}
	s.xml, err = open(at)
	return s, err
}

// partName is a name by which parts are found.
func partName(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

// relations are the parts that a part names: by their ids, and by their types where these are of
// one part.
func relations(open func(string) (*xml.Decoder, error), of string) (map[string]string, error) {
	dir, name := path.Split(of)
	d, err := open(dir + "_rels/" + name + ".rels")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	err = eachElement(d, "Relationships", func(e xml.StartElement) {
		to := attribute(e, "Target")
		if !strings.HasPrefix(to, "/") {
			to = path.Join(dir, to)
		}
		if kind := path.Base(attribute(e, "Type")); kind == "worksheet" {
			out["worksheet "+attribute(e, "Id")] = to
		} else {
			out[kind] = to
		}
	})
	return out, err
}

// eachElement calls f for each element of a part of which this is the outermost.
func eachElement(d *xml.Decoder, outermost string, f func(xml.StartElement)) error {
	for n := 0; ; n++ {
		t, err := token(d)
		if err != nil || n > maxEntries {
			return packedAs(err, errWorkbook)
		}
		switch t := t.(type) {
		case xml.StartElement:
			f(t)
		case xml.EndElement:
			if t.Name.Local == outermost {
				return nil
			}
		}
	}
}

// find is the part of a sheet.
func (w *workbook) find(
	open func(string) (*xml.Decoder, error), main, name string, related map[string]string,
) (at string, err error) {
	d, err := open(main)
	if err != nil {
		return "", err
	}
	err = eachElement(d, "workbook", func(e xml.StartElement) {
		switch e.Name.Local {
		case "workbookPr":
			w.from1904 = attribute(e, "date1904") == "1" || attribute(e, "date1904") == "true"
		case "sheet":
			state := attribute(e, "state")
			wanted := name == attribute(e, "name") || name == "" && (state == "" || state == "visible")
			if to := related["worksheet "+attribute(e, "id")]; wanted && at == "" {
				at = to
			}
		}
	})
	switch {
	case err != nil:
	case at == "" && name != "":
		err = errNoSheet
	case at == "":
		err = errNoSheets
	}
	return at, err
}

// readStyles reads how numbers are shown, by the number of a style.
func (w *workbook) readStyles(open func(string) (*xml.Decoder, error), name string) error {
	d, err := open(name)
	if err != nil {
		return err
	}
	formats, inside := map[string]shownAs{}, ""
	return eachElement(d, "styleSheet", func(e xml.StartElement) {
		switch id := attribute(e, "numFmtId"); e.Name.Local {
		case "cellXfs", "cellStyleXfs", "dxfs":
			inside = e.Name.Local
		case "numFmt":
			if inside != "dxfs" && len(formats) < mostStyles {
				formats[id] = shown(attribute(e, "formatCode"))
			}
		case "xf":
			as, is := formats[id]
			if !is {
				as = builtIn(id)
			}
			if inside == "cellXfs" && len(w.styles) < mostStyles {
				w.styles = append(w.styles, as)
			}
		}
	})
}

// builtIn is how a number is shown in a format that no workbook spells.
func builtIn(id string) shownAs {
	switch n, _ := strconv.Atoi(id); {
	case n == 18 || n == 20:
		return asClock
	case n == 19 || n == 21 || n == 45 || n == 47:
		return asSeconds
	case n == 22:
		return asInstant
	case n == 46:
		return asElapsed
	case n >= 32 && n <= 35 || n == 55 || n == 56: // of Chinese, Japanese and Korean ones
		return asClock
	case n >= 14 && n <= 17, n >= 27 && n <= 36, n >= 50 && n <= 58:
		return asDay
	}
	return asNumber
}

var (
	elapsed = regexp.MustCompile(`(?i)\[(h+|m+|s+)\]`)
	// what stands in a format for itself, or says no part of a day or a time
	asides = regexp.MustCompile(`(?is)"[^"]*("|$)|\\.|_.|\*.|\[[^\]]*\]|am/pm|a/p`)
)

// shown is how a number is shown in a format, such as dd.mm.yyyy hh:mm, whose first section counts.
func shown(format string) shownAs {
	parts, _, _ := strings.Cut(asides.ReplaceAllString(format, ""), ";")
	day, hour := strings.ContainsAny(parts, "yYdD"), strings.ContainsAny(parts, "hH")
	second := strings.ContainsAny(parts, "sS")
	switch {
	case elapsed.MatchString(format):
		return asElapsed
	case day && (hour || second):
		return asInstant
	case second:
		return asSeconds
	case hour:
		return asClock
	case day || strings.ContainsAny(parts, "mM"):
		return asDay
	}
	return asNumber
}

// number is the text of a number in a style.
func (w *workbook) number(value, style string) string {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return value
	}
	as := asNumber
	if n, err := strconv.Atoi(style); err == nil && n >= 0 && n < len(w.styles) {
		as = w.styles[n]
	}
	seconds := math.Round(x * (24 * 60 * 60))
	const last, between = 2958466, 1462 // the year 10000, and the days from 1900 to 1904
	if x < 0 || seconds >= (last-between)*24*60*60 && (w.from1904 || seconds >= last*24*60*60) {
		as = asNumber
	}
	switch whole := int64(seconds); as {
	case asDay, asInstant:
		days := math.Floor(x)
		if as == asInstant {
			days = float64(whole / (24 * 60 * 60))
		}
		first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
		switch {
		case w.from1904:
			first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
		case days < 60: // there is a 29th of February 1900
			first = first.AddDate(0, 0, 1)
		}
		t := first.AddDate(0, 0, int(days))
		if as == asDay {
			return t.Format(time.DateOnly)
		}
		return t.Add(time.Duration(whole%(24*60*60)) * time.Second).Format(time.DateTime)
	case asClock, asSeconds, asElapsed:
		if as != asElapsed {
			whole %= 24 * 60 * 60
		}
		text := pad(whole/3600) + ":" + pad(whole/60%60)
		if as == asClock && whole%60 == 0 {
			return text
		}
		return text + ":" + pad(whole%60)
	}
	return plainNumber(value, x)
}

// pad is a number of at least two digits.
func pad(n int64) string {
	if n < 10 {
		return "0" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}

// plainNumber is a number as a spreadsheet shows it, to fifteen digits; files have seventeen.
func plainNumber(value string, x float64) string {
	if len(value) <= 15 && !strings.ContainsAny(value, "eE") {
		return value
	}
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', 14, 64), 64)
	if size := math.Abs(x); size != 0 && (size < 1e-9 || size >= 1e15) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// mostTag is how many bytes of XML may stand from the start of a tag to the next; those behind are
// left out, so that a cell that is as long is one that cannot be read.
const mostTag = 8 << 20

// newTame is XML in UTF-8 of which no tag with the text behind it is too long. Characters that XML
// may not have are blanks, however they are written: no program writes them but by mistake, and
// they are no reason to end a run. So is the end of a CDATA section where none began.
func newTame(text io.Reader) io.Reader {
	return &tame{text: bufio.NewReader(transform.NewReader(text, unicode.UTF8.NewDecoder()))}
}

type tame struct {
	text   *bufio.Reader
	run    int  // bytes since a tag began
	ends   int  // ] at the end of what was read
	inData bool // in a CDATA section
}

const (
	dataBegins = "[CDATA[" // behind <!
	longestRef = len("&#x0010ffff;")
)

func (r *tame) Read(p []byte) (n int, err error) {
	for n < len(p) && (n == 0 || r.text.Buffered() > longestRef) {
		b, err := r.text.ReadByte()
		if err != nil {
			return n, err
		}
		if b = r.allowed(b); b == '<' && !r.inData {
			next, _ := r.text.Peek(len("!" + dataBegins))
			r.run, r.inData = 0, string(next) == "!"+dataBegins
		}
		if b == '>' && r.ends >= 2 {
			if !r.inData {
				b = ' '
			}
			r.inData = false
		}
		if b == ']' {
			r.ends++
		} else {
			r.ends = 0
		}
		if r.run++; r.run <= mostTag {
			p[n] = b
			n++
		}
	}
	return n, nil
}

// allowed is the byte that has been read, or a blank for it and for what belongs to it.
func (r *tame) allowed(b byte) byte {
	switch {
	case b == '&' && !r.inData:
		ref, _ := r.text.Peek(longestRef - 1)
		end := bytes.IndexByte(ref, ';')
		if len(ref) == 0 || ref[0] != '#' {
			return b
		}
		digits, base := ref[1:max(1, end)], 10
		if hex, is := bytes.CutPrefix(digits, []byte("x")); is {
			digits, base = hex, 16
		}
		x, err := strconv.ParseUint(string(digits), base, 21)
		if err != nil || !isCharacter(rune(x)) {
			r.text.Discard(end + 1)
			return ' '
		}
	case b == 0xef:
		rest, _ := r.text.Peek(2)
		if string(rest) == "\xbf\xbe" || string(rest) == "\xbf\xbf" {
			r.text.Discard(2)
			return ' '
		}
	case b < ' ' && !isCharacter(rune(b)):
		return ' '
	}
	return b
}

// isCharacter reports whether XML 1.0 may have a character.
func isCharacter(x rune) bool {
	return x == '\t' || x == '\n' || x == '\r' || x >= ' ' && x < 0xd800 ||
		x >= 0xe000 && x < 0xfffe || x >= 0x10000 && x <= utf8.MaxRune
}
