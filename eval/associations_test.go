package eval

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/decoy-dp/decoy/schema"
)

func TestCramer(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    [][]float64
		want float64
	}{
		{"independent", [][]float64{{10, 20}, {20, 40}}, 0},
		{"identical", [][]float64{{30, 0}, {0, 30}}, 1},
		// χ²/n = .36, less 1/99, over 2 − 1/99 − 1
		{"by hand", [][]float64{{40, 10}, {10, 40}}, math.Sqrt((.36 - 1./99) / (1 - 1./99))},
		{"one column only", [][]float64{{3, 0}, {5, 0}}, math.NaN()},
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
	if err != nil {
		t.Fatal(err)
	}
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
	m, err := Associations(up, flat)
	if err != nil {
		t.Fatal(err)
	}
	if r := m[0]; !near(r[1][2], 1, 1e-12) || !near(r[2][1], 1, 1e-12) || r[1][1] != 1 {
		t.Errorf("associations %v", r)
	}
	if r := m[1]; !math.IsNaN(r[1][2]) {
		t.Errorf("associations %v of a column without spread", r)
	}
}

func TestLostAssociations(t *testing.T) {
	nan := math.NaN()
	matrix := func(ab, ac, bc float64) [][]float64 {
		return [][]float64{{1, ab, ac}, {ab, 1, bc}, {ac, bc, 1}}
	}
	for _, tt := range []struct {
		name            string
		real, synthetic [][]float64
		kept            float64
		first           PairLoss
	}{
		{"nothing lost", matrix(.8, .05, -.5), matrix(.8, .05, -.5), 1, PairLoss{0, 1, .8, .8, 0}},
		// the band is 2·√(2/800) = .1
		{"one lost", matrix(.8, .05, -.5), matrix(.1, .05, -.5), 1 - .6/1.3,
			PairLoss{0, 1, .8, .1, .6}},
		{"turned round", matrix(.8, .05, -.5), matrix(.8, .05, .5), 1 - .9/1.3,
			PairLoss{1, 2, -.5, .5, .9}},
		{"within the band", matrix(.8, .05, -.5), matrix(.75, 0, -.45), 1,
			PairLoss{0, 1, .8, .75, 0}},
		{"a constant has lost all", matrix(.8, .05, nan), matrix(nan, .05, .5), 1 - .7/.8,
			PairLoss{0, 1, .8, 0, .7}},
		{"invented, and none associated", matrix(.02, .05, 0), matrix(.02, .05, .6), nan,
			PairLoss{1, 2, 0, .6, .5}},
	} {
		got, err := LostAssociations(tt.real, tt.synthetic, nil, [2]int{800, 800})
		if err != nil {
			t.Fatal(err)
		}
		p := got.Pairs[0]
		if !near(got.Band, .1, 1e-12) || !(near(got.Kept, tt.kept, 1e-12) ||
			got.Kept != got.Kept && tt.kept != tt.kept) || p.First != tt.first.First ||
			p.Second != tt.first.Second || !near(p.Excess, tt.first.Excess, 1e-12) ||
			p.Synthetic != tt.first.Synthetic {
			t.Errorf("%s: %+v, want %v of %+v", tt.name, got, tt.kept, tt.first)
		}
	}
	if _, err := LostAssociations(matrix(0, 0, 0), nil, nil, [2]int{1, 1}); !errors.Is(err,
		ErrTables) {
		t.Errorf("error %v for matrices of different sizes", err)
	}
	// the holdout's differences are the band: the 95 % quantile of ten that are .02 and .04
	real, holdout := make([][]float64, 5), make([][]float64, 5)
	for i := range real {
		real[i], holdout[i] = make([]float64, 5), make([]float64, 5)
		for j := range real {
			holdout[i][j] = .02
		}
	}
	got, err := LostAssociations(real, real, holdout, [2]int{100, 100})
	if err != nil || !near(got.Band, .02, 1e-12) || got.Strength != .1 {
		t.Errorf("%+v, %v with a holdout", got, err)
	}
}
