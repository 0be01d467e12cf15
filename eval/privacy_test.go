package eval

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestMatches(t *testing.T) {
	s := schemaOf(t, category("a", 300), number("b", 4))
	real := tableOf(t, s, []int{0, 0}, []int{0, 0}, []int{299, 1}, []int{1, 2})
	synthetic := tableOf(t, s, []int{0, 0}, []int{299, 1}, []int{299, 1}, []int{5, 3}, []int{0, 1})
	ims, err := IdenticalMatchShare(real, synthetic)
	if err != nil || ims != .6 {
		t.Errorf("identical match share %v, %v, want .6", ims, err)
	}
	if got, err := UniqueExactMatches(real, synthetic); err != nil || got != .25 {
		t.Errorf("unique exact matches %v, %v, want .25", got, err)
	}
}

// TestAttributeInference: by hand, ties included; and rows that are copied give away what rows from
// the same distribution do not. Null: of 1000 rows whose secret is a coin flip half are guessed;
// 6.7 standard errors are a false alarm of less than 1e-6.
func TestAttributeInference(t *testing.T) {
	s := schemaOf(t, category("zip", 5), category("illness", 3))
	people := tableOf(t, s, []int{0, 0}, []int{1, 2}, []int{2, 1}, []int{3, 0})
	synthetic := tableOf(t, s, []int{0, 0}, []int{0, 1}, []int{1, 2}, []int{2, 2})
	// right of the two of zip 0; of zip 1; wrong; one of three at random, as none is near
	want := (.5 + 1 + 0 + 1./3) / 4
	if got, err := AttributeInference(people, synthetic, "illness"); err != nil ||
		!near(got, want, 1e-12) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	u := rand.New(rand.NewPCG(1, 2))
	wide := schemaOf(t, category("a", 30), category("b", 30), category("c", 30), category("coin", 2))
	drawn := func() *table.Table {
		rows := make([][]int, 1000)
		for i := range rows {
			rows[i] = []int{u.IntN(30), u.IntN(30), u.IntN(30), u.IntN(2)}
		}
		return tableOf(t, wide, rows...)
	}
	train, holdout := drawn(), drawn()
	if got, _ := AttributeInference(train, train, "coin"); got < .95 {
		t.Errorf("of copied rows %v are guessed", got)
	}
	got, err := AttributeInference(holdout, train, "coin")
	if err != nil || math.Abs(got-.5) > 6.7*.5/math.Sqrt(1000) {
		t.Errorf("of rows of others %v are guessed", got)
	}
	stattest.Wraps(t, stattest.Err(AttributeInference(people, synthetic, "z")), ErrColumn,
		"no such column")
}

// unit is the places of numbers from −128 to 128, as those of a column with these bounds.
const unit = 1. / 256

// pointsAt is rows of dim such numbers, without a code for each.
func pointsAt(dim int, x ...float64) *Points {
	p := &Points{n: len(x) / dim, dim: dim, space: space{Euclidean,
		slices.Repeat([]column{{place: []float64{}}}, dim)}}
	for _, v := range x {
		p.x = append(p.x, .5+unit*v)
	}
	return p
}

func TestClosest(t *testing.T) {
	train, holdout := pointsAt(1, 0, 10, 10, 40), pointsAt(1, 5, 20, 50, 60)
	synthetic := pointsAt(1, 1, 10, 15, 50)
	got := stattest.Must(Closest(train, holdout, synthetic, 0))
	for i, want := range []float64{1, 0, 5, 10} {
		if got.TrainDistances[i] != want*unit {
			t.Errorf("row %d is %v from the training table, want %v", i, got.TrainDistances[i],
				want)
		}
	}
	for i, want := range []float64{4, 5, 5, 0} {
		if got.HoldoutDistances[i] != want*unit {
			t.Errorf("row %d is %v from the holdout, want %v", i, got.HoldoutDistances[i], want)
		}
	}
	if got.Rows != 4 || got.CloserToTrain != (1+1+.5)/4 {
		t.Errorf("%d rows, share %v closer to the training table", got.Rows, got.CloserToTrain)
	}
	if got.Train.Median != 3*unit || got.Train.Mean != 4*unit ||
		!near(got.Train.P05, .15*unit, 1e-15) {
		t.Errorf("distances %+v", got.Train)
	}
	// Ratios 1/9, 1 (two records at the place), 1 (both 5 away), 10/40.
	if !near(got.TrainRatio.Mean, (1./9+1+1+.25)/4, 1e-15) {
		t.Errorf("ratios %+v", got.TrainRatio)
	}
}
