package schema

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func partial(t *testing.T, columns string) (*Partial, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.yaml")
	check(t, os.WriteFile(path, []byte("decoy: 1\ncolumns:\n"+columns), 0o600))
	if _, err := Load(path); err == nil {
		t.Errorf("%s: an open schema is taken for a complete one", columns)
	} else if p, failed := LoadPartial(path); failed == nil && (len(p.Columns) == 0 ||
		!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "schema infer")) {
		t.Errorf("the error does not say what to do: %v", err)
	}
	return LoadPartial(path)
}

// TestPartial: a key without a value is open, and what is known beside it is kept.
func TestPartial(t *testing.T) {
	p, err := partial(t, `
  - {name: any, kind: }
  - {name: label, kind: categorical, categories: [negative, positive]}
  - {name: fee, kind: real, min: , max: , missing: [NA, "99"], decimals: 2, bins: 12}
  - {name: born, kind: date, format: 02/01/2006, min: , max: }
  - {name: seen, kind: timestamp, edges: }
  - {name: left, kind: timestamp, format: "2006-01-02 15h", min: , max: }
  - name: ward
    kind: categorical
    categories:
  - {name: dead, kind: boolean, categories: }
`)
	check(t, err)
	want := []bool{true, false, true, true, true, true, true, true}
	if !slices.Equal(p.Open, want) {
		t.Errorf("open %v, want %v", p.Open, want)
	}
	if c := p.Columns[2]; c.Kind != Real || !slices.Equal(c.Missing, []string{"NA", "99"}) ||
		c.Decimals != 2 || c.Max != 0 {
		t.Errorf("fee: %+v", c)
	}
	if c := p.Columns[3]; c.Format != "02/01/2006" {
		t.Errorf("born: %+v", c)
	}
}

func TestPartialRefuses(t *testing.T) {
	for columns, want := range map[string]string{
		"  - {name: , kind: }\n":                                      "name",
		"  - {name: a, categories: }\n":                               "needs a kind",
		"  - {name: a, kind: real, min: 3, max: }\n":                  "none of them",
		"  - {name: a, kind: , min: 3}\n":                             "min",
		"  - {name: a, kind: real, min: , max: , categories: [x]}\n":  "categories",
		"  - {name: a, kind: date, format: , min: , max: }\n":         "format",
		"  - {name: a, kind: }\n  - {name: a, kind: }\n":              "name is that of",
		"  - {name: a, kind: categorical, categories: , missing: }\n": "missing",
		"  - {name: a, kind: real, min: \"\", max: 3}\n":              "min",
	} {
		_, err := partial(t, columns)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", columns, err, want)
		}
	}
}
