package eval

import (
	"reflect"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

func TestInvented(t *testing.T) {
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
	ba := []Combination{{"group", "dead", "b", "true", .05}}
	for _, tt := range []struct {
		name                     string
		real, synthetic, holdout *table.Table
		want                     []Combination
	}{
		{"the same", of(500, 100, 400, 0, 0, 0), of(500, 100, 400, 0, 0, 0), nil, nil},
		{"invented", of(500, 100, 400, 0, 0, 0), of(500, 100, 350, 50, 0, 0), nil, ba},
		{"in the holdout", of(500, 100, 400, 0, 0, 0), of(500, 100, 350, 50, 0, 0),
			of(1, 0, 0, 1, 0, 0), nil},
		{"too few rows", of(500, 100, 400, 0, 0, 0), of(500, 100, 391, 9, 0, 0), nil, nil},
		{"too few real rows", of(50, 10, 40, 0, 0, 0), of(500, 100, 350, 50, 0, 0), nil, nil},
		{"a value that no real row has", of(500, 100, 400, 0, 0, 0), of(500, 100, 350, 0, 0, 50),
			nil, nil},
	} {
		got, err := Invented(tt.real, tt.synthetic, tt.holdout, .005)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}
