package eval

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/schema"
)

// valuesOf reads cells of two columns, a number from 0 to 100 that may be missing and a category.
func valuesOf(t *testing.T, x []string, ward ...string) *Values {
	t.Helper()
	s := schemaOf(t,
		schema.Column{Name: "x", Kind: schema.Real, Min: 0, Max: 100, Missing: []string{"", "-9"},
			OnInvalid: schema.Clamp},
		schema.Column{Name: "ward", Kind: schema.Categorical, Categories: []string{"a", "b", "c"},
			OnInvalid: schema.Other, Other: "c"})
	v := stattest.Must(NewValues(s, []string{"x", "ward"}, func(yield func([]string) bool) {
		for i, cell := range x {
			row := []string{cell, "a"}
			if ward != nil {
				row[1] = ward[i]
			}
			if !yield(row) {
				return
			}
		}
	}))
	return v
}

func TestMovedShare(t *testing.T) {
	v := valuesOf(t, []string{"5", "-1", "101", "1e9", "", "-9", "N", "100"},
		"a", "b", "c", "d", "d", "e", "a", "")
	for name, want := range map[string]float64{"x": 4. / 8, "ward": 4. / 8} {
		if got, err := MovedShare(v, name); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
	r := Validity(v)
	if x := r.Columns[0]; x.Below != 1./8 || x.Above != 2./8 {
		t.Errorf("%+v: one cell is below the bounds, two are above", x)
	}
	if got := r.Columns[1].Foreign; !reflect.DeepEqual(got, []string{"d", "e"}) {
		t.Errorf("foreign categories %q", got)
	}
	if x := r.Columns[1]; x.Blank != 1./8 || x.ReadAs != "c" {
		t.Errorf("%+v: one cell is missing, and read as c", x)
	}
	for name, want := range map[string]float64{"x": 2. / 8, "ward": 1. / 8} {
		if got, err := v.MissingShare(name); err != nil || got != want {
			t.Errorf("%s: %v, %v missing, want %v", name, got, err, want)
		}
	}
	if _, err := v.MissingShare("z"); !errors.Is(err, ErrColumn) {
		t.Errorf("error %v for no such column", err)
	}
	if _, err := MovedShare(v, "z"); !errors.Is(err, ErrColumn) {
		t.Errorf("error %v for no such column", err)
	}
}

func TestNumberDrift(t *testing.T) {
	real := valuesOf(t, []string{"0", "2", "4", "6", "", "N"})
	for _, tt := range []struct {
		name      string
		synthetic []string
		want      Drift
	}{
		{"the same", []string{"6", "4", "2", "0"}, Drift{Mean: 0, Spread: 1}},
		{"twice the rows", []string{"0", "2", "4", "6", "0", "2", "4", "6"},
			Drift{Spread: math.Sqrt(6. / 7)}},
		// σ² of the real numbers, with n − 1, is 20/3
		{"shifted, beyond the bound", []string{"1e3", "1002", "1004", "1006"},
			Drift{Mean: 1000 / math.Sqrt(20./3), Spread: 1, Wasserstein: 1000 / math.Sqrt(20./3)}},
		{"one value", []string{"3", "3", "3"},
			Drift{Mean: 0, Spread: 0, Wasserstein: 2 / math.Sqrt(20./3)}},
	} {
		got, err := NumberDrift(real, valuesOf(t, tt.synthetic), "x")
		got.SpreadError = 0
		for i, pair := range [][2]float64{{got.Mean, tt.want.Mean}, {got.Spread, tt.want.Spread},
			{got.Wasserstein, tt.want.Wasserstein}} {
			if err != nil || !near(pair[0], pair[1], 1e-12) {
				t.Errorf("%s: figure %d is %v, want %v, %v", tt.name, i, pair[0], pair[1], err)
			}
		}
	}
	flat := valuesOf(t, []string{"3", "3"})
	if d, err := NumberDrift(flat, flat, "x"); err != nil || d.Mean != 0 || d.Spread != 1 {
		t.Errorf("%+v, %v of constants", d, err)
	}
	if d, err := NumberDrift(flat, real, "x"); err != nil || !math.IsInf(d.Spread, 1) {
		t.Errorf("%+v, %v against a constant", d, err)
	}
	for _, name := range []string{"ward", "z"} {
		if _, err := NumberDrift(real, flat, name); !errors.Is(err, ErrColumn) {
			t.Errorf("error %v for column %s", err, name)
		}
	}
}

// TestSpreadError: log s of 400 normal numbers has the standard error 1/√(2·400).
func TestSpreadError(t *testing.T) {
	var x []float64
	for i := range 400 { // quantiles of a normal distribution
		x = append(x, math.Sqrt2*math.Erfinv(2*(float64(i)+.5)/400-1))
	}
	got := spreadError(x)
	if want := 1 / math.Sqrt(800); math.Abs(got/want-1) > .02 {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestUncoveredShare(t *testing.T) {
	var cells, low []string
	for i := range 100 {
		cells, low = append(cells, fmt.Sprint(i)), append(low, fmt.Sprint(i%50))
	}
	u, err := UncoveredShare(valuesOf(t, cells), valuesOf(t, low), "x")
	if err != nil || u.Share != .5 || u.Lost != nil {
		t.Errorf("%+v, %v of numbers, want .5", u, err)
	}
	four := []string{"1", "1", "1", "1"}
	u, err = UncoveredShare(valuesOf(t, four, "a", "b", "b", "z"), valuesOf(t, four, "c", "c", "a",
		"a"), "ward")
	if want := (Uncovered{.5, []string{"b"}, []float64{.5}}); err != nil ||
		!reflect.DeepEqual(u, want) {
		t.Errorf("%+v, %v of categories, want %+v", u, err, want)
	}
	empty := valuesOf(t, []string{"", ""})
	if _, err := UncoveredShare(empty, valuesOf(t, four), "x"); !errors.Is(err, ErrColumn) {
		t.Errorf("error %v for a column without numbers", err)
	}
}

// TestRelatedValues: a column that is after another is compared by its differences, and a cell that
// a rule changes counts as moved.
func TestRelatedValues(t *testing.T) {
	for _, tt := range []struct {
		name, base, form string
		kind             schema.Kind
		min, max         float64
		rows             [][]string
		moved            float64
		numbers          []float64
	}{
		{"dates", "kind: date, min: 2020-01-01, max: 2020-12-31", "", schema.Integer, 0, 90,
			[][]string{{"2020-03-01", "2020-03-04"}, {"2020-03-01", "2020-03-01"},
				{"2020-03-04", "2020-03-01"}, {"2020-03-01", "2020-12-01"}, {"", "2020-03-04"},
				{"2020-03-01", ""}, {"2020-03-01", "soon"}}, 4. / 7, []float64{-3, 0, 3, 275}},
		{"timestamps", "kind: timestamp, min: 2020-01-01 00:00, max: 2020-12-31 00:00",
			"2006-01-02 15:04", schema.Integer, 0, 600,
			[][]string{{"2020-03-01 10:00", "2020-03-01 10:30"},
				{"2020-03-01 23:00", "2020-03-02 01:00"}}, 0, []float64{30, 120}},
		{"numbers", "kind: real, min: 0, max: 10, decimals: 1", "", schema.Real, 0, 5,
			[][]string{{"1.1", "1.3"}, {"9", "14"}, {"9", "14.1"}}, 1. / 3,
			[]float64{.2, 5, 5.1}},
	} {
		kind := map[schema.Kind]string{schema.Integer: "integer", schema.Real: "real"}[tt.kind]
		format := ""
		if tt.form != "" {
			format = ", format: \"" + tt.form + "\""
		}
		s, err := schema.Parse([]byte(fmt.Sprintf(`decoy: 1
columns:
  - {name: a, %s%s, bins: 10, missing: [""], on_invalid: clamp}
  - {name: b, kind: %s, after: a, min: %v, max: %v, bins: 10, missing: [""], on_invalid: clamp}
`, tt.base, format, kind, tt.min, tt.max)))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		v, err := NewValues(s, []string{"a", "b"}, slices.Values(tt.rows))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got, err := MovedShare(v, "b"); err != nil || !near(got, tt.moved, 1e-12) {
			t.Errorf("%s: %v is moved, %v, want %v", tt.name, got, err, tt.moved)
		}
		if got := v.columns[1].numbers; !slices.EqualFunc(got, tt.numbers,
			func(x, y float64) bool { return near(x, y, 1e-9) }) {
			t.Errorf("%s: numbers %v, want %v", tt.name, got, tt.numbers)
		}
	}
	s := stattest.Must(schema.Parse([]byte(`decoy: 1
columns:
  - {name: sex, kind: categorical, categories: [f, m]}
  - {name: pregnant, kind: categorical, categories: ["no", "yes"], on_invalid: other, other: "no"}
rules:
  - {when: {sex: m}, then: {pregnant: "no"}}
`)))
	v, err := NewValues(s, []string{"sex", "pregnant"}, slices.Values([][]string{{"f", "yes"},
		{"m", "yes"}, {"m", "no"}, {"f", "no"}}))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := MovedShare(v, "pregnant"); err != nil || got != .25 {
		t.Errorf("a rule moves %v, %v, want .25", got, err)
	}
}

func TestHeaps(t *testing.T) {
	real := valuesOf(t, []string{"0", "0", "0", "5", "5", "1", "2", "3", "4", ""})
	got, err := Heaps(real, valuesOf(t, []string{"0", "5", "1e-9", "2"}), "x", .2)
	if want := []Heap{{0, .3, .25}, {5, .2, .25}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := Heaps(real, real, "z", .2); !errors.Is(err, ErrColumn) {
		t.Errorf("error %v for no such column", err)
	}
}
