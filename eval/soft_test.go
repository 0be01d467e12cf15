package eval

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestSoftLabels: the leave-two-unlabelled attacker, who has one row of the training and one that
// was not in it, both with their labels, and says that the one was in of whose label the classifier
// is surer. Of 800 rows, a fifth of the labels flipped, he is right less often of
// soft labels, and the classifier is no worse on true labels of other rows.
func TestSoftLabels(t *testing.T) {
	const n, columns, codes = 800, 8, 5
	s := &schema.Schema{Columns: []schema.Column{{Name: "y", Kind: schema.Boolean}}}
	for c := range columns {
		s.Columns = append(s.Columns, schema.Column{Name: string(rune('a' + c)), Kind: schema.Categorical,
			Categories: []string{"0", "1", "2", "3", "4"}})
	}
	u := rand.New(rand.NewPCG(1, 1))
	draw := func(flips float64) *table.Table {
		cells := make([]table.Codes, columns+1)
		for c := range cells {
			cells[c].U8 = make([]uint8, n)
		}
		for r := range n {
			sum := 0
			for c := range columns {
				x := u.IntN(codes)
				cells[c+1].U8[r] = uint8(x)
				if c < 4 {
					sum += x
				}
			}
			if (sum > 8 || sum == 8 && u.IntN(2) == 0) != (u.Float64() < flips) {
				cells[0].U8[r] = 1
			}
		}
		out := stattest.Must(table.FromColumns(s, cells, nil))
		return out
	}
	k := Task{Label: "y", Positive: 1, Learner: GradientBoosting}
	var attack, accuracy [2]float64
	const rounds = 2
	for range rounds {
		train, other, clean := draw(.2), draw(.2), draw(0)
		for i, fit := range []func() (Classifier, error){
			func() (Classifier, error) { return k.Train(train) },
			func() (Classifier, error) { return k.TrainSoft(train, 6, .25) },
		} {
			model := stattest.Must(fit())
			var sure []float64
			var in []bool
			for _, of := range []*table.Table{train, other} {
				scores := stattest.Must(model.Scores(of))
				for r, x := range scores {
					if of.Column(0).At(r) == 0 {
						x = -x
					}
					sure, in = append(sure, x), append(in, of == train)
				}
			}
			found := stattest.Must(AUROC(sure, in))
			attack[i] += found / rounds
			scores := stattest.Must(model.Scores(clean))
			for r, x := range scores {
				if (x > 0) == (clean.Column(0).At(r) == 1) {
					accuracy[i] += 1 / float64(rounds*n)
				}
			}
		}
	}
	t.Logf("AUROC of the attack %.3f, with soft labels %.3f; accuracy %.3f and %.3f", attack[0],
		attack[1], accuracy[0], accuracy[1])
	if attack[0] < .7 || attack[1] > .65 || accuracy[1] < accuracy[0] {
		t.Error("soft labels do not do their job")
	}
	stattest.Wraps(t, stattest.Err(k.TrainSoft(draw(0), 3, 1)), ErrFit, "three folds")
	if _, err := (Task{Label: "y", Positive: 1, Learner: LogisticRegression}).TrainSoft(draw(0), 6,
		1); !errors.Is(err, ErrFit) {
		t.Errorf("a regression: %v", err)
	}
}
