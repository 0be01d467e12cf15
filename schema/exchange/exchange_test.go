package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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

func TestMBI(t *testing.T) {
	d, err := Import("mbi", load(t, "mbi.json"), "")
	if err != nil || !complete(d) {
		t.Fatal(err, d)
	}
	yaml, err := d.YAML()
	check(t, err)
	s, err := schema.Parse(yaml)
	if err != nil {
		t.Fatalf("%v\n%s", err, yaml)
	}
	if got := s.Sizes(); !slices.Equal(got, []int{85, 9, 1, 300}) {
		t.Errorf("sizes %v", got)
	}
	if s.Columns[3].Name != "income>50K" {
		t.Errorf("the order of the columns is lost: %q", s.Columns[3].Name)
	}
}

func TestDPSynth(t *testing.T) {
	d, err := Import("dpsynth", load(t, "dpsynth.yaml"), "")
	check(t, err)
	want := map[string]func(c Column) bool{
		"age": func(c Column) bool {
			return c.Kind == schema.Integer && c.Min == 10 && c.Max == 50 && c.OnInvalid == schema.Clamp
		},
		"gender": func(c Column) bool {
			return slices.Equal(c.Categories, []string{"unknown", "M", "F"}) && c.Other == "unknown"
		},
		"dose": func(c Column) bool { return c.Kind == schema.Real && len(c.Edges) == 4 },
		"lab": func(c Column) bool {
			return c.Kind == schema.Real && slices.Equal(c.Missing,
				[]string{""})
		},
		"flag": func(c Column) bool { return slices.Equal(c.Categories, []string{"true", "false"}) },
		"city": func(c Column) bool { return c.Open != "" && c.Kind == schema.Categorical },
		"job": func(c Column) bool {
			return slices.Equal(c.Categories, []string{"<OOD>", "nurse", "clerk"}) && c.Open == ""
		},
	}
	for _, c := range d.Columns {
		if f := want[c.Name]; f == nil || !f(c) {
			t.Errorf("%s: %+v", c.Name, c)
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("%d columns are missing", len(want))
	}
	if complete(d) {
		t.Error("the open set is complete")
	}
	if !strings.Contains(strings.Join(d.Notes, "\n"), `column "note": left out: free text`) {
		t.Errorf("notes %q", d.Notes)
	}
	yaml, err := d.YAML()
	check(t, err)
	if _, err := schema.Parse(yaml); err == nil || !strings.Contains(err.Error(),
		`column "city": is open`) || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("the open column is refused with: %v\n%s", err, yaml)
	}
	closed := strings.Replace(string(yaml), "    categories:\n    #", "    #", 1)
	closed = strings.Replace(closed, "    kind: categorical\n    categories:\n  - name: job",
		"    kind: categorical\n    categories: [a, b]\n  - name: job", 1)
	if _, err := schema.Parse([]byte(closed)); err != nil {
		t.Errorf("filled in: %v\n%s", err, closed)
	}
}

func TestSDV(t *testing.T) {
	for _, name := range []string{"sdv.json", "sdv_tables.json"} {
		table := ""
		if name == "sdv_tables.json" {
			if _, err := Import("sdv", load(t, name), ""); err == nil || !strings.Contains(err.Error(),
				"describes 2 tables (hotels, guests)") {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := Import("sdv", load(t, name), "rooms"); !errors.Is(err, schema.ErrInvalid) {
				t.Errorf("no such table: %v", err)
			}
			table = "guests"
		}
		d, err := Import("sdv", load(t, name), table)
		check(t, err)
		var got []string
		for _, c := range d.Columns {
			got = append(got, fmt.Sprintf("%s %v %s open:%v", c.Name, c.Kind, c.Format, c.Open != ""))
		}
		want := "has_rewards boolean  open:false|room_type categorical  open:true|fee real  " +
			"open:true|nights integer  open:false|" +
			"checkin date 02 Jan 2006 open:true|left timestamp 2006-01-02 15:04:05 open:true|odd " +
			"timestamp  open:true"
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, s, want)
		}
		yaml, err := d.YAML()
		check(t, err)
		for _, text := range []string{`column "guest_email": left out`, "# fill in: the categories",
			`the file says "%c"`} {
			if !strings.Contains(string(yaml), text) {
				t.Errorf("the file does not say %q:\n%s", text, yaml)
			}
		}
		if _, err := schema.Parse(yaml); err == nil {
			t.Error("an open schema is read")
		}
	}
}

func TestImportRefuses(t *testing.T) {
	for _, tt := range []struct{ format, data string }{
		{"xml", "{}"}, {"mbi", ""}, {"mbi", "[]"}, {"mbi", "{}"}, {"mbi", `{"a": 0}`}, {"mbi",
			`{"a": 2.5}`}, {"mbi", `{"a": "x"}`}, {"mbi", `{"a": 70000}`},
		{"mbi", `{"a": 2, "a": 3}`}, {"mbi", `{"a": 2} x`}, {"mbi", `{"a": 2`}, {"mbi",
			`{"": 2}`}, {"mbi", `{"a`},
		{"dpsynth", ""}, {"dpsynth", "- a"}, {"dpsynth", "a: 1"}, {"dpsynth",
			"a: {min_value: x, max_value: 2}"}, {"dpsynth", "a: {min_value: 3, max_value: 2}"},
		{"dpsynth", "a: {max_tokens: 3}"}, {"dpsynth", "a: {min_value: 1, min_value: 2}"},
		{"dpsynth", "a: {unknown: 3}"}, {"dpsynth", "a: {possible_values: [x, x]}"}, {"dpsynth",
			"a: {min_value: 1, max_value: 2, bin_edges: [x]}"},
		{"sdv", ""}, {"sdv", "{}"}, {"sdv", `{"columns": 3}`}, {"sdv",
			`{"columns": {"a": {"sdtype": "id"}}}`},
		{"sdv", `{"tables": {}}`}, {"sdv", `{"tables": {"a": 3}}`}, {"sdv", `{"tables": 3}`},
	} {
		if _, err := Import(tt.format, []byte(tt.data), ""); !errors.Is(err, schema.ErrInvalid) {
			t.Errorf("%s %q: %v", tt.format, tt.data, err)
		}
	}
	if _,
		err := Import("sdv", []byte(`{"columns": {"a": {"sdtype": "boolean"}}}`), "t"); !errors.Is(err,
		schema.ErrInvalid) {
		t.Error("a table's name for a file without names")
	}
	if _, err := Import("mbi", make([]byte, maxFile+1), ""); !errors.Is(err, schema.ErrInvalid) {
		t.Error("a file of more than 16 MiB")
	}
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

// TestJSONSchema: rows that the codecs decode satisfy the schema, in the order of its columns.
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
	codecs, _ := s.Codecs()
	u := rand.New(rand.NewPCG(1, 2))
	for i, codec := range codecs {
		p := got.Properties[s.Columns[i].Name]
		for code := range codec.Size() {
			v := codec.Decode(uint16(code), u)
			if !p.allows(v, codec) {
				t.Errorf("column %s: %+v does not satisfy %+v", s.Columns[i].Name, v, p)
			}
		}
		if p.Minimum != nil && p.allows(schema.Value{Int: 1000, Float: 1000}, codec) {
			t.Errorf("column %s allows 1000", s.Columns[i].Name)
		}
	}
	if f := got.Properties["g"].Format; f != "" {
		t.Errorf("a date in another layout has the format %s", f)
	}
	if _, err := JSONSchema(&schema.Schema{}); !errors.Is(err, schema.ErrInvalid) {
		t.Errorf("an invalid schema: %v", err)
	}
}

// allows is a small validator of the properties that this package writes.
func (p property) allows(v schema.Value, codec *schema.Codec) bool {
	types, _ := json.Marshal(p.Type)
	is := func(name string) bool { return strings.Contains(string(types), `"`+name+`"`) }
	if v.Missing {
		return is("null") || slices.Contains(p.Enum, any(nil)) && p.Enum != nil
	}
	if p.Enum != nil {
		return slices.Contains(p.Enum, any(string(codec.AppendText(nil, v))))
	}
	switch codec.Column().Kind {
	case schema.Integer:
		return is("integer") && float64(v.Int) >= *p.Minimum && float64(v.Int) <= *p.Maximum
	case schema.Real:
		return is("number") && v.Float >= *p.Minimum && v.Float <= *p.Maximum && !math.IsNaN(v.Float)
	case schema.Boolean:
		return is("boolean")
	}
	return is("string")
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
