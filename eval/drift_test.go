package eval

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
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
	for name, want := range map[string]Moved{"x": {Share: 4. / 8, Below: 1. / 8, Above: 2. / 8},
		"ward": {Share: 4. / 8, Blank: 1. / 8, ReadAs: "c", Foreign: []string{"d", "e"}}} {
		if got := stattest.Must(Compare(v, v, name)).Moved; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	full := valuesOf(t, []string{"5"}, "a")
	for name, want := range map[string]float64{"x": 6. / 8, "ward": 7. / 8} {
		if got := stattest.Must(Compare(v, full, name)).Missing; got != want {
			t.Errorf("%s: similarity %v of missing shares, want %v", name, got, want)
		}
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
			Drift{Spread: Number(math.Sqrt(6. / 7))}},
		// σ² of the real numbers, with n − 1, is 20/3
		{"shifted, beyond the bound", []string{"1e3", "1002", "1004", "1006"},
			Drift{Mean: Number(1000 / math.Sqrt(20./3)), Spread: 1,
				Wasserstein: Number(1000 / math.Sqrt(20./3))}},
		{"one value", []string{"3", "3", "3"},
			Drift{Mean: 0, Spread: 0, Wasserstein: Number(2 / math.Sqrt(20./3))}},
	} {
		got, err := Compare(real, valuesOf(t, tt.synthetic), "x")
		for i, pair := range [][2]Number{{got.Mean, tt.want.Mean}, {got.Spread, tt.want.Spread},
			{got.Wasserstein, tt.want.Wasserstein}} {
			if err != nil || !near(pair[0], float64(pair[1]), 1e-12) {
				t.Errorf("%s: figure %d is %v, want %v, %v", tt.name, i, pair[0], pair[1], err)
			}
		}
	}
	flat := valuesOf(t, []string{"3", "3"})
	if d, err := Compare(flat, flat, "x"); err != nil || d.Mean != 0 || d.Spread != 1 {
		t.Errorf("%+v, %v of constants", d, err)
	}
	if d, err := Compare(flat, real, "x"); err != nil || !math.IsInf(float64(d.Spread), 1) {
		t.Errorf("%+v, %v against a constant", d, err)
	}
}

// TestSpreadError: log s of 400 normal numbers has the standard error 1/√(2·400).
func TestSpreadError(t *testing.T) {
	var x []float64
	for i := range 400 { // quantiles of a normal distribution
		x = append(x, math.Sqrt2*math.Erfinv(2*(float64(i)+.5)/400-1))
	}
	got := spreadError(x, 400)
	if want := 1 / math.Sqrt(800); math.Abs(got/want-1) > .02 {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestCompare: what differs between two tables, and nothing that chance explains.
func TestCompare(t *testing.T) {
	many := func(cells ...string) []string { return slices.Repeat(cells, 100) }
	var all, low []string
	for i := range 100 {
		all, low = append(all, fmt.Sprint(i)), append(low, fmt.Sprint(i%50))
	}
	real := many("0", "0", "0", "5", "5", "1", "2", "3.5", "4", "")
	codes, made := many(), many()
	var halves, off []string
	for i := range 100 {
		halves = append(halves, slices.Repeat([]string{fmt.Sprint(float64(i) / 2)}, 10)...)
		off = append(off, slices.Repeat([]string{fmt.Sprint(float64(i)/2 + .1)}, 10)...)
		codes = append(codes, slices.Repeat([]string{fmt.Sprint(1000 * i)}, 10)...)
		made = append(made, slices.Repeat([]string{fmt.Sprint(1000*i + 1 + i%7)}, 10)...)
	}
	rare := append(many(slices.Repeat([]string{"a"}, 10)...), "b", "b")
	for _, tt := range []struct {
		name               string
		real, synthetic    []string
		uncovered, invents float64
		want               []Found
	}{
		{"the same", real, real, 0, 0, nil},
		{"the lower half", all, low, .5, 0,
			[]Found{{Outside, "beyond those here, which run from 0 to 49, as far as 99", .5, .12}}},
		{"twice the range", low, all, 0, .5, []Found{{Far, "run from 0 to 49, as far as 99", .12, .5}}},
		{"a little beyond", low, append(slices.Repeat([]string{"51"}, 14), low[14:]...), 0, .14,
			[]Found{{Beyond, "run from 0 to 49, as far as 51", .12, .14}}},
		{"a heap moved", real, many("0", "0", "0", "60", "60", "1", "2", "3.5", "4", ""), 0, .2,
			[]Found{{Heap, "exactly 5", .2, 0}, {Heap, "exactly 60", 0, .2},
				{Far, "run from 0 to 5, as far as 60", .012, .2}}},
		{"within its bin", real, many("0", "0", "0", "5.1", "5.2", "1", "2", "3.5", "4", ""), 0, .2,
			[]Found{{Heap, "exactly 5", .2, 0}, {Beyond, "run from 0 to 5, as far as 5.2", .012, .2}}},
		{"more missing", real, many("0", "0", "0", "5", "5", "1", "2", "", "", ""), 0, 0,
			[]Found{{Heap, "missing", .1, .3}, {Heap, "exactly 3.5", .1, 0}, {Heap, "exactly 4", .1, 0}}},
		{"missing where none were", all, append([]string{"", "", ""}, all...), 0, 0, nil},
		{"more of them", many(all...), many(append([]string{""}, all...)...), 0, 0,
			[]Found{{Heap, "missing", 0, 1. / 101}}},
		{"decimals", many("7", "8", "9", "10"), many("7.25", "8.5", "9.75", "10"), .75, .75,
			[]Found{{Lost, "7", .25, 0}, {Lost, "8", .25, 0}, {Lost, "9", .25, 0},
				{Form, "whole numbers", 1, .25}, {Unseen, "7.25, 8.5, 9.75", 0, .75}}},
		{"leading zeros", many("07", "08", "9"), many("7", "8", "9"), 0, 0,
			[]Found{{Form, "numbers with leading zeros", 2. / 3, 0}}},
		{"codes", codes, made, 0, 1, []Found{{Codes, "1, 10004, 1002", 0, 1}}},
		{"codes with decimals", halves, off, 0, 1, []Found{{Codes, "0.1, 0.6, 1.1", 0, 1}}},
		{"a small heap", append(many(all...), slices.Repeat([]string{"4.5"}, 300)...), many(all...), 0,
			0, []Found{{Heap, "exactly 4.5", 300. / 10300, 0}}},
		{"categories", many("a", "b", "z"), many("c", "c", "a"), 1. / 3, 0,
			[]Found{{Lost, "b", 1. / 3, 0}, {Heap, "c", 1. / 3, 2. / 3}}},
		{"invented ones", many("a", "b"), many("a", "x", "x", "y"), .5, .75,
			[]Found{{Lost, "b", .5, 0}, {Heap, "a", .5, .25}, {Unseen, "x, y", 0, .75}}},
		{"too few to miss", append(many("a"), "b"), many("a"), 1. / 101, 0, nil},
		{"few to miss of many", append(many("a"), "b", "b", "b", "b"), slices.Repeat(many("a"), 10),
			4. / 104, 0, []Found{{Lost, "b", 4. / 104, 0}}},
		{"rare ones inflated", rare, many("a", "a", "a", "b"), 0, 0,
			[]Found{{Rare, "b", 2. / 1002, .25}}},
	} {
		wards := func(cells []string) *Values {
			if cells[0] == "a" || cells[0] == "c" {
				return valuesOf(t, slices.Repeat([]string{"1"}, len(cells)), cells...)
			}
			return valuesOf(t, cells)
		}
		name := "x"
		if tt.real[0] == "a" {
			name = "ward"
		}
		got, err := Compare(wards(tt.real), wards(tt.synthetic), name)
		if err != nil || !near(got.Uncovered, tt.uncovered, 1e-12) ||
			!near(got.Invented, tt.invents, 1e-12) || !slices.EqualFunc(got.Found, tt.want,
			func(a, b Found) bool {
				return a.Sort == b.Sort && a.What == b.What && near(a.Real, b.Real, 1e-12) &&
					near(a.Synthetic, b.Synthetic, 1e-12)
			}) {
			t.Errorf("%s: %+v, %v, want %v, %v, %+v", tt.name, got, err, tt.uncovered, tt.invents, tt.want)
		}
	}
	empty, four := valuesOf(t, []string{"", ""}), valuesOf(t, []string{"1", "1", "1", "1"})
	if got, err := Compare(empty, four, "x"); err != nil || got.Uncovered == got.Uncovered {
		t.Errorf("%+v, %v for a column without numbers", got, err)
	}
	if _, err := Compare(four, four, "z"); !errors.Is(err, ErrColumn) {
		t.Errorf("error %v for no such column", err)
	}
}

// TestGone: of 14 rows none is among as many others with a probability of 2⁻¹⁴, of 13 with 2⁻¹³.
func TestGone(t *testing.T) {
	for _, tt := range []struct {
		x, n, m float64
		want    bool
	}{{14, 300, 300, true}, {13, 300, 300, false}, {4, 300, 3000, true}, {3, 300, 3000, false},
		{10, 300, 0, false}} {
		if got := missedBeyondChance(tt.x, tt.n, tt.m); got != tt.want {
			t.Errorf("%v of %v, none of %v: %v", tt.x, tt.n, tt.m, got)
		}
	}
}

// TestUnlikely: half of the cells of a sample are of values that the other half has once or less.
func TestUnlikely(t *testing.T) {
	for _, tt := range []struct {
		a, b          []int64
		most          int64
		share, chance float64
		top           []int
	}{
		{[]int64{5, 5}, []int64{1, 9}, 0, 0, 0, nil},
		{[]int64{9, 1, 0, 0}, []int64{6, 0, 1, 3}, 0, .4, .1, []int{3, 2}},
		{[]int64{6, 2, 2, 0}, []int64{6, 1, 2, 1}, 1, .1, .4, []int{3}},
		{nil, nil, 0, 0, 0, nil},
	} {
		if share, chance, top := unseen(tt.a, tt.b, tt.most, 1); !near(share, tt.share, 1e-12) ||
			!near(chance, tt.chance, 1e-12) || !slices.Equal(top, tt.top) {
			t.Errorf("%v, %v: %v, %v, %v, want %v, %v, %v", tt.a, tt.b, share, chance, top, tt.share,
				tt.chance, tt.top)
		}
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
		if got := v.columns[1].moved(v.rows).Share; !near(got, tt.moved, 1e-12) {
			t.Errorf("%s: %v is moved, want %v", tt.name, got, tt.moved)
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
	v := stattest.Must(NewValues(s, []string{"sex", "pregnant"}, slices.Values([][]string{{"f", "yes"},
		{"m", "yes"}, {"m", "no"}, {"f", "no"}})))
	if got := stattest.Must(Compare(v, v, "pregnant")); got.Share != .25 {
		t.Errorf("a rule moves %v, want .25", got.Share)
	}
}
