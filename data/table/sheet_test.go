package table

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// bookOf is a workbook that a library wrote, of one sheet of these rows; more changes it.
func bookOf(t testing.TB, rows [][]any, more func(f *excelize.File)) []byte {
	t.Helper()
	f := excelize.NewFile()
	for i, row := range rows {
		stattest.Check(t, f.SetSheetRow("Sheet1", fmt.Sprint("A", i+1), &row))
	}
	if more != nil {
		more(f)
	}
	var b bytes.Buffer
	stattest.Check(t, f.Write(&b))
	return b.Bytes()
}

// format gives cells a format.
func format(t testing.TB, f *excelize.File, code string, cells ...string) {
	style := stattest.Must(f.NewStyle(&excelize.Style{CustomNumFmt: &code}))
	for _, cell := range cells {
		stattest.Check(t, f.SetCellStyle("Sheet1", cell, cell, style))
	}
}

// What each kind of cell is read as.
func TestSheetCells(t *testing.T) {
	at := time.Date(2021, 3, 4, 17, 30, 15, 0, time.UTC)
	for _, tt := range []struct {
		name, format string
		cell         any
		want         string
	}{
		{"text", "", "Ward\nB, \"C\"", "Ward\nB, \"C\""},
		{"text of a number", "", "007", "007"},
		{"carriage return", "", "a\r\nb", "a\r\nb"},
		{"blanks", "", " x ", " x "},
		{"whole", "", 1234567, "1234567"},
		{"binary", "", 0.1 + 0.2, "0.3"},
		{"third", "", 1. / 3, "0.333333333333333"},
		{"large", "", 1e17, "1e+17"},
		{"exponent", "", 1.5e-7, "0.00000015"},
		{"groups", "#,##0.00", 1234.5, "1234.5"},
		{"percent", "0%", .45, "0.45"},
		{"currency", `[$€-407] #,##0.00;[Red]-#,##0.00`, -3.25, "-3.25"},
		{"scientific", "0.00E+00", 12.5, "12.5"},
		{"unit in quotes", `0" days"`, 3, "3"},
		{"true", "", true, "true"}, {"false", "", false, "false"},
		{"day", "dd/mm/yyyy", at, "2021-03-04"},
		{"month", "mmm yy", at, "2021-03-04"},
		{"language", "[$-407]d. mmmm yyyy;@", at, "2021-03-04"},
		{"instant", "yyyy\\-mm\\-dd hh:mm", at, "2021-03-04 17:30:15"},
		{"half a day", "m/d/yy h:mm AM/PM", at, "2021-03-04 17:30:15"},
		{"clock", "hh:mm", .75, "18:00"},
		{"seconds", "h:mm:ss", 17.5 / 24 / 60, "00:17:30"},
		{"elapsed", "[h]:mm:ss", 1.25, "30:00:00"},
		{"before 1900", "dd/mm/yyyy", -5, "-5"},
		{"after 9999", "dd/mm/yyyy", 3e6, "3000000"},
		{"first days", "dd/mm/yyyy", 1, "1900-01-01"},
		{"last day", "dd/mm/yyyy", 2958465, "9999-12-31"},
	} {
		data := bookOf(t, [][]any{{"a", "b"}, {tt.cell, "z"}}, func(f *excelize.File) {
			if tt.format != "" {
				format(t, f, tt.format, "A2")
			}
		})
		got, err := cellsOf(t, ".xlsx", data, schema.CSV{}, 0)
		if err != nil || !cmp.Equal(got, [][]string{{"a", "b"}, {tt.want, "z"}}) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
}

// Formulas, errors, merged cells, rows and columns without anything, other sheets, titles and cells
// beside the table.
func TestSheet(t *testing.T) {
	rows := [][]any{{"a", "b\nc", "d"}, {1, nil, "x"}, nil, {2, "y"}, {nil, nil, "#N/A"}}
	want := [][]string{{"a", "b c", "d"}, {"1", "", "x"}, {"2", "y", ""}, {"", "", "#N/A"}}
	for name, more := range map[string]func(f *excelize.File){
		"": nil,
		"rows that are formatted only": func(f *excelize.File) {
			format(t, f, "0.00", "A9", "C9", "B800")
		},
		"a note beside": func(f *excelize.File) { f.SetCellValue("Sheet1", "F2", "note") },
		"a hidden first sheet": func(f *excelize.File) {
			stattest.Must(f.NewSheet("Notes"))
			f.MoveSheet("Notes", "Sheet1")
			stattest.Check(t, f.SetSheetVisible("Notes", false, true))
		},
		"dates from 1904": func(f *excelize.File) {
			yes := true
			stattest.Check(t, f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &yes}))
		},
		"merged": func(f *excelize.File) { stattest.Check(t, f.MergeCell("Sheet1", "A2", "B2")) },
	} {
		got, err := cellsOf(t, ".xlsx", bookOf(t, rows, more), schema.CSV{}, 0)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	two := bookOf(t, [][]any{{"Stays of 2021"}, nil, {"a", "b"}, {1, 2}}, func(f *excelize.File) {
		stattest.Must(f.NewSheet("Notes"))
		f.SetSheetRow("Notes", "A1", &[]any{"n", "m"})
		f.SetCellFormula("Sheet1", "A5", "A4+1")
	})
	stattest.Wraps(t, stattest.Err(cellsOf(t, ".xlsx", two, schema.CSV{}, 0)), errTitles, "a title")
	got, err := cellsOf(t, ".xlsx", two, schema.CSV{HeaderLine: 3, Encoding: "latin1"}, 0)
	if err != nil || !cmp.Equal(got, [][]string{{"a", "b"}, {"1", "2"}}) {
		t.Errorf("below a title: %q, %v", got, err)
	}
	got, err = cellsOf(t, ".xlsx", two, schema.CSV{Sheet: "Notes"}, 0)
	if err != nil || !cmp.Equal(got, [][]string{{"n", "m"}}) {
		t.Errorf("another sheet: %q, %v", got, err)
	}
	_, err = cellsOf(t, ".xlsx", two, schema.CSV{Sheet: "notes"}, 0)
	stattest.Wraps(t, err, errNoSheet, "in other letters")
	hidden := bookOf(t, rows, nil)
	hidden = changed(t, hidden, func(parts map[string]string) {
		parts["xl/workbook.xml"] = strings.Replace(parts["xl/workbook.xml"], "<sheet ",
			`<sheet state="veryHidden" `, 1)
	})
	stattest.Wraps(t, stattest.Err(cellsOf(t, ".xlsx", hidden, schema.CSV{}, 0)), errNoSheets, "")
	got, err = cellsOf(t, ".xlsx", hidden, schema.CSV{Sheet: "Sheet1"}, 0)
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("a hidden sheet by its name: %q, %v", got, err)
	}
}

// changed is a workbook with other parts.
func changed(t testing.TB, book []byte, change func(parts map[string]string)) []byte {
	parts := map[string]string{}
	for _, f := range stattest.Must(zip.NewReader(bytes.NewReader(book), int64(len(book)))).File {
		parts[f.Name] = string(stattest.Must(io.ReadAll(stattest.Must(f.Open()))))
	}
	change(parts)
	return archive(t, parts)
}

// archive is a zip archive of these files.
func archive(t testing.TB, files map[string]string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := stattest.Must(w.Create(name))
		stattest.Must(io.WriteString(f, files[name]))
	}
	stattest.Check(t, w.Close())
	return b.Bytes()
}

// sheetOf is a workbook whose sheet has this XML within its sheetData, behind a header.
func sheetOf(t testing.TB, rows string) []byte {
	const head = `<row><c t="str"><v>a</v></c><c t="str"><v>b</v></c></row>`
	return changed(t, bookOf(t, [][]any{{"x"}}, nil), func(parts map[string]string) {
		parts["xl/worksheets/sheet1.xml"] = `<worksheet xmlns="m"><sheetData>` + head + rows +
			`</sheetData></worksheet>`
		parts["xl/sharedStrings.xml"] = `<sst><si><t>one</t></si><si><r><t>t</t></r><r><t>wo</t></r>` +
			`<rPh><t>said</t></rPh></si></sst>`
	})
}

// What a writer may say of a cell, and what it should not.
func TestSheetXML(t *testing.T) {
	for _, tt := range []struct{ name, row, want string }{
		{"shared", `<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2" t="s"><v>0</v></c></row>`, "two|one"},
		{"no numbers of cells", `<row><c><v>1</v></c><c t="b"><v>1</v></c></row>`, "1|true"},
		{"a prefix", `<x:row><x:c r="B2"><x:v>1</x:v></x:c></x:row>`, "|1"},
		{"inline", `<row><c t="inlineStr"><is><r><t>a</t></r><r><t>_x000D__x005F_x</t></r></is></c></row>`,
			"a\r_x|"},
		{"error", `<row><c t="e"><v>#N/A</v></c><c t="str"><f>1/0</f><v>x</v></c></row>`, "|x"},
		{"formula without a value", `<row><c><f>A1</f></c><c><v>2</v></c></row>`, "|2"},
		{"ISO", `<row><c t="d"><v>2021-03-04</v></c><c t="b"/></row>`, "2021-03-04|"},
		{"no such text", `<row><c t="s"><v>7</v></c><c t="s"><v>-1</v></c></row>` +
			`<row><c t="s"><v>x</v></c><c s="-1"><v>5</v></c></row>`, "|5"},
		{"no such style", `<row><c s="99"><v>5</v></c><c s="x"><v>1e5</v></c></row>`, "5|100000"},
		{"no number", `<row><c><v>NaN</v></c><c><v>1e999</v></c></row>`, "NaN|1e999"},
		{"cells in another order", `<row><c r="B2"><v>2</v></c><c r="A2"><v>1</v></c></row>`, "1|2"},
		{"a cell twice", `<row><c r="A2"><v>1</v></c><c r="A2"><v>3</v></c></row>`, "3|"},
		{"no such columns", `<row><c r="ZZZZ2"><v>1</v></c><c r="XFE2"><v>1</v></c><c r="!"><v>1</v></c>` +
			`<c r="A2"><v>4</v></c></row>`, "4|"},
		{"rows in another order", `<row r="9"><c r="A9"><v>1</v></c></row><row r="2"><c r="B2"><v>2</v></c>` +
			`</row><row r="-4"/><row r="99999999999"/>`, "1|;|2"},
		{"control characters", "<row><c t=\"str\"><v>a\x00b\x1fc\xff</v></c></row>", "a b c\uFFFD|"},
		{"what XML has no character for",
			"<row><c t=\"str\"><v>a\uFFFE&#1;&#xFFFF;&#55555555555;b</v></c>" +
				`<c t="str"><v>]]>&#228;&#x41;</v></c></row>`, "a    #55555555555;b|]] äA"},
		{"data", `<row><c t="str"><v><![CDATA[a<b]]&#1;]]></v></c><c><v>2</v></c></row>`, "a<b]]&#1;|2"},
		{"blanks beside texts",
			"<row><c t=\"inlineStr\"><is>\n <t>a</t> <r> <t>b</t></r>\n</is></c></row>",
			"ab|"},
		{"long numbers", `<row><c><v>1234567890123456</v></c><c><v>0.1234567890123456</v></c></row>`,
			"1234567890123456|0.123456789012346"},
		{"not closed", `<row><c t="str"><v>a & b < c</v></c><c><v>1</v></c></row>`, ""},
	} {
		got, err := cellsOf(t, ".xlsx", sheetOf(t, tt.row), schema.CSV{}, 0)
		var rows []string
		for _, row := range got[min(1, len(got)):] {
			rows = append(rows, strings.Join(row, "|"))
		}
		if tt.want == "" {
			if err != nil && !errors.Is(err, errDamagedPack) {
				t.Errorf("%s: %v", tt.name, err)
			}
		} else if err != nil || strings.Join(rows, ";") != tt.want {
			t.Errorf("%s: %q, %v", tt.name, rows, err)
		}
	}
}

// Texts that end in the middle are empty from there on, whatever row asks for them.
func TestSharedTextsCut(t *testing.T) {
	book := changed(t, sheetOf(t, `<row><c t="s"><v>0</v></c><c t="s"><v>7</v></c></row>`),
		func(parts map[string]string) {
			parts["xl/sharedStrings.xml"] = "<sst><si><t>zero</t></si><si><t>a</x"
		})
	got, err := cellsOf(t, ".xlsx", book, schema.CSV{}, 0)
	if err != nil || len(got) != 2 || got[1][0] != "zero" || got[1][1] != "" {
		t.Errorf("%q, %v", got, err)
	}
}

// A workbook that is hostile, or none, ends in an error or a row that cannot be read, soon and in
// little memory.
func TestSheetHostile(t *testing.T) {
	wide := strings.Repeat("<c><v>1</v></c>", 1_000_000)
	got, err := cellsOf(t, ".xlsx", sheetOf(t, "<row>"+wide+"</row><row><c/><c><v>7</v></c></row>"),
		schema.CSV{}, 2)
	if err != nil || len(got) != 3 || got[2][1] != "7" {
		t.Errorf("a million cells: %d rows, %v", len(got), err)
	}
	long := `<row><c t="str"><v>` + noughts(60<<20) + `</v></c></row><row><c/><c><v>7</v></c></row>`
	got, err = cellsOf(t, ".xlsx", sheetOf(t, long), schema.CSV{}, 2)
	if err != nil || got[2][1] != "7" {
		t.Errorf("a long cell: %d rows, %v", len(got), err)
	}
	text := strings.Repeat("z", 1<<20)
	many := "<row>" + strings.Repeat(`<c t="s"><v>0</v></c>`, sheetColumns) + "</row>"
	amplified := changed(t, sheetOf(t, many+many+"<row><c/><c><v>7</v></c></row>"),
		func(parts map[string]string) {
			parts["xl/sharedStrings.xml"] = "<sst><si><t>" + text + "</t></si></sst>"
		})
	if got, err = cellsOf(t, ".xlsx", amplified, schema.CSV{}, 2); err != nil || got[3][1] != "7" {
		t.Errorf("one text in many cells: %d rows, %v", len(got), err)
	}
	deep := sheetOf(t, strings.Repeat("<a>", 1_000_000))
	stattest.Check(t, stattest.Err(cellsOf(t, ".xlsx", deep, schema.CSV{}, 2)))
	good := bookOf(t, [][]any{{"a", "b"}, {1, 2}}, nil)
	for name, want := range map[string]error{
		"_rels/.rels": nil, "xl/styles.xml": errWorkbook, "xl/workbook.xml": errWorkbook,
		"xl/_rels/workbook.xml.rels": errWorkbook, "xl/worksheets/sheet1.xml": errWorkbook,
	} {
		without := changed(t, good, func(parts map[string]string) { delete(parts, name) })
		if err := stattest.Err(cellsOf(t, ".xlsx", without, schema.CSV{}, 0)); !errors.Is(err, want) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	for n := 0; n < len(good); n += 61 {
		if err := stattest.Err(cellsOf(t, ".xlsx", good[:n], schema.CSV{}, 0)); err == nil {
			t.Fatalf("cut at %d of %d", n, len(good))
		}
	}
	_, err = cellsOf(t, ".xlsx", []byte("\xd0\xcf\x11\xe0old"), schema.CSV{}, 0)
	stattest.Wraps(t, err, errLocked, "an old one")
	s := &sheet{left: 10, most: 100, cells: []string{noughts(20)}}
	stattest.Wraps(t, s.put(20), errPackedBomb, "more than may be given")
}

// FuzzSheet: whatever is in a cell, of whatever type and style, its row is one and changes no
// other; any workbook ends in a table or an error.
func FuzzSheet(f *testing.F) {
	for _, tt := range [][3]string{{"s", "", "1"}, {"", "1", "44197.5"}, {"inlineStr", "", "a<b"},
		{"e", "", "#N/A"}, {"", "-1", "-1e-300"}, {"str", "x", "_xD800_\""}, {"b", "", "\x00\xff"},
		{"d", "0", "]]>\r\n"}, {"str", "0", "\"\xfe\xfd\xfb"}} {
		f.Add(tt[0], tt[1], tt[2], []byte("PK"))
	}
	f.Add("n", "", "5", bookOf(f, [][]any{{"a"}, {1}}, nil))
	f.Fuzz(func(t *testing.T, kind, style, value string, book []byte) {
		cellsOf(t, ".xlsx", book, schema.CSV{HeaderLine: 1}, 1)
		escaped := func(text string) string {
			var b strings.Builder
			stattest.Check(t, xml.EscapeText(&b, []byte(text)))
			return b.String()
		}
		const last = `<row><c><v>5</v></c><c t="s"><v>1</v></c></row>`
		cell := fmt.Sprintf(`<c t="%s" s="%s"><v>%s</v><is><t>%[3]s</t></is></c>`, escaped(kind),
			escaped(style), escaped(value))
		got, err := cellsOf(t, ".xlsx", sheetOf(t, last+"<row>"+cell+"</row>"+last), schema.CSV{}, 2)
		n := len(got)
		if err != nil || n < 3 || n > 4 || !slices.Equal(got[1], []string{"5", "two"}) ||
			!slices.Equal(got[n-1], got[1]) {
			t.Fatalf("%q: %q, %v", cell, got, err)
		}
	})
}
