package infer

import (
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

func TestAsked(t *testing.T) {
	names, o := []string{"a", "b", "c"}, Inference{}
	if asked, err := o.Asked(names); err != nil || !slices.Equal(asked, []int{0, 1, 2}) {
		t.Errorf("asked %v: %v", asked, err)
	}
	o.Declared = &schema.Partial{Open: []bool{true, false}}
	o.Declared.Columns = []schema.Column{{Name: "c"}, {Name: "a"}}
	if asked, err := o.Asked(names); err != nil || !slices.Equal(asked, []int{2}) {
		t.Errorf("asked %v: %v", asked, err)
	}
	o.Declared.Open[0] = false
	stattest.Wraps(t, stattest.Err(o.Asked(names)), schema.ErrInvalid, "nothing is open")
	stattest.Wraps(t, stattest.Err(o.Asked(names[:2])), schema.ErrInvalid, "no such column")
}

// TestDeclare: what is declared overrules what was found, except for missing tokens.
func TestDeclare(t *testing.T) {
	v := verdict{kind: schema.Integer, mixed: true, asks: true, missing: []string{"NA"}}
	v.declare(&schema.Column{Kind: schema.Date, Format: "02/01/2006", Missing: []string{"-"}})
	if v.kind != schema.Date || v.format != "02/01/2006" || v.mixed || !v.asks ||
		!slices.Equal(v.missing, []string{"-", "NA"}) {
		t.Errorf("%+v", v)
	}
	v = verdict{kind: schema.Real, decimals: 2, missing: []string{"NA"}}
	v.declare(&schema.Column{Kind: schema.Categorical})
	if v.kind != schema.Categorical || !v.asks || len(v.missing) > 0 {
		t.Errorf("%+v", v)
	}
}

// TestToken: a few texts among numbers mean missing; many, or very many cells, are values.
func TestToken(t *testing.T) {
	of := func(rows ...int64) (found []text.Found) {
		for i, n := range rows {
			found = append(found, text.Found{Text: string(rune('M' + i)), Rows: n})
		}
		return found
	}
	for _, tt := range []struct {
		name  string
		found []text.Found
		texts float64
		kept  bool
	}{
		{"one token", of(2000), 2010, true},
		{"two tokens", of(900, 100), 1000, true},
		{"two texts in half of the cells", of(3000, 2000), 5000, false},
		{"three tokens", of(300, 200, 100), 600, true},
		{"codes", of(300, 200, 200, 150, 120), 970, false},
		{"one code of many", of(300), 3000, false},
		{"many rare codes", nil, 3000, false},
		{"a stray or two", nil, 45, true},
	} {
		v := verdict{kind: schema.Integer, values: 10000, texts: tt.texts, mixed: true}
		if got := v.keepKind(tt.found, 5, 10); got != tt.kept || got && len(v.missing) != len(tt.found) ||
			!got && v.kind != schema.Categorical {
			t.Errorf("%s: kept %v, %+v", tt.name, got, v)
		}
	}
}

func TestBooleanKeepsItsSpelling(t *testing.T) {
	for words, want := range map[string]string{
		"False True": "False True", "TRUE": "FALSE TRUE", "False N": "False True", "false true": "",
		"False True true": "", "fALSE": "", "": "",
	} {
		var found []text.Found
		for _, word := range strings.Fields(words) {
			found = append(found, text.Found{Text: word, Rows: 100})
		}
		c := boolean("x", found, verdict{})
		if got := strings.Join(c.Categories, " "); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
		stattest.Passes(t, stattest.Err(schema.NewCodec(*c)), "")
	}
}
