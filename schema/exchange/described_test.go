package exchange

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/schema"
)

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
	hotel := []string{
		"has_rewards boolean", "room_type categorical open", "fee real open", "nights integer 0..255",
		"checkin date 02 Jan 2006 open", "left timestamp 2006-01-02 15:04:05 open",
		"odd timestamp open",
	}
	for _, tt := range []struct {
		form, file, table string
		want              []string
		leftOut           []string
	}{
		{"frictionless", "frictionless.json", "stays", []string{
			"age integer 18..110",
			`lactate real missing ["" "NA" "-9"] open`,
			`sex categorical ["f" "m" "NA"] missing ["" "-9"]`,
			`admitted date 17897..18992 02/01/2006 missing ["" "NA" "-9"]`,
			`seen timestamp missing ["" "NA" "-9"] open`,
			`died boolean ["no" "yes"] missing ["" "NA" "-9"]`,
			`triage categorical ["1" "2"] missing ["" "NA" "-9"]`,
			`comment any missing ["" "NA" "-9"] open`,
		}, []string{"stay_id", "fee", "mail", "at"}},
		{"csvw", "csvw.json", "", []string{
			`On Street categorical missing ["-"] open`,
			`Trunk cm real 0..900 missing ["" "?"]`,
			`branches integer 0..49 missing ["-"]`,
			"dist integer 0..255",
			`Inventory Date date 14611..15705 1/2/2006 missing ["-"]`,
			`inspected timestamp 2006-01-02T15:04 missing ["-"] open`,
			`dead boolean ["N" "Y"] missing ["-"]`,
		}, []string{"GID", "comments", "value", "kml"}},
		{"croissant", "croissant.json", "", []string{
			`sex categorical ["female" "male"]`, "age real open", "survived integer open",
			"aboard boolean", "cabins integer 0..255", "sailed date 02.01.2006 open",
		}, []string{"number", "portrait", "tags"}},
		{"json-schema", "row.schema.json", "", []string{
			"age integer 18..110", `weight real missing [""] open`, `sex categorical ["female" "male"]`,
			`ward categorical missing [""] open`, `stage categorical ["1" "2" "3"] missing [""]`,
			"born date open", "seen timestamp open", "died boolean", "code any open", "note any open",
		}, []string{"mail", "visits"}},
		{"mbi", "mbi.json", "", []string{"age integer 0..84", "workclass integer 0..8",
			"always integer 0..0", "income>50K integer 0..299"}, nil},
		{"dpsynth", "dpsynth.yaml", "", []string{
			"age integer 10..50 clamp", `gender categorical ["unknown" "M" "F"] otherunknown`,
			"dose real [0 0.5 2 40] clamp", `lab real 0..9.5 missing [""] clamp`,
			`flag categorical ["true" "false"] othertrue`, "city categorical open",
			`job categorical ["<OOD>" "nurse" "clerk"] other<OOD>`,
		}, []string{"note"}},
		{"sdv", "sdv.json", "", hotel, []string{"guest_email"}},
		{"sdv", "sdv_tables.json", "guests", hotel, []string{"guest_email"}},
	} {
		d, err := Import(tt.form, load(t, tt.file), tt.table)
		if err != nil {
			t.Errorf("%s: %v", tt.form, err)
			continue
		}
		var got []string
		for _, c := range d.Columns {
			got = append(got, show(c))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n%s\nwant\n%s", tt.form, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
		notes := strings.Join(d.Notes, "\n")
		for _, name := range tt.leftOut {
			if !strings.Contains(notes, fmt.Sprintf("column %q: left out: ", name)) {
				t.Errorf("%s: nothing says that %s is left out:\n%s", tt.form, name, notes)
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

// TestJSONSchemaAgain: what is exported is imported as the same columns, dates apart, of which a
// JSON Schema has no bounds.
func TestJSONSchemaAgain(t *testing.T) {
	s, err := schema.Parse([]byte(everything))
	check(t, err)
	text, err := JSONSchema(s)
	check(t, err)
	d, err := Import("json-schema", text, "")
	check(t, err)
	var got []string
	for _, c := range d.Columns {
		got = append(got, show(c))
	}
	want := []string{`z integer -3..9 missing [""]`, "a real 0..1.5",
		`c categorical ["x" "y\"z"] missing [""]`, "b boolean", `d categorical ["alive" "dead"]`,
		"e date open", `f timestamp missing [""] open`, "g categorical open"}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestFormsRefuse: each with the words that tell what is wrong.
func TestFormsRefuse(t *testing.T) {
	field := func(f string) string { return `{"fields": [{"name": "a", ` + f + `}]}` }
	column := func(c string) string { return `{"tableSchema": {"columns": [{"name": "a", ` + c + `}]}}` }
	for _, tt := range []struct{ form, data, table, want string }{
		{"frictionless", "[]", "", "not a JSON object"},
		{"frictionless", "{}", "", "no fields"},
		{"frictionless", `{"fields": [3]}`, "", "no fields"},
		{"frictionless", field(`"type": "string"`), "x", "without a name"},
		{"frictionless", `{"resources": 3}`, "", "no list"},
		{"frictionless", `{"resources": []}`, "", "no table"},
		{"frictionless", `{"resources": [{"name": "a", "schema": "a.json"}]}`, "", "no schema of its own"},
		{"frictionless", `{"resources": [{"name": "a"}, {"name": "b"}]}`, "", "2 tables (a, b)"},
		{"frictionless", `{"resources": [{"name": "a"}, {"name": "b"}]}`, "c", `no table "c"`},
		{"frictionless", field(`"type": "time"`), "", "no column is left"},
		{"frictionless", field(`"type": "integer", "constraints": {"minimum": "x", "maximum": 3}`), "",
			`the bound "x" is no number`},
		{"frictionless", field(`"type": "date", "constraints": {"minimum": "soon"}`), "",
			`the bound "soon" is no date`},
		{"frictionless", field(`"type": "integer", "constraints": {"minimum": 4, "maximum": 3}`), "", "min"},
		{"frictionless", `{"fields": [{"type": "integer"}]}`, "", "no name"},
		{"csvw", "", "", "not a JSON object"},
		{"csvw", "{}", "", "no tableSchema"},
		{"csvw", `{"tableSchema": "a.json"}`, "", "no tableSchema of its own"},
		{"csvw", `{"tableSchema": {}}`, "", "no columns"},
		{"csvw", `{"tables": 3}`, "", "no list"},
		{"csvw", `{"url": "a.csv", "tableSchema": {}}`, "b.csv", `"a.csv", not "b.csv"`},
		{"csvw", column(`"datatype": {"base": "boolean", "format": "Y"}`), "", "true|false"},
		{"csvw", column(`"datatype": "xml"`), "", "no column is left"},
		{"croissant", "3", "", "not a JSON object"},
		{"croissant", "{}", "", "no recordSet"},
		{"croissant", `{"recordSet": [{"name": "a"}]}`, "", "no field"},
		{"croissant", `{"recordSet": [{"name": "a", "data": [{"x": 1}]}]}`, "", "no table"},
		{"json-schema", "true", "", "not a JSON object"},
		{"json-schema", "{}", "", "no properties"},
		{"json-schema", `{"properties": 3}`, "", "no properties"},
		{"json-schema", `{"properties": {"a": {"$ref": "#/$defs/b"}}}`, "", "refers to none"},
		{"json-schema", `{"properties": {"a": {"$ref": "other.json"}}}`, "", "refers to none"},
		{"json-schema", `{"$defs": {"b": {"$ref": "#/$defs/b"}}, "properties": {"a": {"$ref":
			"#/$defs/b"}}}`, "", "refers to none"},
		{"json-schema", `{"properties": {"a": {}, "a": {}}}`, "", "twice"},
		{"json-schema", `{"properties": {"a": {"enum": ["x", "x"]}}}`, "", `"x"`},
		{"json-schema", `{"properties": {"a": {}}}`, "t", "without a name"},
		{"xml", "{}", "", "unknown form"},
		{"mbi", "", "", "not a JSON object"},
		{"mbi", `{"a": 2} x`, "", "not a JSON object"},
		{"mbi", "{}", "", "no columns"},
		{"mbi", `{"a": 0}`, "", "whole number"},
		{"mbi", `{"a": 2.5}`, "", "whole number"},
		{"mbi", `{"a": [2]}`, "", "whole number"},
		{"mbi", `{"a": 70000}`, "", "whole number"},
		{"mbi", `{"a": 2, "a": 3}`, "", "twice"},
		{"mbi", `{"": 2}`, "", "no name"},
		{"mbi", strings.Repeat(" ", maxFile+1), "", "longer than 16 MiB"},
		{"dpsynth", "", "", "not a YAML mapping"},
		{"dpsynth", "- a", "", "not a YAML mapping"},
		{"dpsynth", "a: 1", "", "no attribute"},
		{"dpsynth", "a: {min_value: x, max_value: 2}", "", "no number"},
		{"dpsynth", "a: {min_value: 3, max_value: 2}", "", "min"},
		{"dpsynth", "a: {min_value: 1, min_value: 2}", "", "twice"},
		{"dpsynth", "a: {possible_values: [x, x]}", "", "twice"},
		{"dpsynth", "a: {max_tokens: 3}", "", "no column is left"},
		{"dpsynth", "a: {unknown: 3}", "", "no column is left"},
		{"dpsynth", "a: {min_value: 1, max_value: 2, bin_edges: [x]}", "", "no number"},
		{"sdv", "{}", "", "no columns"},
		{"sdv", `{"columns": 3}`, "", "no columns"},
		{"sdv", `{"columns": {"a": {"sdtype": "id"}}}`, "", "no column is left"},
		{"sdv", `{"columns": {"a": 3}}`, "", "no sdtype"},
		{"sdv", `{"tables": {}}`, "", "no table"},
		{"sdv", `{"tables": 3}`, "", "no list"},
		{"sdv", string(load(t, "sdv_tables.json")), "", "describes 2 tables (hotels, guests)"},
		{"sdv", string(load(t, "sdv_tables.json")), "rooms", "no table"},
	} {
		_, err := Import(tt.form, []byte(tt.data), tt.table)
		if !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %.99s: %v, want %q", tt.form, tt.data, err, tt.want)
		}
	}
}
