package schema

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

const buying = `decoy: 1
unit: id
max_rows_per_unit: 2
columns:
  - {name: age, kind: integer, min: 0, max: 99, bins: {dp: 8, share: .05}, missing: [""]}
  - {name: sex, kind: categorical, categories: [f, m]}
  - {name: pay, kind: real, min: 0, max: 1000, decimals: 2,
     bins: {dp: 16, share: .1, grid: 256, spacing: log}}
  - {name: day, kind: date, min: 2001-01-01, max: 2001-12-31, bins: {dp: 4, share: .01}}
`

func TestBoughtBins(t *testing.T) {
	s := stattest.Must(Parse([]byte(buying)))
	if got := s.Sizes(); got[0] != 101 || got[2] != 256 || got[3] != 365 {
		t.Errorf("sizes %v", got)
	}
	yaml := stattest.Must(s.YAML())
	again, err := Parse(yaml)
	if err != nil {
		t.Fatalf("%v\n%s", err, yaml)
	}
	if again.Fingerprint() != s.Fingerprint() {
		t.Error("the canonical form changes when it is read")
	}
	u := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		var starts [][]int
		for _, i := range s.Buys() {
			codec := stattest.Must(NewCodec(s.Columns[i]))
			_, n := codec.Grid()
			perm := u.Perm(n - 1)[:s.Columns[i].BuyBins-1]
			at := make([]bool, n)
			for _, p := range perm {
				at[p+1] = true
			}
			list := []int{0}
			for j, yes := range at {
				if yes {
					list = append(list, j)
				}
			}
			starts = append(starts, list)
		}
		coarse := stattest.Must(s.Bought(starts))
		groups := stattest.Must(s.Groups(coarse))
		if groups[1] != nil {
			t.Error("a column that is not bought is regrouped")
		}
		fine, _ := s.Codecs()
		to, _ := coarse.Codecs()
		for i, g := range groups {
			for code, want := range g {
				v := fine[i].Decode(uint16(code), u)
				text := fine[i].AppendText(nil, v)
				if got, err := to[i].EncodeText(text); err != nil || got != want {
					t.Fatalf("column %d: %s has code %d, the groups say %d: %v", i, text, got, want, err)
				}
			}
		}
	}
}

// TestGridLeavesTheLastValue: a bin of the last single value cannot be written as edges, so it is
// not offered.
func TestGridLeavesTheLastValue(t *testing.T) {
	for _, tt := range []struct {
		c             Column
		cells, starts int
	}{
		{Column{Name: "a", Kind: Integer, Max: 99, BuyBins: 8, BuyShare: .1}, 100, 99},
		{Column{Name: "a", Kind: Integer, Max: 9999, BuyBins: 8, BuyShare: .1}, 1024, 1024},
		{Column{Name: "a", Kind: Real, Max: 1, BuyBins: 8, BuyShare: .1}, 1024, 1024},
		{Column{Name: "a", Kind: Categorical, Categories: []string{"x"}}, 0, 0},
	} {
		codec := stattest.Must(NewCodec(tt.c))
		if cells, starts := codec.Grid(); cells != tt.cells || starts != tt.starts {
			t.Errorf("%v: grid %d, %d, want %d, %d", tt.c, cells, starts, tt.cells, tt.starts)
		}
	}
}

func TestBoughtBinsAreChecked(t *testing.T) {
	for name, column := range map[string]Column{
		"categorical": {Name: "a", Kind: Categorical, Categories: []string{"x"}, BuyBins: 2,
			BuyShare: .1},
		"with edges": {Name: "a", Kind: Real, Edges: []float64{0, 1, 2}, BuyBins: 2, BuyShare: .1},
		"NaN":        {Name: "a", Kind: Real, Max: 1, BuyBins: 2, BuyShare: math.NaN()},
		"negative":   {Name: "a", Kind: Real, Max: 1, BuyBins: -2, BuyShare: .1},
	} {
		stattest.Wraps(t, stattest.Err(NewCodec(column)), ErrInvalid, "%s", name)
	}
	s := &Schema{}
	for _, name := range []string{"a", "b", "c"} {
		s.Columns = append(s.Columns, Column{Name: name, Kind: Real, Max: 1, BuyBins: 2, BuyShare: .2})
	}
	stattest.Wraps(t, s.Validate(), ErrInvalid, "shares that add up to .6")
}

func TestGroupsRefuse(t *testing.T) {
	s := stattest.Must(Parse([]byte(buying)))
	good := [][]int{{0, 1, 2, 3, 4, 5, 6, 50}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 200},
		{0, 90, 180, 270}}
	for name, starts := range map[string][][]int{
		"none":    nil,
		"not 0":   {{1, 2, 3, 4, 5, 6, 7, 8}, good[1], good[2]},
		"falling": {{0, 2, 1, 4, 5, 6, 7, 8}, good[1], good[2]},
		"too far": {{0, 1, 2, 3, 4, 5, 6, 100}, good[1], good[2]},
	} {
		stattest.Wraps(t, stattest.Err(s.Bought(starts)), ErrInvalid, "%s", name)
	}
	for name, change := range map[string]func(*Schema){
		"unit":     func(c *Schema) { c.MaxRowsPerUnit = 3 },
		"name":     func(c *Schema) { c.Columns[0].Name = "b" },
		"category": func(c *Schema) { c.Columns[1].Categories = []string{"f", "x"} },
		"off grid": func(c *Schema) { c.Columns[2].Edges[1] += 1e-3 },
		"bounds":   func(c *Schema) { c.Columns[0].Edges[8] = 120 },
		"more": func(c *Schema) {
			c.Columns[0].Edges = []float64{0, 1, 2, 3, 4, 5, 6, 50, 60, 99}
		},
		"missing":   func(c *Schema) { c.Columns[0].Missing = nil },
		"a column":  func(c *Schema) { c.Columns = c.Columns[:3] },
		"not valid": func(c *Schema) { c.Columns[1].Kind = 0 },
	} {
		c := stattest.Must(s.Bought(good))
		change(c)
		stattest.Wraps(t, stattest.Err(s.Groups(c)), ErrInvalid, "%s", name)
	}
}

// TestBuyDefaults: bins of equal width that nobody asked for are bought, and no others.
func TestBuyDefaults(t *testing.T) {
	s := stattest.Must(Parse([]byte(`decoy: 1
columns:
  - {name: days, kind: integer, min: 0, max: 99}
  - {name: stay, kind: integer, min: 0, max: 365, missing: [""]}
  - {name: wide, kind: integer, min: 0, max: 1e9}
  - {name: short, kind: real, min: 0, max: 9, decimals: 1}
  - {name: born, kind: date, min: 1920-01-01, max: 2020-01-01}
  - {name: equal, kind: real, min: 0, max: 9, bins: 32}
  - {name: log, kind: real, min: 1, max: 9, bins: {spacing: log}}
  - {name: edges, kind: real, edges: [0, 1, 9]}
  - {name: ruled, kind: integer, min: 0, max: 319}
  - {name: sex, kind: categorical, categories: [f, m]}
rules: [{when: {sex: [m]}, then: {ruled: {below: 10}}}]
`)))
	cells := map[string]int{"stay": 366, "wide": 65535, "short": 90, "born": 36526}
	bought := s.BuyDefaults()
	check(t, bought.Validate())
	text := stattest.Must(bought.YAML())
	back, err := Parse(text)
	if err != nil || back.Fingerprint() != bought.Fingerprint() {
		t.Errorf("it is not read back: %v", err)
	}
	for i, c := range bought.Columns {
		switch n := cells[c.Name]; {
		case n == 0 && !reflect.DeepEqual(c, s.Columns[i]):
			t.Errorf("column %s is changed to %+v", c.Name, c)
		case n > 0 && (c.BuyBins != 32 || c.Bins != n):
			t.Errorf("column %s has %d bins of %d cells, want 32 of %d", c.Name, c.BuyBins, c.Bins, n)
		}
	}
}
