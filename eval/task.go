package eval

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/data/table"
)

// Learner is a sort of classifier.
type Learner uint8

// The learners. The zero value is LogisticRegression.
const (
	LogisticRegression Learner = iota // with an l2 penalty, C = 1
	GradientBoosting                  // 150 trees of 31 leaves
	OverfittedBoosting                // as many without any restraint, which learn rows by heart
)

// Task is a prediction that shows how useful a table is: which rows are positive,
// from which columns, by which learner.
type Task struct {
	Label    string   // required: the column to predict
	Positive uint16   // its code that counts as positive; all others, missing too, as negative
	Drop     []string // columns that must not be used, such as those that give the answer away
	Learner  Learner  // default LogisticRegression
	Seed     uint64   // of TrainSoft: what the folds are drawn from
}

// Prediction is how well a classifier trained on one table predicts the label of another.
type Prediction struct {
	AUROC            float64
	AveragePrecision float64
	// of positives among the test rows: the average precision of scores that say nothing
	Rate   float64
	Scores []float64 // one a test row, higher = more likely positive
	Labels []bool    // of the test rows
	// the training table has one class only, so that every row scores the same and AUROC is ½
	Constant bool
}

// TSTR trains on synthetic rows and tests on real ones: what a model is worth to
// a user who never sees the real table. Compare with [TRTR] on the same task.
//
// Name TSTR. Alias train-synthetic-test-real, ML efficacy (SDMetrics), XGBoost
// "syn_id" performance (synthcity). Range 0 to 1; goal: TRTR's value. Source:
// Esteban, Hyland & Rätsch 2017, arXiv 1706.02633, section 4.
//
// The real rows should be a holdout that the synthesizer did not see. Errors
// wrap [ErrTables], [ErrColumn], or [ErrOneClass] if all test rows have one class.
func TSTR(synthetic, real *table.Table, task Task) (Prediction, error) {
	if _, err := compatible(synthetic, real); err != nil {
		return Prediction{}, err
	}
	label, err := task.label(synthetic)
	if err != nil {
		return Prediction{}, err
	}
	out := Prediction{Labels: positives(real, label, task.Positive)}
	switch model, err := task.Train(synthetic); {
	case errors.Is(err, ErrOneClass):
		out.Constant = true
		out.Scores = make([]float64, real.Rows())
	case err != nil:
		return Prediction{}, err
	default:
		if out.Scores, err = model.Scores(real); err != nil {
			return Prediction{}, err
		}
	}
	r, err := rank(out.Scores, out.Labels)
	if err != nil {
		return Prediction{}, err
	}
	positives, _ := bothClasses(out.Labels)
	out.AUROC, out.AveragePrecision = r.auroc(nil), r.averagePrecision(nil)
	out.Rate = float64(positives) / float64(len(out.Labels))
	return out, nil
}

// TRTR trains on real rows and tests on other real rows: the yardstick of [TSTR].
//
// Name TRTR. Alias train-real-test-real, "gt" performance (synthcity). Range 0 to
// 1; goal: none, it is a property of the data.
func TRTR(train, holdout *table.Table, task Task) (Prediction, error) {
	return TSTR(train, holdout, task)
}

// label is the position of the label column.
func (k Task) label(t *table.Table) (int, error) {
	columns, err := compatible(t)
	if err != nil {
		return 0, err
	}
	label := t.Schema().Index(k.Label)
	if label < 0 {
		return 0, fmt.Errorf("the schema has no label column %q: %w", k.Label, ErrColumn)
	}
	if int(k.Positive) >= columns[label].size {
		return 0, fmt.Errorf("label column %q has %d codes, the positive one is given as %d: %w",
			k.Label, columns[label].size, k.Positive, ErrColumn)
	}
	return label, nil
}

// Classifier is what [Task.Train] trained.
type Classifier func(*table.Table) ([]float64, error)

// Scores returns one score a row of a table with the columns of the one trained
// on; higher means more likely positive.
func (c Classifier) Scores(t *table.Table) ([]float64, error) { return c(t) }

// Train trains the learner on all rows of a table. Errors wrap [ErrTables],
// [ErrColumn], [ErrFit], or [ErrOneClass] if all rows have one class.
func (k Task) Train(t *table.Table) (Classifier, error) {
	label, err := k.label(t)
	if err != nil {
		return nil, err
	}
	y, drop := positives(t, label, k.Positive), k.unused()
	switch k.Learner {
	case LogisticRegression:
		x, like, err := newMatrix(drop, t)
		if err != nil {
			return nil, err
		}
		model, err := fitLogistic(x, y, 1)
		return func(t *table.Table) ([]float64, error) {
			other, err := like(t)
			if err != nil {
				return nil, err
			}
			return model.scores(other), nil
		}, err
	case GradientBoosting, OverfittedBoosting:
		target, o := make([]float64, len(y)), usualBoosting
		for i, positive := range y {
			target[i] = indicator(positive)
		}
		if k.Learner == OverfittedBoosting {
			o.treeOptions = treeOptions{leaves: 255, minRows: 1, penalty: 1e-3}
		}
		return fitBoosting(t, target, drop, o)
	}
	return nil, fmt.Errorf("there is no learner %d: %w", k.Learner, ErrFit)
}

// unused are the columns that a learner must not see.
func (k Task) unused() []string { return append([]string{k.Label}, k.Drop...) }

// positives reports which rows have the code in the column.
func positives(t *table.Table, column int, code uint16) []bool {
	out := make([]bool, t.Rows())
	forEachCode(t.Column(column), func(i, c int) { out[i] = c == int(code) })
	return out
}

// TrainSoft is [Task.Train] of gradient boosting on labels that say little about single rows: a
// defence against membership attacks on a classifier that is trained on rows. It is not
// differentially private, and has no ε; package stats has one that is.
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
		return nil, fmt.Errorf("soft labels are for gradient boosting, 4 to %d folds "+
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
