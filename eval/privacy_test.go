package eval

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/table"
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

func TestKAnonymity(t *testing.T) {
	s := schemaOf(t, category("zip", 5), number("age", 4), category("illness", 3))
	tab := tableOf(t, s, []int{0, 0, 0}, []int{0, 0, 1}, []int{0, 0, 2}, []int{1, 0, 0},
		[]int{1, 0, 0}, []int{2, 3, 1})
	got, err := KAnonymity(tab, []string{"zip", "age"})
	if want := (KAnonymityResult{K: 1, Classes: 3, Median: 2, Unique: 1. / 6}); err != nil ||
		got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	got, err = KAnonymity(tab.Select([]int{0, 1, 2}), []string{"age"})
	if want := (KAnonymityResult{K: 3, Classes: 1, Median: 3}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	synthetic := tableOf(t, s, []int{2, 3, 0}, []int{0, 0, 0}, []int{0, 0, 2}, []int{4, 0, 0})
	risk, err := LinkageRisk(tab, synthetic, []string{"zip", "age"})
	want := LinkageResult{Risk: 2. / 6, Found: 4. / 6, UniqueFound: 1. / 6, Ceiling: 3. / 6,
		LargestClass: 3}
	if err != nil || !near(risk.Risk, want.Risk, 1e-15) || !near(risk.Found, want.Found, 1e-15) ||
		risk.UniqueFound != want.UniqueFound || !near(risk.Ceiling, want.Ceiling, 1e-15) ||
		risk.LargestClass != 3 {
		t.Errorf("%+v, %v, want %+v", risk, err, want)
	}
	for _, quasi := range [][]string{nil, {"z"}} {
		if _, err := KAnonymity(tab, quasi); !errors.Is(err, ErrColumn) {
			t.Errorf("quasi-identifiers %v: error %v, want %v", quasi, err, ErrColumn)
		}
		if _, err := LinkageRisk(tab, synthetic, quasi); !errors.Is(err, ErrColumn) {
			t.Errorf("quasi-identifiers %v: error %v, want %v", quasi, err, ErrColumn)
		}
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
	if _, err := AttributeInference(people, synthetic, "z"); !errors.Is(err, ErrColumn) {
		t.Errorf("no such column: %v", err)
	}
}

// onLine is points on the real line.
func onLine(t testing.TB, x ...float64) *Points {
	t.Helper()
	p := stattest.Must(NewPoints(x, 1))
	return p
}

func TestClosest(t *testing.T) {
	train, holdout := onLine(t, 0, 10, 10, 40), onLine(t, 5, 20, 50, 60)
	synthetic := onLine(t, 1, 10, 15, 50)
	got := stattest.Must(Closest(train, holdout, synthetic, 0))
	for i, want := range []float64{1, 0, 5, 10} {
		if got.TrainDistances[i] != want {
			t.Errorf("row %d is %v from the training table, want %v", i, got.TrainDistances[i],
				want)
		}
	}
	for i, want := range []float64{4, 5, 5, 0} {
		if got.HoldoutDistances[i] != want {
			t.Errorf("row %d is %v from the holdout, want %v", i, got.HoldoutDistances[i], want)
		}
	}
	if got.Rows != 4 || got.CloserToTrain != (1+1+.5)/4 {
		t.Errorf("%d rows, share %v closer to the training table", got.Rows, got.CloserToTrain)
	}
	if got.Train.Median != 3 || got.Train.Mean != 4 || !near(got.Train.P05, .15, 1e-15) {
		t.Errorf("distances %+v", got.Train)
	}
	// Ratios 1/9, 1 (two records at the place), 1 (both 5 away), 10/40.
	if !near(got.TrainRatio.Mean, (1./9+1+1+.25)/4, 1e-15) {
		t.Errorf("ratios %+v", got.TrainRatio)
	}
}
