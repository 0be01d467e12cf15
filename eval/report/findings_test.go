package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/eval"
)

// TestFindings: what is lost or invented is named in words.
func TestFindings(t *testing.T) {
	const n = 2000
	s := patientSchema()
	rows := func(seed uint64, ward func(row []string, u *rand.Rand)) Table {
		out, u := patients(n, seed), rand.New(rand.NewPCG(seed, 0))
		for _, row := range out {
			if ward != nil {
				ward(row, u)
			}
		}
		return tableFrom(t, s, out)
	}
	zero := func(value string) func([]string, *rand.Rand) {
		return func(row []string, u *rand.Rand) {
			if u.Float64() < .3 {
				row[3] = value
			}
		}
	}
	alive := func(share float64) func([]string, *rand.Rand) { // nobody dies on the ward "other"
		return func(row []string, u *rand.Rand) {
			if row[4] == "other" && u.Float64() >= share {
				row[5] = "no"
			}
		}
	}
	young := func(share float64) func([]string, *rand.Rand) { // nobody dies below fifty
		return func(row []string, u *rand.Rand) {
			if row[0] < "50" && u.Float64() >= share {
				row[5] = "no"
			}
		}
	}
	alone := func(row []string, u *rand.Rand) { // no column depends on another
		for k := range 5 {
			row[k] = "130"
		}
		row[0], row[3], row[4], row[5] = "20", "1", "other", "no"
		if u.Float64() < .5 {
			row[4] = "medical"
		}
		if u.Float64() < .5 {
			row[5] = "yes"
		}
	}
	for _, tt := range []struct {
		name            string
		real, synthetic func([]string, *rand.Rand)
		which           int
		status          status
		question, says  string
	}{
		{"a heap kept", zero("0"), zero("0"), 0, good, "columns", "No column lost much"},
		{"a heap lost", zero("0"), zero("0.0001"), 0, mixed, "columns", "lactate: 3"},
		{"every column is named", nil, func(row []string, _ *rand.Rand) {
			row[0], row[1], row[2], row[3] = "20", "130", "130", "1"
		}, 0, poor, "columns", "\nage: "},
		{"an impossible pair", alive(0), alive(.5), 1, mixed, "associations",
			"Hardly any real row has\n– ward = other with died = yes ("},
		{"children who are married", young(0), young(.9), 1, mixed, "associations",
			"Hardly any real row has\n– died = yes with age = "},
		{"an invitation to public knowledge alone", alive(0), alive(.5), 1, mixed, "associations",
			"If everybody knows that such rows cannot exist"},
		{"nothing to keep", alone, alone, 1, unknown, "associations", "Nothing to keep: no two"},
		{"a common outcome", nil, nil, 3, good, "Is the outcome as frequent?", "died = yes makes up 2"},
		{"a rare outcome", alive(0), alive(0), 3, good, "Did the rare outcome survive?",
			"died = yes makes up 1"},
	} {
		r := compute(t, Tables{Train: rows(1, tt.real), Synthetic: rows(3, tt.synthetic)},
			Options{Near: 200, Target: "died"})
		f := r.Summary[tt.which]
		if f.Status != tt.status || !strings.Contains(f.Question, tt.question) ||
			!strings.Contains(f.Answer, tt.says) {
			t.Errorf("%s: want %s, %q, %q: %s", tt.name, tt.status, tt.question, tt.says,
				fmt.Sprintf("%+v", f))
		}
	}
}

// TestMissingIsOfCells: the similarity of missing shares is that of the files. A schema that reads
// what it does not allow as missing makes more of the real cells missing than there are.
func TestMissingIsOfCells(t *testing.T) {
	const n, odd = 2000, .4
	s := patientSchema()
	s.Columns[3].Missing = []string{""}
	rows := func(seed uint64, cell string) Table {
		out, u := patients(n, seed), rand.New(rand.NewPCG(seed, 0))
		for _, row := range out {
			if u.Float64() < odd {
				row[3] = cell
			}
		}
		return tableFrom(t, s, out)
	}
	for cell, want := range map[string]float64{"broken": 1 - odd, "": 1} {
		r := compute(t, Tables{Train: rows(1, cell), Synthetic: rows(3, "")},
			Options{Near: 200})
		for _, v := range r.metric(t, "MissingSimilarity").Values {
			if v.Of == s.Columns[3].Name && math.Abs(float64(v.Value)-want) > .1 {
				t.Errorf("cells %q: MissingSimilarity is %v, want about %v", cell, v.Value, want)
			}
		}
	}
}

// TestNoNumber: what is not a number is not drawn as one.
func TestNoNumber(t *testing.T) {
	none := number(math.NaN())
	m := [][]number{{1, none}, {none, 1}}
	a := &associations{AssociationLosses: eval.AssociationLosses{Columns: []string{"a", "b"}, Real: m,
		Synthetic: m}}
	for _, c := range a.maps() {
		if text := string(c.Drawings[0]); strings.Contains(text, "NaN") ||
			!strings.Contains(text, "a × b: – real, – here") {
			t.Errorf("%s: %s", c.Caption, text)
		}
	}
}

// TestRealRowsAreNotBlamed: two samples of one population, of 300 rows each, are blamed for
// nothing. Null: no difference. In 100 pairs, a rate of false alarms of 1 in 20 is missed with
// probability .006.
func TestRealRowsAreNotBlamed(t *testing.T) {
	for k := range 100 {
		s, seed := patientSchema(), uint64(100+2*k)
		in := Tables{Train: tableFrom(t, s, patients(300, seed)),
			Synthetic: tableFrom(t, s, patients(300, seed+1))}
		for _, f := range measureAlike(t, in, Options{Target: "died"}) {
			if f.Status == poor || f.Status == mixed {
				t.Errorf("pair %d: %+v", k, f)
			}
		}
	}
}
