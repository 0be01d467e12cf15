package schema

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// What a file cannot say, or says otherwise, is checked here; the rest by testdata.
func TestValidate(t *testing.T) {
	boolean := []Column{{Name: "x", Kind: Boolean}}
	column := func(c Column) Schema { return Schema{Columns: []Column{c}} }
	tests := map[string]struct {
		schema Schema
		want   string // "" = valid
	}{
		"plain":          {Schema{Columns: boolean}, ""},
		"one row a unit": {Schema{Columns: boolean, MaxRowsPerUnit: 1}, ""},
		"unit":           {Schema{Columns: boolean, Unit: "id", MaxRowsPerUnit: 9}, ""},
		"negative limit": {Schema{Columns: boolean, MaxRowsPerUnit: -1},
			"max_rows_per_unit must be at least 1, not -1"},
		"invalid UTF-8 unit": {Schema{Columns: boolean, Unit: "\xff", MaxRowsPerUnit: 1},
			"unit is not valid UTF-8"},
		"invalid UTF-8 name": {column(Column{Name: "\xff", Kind: Boolean}),
			"name is not valid UTF-8"},
		"unknown kind": {column(Column{Name: "x", Kind: 10}), "a column needs a kind"},
		"unknown policy": {column(Column{Name: "x", Kind: Boolean, OnInvalid: 9}),
			"unknown policy"},
		"unknown spacing": {column(Column{Name: "x", Kind: Real, Max: 1, Spacing: 9}),
			"unknown spacing"},
		"zero bounds": {column(Column{Name: "x", Kind: Integer}), ""},
		"NaN bound": {column(Column{Name: "x", Kind: Real, Min: math.NaN(), Max: 1}),
			"min is missing"},
		"infinite bound": {column(Column{Name: "x", Kind: Real, Max: math.Inf(1)}),
			"max is not a finite number"},
		"fraction of a day": {column(Column{Name: "x", Kind: Date, Max: 0.5}),
			"max is not a whole number"},
		"year 0": {column(Column{Name: "x", Kind: Date, Min: firstDay - 1}),
			"min is not in the years 1 to 9999"},
		"years 1 to 9999": {column(Column{Name: "x", Kind: Date, Min: firstDay, Max: lastDay}),
			""},
		"the widest integers": {column(Column{Name: "x", Kind: Integer, Min: -maxWhole,
			Max: maxWhole}), ""},
		"the widest reals": {column(Column{Name: "x", Kind: Real, Min: -maxReal, Max: maxReal,
			Spacing: Log}), ""},
		"the longest log": {column(Column{Name: "x", Kind: Real, Min: 1e-300, Max: maxReal,
			Spacing: Log}), "32 bins are too many between min and max"},
		"no numbers in between": {column(Column{Name: "x", Kind: Real, Min: 0, Max: 5e-324}),
			"32 bins are too many between min and max"},
		"edges without bounds": {column(Column{Name: "x", Kind: Real, Edges: []float64{1, 2}}), ""},
		"edges with bounds": {column(Column{Name: "x", Kind: Real, Min: 1, Max: 2,
			Edges: []float64{1, 2}}), ""},
		"NaN edge": {column(Column{Name: "x", Kind: Real, Edges: []float64{1, math.NaN(),
			2}}), "edge number 2 is not a finite number"},
		"invalid UTF-8 category": {column(Column{Name: "x", Kind: Categorical,
			Categories: []string{"\xff"}}), "category is not valid UTF-8"},
		"invalid UTF-8 token": {column(Column{Name: "x", Kind: Boolean, Missing: []string{"\xff"}}),
			"missing token is not valid UTF-8"},
		"invalid UTF-8 format": {column(Column{Name: "x", Kind: Date, Format: "2006-01-02\xff"}),
			"format is not valid UTF-8"},
		"the most categories": {column(Column{Name: "x", Kind: Categorical,
			Categories: texts(65_536)}), ""},
		"one more": {column(Column{Name: "x", Kind: Categorical, Categories: texts(65_536),
			Missing: []string{""}}), "are more than 65536"},
		"sub-second edge": {column(Column{Name: "x", Kind: Timestamp, Edges: []float64{0, 5,
			1e12}}), "they are finer than it"},
		"a two-digit year": {column(Column{Name: "x", Kind: Date, Format: "06-01-02", Min: -3653,
			Max: 0}), "does not give every date"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.schema.Validate()
			switch {
			case test.want == "":
				check(t, err)
				checkIdentity(t, &test.schema)
			case err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(),
				"\n"):
				t.Errorf("got %v, want one error with %q", err, test.want)
			case !errors.Is(err, ErrInvalid) || errors.Is(err, ErrSchema):
				t.Errorf("%v wraps the wrong sentinel", err)
			}
			if len(test.schema.Columns) == 1 && strings.Contains(test.want, "column") {
				if _, err := NewCodec(test.schema.Columns[0]); err == nil {
					t.Error("NewCodec accepts it")
				}
			}
			if _, err := test.schema.Codecs(); (err == nil) != (test.want == "") {
				t.Errorf("Codecs: %v", err)
			}
		})
	}
}

func texts(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = formatNumber(float64(i))
	}
	return list
}

func TestQuoteIsShort(t *testing.T) {
	if got := yamlfile.Quote(strings.Repeat("ä", 1_000_000)); len(got) > 200 || !strings.HasSuffix(got, `…"`) {
		t.Errorf("got %d bytes: %.80s", len(got), got)
	}
}

func TestNames(t *testing.T) {
	for k := Categorical; int(k) < len(kinds); k++ {
		if v, ok := kindNames.value(k.String()); !ok || Kind(v) != k {
			t.Errorf("kind %d: %s", k, k)
		}
	}
	for p := Refuse; p <= Other; p++ {
		if v, ok := policyNames.value(p.String()); !ok || Policy(v) != p {
			t.Errorf("policy %d: %s", p, p)
		}
	}
	for s := Linear; s <= Log; s++ {
		if v, ok := spacingNames.value(s.String()); !ok || Spacing(v) != s {
			t.Errorf("spacing %d: %s", s, s)
		}
	}
	if got := kindNames.unknown("reall"); got != `unknown kind "reall"; did you mean "real"?` {
		t.Error(got)
	}
	if got := Kind(10).String() + Policy(9).String() + Spacing(9).String(); got !=
		"kind(10)policy(9)spacing(9)" {
		t.Errorf("got %s", got)
	}
	if Kind(0).Ordered() || Kind(10).Ordered() || Kind(10).Stored() != StoredText {
		t.Error("a kind that there is not has an order, or values")
	}
}
