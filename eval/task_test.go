package eval

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/table"
)

// riskTable is n rows whose label is 1 more often for high codes of "a", and depends on "b" not at
// all.
func riskTable(t testing.TB, n int, u *rand.Rand) *table.Table {
	s := schemaOf(t, number("a", 10), category("b", 3), category("label", 2))
	cols := []table.Codes{table.NewCodes(10, n), table.NewCodes(3, n), table.NewCodes(2, n)}
	for i := range n {
		a := u.IntN(10)
		cols[0].Set(i, uint16(a))
		cols[1].Set(i, uint16(u.IntN(3)))
		cols[2].Set(i, uint16(indicator(u.IntN(12) < a)))
	}
	out, err := table.FromColumns(s, cols, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var learners = []Learner{LogisticRegression, RandomForest, GradientBoosting}

func TestTSTR(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	train, test := riskTable(t, 3000, u), riskTable(t, 3000, u)
	for _, learner := range learners {
		task := Task{Label: "label", Positive: 1, Learner: learner}
		good, err := TSTR(train, test, task)
		if err != nil {
			t.Fatal(err)
		}
		// The best possible AUROC of these tables, from the ten rates, is .793; the standard error
		// is .009.
		if good.AUROC < .74 || good.AUROC > .85 || good.AveragePrecision <= good.Rate ||
			good.Constant {
			t.Errorf("learner %d: AUROC %v, average precision %v at rate %v", learner, good.AUROC,
				good.AveragePrecision, good.Rate)
		}
		task.Drop = []string{"a"}
		blind, err := TRTR(train, test, task)
		if err != nil || blind.AUROC < .45 || blind.AUROC > .55 {
			t.Errorf("learner %d: AUROC %v, %v without the column that tells", learner, blind.AUROC,
				err)
		}
		// A table that has lost its rare class scores as chance, not as an error.
		task.Drop = nil
		var negatives []int
		for i := range train.Rows() {
			if train.Column(2).At(i) == 0 {
				negatives = append(negatives, i)
			}
		}
		lost, err := TSTR(train.Select(negatives), test, task)
		if err != nil || !lost.Constant || lost.AUROC != .5 ||
			!near(lost.AveragePrecision, lost.Rate, 1e-12) {
			t.Errorf("learner %d: %+v, %v from a table of one class", learner, lost.AUROC, err)
		}
	}
}

func TestTaskErrors(t *testing.T) {
	u := rand.New(rand.NewPCG(2, 2))
	tab := riskTable(t, 30, u)
	none := tab.Select(nil)
	same := tab.Select([]int{0})
	other := tableOf(t, schemaOf(t, category("label", 2)), []int{0}, []int{1})
	ok := Task{Label: "label", Positive: 1}
	for _, test := range []struct {
		name        string
		task        Task
		train, test *table.Table
		want        error
	}{
		{"no label", Task{Label: "z"}, tab, tab, ErrColumn},
		{"no such code", Task{Label: "label", Positive: 2}, tab, tab, ErrColumn},
		{"unknown column to drop", Task{Label: "label", Positive: 1, Drop: []string{"z"}}, tab, tab,
			ErrColumn},
		{"all dropped", Task{Label: "label", Positive: 1, Drop: []string{"a", "b"}}, tab, tab,
			ErrColumn},
		{"no rows", ok, none, tab, ErrTables},
		{"other columns", ok, other, tab, ErrTables},
		{"one class to test on", ok, tab, same, ErrOneClass},
		{"no such learner", Task{Label: "label", Positive: 1, Learner: 99}, tab, tab, ErrFit},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := TSTR(test.train, test.test, test.task); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}
