package exchange

import (
	"errors"
	"fmt"
	"os"
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

// FuzzImport: no panic, and what is complete is a schema.
func FuzzImport(f *testing.F) {
	for _, name := range []string{"mbi.json", "sdv.json", "sdv_tables.json"} {
		f.Add(load(f, name), "")
	}
	f.Add(load(f, "frictionless.json"), "stays")
	f.Add([]byte(`{"columns": {"a\u2028": {"sdtype": "datetime", "datetime_format": "%Q\n"}}}`), "")
	f.Fuzz(func(t *testing.T, data []byte, table string) {
		for _, format := range Formats() {
			text, open, err := Import(format, data, table)
			if err != nil {
				if !errors.Is(err, schema.ErrInvalid) {
					t.Fatalf("%s: %v", format, err)
				}
				continue
			}
			if _, err := schema.Parse(text); (err == nil) != (len(open) == 0) {
				t.Fatalf("%s: open %v, but %v\n%s", format, open, err, text)
			}
		}
	})
}

// show is a column in a line.
func show(c schema.Column, open bool) string {
	text := fmt.Sprintf("%s %v", c.Name, c.Kind)
	switch {
	case c.Kind == 0:
		text = c.Name + " any"
	case len(c.Categories) > 0:
		text += fmt.Sprintf(" %q", c.Categories)
	case c.Kind.Ordered() && !open:
		text += fmt.Sprintf(" %v..%v", c.Min, c.Max)
	}
	if c.Format != "" {
		text += " " + c.Format
	}
	if len(c.Missing) > 0 {
		text += fmt.Sprintf(" missing %q", c.Missing)
	}
	if open {
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
		text, _, err := Import(tt.Form, load(t, tt.File), tt.Table)
		if err != nil {
			t.Errorf("%s: %v", tt.Form, err)
			continue
		}
		p, err := schema.ParsePartial(text)
		check(t, err)
		var got []string
		for i, c := range p.Columns {
			got = append(got, show(c, p.Open[i]))
		}
		if !slices.Equal(got, tt.Want) {
			t.Errorf("%s:\n%s\nwant\n%s", tt.Form, strings.Join(got, "\n"), strings.Join(tt.Want, "\n"))
		}
		for _, name := range tt.LeftOut {
			if !strings.Contains(string(text), fmt.Sprintf("column %q: left out: ", name)) {
				t.Errorf("%s: nothing says that %s is left out:\n%s", tt.Form, name, text)
			}
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
		_, _, err := Import(tt[0], data, tt[2])
		if !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), tt[3]) {
			t.Errorf("%s %.99s: %v, want %q", tt[0], tt[1], err, tt[3])
		}
	}
}

func ExampleImport() {
	yaml, _, err := Import("mbi", []byte(`{"age": 100, "sex": 2}`), "")
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
	//     bins: 100
	//     min: 0
	//     max: 99
	//   - name: sex
	//     kind: integer
	//     bins: 2
	//     min: 0
	//     max: 1
}

// check ends the test on an error.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
