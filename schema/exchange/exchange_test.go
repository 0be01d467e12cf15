package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/schema"
)

func load(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	check(t, err)
	return b
}

// complete reports whether nothing is open.
func complete(d *Draft) bool {
	return !slices.ContainsFunc(d.Columns, func(c Column) bool { return c.Open != "" })
}

// FuzzImport: no panic, and what is complete is a schema.
func FuzzImport(f *testing.F) {
	for _, name := range []string{"mbi.json", "dpsynth.yaml", "sdv.json", "sdv_tables.json",
		"csvw.json", "croissant.json", "row.schema.json"} {
		f.Add(load(f, name), "")
	}
	f.Add(load(f, "frictionless.json"), "stays")
	f.Add([]byte("a: &x {possible_values: [1]}\nb: *x\n"), "")
	f.Add([]byte(`{"columns": {"a\u2028": {"sdtype": "datetime", "datetime_format": "%Q\n"}}}`), "")
	f.Fuzz(func(t *testing.T, data []byte, table string) {
		for _, format := range Formats() {
			d, err := Import(format, data, table)
			if err != nil {
				if !errors.Is(err, schema.ErrInvalid) {
					t.Fatalf("%s: %v", format, err)
				}
				continue
			}
			yaml, err := d.YAML()
			if err != nil {
				continue
			}
			if _, err := schema.Parse(yaml); (err == nil) != complete(d) {
				t.Fatalf("%s: complete %v, but %v\n%s", format, complete(d), err, yaml)
			}
		}
	})
}

const everything = `decoy: 1
columns:
  - {name: z, kind: integer, min: -3, max: 9, missing: [""]}
  - {name: a, kind: real, min: 0, max: 1.5}
  - {name: c, kind: categorical, categories: [x, "y\"z"], missing: [NA]}
  - {name: b, kind: boolean}
  - {name: d, kind: boolean, categories: [alive, dead]}
  - {name: e, kind: date, min: 2001-01-01, max: 2001-12-31}
  - {name: f, kind: timestamp, min: 2001-01-01T00:00:00Z, max: 2001-12-31T00:00:00Z, missing: [""]}
  - {name: g, kind: date, format: 02/01/2006, min: 01/01/2001, max: 31/12/2001}
`

// TestJSONSchema: a property for each column, in the order of the schema.
func TestJSONSchema(t *testing.T) {
	s, err := schema.Parse([]byte(everything))
	check(t, err)
	text, err := JSONSchema(s)
	check(t, err)
	var got struct {
		Type       string
		Properties map[string]property
		Required   []string
		Additional *bool `json:"additionalProperties"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if strings.Index(string(text), `"z"`) > strings.Index(string(text), `"a"`) ||
		!slices.Equal(got.Required, []string{"z", "a", "c", "b", "d", "e", "f", "g"}) || *got.Additional {
		t.Errorf("order or members:\n%s", text)
	}
	for name, want := range map[string]string{
		"z": `{"type":["integer","null"],"minimum":-3,"maximum":9}`,
		"a": `{"type":"number","minimum":0,"maximum":1.5}`, "c": `{"enum":["x","y\"z",null]}`,
		"b": `{"type":"boolean"}`, "d": `{"enum":["alive","dead"]}`,
		"f": `{"type":["string","null"],"format":"date-time","$comment":"Go layout ` +
			`2006-01-02T15:04:05Z07:00"}`,
	} {
		if p, _ := json.Marshal(got.Properties[name]); string(p) != want {
			t.Errorf("column %s: %s, want %s", name, p, want)
		}
	}
	if f := got.Properties["g"].Format; f != "" {
		t.Errorf("a date in another layout has the format %s", f)
	}
	if _, err := JSONSchema(&schema.Schema{}); !errors.Is(err, schema.ErrInvalid) {
		t.Errorf("an invalid schema: %v", err)
	}
}

func ExampleImport() {
	d, err := Import("mbi", []byte(`{"age": 100, "sex": 2}`), "")
	if err != nil {
		panic(err)
	}
	yaml, err := d.YAML()
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s", yaml)
	// Output:
	// # imported from an mbi domain: each column holds the codes 0 to size-1
	// decoy: 1
	// columns:
	//   - name: age
	//     kind: integer
	//     min: 0
	//     max: 99
	//     bins: 100
	//   - name: sex
	//     kind: integer
	//     min: 0
	//     max: 1
	//     bins: 2
}

// check ends the test on an error.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
