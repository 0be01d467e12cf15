package workload

import (
	"errors"
	"testing"

	"github.com/decoy-dp/decoy/schema"
)

func whereSchema() *schema.Schema {
	return &schema.Schema{Columns: []schema.Column{
		{Name: "income", Kind: schema.Categorical, Categories: []string{"<=50K", ">50K"}},
		{Name: "income year", Kind: schema.Integer, Min: 2000, Max: 2009, Missing: []string{"?"}},
		{Name: "weight", Kind: schema.Real, Min: 0, Max: 100, Edges: []float64{0, 50, 75, 100}},
	}}
}

func TestWhere(t *testing.T) {
	for text, want := range map[string]string{
		"income=>50K":          ".x",
		"income = <=50K":       "x.",
		"income!=>50K":         "x.",
		"income year>=2008":    "........xx.",
		"income year < 2002":   "xx.........",
		"income year=2003":     "...x.......",
		"income year=?":        "..........x",
		"income year!=?":       "xxxxxxxxxx.",
		" weight < 50":         "x..",
		"weight>=50":           ".xx",
		"income year <=  2000": "x..........",
	} {
		c, err := Where(whereSchema(), text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		for _, ok := range c.Allow {
			got += map[bool]string{true: "x", false: "."}[ok]
		}
		if got != want {
			t.Errorf("%s allows %s, want %s", text, got, want)
		}
	}
}

func TestWhereRefuses(t *testing.T) {
	for _, text := range []string{"", "income", "income=", "income>", "income > 3", "income=50",
		"nothing=1", "weight<60", "weight=50", "weight=x", "income year = 1999.5", "=x", "weight 5",
		"incomes=>50K"} {
		if _, err := Where(whereSchema(), text); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzWhere(f *testing.F) {
	f.Add("income=>50K")
	f.Add("weight < 50")
	s := whereSchema()
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Where(s, text)
		if err == nil && len(c.Allow) != s.Sizes()[c.Column] {
			t.Errorf("%q: %v", text, c)
		}
	})
}
