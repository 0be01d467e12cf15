package schema

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// draftOf drafts a schema from rows whose first is the names.
func draftOf(rows [][]string) (*Schema, error) {
	d := NewDrafter(rows[0])
	for _, row := range rows[1:] {
		d.Add(row)
	}
	return d.Schema()
}

// The draft of a small hospital table is the one a person would accept, and
// every row of the table encodes under it.
func TestDraftAdmissions(t *testing.T) {
	f, err := os.Open("testdata/admissions.csv")
	check(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	check(t, err)
	s, err := draftOf(rows)
	check(t, err)
	checkForm(t, s, "testdata/admissions.draft.yaml")
	checkIdentity(t, s)
	checkEncodes(t, s, rows)
}

func checkEncodes(t *testing.T, s *Schema, rows [][]string) {
	t.Helper()
	codecs, err := s.Codecs()
	check(t, err)
	for i, row := range rows[1:] {
		for j, cell := range row {
			if _, err := codecs[j].EncodeText([]byte(cell)); err != nil {
				t.Errorf("row %d, column %q: %v", i+1, rows[0][j], err)
			}
		}
	}
}

func TestDraftKinds(t *testing.T) {
	tests := []struct {
		name  string
		cells string // separated by |
		want  Column
	}{
		{"labels", "0|1|1|0", Column{Kind: Integer, Min: 0, Max: 1, Bins: 2}},
		{"one integer", "7", Column{Kind: Integer, Min: 7, Max: 7, Bins: 1}},
		{"written as reals", "3.0|15.0|NaN", Column{Kind: Integer, Min: 3, Max: 15, Bins: 13,
			Missing: []string{"NaN"}}},
		{"outward", "-1234|1234", Column{Kind: Integer, Min: -1300, Max: 1300, Bins: 32}},
		{"a long tail", strings.Repeat("0|3|8|", 30) + "99999", Column{Kind: Integer, Min: 0, Max: 100000,
			Bins: 32, Spacing: Log}},
		{"a short range has no tail", strings.Repeat("0|", 30) + "90", Column{Kind: Integer, Min: 0,
			Max: 90, Bins: 91}},
		{"a negative tail", strings.Repeat("-1|3|8|", 30) + "99999", Column{Kind: Integer, Min: -1,
			Max: 100000, Bins: 32}},
		{"the greatest", "9007199254740991", Column{Kind: Integer, Min: 9.0e15, Max: maxWhole, Bins: 32}},
		{"account numbers", "9007199254740993|1", Column{Kind: Categorical,
			Categories: named("1 9007199254740993")}},
		{"real", "36.6|37|?|42.25", Column{Kind: Real, Min: 36, Max: 43, Bins: 32, Decimals: 2,
			Missing: []string{"?"}}},
		{"few decimals", "0.1|0.9", Column{Kind: Real, Min: .1, Max: .9, Bins: 8, Decimals: 1}},
		{"one real", "2.5", Column{Kind: Real, Min: 2.2, Max: 2.8, Bins: 5, Decimals: 1}},
		{"one small real", "0.001", Column{Kind: Real, Min: .0009, Max: .0011, Bins: 32}},
		{"computed", "0.123456789|0.9", Column{Kind: Real, Min: .12, Max: .9, Bins: 32}},
		{"exponents", "1e-3|0.9", Column{Kind: Real, Min: .001, Max: .9, Bins: 32}},
		{"skewed real", strings.Repeat("0.5|1.25|", 30) + "900.75", Column{Kind: Real, Min: .5, Max: 910,
			Bins: 32, Spacing: Log, Decimals: 2}},
		{"skewed real, narrow bins", strings.Repeat("0|1.5|", 30) + "90.5", Column{Kind: Real, Min: 0,
			Max: 91, Bins: 32, Spacing: Log}},
		{"a huge real", "1e301|2", Column{Kind: Categorical, Categories: named("1e301 2")}},
		{"postal codes", "02138|90210", Column{Kind: Categorical, Categories: named("02138 90210")}},
		{"telephone numbers", "+1|+2", Column{Kind: Categorical, Categories: named("+1 +2")}},
		{"negative codes", "-01|1", Column{Kind: Categorical, Categories: named("-01 1")}},
		{"boolean", "true|false||NA", Column{Kind: Boolean, Categories: named("false true"),
			Missing: []string{"", "NA"}}},
		{"boolean in Python", "True|False", Column{Kind: Boolean, Categories: named("False True")}},
		{"boolean in any case", "True|TRUE|false", Column{Kind: Boolean,
			Categories: named("false true")}},
		{"boolean, half of it", "True", Column{Kind: Boolean, Categories: named("false true")}},
		{"yes and no are words", "yes|no", Column{Kind: Categorical, Categories: named("no yes")}},
		{"a mixture", "true|1|2001-01-01", Column{Kind: Categorical,
			Categories: named("1 2001-01-01 true")}},
		{"tokens among words", "NA|?|a||.", Column{Kind: Categorical, Categories: named(". ? NA a"),
			Missing: []string{""}}},
		{"nothing but tokens", "NA|NA|", Column{Kind: Categorical, Categories: named("NA"),
			Missing: []string{""}}},
		{"tokens among numbers", "NA|?|5||.|null|None|N/A|NaN", Column{Kind: Integer, Min: 5, Max: 5,
			Bins: 1, Missing: draftTokens}},
		{"years", "2001-05-03|2004-02-01", Column{Kind: Date, Format: dateFormat, Min: 11323, Max: 12783,
			Bins: 32}},
		{"months", "2001-05-03|2001-09-01", Column{Kind: Date, Format: dateFormat, Min: 11443, Max: 11595,
			Bins: 32}},
		{"days", "1970-01-03|1970-01-09|null", Column{Kind: Date, Format: dateFormat, Min: 2, Max: 8,
			Bins: 7, Missing: []string{"null"}}},
		{"the last year", "0001-05-03|9999-02-01", Column{Kind: Date, Format: dateFormat, Min: firstDay,
			Max: lastDay, Bins: 32}},
		{"hours", "1970-01-01 00:30:00|1970-01-01T01:59:59.5Z", Column{Kind: Timestamp,
			Format: timestampFormat, Min: 0, Max: 2 * microsPerHour, Bins: 32}},
		{"with a space", "1970-01-01 00:30:00||1970-01-01 01:59:59", Column{Kind: Timestamp,
			Format: spaceFormat, Min: 0, Max: 2 * microsPerHour, Bins: 32, Missing: []string{""}}},
		{"with a T", "1970-01-01T00:30:00|1970-01-01T01:59:59", Column{Kind: Timestamp,
			Format: plainFormat, Min: 0, Max: 2 * microsPerHour, Bins: 32}},
		{"years of timestamps", "1970-05-05 00:30:00|1973-12-31T01:59:59.5Z", Column{Kind: Timestamp,
			Format: timestampFormat, Min: 0, Max: 1461 * microsPerDay, Bins: 32}},
		{"timestamps out of range", "2500-05-05 00:30:00", Column{Kind: Categorical,
			Categories: []string{"2500-05-05 00:30:00"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rows := [][]string{{"x"}}
			for _, cell := range strings.Split(test.cells, "|") {
				rows = append(rows, []string{cell})
			}
			s, err := draftOf(rows)
			check(t, err)
			test.want.Name = "x"
			if diff := cmp.Diff(test.want, s.Columns[0]); diff != "" {
				t.Errorf("column (-want +got):\n%s", diff)
			}
			checkIdentity(t, s)
			checkEncodes(t, s, rows)
		})
	}
}

// What cannot be drafted is named by its position; the rest is drafted.
func TestDraftProblems(t *testing.T) {
	rows := [][]string{{"id", "age", "empty", "binary"}}
	for i := range 1001 {
		rows = append(rows, []string{fmt.Sprintf("patient %d", i), "50", "", "\xff"})
	}
	s, err := draftOf(rows)
	want := "schema: column number 1: more than 1000 distinct texts: leave the column out, give it " +
		"a kind or its categories by hand\n" +
		"schema: column number 3: every cell is empty: leave the column out, or describe it by hand\n" +
		"schema: column number 4: a cell is not valid UTF-8, or contains a NUL"
	if err == nil || err.Error() != want || !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if s == nil || len(s.Columns) != 1 || s.Columns[0].Name != "age" {
		t.Errorf("got the schema %+v", s)
	}

	d := NewDrafter(rows[0][:1])
	for _, row := range rows[1:1001] {
		d.Add(row[:1])
	}
	if s, err := d.Schema(); err != nil || len(s.Columns[0].Categories) != 1000 {
		t.Errorf("1000 categories: %v", err)
	}
}

func TestDraftRefuses(t *testing.T) {
	tests := map[string]struct {
		rows [][]string
		want string
	}{
		"no rows": {[][]string{{"a"}}, "schema: there are no rows to draft from"},
		"ragged": {[][]string{{"a", "b"}, {"1", "2"}, {"1"}, {}},
			"schema: row 2 does not have 2 cells"},
		"nothing left": {[][]string{{"a"}, {""}},
			"schema: column number 1: every cell is empty: leave the column out, or describe it by hand"},
		"duplicate names": {[][]string{{"a", "a"}, {"1", "2"}},
			`schema: column "a": the name is that of column number 1`},
		"no name": {[][]string{{""}, {"1"}}, "schema: column number 1: a column needs a name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := draftOf(test.rows)
			if s != nil || err == nil || err.Error() != test.want || !errors.Is(err, ErrInvalid) {
				t.Errorf("got %v, %v", s, err)
			}
		})
	}
}

// More rows than the sample holds do not change the judgement of skew.
func TestDraftSamples(t *testing.T) {
	d := NewDrafter([]string{"even", "skewed"})
	for i := range 50_000 {
		skewed := i % 7
		if i%20 == 0 {
			skewed = i
		}
		d.Add([]string{fmt.Sprint(i), fmt.Sprint(skewed)})
	}
	s, err := d.Schema()
	check(t, err)
	if s.Columns[0].Spacing != Linear || s.Columns[1].Spacing != Log {
		t.Errorf("spacings are %v and %v", s.Columns[0].Spacing, s.Columns[1].Spacing)
	}
}

func TestRoundOutward(t *testing.T) {
	tests := []struct {
		x        float64
		down, up float64
	}{
		{0, 0, 0}, {17, 17, 17}, {5, 5, 5}, {199, 190, 200}, {991, 990, 1000}, {995, 990, 1000}, {1200,
			1200, 1200}, {1201, 1200, 1300},
		{0.3, 0.3, 0.3}, {0.123, 0.12, 0.13}, {-0.123, -0.13, -0.12}, {-199, -200, -190}, {1e-9, 1e-9,
			1e-9}, {1.11e-9, 1.1e-9, 1.2e-9},
		{9.99e299, 9.9e299, 1e300}, {99999, 99000, 100000},
	}
	for _, test := range tests {
		if got := roundOutward(test.x, -1); got != test.down {
			t.Errorf("%v is rounded down to %v, want %v", test.x, got, test.down)
		}
		if got := roundOutward(test.x, 1); got != test.up {
			t.Errorf("%v is rounded up to %v, want %v", test.x, got, test.up)
		}
	}
}
