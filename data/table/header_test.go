package table

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestHeader(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		stattest.Check(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	path := write("a.csv", "\xef\xbb\xbfage;\"se;x\"\n1;2;this row has too many cells\n")
	got, _, err := Header(path, schema.CSV{Comma: ';'})
	if err != nil || !slices.Equal(got, []string{"age", "se;x"}) {
		t.Errorf("%q, %v", got, err)
	}
	for name, text := range map[string]string{"empty.csv": "", "blank.csv": "\n1\n",
		"nul.csv": "sec\x00ret\n", "a.txt": "a\n", "bad.parquet": "secret"} {
		_, _, err := Header(write(name, text), schema.CSV{})
		if err == nil || strings.Contains(err.Error(),
			"secret") || strings.Contains(err.Error(), `sec"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err = Header(filepath.Join(dir, "none.csv"), schema.CSV{})
	stattest.Fails(t, err, "no file: no error")
	_, _, err = Header(write("b.csv", "a\n"), schema.CSV{Comma: '"'})
	stattest.Fails(t, err, "a quote as comma: no error")
}

// TestHeaderBeforeRows: what a schema needs of the first line is known without a row, and the error
// does not show the line.
func TestHeaderBeforeRows(t *testing.T) {
	s := stattest.Must(schema.Parse([]byte("decoy: 1\ncolumns:\n" +
		"  - {name: Age, kind: integer, min: 0, max: 9}\n  - {name: sex, kind: boolean}\n")))
	for text, want := range map[string]string{
		"Age,sex\nrows,that,cannot,be,read\n": "",
		"sex,more,Age\n":                      "",
		"age ,sex,secret\n": `no column "Age" (it has one that differs in upper and lower case or ` +
			`spaces alone)`,
		"Aged,sex,secret\n": `no column "Age": `,
		"secret\n":          "none of the schema's columns",
		"Age,sex,Age\n":     "both have the name",
		"":                  "the file is empty",
	} {
		path := fileOf(t, ".csv", []byte(text))
		err := headerOf(t, path, s)
		if want == "" && err != nil || want != "" && (err == nil ||
			!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		s.CSV.NoHeader = true
		stattest.Passes(t, headerOf(t, path, s), "%q, of rows alone", text)
		s.CSV.NoHeader = false
	}
}

// headerOf reads a private file until its rows begin.
func headerOf(t *testing.T, path string, s *schema.Schema) error {
	begun := errors.New("the rows begin")
	_, _, err := Read(t.Context(), path, s.ForPrivate(), ReadOptions{Begin: func() error {
		return begun
	}})
	if err == begun {
		return nil
	}
	return err
}

// TestHeaderAlone: behind the header nothing is read before the rows may be.
func TestHeaderIsOneLine(t *testing.T) {
	s := oneColumn("a", schema.Integer, 0, 9).ForPrivate()
	for in, want := range map[string]error{
		"a\r1\r2\r":            nil,
		"a,b\rsecret,2\r1,2":   nil,
		"a,b\"\rsecret,2\n1,2": errLoneCR,
		"a,\"b\nc\"\n1,2\n":    errOpenQuote,
		"\"a,b\n1,2\n":         errOpenQuote,
		"a,\"\"\"b\"\"\"\r\n":  nil,
		"\"a\",b\"c\n":         nil,
	} {
		begun := false
		_, _, err := ReadCSV(t.Context(), strings.NewReader(in), -1, s,
			ReadOptions{Begin: func() error { begun = true; return nil }})
		if !errors.Is(err, want) || begun != (want == nil) ||
			err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: begun %v, %v", in, begun, err)
		}
	}
}

func TestHeaderAlone(t *testing.T) {
	in := strings.NewReader("a,b\n1,2\n")
	s := oneColumn("a", schema.Integer, 0, 9).ForPrivate()
	left := 0
	_, _, err := ReadCSV(t.Context(), in, -1, s, ReadOptions{Begin: func() error {
		left = in.Len()
		return nil
	}})
	if err != nil || left != len("1,2\n") {
		t.Errorf("%d bytes are left: %v", left, err)
	}
}
