package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
)

const fineSchema = `
decoy: 1
columns:
  - {name: age, kind: integer, min: 0, max: 79, bins: 4, missing: [""]}
  - {name: weight, kind: real, min: 0, max: 10, bins: 4, decimals: 1}
  - {name: day, kind: date, min: 2020-01-01, max: 2020-12-31, bins: 12}
  - {name: sex, kind: categorical, categories: [f, m]}
`

// A condition that cuts bins is answered by the law that values are drawn by: its answer is that of
// drawn values, on a table and on a model. Null: the number of drawn values that satisfy it is
// binomial; a false alarm has a probability below 1e-6 each at 5 standard deviations.
func TestFineConditions(t *testing.T) {
	s := stattest.Must(schema.Parse([]byte(fineSchema)))
	codecs, _ := s.Codecs()
	u := rand.New(rand.NewPCG(1, 2))
	const n = 20_000
	sizes := s.Sizes()
	var cols []table.Codes
	for _, size := range sizes {
		c := table.NewCodes(size, n)
		for i := range n {
			c.Set(i, uint16(min(u.IntN(size), u.IntN(size))))
		}
		cols = append(cols, c)
	}
	tab := stattest.Must(table.FromColumns(s, cols, nil))
	values := make([][4]schema.Value, n)
	for i := range values {
		for k, c := range codecs {
			values[i][k] = c.Decode(cols[k].At(i), u)
		}
	}
	day := func(v schema.Value) float64 { return float64(v.Int) - 18262 } // from 2020-01-01
	for text, holds := range map[string]func(v [4]schema.Value) bool{
		"age >= 33":     func(v [4]schema.Value) bool { return !v[0].Missing && v[0].Int >= 33 },
		"age = 33":      func(v [4]schema.Value) bool { return !v[0].Missing && v[0].Int == 33 },
		"not (age < 7)": func(v [4]schema.Value) bool { return v[0].Missing || v[0].Int >= 7 },
		"age > 33 and age <= 37 and sex = f": func(v [4]schema.Value) bool {
			return !v[0].Missing && v[0].Int > 33 && v[0].Int <= 37 && v[3].Text == "f"
		},
		"age < 3 or age > 77 or weight > 9.9": func(v [4]schema.Value) bool {
			return !v[0].Missing && (v[0].Int < 3 || v[0].Int > 77) || v[1].Float > 9.9
		},
		"weight <= 1.3": func(v [4]schema.Value) bool { return v[1].Float <= 1.3 },
		"weight = 1.3":  func(v [4]schema.Value) bool { return v[1].Float == 1.3 },
		"day < 2020-02-10 and weight < 5.55": func(v [4]schema.Value) bool {
			return day(v[2]) < 40 && v[1].Float < 5.55
		},
		"age >= 20": func(v [4]schema.Value) bool { return !v[0].Missing && v[0].Int >= 20 },
	} {
		items, err := Conditions(s, text)
		if err != nil {
			t.Fatal(text, err)
		}
		if (items[0].Fine == nil) != (text == "age >= 20") {
			t.Errorf("%s: cuts %v", text, items[0].Fine)
		}
		w := stattest.Must(New(s, items))
		got := stattest.Must(w.OnTable(tab))
		want := 0.0
		for _, v := range values {
			if holds(v) {
				want++
			}
		}
		if tolerance := 5*math.Sqrt(want*(1-want/n)) + 1; math.Abs(got[0][0]-want) > tolerance {
			t.Errorf("%s: %v, drawn %v ± %v", text, got[0][0], want, tolerance)
		}
		// A model of independent columns gives the product of the shares.
		var tables [][]float64
		var cliques [][]int
		var ms []marginal.Measurement
		for c, size := range sizes {
			counts := tab.Counts(c)
			one := make([]float64, size)
			for k, x := range counts {
				one[k] = float64(x)
			}
			tables, cliques = append(tables, one), append(cliques, []int{c})
			ms = append(ms, marginal.Measurement{Cols: []int{c}, Counts: one, Sigma: 1})
		}
		m := stattest.Must(marginal.FromFactors(sizes, cliques, tables, n))
		g := stattest.Must(marginal.NewGrouping(sizes, ms, 0))
		on, err := w.OnModel(m, g)
		if err != nil || math.Abs(on[0][0]-got[0][0]) > .1*n {
			t.Errorf("%s: on the model %v, %v; on the table %v", text, on, err, got)
		}
		if err := between(s, text); (err == nil) != (text == "age >= 20") {
			t.Errorf("%s, between bins only: %v", text, err)
		}
	}
}

// between is the error about a condition in a file of which bounds lie between bins.
func between(s *schema.Schema, text string) error {
	_, err := Parse([]byte("decoy_workload: 1\nqueries:\n  - where: \""+text+"\"\n"), s)
	return err
}

// A file of questions to a model may cut bins, one that a method measures may not.
func TestFineFile(t *testing.T) {
	s := stattest.Must(schema.Parse([]byte(fineSchema)))
	file := "decoy_workload: 1\nqueries:\n  - where: age >= 33 and age < 61\n" +
		"  - where: weight > 3.3\n"
	w, err := parse([]byte(file), s, true)
	if err != nil || w.Items()[0].Fine == nil || w.Items()[1].Fine == nil ||
		w.Items()[0].Name != "age >= 33 and age < 61" {
		t.Fatal(w, err)
	}
	if _, err := Parse([]byte(file), s); !errors.Is(err, ErrInvalid) ||
		strings.Count(fmt.Sprint(err), "cuts the bin") != 2 {
		t.Error(err)
	}
	stattest.Wraps(t, stattest.Err(parse([]byte(strings.Replace(file, "33", "many", 1)), s, true)),
		ErrInvalid, "")
}

// Whole numbers have no value between two of them, whether the bins may be cut or not.
func TestNoWholeValue(t *testing.T) {
	s := stattest.Must(schema.Parse([]byte(fineSchema)))
	for _, text := range []string{"age = 33.5", "age != 33.5", "age in (33, 33.5)"} {
		_, err := Conditions(s, text)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "has no value 33.5") {
			t.Errorf("%s: %v", text, err)
		}
		stattest.Wraps(t, between(s, text), ErrInvalid, "%s, between bins only", text)
	}
	stattest.Passes(t, stattest.Err(Conditions(s, "age = 33.0")), "")
}
