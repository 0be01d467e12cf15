package margerror

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

func tableOf(t *testing.T, cols ...[]uint8) *table.Table {
	t.Helper()
	s := &schema.Schema{}
	var codes []table.Codes
	for i, c := range cols {
		s.Columns = append(s.Columns, schema.Column{Name: string(rune('a' + i)), Kind: schema.Categorical, Categories: []string{"x", "y"}})
		codes = append(codes, table.Codes{U8: c})
	}
	tab, err := table.FromColumns(s, codes, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestMean(t *testing.T) {
	a := tableOf(t, []uint8{0, 0, 1, 1}, []uint8{0, 1, 0, 1}, []uint8{0, 0, 0, 0})
	b := tableOf(t, []uint8{0, 1}, []uint8{0, 1}, []uint8{0, 1})
	tests := []struct {
		name string
		k    int
		want float64
	}{
		{"one-way: 0, 0 and 1/2", 1, (0 + 0 + .5) / 3},
		{"two-way: each pair has 1/2", 2, .5},
		{"three-way: a has 4 cells of 1/4, b two of 1/2, one shared", 3, .75},
	}
	for _, tt := range tests {
		got, err := Mean(a, b, tt.k)
		if err != nil || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: got %v, %v, want %v", tt.name, got, err, tt.want)
		}
		if same, err := Mean(a, a, tt.k); err != nil || same != 0 {
			t.Errorf("%s: the distance to itself is %v, %v", tt.name, same, err)
		}
	}
	for _, k := range []int{0, 4} {
		if _, err := Mean(a, b, k); err == nil {
			t.Errorf("k = %d is accepted", k)
		}
	}
}

func TestNextVisitsEverySetOnce(t *testing.T) {
	cols, seen := []int{0, 1, 2}, map[[3]int]bool{}
	for {
		seen[[3]int(cols)] = true
		if !next(cols, 7) {
			break
		}
	}
	if len(seen) != 35 {
		t.Errorf("%d sets, want 35", len(seen))
	}
}
