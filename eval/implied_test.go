package eval

import (
	"reflect"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestImplications(t *testing.T) {
	s := schemaOf(t,
		schema.Column{Name: "group", Kind: schema.Categorical, Categories: []string{"a", "b", "c"}},
		schema.Column{Name: "dead", Kind: schema.Boolean})
	// rows of each combination, in the order a no, a yes, b no, ...
	of := func(rows ...int) *table.Table {
		n := 0
		for _, k := range rows {
			n += k
		}
		group, dead := table.NewCodes(3, n), table.NewCodes(2, n)
		at := 0
		for cell, k := range rows {
			for range k {
				group.Set(at, uint16(cell/2))
				dead.Set(at, uint16(cell%2))
				at++
			}
		}
		out := stattest.Must(table.FromColumns(s, []table.Codes{group, dead}, nil))
		return out
	}
	ba := []Broken{{"group", "b", "dead", "true", .05, .05, .125}}
	// pairs of an age in decades and whether somebody is married
	ages := schemaOf(t, schema.Column{Name: "age", Kind: schema.Integer, Min: 0, Max: 79, Bins: 8},
		schema.Column{Name: "married", Kind: schema.Boolean})
	people := func(n int, married func(age int) bool) *table.Table {
		return tableFrom(t, ages, n, func(i, k int) int {
			if age := i % 8; k == 0 || !married(age) || i/8%2 == 0 {
				return age * (1 - k)
			}
			return 1
		})
	}
	adults := people(1600, func(age int) bool { return age > 1 })
	children := []Broken{{"age", "10 – 19", "married", "true", .0625, .0625, .5}}
	for _, tt := range []struct {
		name                     string
		real, synthetic, holdout *table.Table
		want                     []Broken
	}{
		{"the same", of(500, 100, 400, 0, 0, 0), of(500, 100, 400, 0, 0, 0), nil, nil},
		{"invented", of(500, 100, 400, 0, 0, 0), of(500, 100, 350, 50, 0, 0), nil, ba},
		{"by several values together", of(5000, 0, 4000, 0, 1000, 1000),
			of(4970, 30, 3970, 30, 1000, 1000), nil,
			[]Broken{{"group", "a", "dead", "true", 30. / 11000, 60. / 11000, .006}}},
		{"in the holdout", of(500, 100, 400, 0, 0, 0), of(500, 100, 350, 50, 0, 0),
			of(1, 0, 0, 1, 0, 0), nil},
		{"too few rows", of(500, 100, 400, 0, 0, 0), of(500, 100, 391, 9, 0, 0), nil, nil},
		{"too few real rows", of(50, 10, 40, 0, 0, 0), of(500, 100, 350, 50, 0, 0), nil, nil},
		{"children who are married", adults, people(1600, func(age int) bool { return age > 0 }), nil,
			children},
		{"adults who are", adults, people(1600, func(age int) bool { return age > 2 }), nil, nil},
		{"a value that no real row has", of(500, 100, 400, 0, 0, 0), of(500, 100, 350, 0, 0, 50),
			nil, nil},
	} {
		got, err := Implications(tt.real, tt.synthetic, tt.holdout, .005)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}
