package eval

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// failed is the error of a call.
func failed[T any](_ T, err error) error { return err }

// TestErrors makes the checks of input fire that a metric does not share with all others.
func TestErrors(t *testing.T) {
	s := schemaOf(t, category("a", 2), number("b", 3))
	tab := tableOf(t, s, []int{0, 0}, []int{1, 1})
	none, single := tab.Select(nil), tab.Select([]int{0})
	otherBins := tableOf(t, schemaOf(t, category("a", 2), number("b", 4)), []int{0, 0}, []int{1, 1})
	fewer := tableOf(t, schemaOf(t, category("a", 2)), []int{0}, []int{1})
	turned := tableOf(t, schemaOf(t, schema.Column{Name: "a", Kind: schema.Categorical,
		Categories: []string{"c1", "c0"}}, number("b", 3)), []int{0, 0})
	one, two, gower := pointsOf(t, single, Euclidean), pointsOf(t, tab, Euclidean),
		pointsOf(t, tab, Gower)
	other := pointsOf(t, otherBins, Euclidean)
	matrix := func(drop []string, tab *table.Table) error {
		_, _, err := newMatrix(drop, tab)
		return err
	}
	_, alike, err := newMatrix(nil, tab)
	stattest.Check(t, err)
	like := func(t *table.Table) error { return failed(alike(t)) }
	y := []bool{true, false}
	trees := func(y []bool, drop ...string) error {
		return failed(fitBoosting(tab, targets(y), drop, usualBoosting))
	}
	boosted := stattest.Must(fitBoosting(tab, targets(y), nil, usualBoosting))
	scores := func(x []float64, labels []bool) error {
		auroc := failed(AUROC(x, labels))
		for _, err := range []error{failed(AveragePrecision(x, labels)),
			failed(CurveOf(x, labels, BootstrapOptions{}))} {
			if fmt.Sprint(err) != fmt.Sprint(auroc) {
				t.Errorf("one score fails with %v, another with %v", auroc, err)
			}
		}
		return auroc
	}
	task := func(label string, positive uint16, drop ...string) Task {
		return Task{Label: label, Positive: positive, Drop: drop}
	}
	always := func(x float64) func([]uint32) float64 { return func([]uint32) float64 { return x } }
	nan, yes, no := math.NaN(), true, false
	for _, test := range []struct {
		name string
		err  error
		want error
	}{
		{"points: no rows", failed(TablePoints(none, Gower)), ErrTables},
		{"points: no such distance", failed(TablePoints(tab, 7)), ErrTables},
		{"points: unknown column", failed(TablePoints(tab, Gower, "z")), ErrColumn},
		{"NNAA: one row", failed(NNAA(two, one, 0)), ErrTables},
		{"NNAA: other distance", failed(NNAA(two, gower, 0)), ErrTables},
		{"NNAA: other bins", failed(NNAA(two, other, 0)), ErrTables},
		{"PrivacyLoss: one row", failed(PrivacyLoss(two, one, two, 0)), ErrTables},
		{"Closest: one training row", failed(Closest(one, two, two, 0)), ErrTables},
		{"Closest: one holdout row", failed(Closest(two, one, two, 0)), ErrTables},
		{"Closest: another space", failed(Closest(two, two, gower, 0)), ErrTables},
		{"matrix: no rows", matrix(nil, none), ErrTables},
		{"matrix: unknown column", matrix([]string{"z"}, tab), ErrColumn},
		{"matrix: nothing left", matrix([]string{"a", "b"}, tab), ErrColumn},
		{"like: no rows", like(none), ErrTables},
		{"like: fewer columns", like(fewer), ErrTables},
		{"like: other bins", like(otherBins), ErrTables},
		{"like: other categories", like(turned), ErrTables},
		{"trees: too few labels", trees(y[1:]), ErrFit},
		{"trees: one class", trees(make([]bool, 2)), ErrOneClass},
		{"trees: unknown column", trees(y, "z"), ErrColumn},
		{"trees: nothing left", trees(y, "a", "b"), ErrColumn},
		{"trees: other columns", failed(boosted.Scores(fewer)), ErrTables},
		{"scores: none", scores(nil, nil), ErrScores},
		{"scores: lengths", scores([]float64{1}, []bool{yes, no}), ErrScores},
		{"scores: NaN", scores([]float64{1, nan}, []bool{yes, no}), ErrScores},
		{"scores: all positive", scores([]float64{1, 2}, []bool{yes, yes}), ErrOneClass},
		{"scores: all negative", scores([]float64{1, 2}, []bool{no, no}), ErrOneClass},
		{"task: no label", failed(TSTR(tab, tab, task("z", 1))), ErrColumn},
		{"task: no such code", failed(TSTR(tab, tab, task("a", 2))), ErrColumn},
		{"task: unknown column", failed(TSTR(tab, tab, task("a", 1, "z"))), ErrColumn},
		{"task: all dropped", failed(TSTR(tab, tab, task("a", 1, "b"))), ErrColumn},
		{"task: no rows", failed(TSTR(none, tab, task("a", 1))), ErrTables},
		{"task: other columns", failed(TSTR(fewer, tab, task("a", 1))), ErrTables},
		{"task: one class to test on", failed(TSTR(tab, single, task("a", 1))), ErrOneClass},
		{"task: no learner", failed(TSTR(tab, tab, Task{Label: "a", Learner: 99})), ErrFit},
		{"Wilson: too few", failed(Wilson(-1, 2, .9)), ErrInterval},
		{"Wilson: too many", failed(Wilson(3, 2, .9)), ErrInterval},
		{"Wilson: of none", failed(Wilson(0, 0, .9)), ErrInterval},
		{"Wilson: level 0", failed(Wilson(1, 2, 0)), ErrInterval},
		{"Wilson: level 1", failed(Wilson(1, 2, 1)), ErrInterval},
		{"Wilson: level NaN", failed(Wilson(1, 2, nan)), ErrInterval},
		{"rate: no column", failed(RareClassRate(tab, "z", 0, .95)), ErrColumn},
		{"rate: no code", failed(RareClassRate(tab, "a", 2, .95)), ErrColumn},
		{"rate: level", failed(RareClassRate(tab, "a", 0, 1.5)), ErrInterval},
		{"bootstrap: of none", failed(Bootstrap(0, BootstrapOptions{}, always(1))), ErrInterval},
		{"bootstrap: too few", failed(Bootstrap(5, BootstrapOptions{Replicates: 2}, always(1))),
			ErrInterval},
		{"bootstrap: level", failed(Bootstrap(5, BootstrapOptions{Level: 2}, always(1))), ErrInterval},
		{"bootstrap: undefined", failed(Bootstrap(5, BootstrapOptions{}, always(nan))), ErrInterval},
		{"bootstrap: often undefined", failed(CurveOf([]float64{1, 2, 3, 4},
			[]bool{yes, no, no, no}, BootstrapOptions{})), ErrInterval},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, test.err, test.want)
		}
	}
	if _, _, err := Nearest(two, gower); !errors.Is(err, ErrTables) {
		t.Errorf("nearest in another space: error %v, want %v", err, ErrTables)
	}
}
