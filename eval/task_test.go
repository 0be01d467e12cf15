package eval

import (
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
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
	out := stattest.Must(table.FromColumns(s, cols, nil))
	return out
}

var learners = []Learner{LogisticRegression, GradientBoosting}

func TestTSTR(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	train, test := riskTable(t, 3000, u), riskTable(t, 3000, u)
	for _, learner := range learners {
		task := Task{Label: "label", Positive: 1, Learner: learner}
		good := stattest.Must(TSTR(train, test, task))
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
