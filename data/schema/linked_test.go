package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

const clinic = `decoy: 1
unit: patient_id
tables:
  - name: visits
    parent: patients
    key: patient
    order: {by: date, rows: 15}
    remember: [diagnosis]
    csv: {comma: ";"}
    columns:
      - {name: date, kind: date, edges: [2020-01-01, 2021-01-01, 2022-01-01, 2023-12-31]}
      - {name: diagnosis, kind: categorical, categories: [flu, "no", cold]}
    rules:
      - {when: {diagnosis: [flu]}, then: {date: {from: 2021-01-01}}}
  - name: patients
    columns:
      - {name: sex, kind: categorical, categories: [f, m]}
      - {name: born, kind: integer, min: 1900, max: 2020, missing: [""]}
  - {name: drugs, parent: patients, key: id, weight: 2, order: {by: day, rows: 4},
     columns: [{name: day, kind: integer, min: 0, max: 9}]}
`

// TestParseLinked: the table of the units comes first, and the canonical form means the same.
func TestParseLinked(t *testing.T) {
	l, err := schema.ParseLinked([]byte(clinic))
	if err != nil {
		t.Fatal(err)
	}
	patients, visits, drugs := l.Tables[0], l.Tables[1], l.Tables[2]
	if patients.Name != "patients" || patients.Schema.Unit != "patient_id" ||
		patients.Schema.MaxRowsPerUnit != 1 {
		t.Errorf("the first table is %+v", patients)
	}
	if visits.Schema.Unit != "patient" || visits.Weight != 1 || visits.Schema.MaxRowsPerUnit != 15 ||
		visits.Schema.CSV.Comma != ';' || len(visits.Schema.Rules) != 1 || visits.Order.By != "date" {
		t.Errorf("visits are %+v", visits)
	}
	if drugs.Weight != 2 || drugs.Order.Rows != 4 || drugs.Schema.Unit != "id" {
		t.Errorf("drugs are %+v", drugs)
	}
	text, err := l.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := schema.ParseLinked(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again.Fingerprint() != l.Fingerprint() {
		t.Errorf("%s is not read as what it was written of", text)
	}
	deep := stattest.Must(schema.LoadLinked("testdata/clinic.yaml"))
	if again, err = schema.ParseLinked(stattest.Must(deep.YAML())); err != nil ||
		again.Fingerprint() != deep.Fingerprint() || strings.Join(again.Tables[3].Key, " ") !=
		"who visit" || again.Tables[3].Parent != "visits" || strings.Join(again.Tables[1].Keys(), " ") !=
		"patient visit" {
		t.Errorf("keys of two columns are read as %+v: %v", again, err)
	}
	if _, err := schema.Parse([]byte(clinic)); !errors.Is(err, schema.ErrLinked) {
		t.Errorf("as one table: %v", err)
	}
}

// TestLinkedProblems: each mistake is named with its mend.
func TestLinkedProblems(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"no unit", "unit: patient_id\n", "", "line 1: the key unit is missing"},
		{"no version", "decoy: 1\n", "", "line 1: the key decoy is missing"},
		{"later version", "decoy: 1\n", "decoy: 2\n", "version 2 is not known"},
		{"unknown key", "    key: patient\n", "    kye: patient\n", `table "visits": unknown key "kye"`},
		{"no parent", "    parent: patients\n", "", "the others names it as its parent, or another"},
		{"missing parent", "parent: patients\n", "parent: patient\n",
			`there is no table "patient" to be the parent; did you mean "patients"?`},
		{"two parents", "parent: patients\n", "parent: [patients, doctors]\n",
			"Describe the rows of another parent as columns"},
		{"composite key", "key: patient\n", "key: [patient, clinic]\n",
			`key: 2 columns, and the id of "patients" has 1`},
		{"a key twice", "key: patient\n", "key: [patient, patient]\n", "has 1"},
		{"cycle", "  - name: patients\n", "  - name: patients\n    parent: visits\n    key: id\n",
			"go round in a circle"},
		{"grandchildren", "drugs, parent: patients", "drugs, parent: visits",
			`"visits" has no id for rows to belong to`},
		{"itself", "drugs, parent: patients", "drugs, parent: drugs", "three levels are the most"},
		{"id of the key", "    key: patient\n", "    key: patient\n    id: patient\n",
			"tells rows of a parent apart"},
		{"id is a column", "    key: patient\n", "    key: patient\n    id: date\n",
			"take it out of columns"},
		{"no key", "    key: patient\n", "", "key is missing"},
		{"key of the units", "  - name: patients\n", "  - name: patients\n    key: id\n",
			"key, id, order, weight and remember are of tables with a parent"},
		{"key is a column", "key: patient\n", "key: date\n", "take it out of columns"},
		{"no order", "    order: {by: date, rows: 15}\n", "", "order is missing"},
		{"no rows", "rows: 15}", "}", "order is missing, or not whole"},
		{"one row", "rows: 15", "rows: 1", "rows must be 2 to 1000"},
		{"unknown order", "by: date", "by: dat", `names "dat", but no column is called so`},
		{"order of texts", "by: date", "by: diagnosis", "must be a number, a date or a time"},
		{"weight", "weight: 2", "weight: 20000", "1000 is the most"},
		{"no tables", clinic[strings.Index(clinic, "tables:"):], "tables: []\n",
			"must be a list of tables"},
		{"remember", "[diagnosis]\n", "[diagnoses]\n", `did you mean "diagnosis"?`},
		{"remember twice", "[diagnosis]\n", "[diagnosis, diagnosis]\n", "there twice"},
		{"same name", "name: drugs", "name: visits", "another table has this name"},
		{"name of a path", "name: drugs", "name: ../drugs", "a table needs a name without /"},
		{"a column", "max: 9", "max: -9", `table "drugs", column "day"`},
		{"open column", "min: 0, max: 9", "min: , max: ", "need their values and bins"},
		{"bought bins", "max: 9", "max: 9, bins: {dp: 3}", "need their values and bins"},
		{"no list", "tables:\n", "tables: x\nothers:\n", "must be a list of tables"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(clinic, c.old, c.new, 1)
			if text == clinic {
				t.Fatal("nothing was replaced")
			}
			_, err := schema.ParseLinked([]byte(text))
			if !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	alone := clinic[:strings.Index(clinic, "  - name: visits")] +
		"  - {name: a, columns: [{name: x, kind: boolean}]}\n"
	if _, err := schema.ParseLinked([]byte(alone)); err == nil ||
		!strings.Contains(err.Error(), "with one table only") {
		t.Errorf("one table: %v", err)
	}
}
