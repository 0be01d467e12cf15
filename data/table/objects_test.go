package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// cellsOf are the names and the cells of a file, read strictly, or leniently where it has so many
// columns.
func cellsOf(
	t testing.TB, ext string, data []byte, csv schema.CSV, lenient int,
) ([][]string, error) {
	t.Helper()
	path := fileOf(t, ext, data)
	names, csv, err := Header(path, csv)
	out := [][]string{names}
	if err != nil {
		return nil, err
	}
	o := ScanOptions{CSV: csv, Lenient: lenient > 0, Columns: lenient}
	err = ScanText(path, o, func(_, row []string) error {
		out = append(out, slices.Clone(row))
		return nil
	})
	return out, err
}

// What a line of JSON is as a row: keys in any order, more and fewer of them, every kind of value.
func TestObjects(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     [][]string
	}{
		{"values", `{"a":1,"b":"x","c":true,"d":null,"e":-1.50e3}` + "\n" +
			`{"a":12345678901234567890,"b":"é\n\"q\",\u0041","c":false,"d":"","e":0}`,
			[][]string{{"a", "b", "c", "d", "e"}, {"1", "x", "true", "", "-1.50e3"},
				{"12345678901234567890", "é\n\"q\",A", "false", "", "0"}}},
		{"order, more and fewer keys", `{"a":1,"b":2}` + "\n" + `{"b":4,"z":9,"a":3}` + "\n{}\n" +
			`{"b":6}` + "\n" + `{"a":7,"a":8}`,
			[][]string{{"a", "b"}, {"1", "2"}, {"3", "4"}, {"", ""}, {"", "6"}, {"8", ""}}},
		{"mark, CRLF, blank lines", mark + "\r\n"[:0] + `{"a":"x"}` + "\r\n\r\n  \r\n" + `{"a":null}` +
			"\r\n" + `{"a":"\r\n"}`, [][]string{{"a"}, {"x"}, {""}, {"\r\n"}}},
		{"blank lines first", "\n \n" + `{"a":1}`, [][]string{{"a"}, {"1"}}},
		{"cells that mean something in CSV", `{"#a":"#","b":" x"}` + "\n" + `{"#a":"\"","b":"\"a\",b"}` +
			"\n" + `{"#a":",","b":"\n,"}`,
			[][]string{{"#a", "b"}, {"#", " x"}, {`"`, `"a",b`}, {",", "\n,"}}},
		{"names of several lines", `{"a\nb":1," c":2}`, [][]string{{"a b", " c"}, {"1", "2"}}},
		{"a name twice", `{"a":1,"a":2,"b":3}`, [][]string{{"a", "b"}, {"2", "3"}}},
		{"UTF-16", "\xff\xfe" + strings.Join(strings.Split("{\"a\":1}\n", ""), "\x00") + "\x00",
			[][]string{{"a"}, {"1"}}},
	} {
		got, err := cellsOf(t, ".jsonl", []byte(tt.in), schema.CSV{}, 0)
		if err != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		again, err := cellsOf(t, ".NDJSON.gz", packed(t, tt.in), schema.CSV{HeaderLine: 3}, 0)
		if err != nil || !cmp.Equal(got, again) {
			t.Errorf("%s, packed: %q, %v", tt.name, again, err)
		}
	}
}

// A line that cannot be read is an error of its number in a strict file, and a row that cannot be
// read in a lenient one.
func TestObjectsThatAreNone(t *testing.T) {
	for line, want := range map[string]string{
		`{"a":1`:                           "line 3: the line is no JSON object",
		`{"a":1}}`:                         "line 3: the line is no JSON object",
		`{"a":1}{"a":2}`:                   "line 3: the line is no JSON object",
		`[1,2]`:                            "line 3: the line is no JSON object",
		`null`:                             "line 3: the line is no JSON object",
		`{"a":tru}`:                        "line 3: the line is no JSON object",
		strings.Repeat("[", 1<<20):         "line 3: the line is no JSON object",
		`{"a":[1]}`:                        "line 3, column 1: neither a text in UTF-8 nor a number",
		`{"b":{"c":1}}`:                    "line 3, column 2: neither a text in UTF-8 nor a number",
		"{\"b\":\"\xff\"}":                 "line 3, column 2: neither a text in UTF-8 nor a number",
		`{"a":"\u0000"}`:                   "line 3, column 1: a NUL byte",
		`{"a":"` + noughts(2<<20) + `"}`:   "line 3, column 1: a cell of more than 1048576 bytes",
		`{"a":"` + noughts(17<<20) + `"}`:  "line 3: the line is no JSON object, or the row is too long",
		"{\"b\":1}\xff" + noughts(100<<10): "line 3: the line is no JSON object",
	} {
		in := []byte(`{"a":1,"b":2}` + "\n\n" + line + "\n" + `{"a":3,"b":4}`)
		_, err := cellsOf(t, ".jsonl", in, schema.CSV{}, 0)
		if !errors.Is(err, schema.ErrSchema) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", line, err)
		}
		got, err := cellsOf(t, ".jsonl", in, schema.CSV{}, 2)
		if err != nil || len(got) != 4 || !slices.Equal(got[3], []string{"3", "4"}) {
			t.Errorf("%.40q: %d rows, %v", line, len(got), err)
		}
	}
	for _, first := range []string{"", "[]", "{}", "1", `{"a":1`, "\n\n", `[{"a":1}]`, noughts(1 << 10),
		strings.Repeat("\n", 2*mostAbove), noughts(2 * mostFirst)} {
		_, _, err := Header(fileOf(t, ".jsonl", []byte(first+"\n{\"a\":1}")), schema.CSV{})
		if first == "" || first == "\n\n" {
			stattest.Check(t, err)
			continue
		}
		stattest.Wraps(t, err, errNoObjects, "%.40q", first)
	}
	stattest.Wraps(t, stattest.Err(cellsOf(t, ".jsonl", nil, schema.CSV{}, 0)), errEmptyFile, "empty")
}

func noughts(n int) string { return strings.Repeat("0", n) }

// No byte behind the first object is read for its names.
func TestObjectsReadNoRow(t *testing.T) {
	long := newObjects(strings.NewReader(`{"a":"`+noughts(100)+`"}`), 50)
	stattest.Wraps(t, stattest.Err(io.ReadAll(long)), errNoObjects, "a long first line")
	first := "\n" + `{"a":1,"b":2}` + "\n"
	in := strings.NewReader(first + `{"a":3,"b":4}`)
	o := newObjects(in, 1<<20)
	n, err := io.ReadFull(o, make([]byte, len("a?b\n")))
	if err != nil || in.Len() != len(`{"a":3,"b":4}`) {
		t.Errorf("%d bytes, %v, %d left", n, err, in.Len())
	}
}

// objectRow is a good row of lenientRows as JSON, or another line as it is.
func objectRow(s *schema.Schema, row string) string {
	if bad, is := strings.CutPrefix(row, "\x01"); is {
		return bad
	}
	names, out := []string{"a", "n", "r", "o"}, map[string]string{"note": "text"}
	if s.Unit != "" {
		names = append([]string{"id"}, names...)
	}
	for i, cell := range strings.Split(row, ",") {
		out[names[i]] = strings.Trim(cell, `"`)
	}
	return string(stattest.Must(json.Marshal(out)))
}

// objectsNeighbour checks that a line among good ones changes no other row.
func objectsNeighbour(t testing.TB, unit bool, line string, at int) error {
	s, rows := lenientSchema(unit, true), lenientRows(unit)
	var all []string
	for _, row := range rows {
		all = append(all, objectRow(s, row))
	}
	read := func(lines []string) *Table {
		f := opened{format: Objects, text: strings.NewReader(strings.Join(lines, "\n")), size: -1}
		out, _, err := f.table(t.Context(), s, ReadOptions{maxCell: 32, workers: 1 + at%3, block: 16})
		if err != nil {
			t.Fatalf("%q: %v", lines, err)
		}
		return out
	}
	at = 1 + at%len(rows)
	return checkNeighbour(read(all), read(slices.Insert(slices.Clone(all), at, line)), at,
		1+strings.Count(line, "\n"))
}

// FuzzObjects: any line among others, in blocks of any size, is a row at most and changes no other;
// what encoding/json takes as a flat object is read as that has it.
func FuzzObjects(f *testing.F) {
	for _, line := range []string{`{"a":"x","n":1}`, `{"a":"\n\",","n":[1]}`, `{"a":`, "", "\xff", `"`,
		"{\"a\":\"\xfe\xfd\"}", `{"id":"p1","a":"y","n":2,"r":"NA","o":{}}`, `{"a":1}{}`, "\xef\xbb\xbf{}",
		`{"id":"p9","r":1e400,"n":-0.0}`, `{"a":"` + noughts(600) + `"}`} {
		f.Add([]byte(line), uint8(len(line)))
	}
	f.Fuzz(func(t *testing.T, line []byte, at uint8) {
		for _, unit := range []bool{false, true} {
			stattest.Passes(t, objectsNeighbour(t, unit, string(line), int(at)), "%q at %d", line, at)
		}
		var want map[string]any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if d.Decode(&want) != nil || len(want) == 0 || bytes.ContainsAny(line, "\n\r") || d.More() {
			return
		}
		for name, value := range want {
			head := stattest.Must(json.Marshal(map[string]int{name: 1, name + "'": 2}))
			in := append(append(head, '\n'), line...)
			got, err := cellsOf(t, ".jsonl", in, schema.CSV{}, 0)
			cell := fmt.Sprint(value)
			switch value.(type) {
			case map[string]any, []any:
				continue
			case nil:
				cell = ""
			}
			if err == nil && len(got) == 3 && got[0][0] == name && got[2][0] != cell {
				t.Fatalf("%q: %q, want %q", line, got, cell)
			}
		}
	})
}
