package eval

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
)

// related3 is a table of two whole numbers from 0 to 7 and a category of three, by a function of
// the row.
func related3(t *testing.T, n int, of func(row int) [3]int) *table.Table {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "a", Kind: schema.Integer, Max: 7}, {Name: "b", Kind: schema.Integer, Max: 7},
		{Name: "c", Kind: schema.Categorical, Categories: []string{"x", "y", "z"}}}}
	return tableFrom(t, s, n, func(row, c int) int { return of(row)[c] })
}

// TestKeptRelations takes a and b with the same quarter, c by itself; half of the synthetic rows
// have a and b independent. The residual of a cell of the diagonal is 1/4 − 1/16, of the others
// −1/16, and half of that is left: the slope is .5, and the distance of that one pair of three
// ½·(4·3/32 + 12/32)·½.
func TestKeptRelations(t *testing.T) {
	const n = 3 * 64 * 20
	same := func(row int) [3]int { return [3]int{row % 8, row % 8, row / 64 % 3} }
	half := func(row int) [3]int {
		if row/192%2 == 0 {
			return same(row)
		}
		return [3]int{row % 8, row / 8 % 8, row / 64 % 3}
	}
	turned := func(row int) [3]int { return [3]int{row % 8, 7 - row%8, row / 64 % 3} }
	real := related3(t, n, same)
	for _, tt := range []struct {
		name                           string
		of                             func(row int) [3]int
		kept, coarse, spearman, cramer float64
	}{
		{"a copy", same, 1, 0, 0, 0},
		{"half independent", half, .5, .375 / 3, .5, 0},
		{"turned", turned, -1. / 3, 1. / 3, 2, 0},
	} {
		got, err := KeptRelations(real, related3(t, n, tt.of), .95, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !near(got.Kept.Estimate, tt.kept, 1e-9) || !near(got.Coarse, tt.coarse, 1e-9) ||
			!near(got.Spearman, tt.spearman, 1e-9) || !near(got.Cramer, tt.cramer, 1e-9) {
			t.Errorf("%s: %+v, want %v %v %v %v", tt.name, got, tt.kept, tt.coarse, tt.spearman, tt.cramer)
		}
		if !(got.Kept.Low <= tt.kept && tt.kept <= got.Kept.High && got.Kept.High-got.Kept.Low < .2) {
			t.Errorf("%s: interval %+v", tt.name, got.Kept)
		}
	}
	none, err := KeptRelations(related3(t, n, func(int) [3]int { return [3]int{} }), real, .95, 1)
	if err != nil || !math.IsNaN(none.Kept.Estimate) {
		t.Errorf("columns of one value have relations: %+v, %v", none, err)
	}
	if _, err := KeptRelations(real, real, 1, 1); !errors.Is(err, ErrInterval) {
		t.Errorf("level 1: %v", err)
	}
}

// TestKeptInterval draws 200 pairs of tables of 500 rows, each row a copy of one cell or not, by
// chance: the slope of their law, .5, is in about 95 % of the intervals. Of 200, fewer than 170 are
// as rare as 1e-7 at 95 %; at 70 %, which a standard error without its factor of √(knives−1) would
// not reach, 170 are.
func TestKeptInterval(t *testing.T) {
	u, in := rand.New(rand.NewPCG(3, 4)), 0
	row := func(same float64) func(int) [3]int {
		return func(int) (out [3]int) {
			out = [3]int{u.IntN(8), u.IntN(8), u.IntN(3)}
			if u.Float64() < same {
				out[1] = out[0]
			}
			return out
		}
	}
	draw := func(same float64) *table.Table {
		rows := make([][3]int, 500)
		for i, of := 0, row(same); i < len(rows); i++ {
			rows[i] = of(i)
		}
		return related3(t, len(rows), func(row int) [3]int { return rows[row] })
	}
	for seed := range uint64(200) {
		got, err := KeptRelations(draw(.8), draw(.4), .95, seed)
		if err != nil {
			t.Fatal(err)
		}
		if got.Kept.Low <= .5 && .5 <= got.Kept.High {
			in++
		}
	}
	if in < 170 {
		t.Errorf("%d of 200 intervals have the slope", in)
	}
}
