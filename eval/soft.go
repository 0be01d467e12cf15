package eval

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/table"
)

// TrainSoft is [Task.Train] of gradient boosting on labels that say little about single rows: a
// defence against membership attacks on a classifier that is trained on rows. It is not
// differentially private, and has no ε; package analysis has one that is.
//
// The rows are dealt to folds, at random by Task.Seed, and as many classifiers are trained, each on
// half of the folds. A row's label then is the probability whose log odds are the mean of those of
// the classifiers that did not see it, moved by alpha ≥ 0 of their standard deviations towards the
// label that it has: the larger alpha, the more of single rows. (A regression gains nothing by it:
// what a row does to the labels of others comes back to it.) Errors are those of Train, also on
// half of the folds, of which there are 4 to the number of rows.
func (k Task) TrainSoft(t *table.Table, folds int, alpha float64) (Classifier, error) {
	n := t.Rows()
	if k.Learner != GradientBoosting || folds < 4 || folds > n || !(alpha >= 0 && alpha <= 1e6) {
		return nil, fmt.Errorf("eval: soft labels are for gradient boosting, 4 to %d folds "+
			"and an alpha ≥ 0, not %d and %v: %w", n, folds, alpha, ErrFit)
	}
	label, err := k.label(t)
	if err != nil {
		return nil, err
	}
	order := rand.New(rand.NewPCG(k.Seed, 0)).Perm(n)
	sum, squares := make([]float64, n), make([]float64, n)
	for first := range folds {
		var seen, unseen []int
		for i, row := range order {
			if (i%folds-first+folds)%folds < folds/2 {
				seen = append(seen, row)
			} else {
				unseen = append(unseen, row)
			}
		}
		model, err := k.Train(t.Select(seen))
		if err != nil {
			return nil, err
		}
		scores, err := model.Scores(t.Select(unseen))
		if err != nil {
			return nil, err
		}
		for i, row := range unseen {
			sum[row] += scores[i]
			squares[row] += scores[i] * scores[i]
		}
	}
	y, others := positives(t, label, k.Positive), float64(folds-folds/2)
	soft := make([]float64, n)
	for row, positive := range y {
		mean := sum[row] / others
		move := alpha * math.Sqrt(max(0, (squares[row]-others*mean*mean)/(others-1)))
		if !positive {
			move = -move
		}
		soft[row] = sigmoid(mean + move)
	}
	return fitBoosting(t, soft, k.unused(), usualBoosting)
}
