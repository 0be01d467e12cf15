package exchange

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

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
	for _, name := range []string{"mbi.json", "sdv.json", "sdv_tables.json"} {
		f.Add(load(f, name), "")
	}
	f.Add(load(f, "frictionless.json"), "stays")
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

// show is a column in a line.
func show(c Column) string {
	text := fmt.Sprintf("%s %v", c.Name, c.Kind)
	switch {
	case c.Kind == 0:
		text = c.Name + " any"
	case len(c.Categories) > 0:
		text += fmt.Sprintf(" %q", c.Categories)
	case len(c.Edges) > 0:
		text += fmt.Sprint(" ", c.Edges)
	case c.Kind.Ordered() && c.Open == "":
		text += fmt.Sprintf(" %v..%v", c.Min, c.Max)
	}
	if c.Format != "" {
		text += " " + c.Format
	}
	if len(c.Missing) > 0 {
		text += fmt.Sprintf(" missing %q", c.Missing)
	}
	if c.OnInvalid != schema.Refuse {
		text += " " + c.OnInvalid.String() + c.Other
	}
	if c.Open != "" {
		text += " open"
	}
	return text
}

// TestForms: what each form says is taken, and what it does not say is open.
func TestForms(t *testing.T) {
	var forms []struct {
		Form, File, Table string
		Want              []string
		LeftOut           []string `yaml:"left_out"`
	}
	check(t, yaml.Unmarshal(load(t, "forms.yaml"), &forms))
	if len(forms) <= len(Formats()) {
		t.Fatalf("%d files", len(forms))
	}
	for _, tt := range forms {
		d, err := Import(tt.Form, load(t, tt.File), tt.Table)
		if err != nil {
			t.Errorf("%s: %v", tt.Form, err)
			continue
		}
		var got []string
		for _, c := range d.Columns {
			got = append(got, show(c))
		}
		if !slices.Equal(got, tt.Want) {
			t.Errorf("%s:\n%s\nwant\n%s", tt.Form, strings.Join(got, "\n"), strings.Join(tt.Want, "\n"))
		}
		notes := strings.Join(d.Notes, "\n")
		for _, name := range tt.LeftOut {
			if !strings.Contains(notes, fmt.Sprintf("column %q: left out: ", name)) {
				t.Errorf("%s: nothing says that %s is left out:\n%s", tt.Form, name, notes)
			}
		}
		opened(t, d)
	}
}

// opened reads the file that a draft becomes as schema infer does: the same columns are open, and
// what is known of them is there.
func opened(t *testing.T, d *Draft) {
	t.Helper()
	yaml, err := d.YAML()
	check(t, err)
	path := filepath.Join(t.TempDir(), "open.yaml")
	check(t, os.WriteFile(path, yaml, 0o600))
	p, err := schema.LoadPartial(path)
	if err != nil {
		t.Errorf("%v\n%s", err, yaml)
		return
	}
	for i, c := range d.Columns {
		if got := p.Columns[i]; p.Open[i] != (c.Open != "") || got.Name != c.Name ||
			got.Kind != c.Kind || !slices.Equal(got.Missing, c.Missing) {
			t.Errorf("%s: open %v, %+v", show(c), p.Open[i], got)
		}
	}
}

// TestFormsRefuse: each with the words that tell what is wrong.
func TestFormsRefuse(t *testing.T) {
	var refused [][]string
	check(t, yaml.Unmarshal(load(t, "refused.yaml"), &refused))
	refused = append(refused, []string{"mbi", strings.Repeat(" ", maxFile+1), "",
		"longer than 16 MiB"})
	for _, tt := range refused {
		data := []byte(tt[1])
		if name, ok := strings.CutPrefix(tt[1], "@"); ok {
			data = load(t, name)
		}
		_, err := Import(tt[0], data, tt[2])
		if !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), tt[3]) {
			t.Errorf("%s %.99s: %v, want %q", tt[0], tt[1], err, tt[3])
		}
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
