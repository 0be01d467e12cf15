package eval

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestCramer(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    [][]int64
		want float64
	}{
		{"independent", [][]int64{{10, 20}, {20, 40}}, 0},
		{"identical", [][]int64{{30, 0}, {0, 30}}, 1},
		// χ²/n = .36, less 1/99, over 2 − 1/99 − 1
		{"by hand", [][]int64{{40, 10}, {10, 40}}, math.Sqrt((.36 - 1./99) / (1 - 1./99))},
		{"one column only", [][]int64{{3, 0}, {5, 0}}, math.NaN()},
	} {
		if got := cramer(tt.n); math.Abs(got-tt.want) > 1e-12 ||
			math.IsNaN(got) != math.IsNaN(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestLevelsHoldEquallyManyRows(t *testing.T) {
	columns, err := columnsOf(schemaOf(t, schema.Column{Name: "x", Kind: schema.Integer, Min: 0,
		Max: 79, Missing: []string{"?"}}))
	stattest.Check(t, err)
	c := columns[0]
	counts := make([]int64, c.size)
	for i := range 80 {
		counts[i] = 5
	}
	counts[80] = 7 // missing
	group, size := c.levels(counts)
	var rows []int64
	for code, g := range group {
		for g >= len(rows) {
			rows = append(rows, 0)
		}
		rows[g] += counts[code]
	}
	if want := []int64{50, 50, 50, 50, 50, 50, 50, 50, 7}; size != 9 ||
		!reflect.DeepEqual(rows, want) {
		t.Errorf("%d groups of %v rows, want %v", size, rows, want)
	}
}

func TestAssociations(t *testing.T) {
	s := similaritySchema(t)
	up := tableOf(t, s, []int{0, 0, 0}, []int{1, 1, 1}, []int{2, 2, 2}, []int{0, 9, 4})
	flat := tableOf(t, s, []int{0, 3, 2}, []int{1, 3, 1})
	columns := stattest.Must(compatible(up, flat))
	m := associations(columns, up, flat)
	if r := m[0]; !near(r[1][2], 1, 1e-12) || !near(r[2][1], 1, 1e-12) || r[1][1] != 1 {
		t.Errorf("associations %v", r)
	}
	if r := m[1]; !math.IsNaN(float64(r[1][2])) {
		t.Errorf("associations %v of a column without spread", r)
	}
}

func TestRareLevelsAreJoined(t *testing.T) {
	for _, tt := range []struct {
		name  string
		count []int64
		want  []int
		size  int
	}{
		{"none rare", []int64{50, 10, 40}, []int{0, 2, 1}, 3},
		{"two rare, together not", []int64{50, 6, 40, 7}, []int{0, 2, 1, 2}, 3},
		{"one rare", []int64{20, 60, 3}, []int{1, 0, 0}, 2},
		{"all rare", []int64{2, 0, 3}, []int{0, 0, 0}, 1},
	} {
		c := column{size: len(tt.count)}
		if group, size := c.levels(tt.count); size != tt.size || !reflect.DeepEqual(group, tt.want) {
			t.Errorf("%s: %v of %d, want %v of %d", tt.name, group, size, tt.want, tt.size)
		}
	}
}

// TestLostAssociations takes numbers of four values: two that are equal, in the synthetic table
// independent, and one that has nothing to do with them.
func TestLostAssociations(t *testing.T) {
	s := schemaOf(t, number("a", 4), number("b", 4), optional(number("c", 4)))
	draw := func(n int, b func(i int) int, c func(i int) int) *table.Table {
		return tableFrom(t, s, n, func(i, k int) int {
			return []func(i int) int{func(i int) int { return i % 4 }, b, c}[k](i)
		})
	}
	same, other := func(i int) int { return i % 4 }, func(i int) int { return i / 4 % 4 }
	third, absent := func(i int) int { return i / 16 % 4 }, func(i int) int {
		if i < 8 {
			return 3 - i%4
		}
		return 4
	}
	turned := func(i int) int { return 3 - i%4 }
	const n = 1600
	band := 2 * math.Sqrt(2./n)
	for _, tt := range []struct {
		name            string
		real, synthetic *table.Table
		kept            float64
		excess          float64 // of the first pair
	}{
		{"nothing lost", draw(n, same, third), draw(n, same, third), 1, 0},
		{"one lost", draw(n, same, third), draw(n, other, third), band, 1 - band},
		{"turned round", draw(n, same, third), draw(n, turned, third), -1 + band, 2 - band},
		{"a constant has lost all", draw(n, same, third),
			draw(n, func(int) int { return 1 }, third), band, 1 - band},
		{"invented, and none associated", draw(n, other, third), draw(n, same, third), math.NaN(),
			1 - band},
		{"eight complete rows say little", draw(n, other, absent),
			draw(n, other, third), 2 * math.Sqrt(1./8+1./n), 1 - 2*math.Sqrt(1./8+1./n)},
	} {
		got := stattest.Must(LostAssociations(tt.real, tt.synthetic, nil))
		if !near(got.Band, band, 1e-12) || !near(got.Pairs[0].Excess, tt.excess, 1e-9) ||
			!(near(got.Kept, tt.kept, 1e-9) || got.Kept != got.Kept && tt.kept != tt.kept) {
			t.Errorf("%s: kept %v, band %v, %+v, want %v and %v", tt.name, got.Kept, got.Band,
				got.Pairs[0], tt.kept, tt.excess)
		}
	}
	if _, err := LostAssociations(draw(0, same, third), draw(9, same, third), nil); !errors.Is(err,
		ErrTables) {
		t.Errorf("error %v for no rows", err)
	}
	real := draw(n, same, third)
	if got, err := LostAssociations(real, real, draw(n, other, third)); err != nil ||
		float64(got.Band) != band || got.Holdout == nil || !near(got.Pairs[0].Holdout, 0, 1e-9) {
		t.Errorf("%+v, %v: the holdout is measured beside them", got, err)
	}
}
