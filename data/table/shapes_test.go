package table

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// shapeSchema has two numbers, whose cells are empty where nobody can read them.
const shapeSchema = "decoy: 1\nlenient: true\ncsv: {comma: \";\"}\ncolumns:\n" +
	"  - {name: a, kind: integer, min: 0, max: 9, missing: [\"\"]}\n" +
	"  - {name: b, kind: integer, min: 0, max: 9, missing: [\"\"]}\n"

// TestShapes: what programs write around a table is no part of it: a line that names the separator,
// row numbers without a name, a separator at the end of each line, title lines, comments, blanks, a
// footer, line ends of other systems. A row without them is a row too, or one that cannot be read,
// by that row alone.
func TestShapes(t *testing.T) {
	s := stattest.Must(schema.Parse([]byte(shapeSchema)))
	for text, want := range map[string][]uint8{
		"a;b\n1;2\n3;4\n":                       {1, 3},
		"sep=;\na;b\n1;2\n3;4\n":                {1, 3},
		"\ufeffsep=;\r\na;b\r\n1;2\r\n3;4\r\n":  {1, 3},
		"a;b;\n1;2;\n3;4;\n":                    {1, 3},
		"a;b\n1;2;\n3;4;\n":                     {1, 3},
		"a;b;\n1;2\n3;4;\n":                     {1, 3},
		"a;b;\n1;2;5\n3;4;\n":                   {10, 3},
		"\"\";a;b\n0;1;2\n1;3;4\n":              {1, 3},
		";a;b\n7\n1;3;4\n":                      {10, 3},
		";a;b;\n0;1;2;\n\n1;3;4;\n":             {1, 3},
		"\n\na;b\n1;2\n3;4\n":                   {1, 3},
		"# of 2 May\n#\n\na;b\n1;2\n3;4\n":      {1, 3},
		"# one, two\na;b\n1;2\n":                nil,
		"a;b\n1;2\n3;4\nTotal\nSource: x;y;z\n": {1, 3, 10, 10},
		"a; b\n1; 2\n 3 ;\"4\"\n":               {1, 3},
		"a;b\r1;2\r3;4\r":                       {1, 3},
		"a;b\r1;2\r3;4":                         {1, 3},
		"\"a\";\"b\"\r1;2\r\r3;4":               {1, 3},
		"a;a\n1;2\n":                            nil,
	} {
		rows, _, err := ReadCSV(context.Background(), strings.NewReader(text), -1, s, ReadOptions{})
		if err != nil != (want == nil) || err == nil && !slices.Equal(rows.Column(0).U8, want) {
			t.Errorf("%q: %v, want %v, %v", text, rows, want, err)
		}
	}
}

// TestHeaderLine: where a line is said, the header is there; a schema finds it up to there, by its
// names, as in synthetic rows.
func TestHeaderLine(t *testing.T) {
	s := stattest.Must(schema.Parse([]byte(shapeSchema)))
	s.CSV.HeaderLine = 3
	for text, want := range map[string][]uint8{
		"Sales; of May\n\na;b\n1;2\n": {1},
		"Sales\na;b\n1;2\n":           {1},
		"a;b\n1;2\n3;4\n":             {1, 3},
		"x\ny\nz\na;b\n1;2\n":         nil,
	} {
		rows, _, err := ReadCSV(context.Background(), strings.NewReader(text), -1, s, ReadOptions{})
		if err != nil != (want == nil) || err == nil && !slices.Equal(rows.Column(0).U8, want) {
			t.Errorf("%q: %v, want %v, %v", text, rows, want, err)
		}
	}
	path := fileOf(t, ".csv", []byte("Sales; of May\n\na;b\n1;2\n"))
	names, _, err := Header(path, schema.CSV{Comma: ';', HeaderLine: 3})
	if err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%q, %v", names, err)
	}
	_, _, err = Header(fileOf(t, ".csv", []byte("# by hand\nsales\n1\n")), schema.CSV{})
	stattest.Wraps(t, err, errTitles, "one name below a comment")
}

// TestEncodings: a table is read, and written, in its encoding; its header shows which, if it can.
func TestEncodings(t *testing.T) {
	const file = "decoy: 1\nlenient: true\ncolumns:\n  - {name: größe, kind: categorical, " +
		"categories: [é, ü], missing: [-]}\n"
	const text = "größe\r\né\r\nü\r\nü\r\n"
	for _, name := range []string{"latin1", "windows-1252", "utf-16le", "utf-16be", "utf-8"} {
		s := stattest.Must(schema.Parse([]byte(file)))
		s.CSV.Encoding, s.CSV.CRLF = name, true
		data := []byte(text)
		if e := stattest.Must(s.CSV.Text()); e != nil {
			data = stattest.Must(e.NewEncoder().Bytes(data))
		}
		if mark, is := map[string]string{"utf-16le": "\xff\xfe", "utf-16be": "\xfe\xff"}[name]; is {
			data = append([]byte(mark), data...)
			_, found, err := Header(fileOf(t, ".csv", data), schema.CSV{})
			if err != nil || found.Encoding != name || !found.CRLF || found.Quoted {
				t.Errorf("%s: %+v, %v", name, found, err)
			}
		} else if _, _, err := Header(fileOf(t, ".csv", data), schema.CSV{}); err == nil &&
			name[0] != 'u' {
			t.Errorf("%s: no error where it is not said", name)
		}
		rows, _, err := Read(t.Context(), fileOf(t, ".csv", data), s, ReadOptions{})
		if err != nil || !slices.Equal(rows.Column(0).U8, []uint8{0, 1, 1}) {
			t.Fatalf("%s: %v, %v", name, rows, err)
		}
		var out bytes.Buffer
		w := stattest.Must(NewWriter(&out, CSV, s, nil, WriterOptions{}))
		stattest.Check(t, w.Write(rows))
		stattest.Check(t, w.Close())
		if want := string(data); out.String() != want {
			t.Errorf("%s: %q, want %q", name, out.String(), want)
		}
	}
}

// TestAsTheInput: what the header shows of a file is how a table is written.
func TestAsTheInput(t *testing.T) {
	for text, want := range map[string]schema.CSV{
		"\"a\",\"b\"\r\n1,2\n": {Comma: ',', Quoted: true, CRLF: true},
		"\"a\",b\n\"1\",2\n":   {Comma: ','},
		"a,b\r1,2\n":           {Comma: ','},
	} {
		path := fileOf(t, ".csv", []byte(text))
		_, found, err := Header(path, schema.CSV{Comma: ','})
		if err != nil || found != want {
			t.Errorf("%q: %+v, want %+v, %v", text, found, want, err)
		}
		stattest.Check(t, os.Remove(path))
	}
	s := stattest.Must(schema.Parse([]byte(shapeSchema)))
	s.CSV.Quoted, s.CSV.CRLF = true, true
	const text = "\"a\";\"b\"\r\n\"1\";\"\"\r\n"
	rows, _, err := ReadCSV(t.Context(), strings.NewReader(text), -1, s, ReadOptions{})
	stattest.Check(t, err)
	var out bytes.Buffer
	w := stattest.Must(NewWriter(&out, CSV, s, rand.New(rand.NewPCG(1, 2)), WriterOptions{}))
	stattest.Check(t, w.Write(rows))
	stattest.Check(t, w.Close())
	if out.String() != text {
		t.Errorf("%q, want %q", out.String(), text)
	}
}
