package schema

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decoy-dp/decoy/internal/stattest"
)

var update = flag.Bool("update", false, "write the errors of testdata/*.bad.yaml into the files")

// Each bad file starts with the error it must give, a line a problem.
func TestParseBad(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.bad.yaml")
	if len(paths) < 20 {
		t.Fatalf("found %d files", len(paths))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			check(t, err)
			var want []string
			for line := range strings.Lines(string(data)) {
				if text, ok := strings.CutPrefix(line, "# want: "); ok {
					want = append(want, strings.TrimSuffix(text, "\n"))
				}
			}
			_, err = Parse(data)
			if err == nil || !errors.Is(err, ErrInvalid) {
				t.Fatalf("got %v, want an error that wraps ErrInvalid", err)
			}
			got := strings.Split(err.Error(), "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				if *update {
					body := strings.SplitAfter(string(data), "\n")[len(want):]
					text := "# want: " + strings.Join(got, "\n# want: ") + "\n" + strings.Join(body, "")
					check(t, os.WriteFile(path, []byte(text), 0o666))
				}
				t.Errorf("errors differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseGood(t *testing.T) {
	sizes := map[string][]int{
		"icu":       {24, 33, 20, 4, 3, 2, 3, 33, 2, 144},
		"literal":   {13},
		"minimal":   {1},
		"noheader":  {2, 32},
		"relations": {32, 33, 10, 32, 2, 3, 20, 2, 3, 4, 4, 10},
	}
	for name, want := range sizes {
		t.Run(name, func(t *testing.T) {
			s := stattest.Must(Load("testdata/" + name + ".good.yaml"))
			if diff := cmp.Diff(want, s.Sizes()); diff != "" {
				t.Errorf("sizes (-want +got):\n%s", diff)
			}
			codecs := stattest.Must(s.Codecs())
			for i, c := range codecs {
				if c.Size() != want[i] {
					t.Errorf("column %d: codec has %d codes, Sizes says %d", i, c.Size(), want[i])
				}
				parsed := s.Columns[i]
				if parsed.Bins == 0 && c.Size() >= defaultBins {
					parsed.Bins = defaultBins // that nobody says so is kept
				}
				if diff := cmp.Diff(parsed, c.Column()); diff != "" {
					t.Errorf("column %d: defaults not filled in by Parse (-parsed +codec):\n%s", i, diff)
				}
			}
			checkIdentity(t, s)
		})
	}
}

// checkIdentity checks that Parse gives back what YAML writes.
func checkIdentity(t interface{ Fatalf(string, ...any) }, s *Schema) {
	text, err := s.YAML()
	if err != nil {
		t.Fatalf("YAML: %v", err)
	}
	again, err := Parse(text)
	if err != nil {
		t.Fatalf("Parse(YAML()): %v\n%s", err, text)
	}
	if diff := cmp.Diff(s.filled(), again); diff != "" {
		t.Fatalf("Parse(YAML()) differs (-want +got):\n%s", diff)
	}
	if again.Fingerprint() != s.Fingerprint() {
		t.Fatalf("fingerprint differs")
	}
}

func TestParseLiteralScalars(t *testing.T) {
	s := stattest.Must(Load("testdata/literal.good.yaml"))
	want := []string{"no", "1.0", "0x10", "null", "~", "1e3", "2001-01-01", ".nan", "", "it's",
		"tab\there", "=", "007"}
	if diff := cmp.Diff(want, s.Columns[0].Categories); diff != "" {
		t.Errorf("categories (-want +got):\n%s", diff)
	}
}

// checkForm compares the canonical form of a schema with a file, which -update writes.
func checkForm(t *testing.T, s *Schema, path string) {
	t.Helper()
	got := stattest.Must(s.YAML())
	if *update {
		check(t, os.WriteFile(path, got, 0o666))
	}
	want := stattest.Must(os.ReadFile(path))
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// The text of a canonical schema, and so its fingerprint, must never change:
// ledgers and models carry it.
func TestCanonicalForm(t *testing.T) {
	s := stattest.Must(Load("testdata/icu.good.yaml"))
	checkForm(t, s, "testdata/icu.canonical.yaml")
	const fingerprint = "09904f40ec85295261fb888ea81bc951921fac118f3e375ad8258bb422811b75"
	if got := s.Fingerprint(); got != fingerprint {
		t.Errorf("fingerprint is %s, want %s", got, fingerprint)
	}
}

// Two ways of writing one schema have one fingerprint; two schemas have two.
func TestFingerprint(t *testing.T) {
	parse := func(columns string) string {
		s := stattest.Must(Parse([]byte("decoy: 1\ncolumns: [" + columns + "]")))
		return s.Fingerprint()
	}
	same := []string{
		"{name: x, kind: integer, min: 0, max: 1000}",
		"{max: 1e3, min: -0, name: 'x', kind: integer, bins: {count: 32}, missing: []}",
		"{name: x, kind: integer, min: 0.0, max: 1000, bins: 32, on_invalid: refuse}",
	}
	for _, text := range same[1:] {
		if parse(text) != parse(same[0]) {
			t.Errorf("%s and %s differ", text, same[0])
		}
	}
	seen := map[string]string{}
	for _, text := range []string{
		same[0],
		"{name: y, kind: integer, min: 0, max: 1000}",
		"{name: x, kind: real, min: 0, max: 1000}",
		"{name: x, kind: integer, min: 1, max: 1000}",
		"{name: x, kind: integer, min: 0, max: 1001}",
		"{name: x, kind: integer, min: 0, max: 1000, bins: 31}",
		"{name: x, kind: integer, min: 0, max: 1000, bins: {spacing: log}}",
		"{name: x, kind: integer, min: 0, max: 1000, missing: ['']}",
		"{name: x, kind: integer, min: 0, max: 1000, on_invalid: clamp}",
		"{name: x, kind: integer, edges: [0, 1000]}",
		"{name: x, kind: real, edges: [0, 1000]}",
		"{name: x, kind: real, min: 0, max: 1000, decimals: 1}",
		"{name: x, kind: categorical, categories: [a, b]}",
		"{name: x, kind: categorical, categories: [b, a]}",
		"{name: x, kind: categorical, categories: [b, a], on_invalid: other, other: a}",
		"{name: x, kind: boolean}",
	} {
		f := parse(text)
		if other, ok := seen[f]; ok {
			t.Errorf("%s and %s have one fingerprint", text, other)
		}
		seen[f] = text
	}
}

// The key lenient is part of the form and the fingerprint, but only where it is
// set.
func TestLenientKey(t *testing.T) {
	parse := func(key string) *Schema {
		s := stattest.Must(Parse([]byte("decoy: 1\n" + key + "columns: [{name: x, kind: boolean}]")))
		return s
	}
	strict, off, on := parse(""), parse("lenient: false\n"), parse("lenient: true\n")
	if strict.Lenient || off.Lenient || !on.Lenient {
		t.Errorf("lenient: %t, %t, %t", strict.Lenient, off.Lenient, on.Lenient)
	}
	if strict.Fingerprint() != off.Fingerprint() || strict.Fingerprint() == on.Fingerprint() {
		t.Error("fingerprints are not those of the meaning")
	}
	text := stattest.Must(on.YAML())
	if back, err := Parse(text); err != nil || !back.Lenient {
		t.Errorf("%s is read as another schema: %v", text, err)
	}
	stattest.Wraps(t, stattest.Err(strict.Groups(on)), ErrInvalid,
		"groups of a lenient and a strict schema")
	for _, bad := range []string{"yes", "1", "[]", "\"\""} {
		_, err := Parse([]byte("decoy: 1\nlenient: " + bad + "\ncolumns: [{name: x, kind: boolean}]"))
		if want := "schema: line 2: lenient: must be true or false"; err == nil || err.Error() != want {
			t.Errorf("lenient: %s: got %v, want %s", bad, err, want)
		}
	}
}

func TestParseReportsAtMost(t *testing.T) {
	text := "decoy: 1\ncolumns:\n" + strings.Repeat("  - {name: x, kind: boolean}\n", 1000)
	_, err := Parse([]byte(text))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxProblems+1 || lines[maxProblems] != "schema: and 949 more problems" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// One duplicate in a long list is found with its line, and a longer list is refused.
func TestParseManyCategories(t *testing.T) {
	head := "decoy: 1\ncolumns:\n  - name: code\n    kind: categorical\n    categories:\n"
	for more, want := range map[string]string{
		"      - 7\n": `schema: line 50006: column "code": category "7" is there twice: as number 8 ` +
			`and number 50001`,
		strings.Repeat("      - x\n", 15_537): `schema: line 6: column "code": 65537 categories (and a ` +
			`missing one, if there is one) are more than 65536`,
	} {
		_, err := Parse([]byte(head + "      - " + strings.Join(texts(50_000), "\n      - ") + "\n" +
			more))
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	}
}

func TestLoadMissingFile(t *testing.T) {
	stattest.Wraps(t, stattest.Err(Load("testdata/private.csv")), ErrInvalid, "a table for a schema")
	stattest.Wraps(t, stattest.Err(Load("testdata/nothing.yaml")), os.ErrNotExist, "")
}

// FuzzParse: no panic, every error wraps ErrInvalid, and what is accepted is
// valid and survives being written and read.
func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.yaml")
	for _, path := range paths {
		data := stattest.Must(os.ReadFile(path))
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			if s != nil || !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), "schema: ") {
				t.Fatalf("error %v", err)
			}
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("Parse accepts what Validate refuses: %v", err)
		}
		checkIdentity(t, s)
	})
}

// The file in the package comment is a valid one.
func TestDocumentedFile(t *testing.T) {
	source := stattest.Must(os.ReadFile("doc.go"))
	var text strings.Builder
	for line := range strings.Lines(string(source)) {
		if code, ok := strings.CutPrefix(line, "//\t"); ok {
			text.WriteString(code)
		}
	}
	s := stattest.Must(Parse([]byte(text.String())))
	if diff := cmp.Diff([]int{25, 4, 1024, 3, 2, 32, 91}, s.Sizes()); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
}
