package attack

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/table"
)

// DistanceResult is what the distances to synthetic rows tell about membership.
type DistanceResult struct {
	// of nearness to the synthetic rows, training rows being positive
	AUROC float64 `json:"auroc"`
	TPR   float64 `json:"tpr_at_1pct_fpr"` // true positives at 1 % false ones, as counted
	// of saying which of a training row and a holdout row was in: the nearer one
	Accuracy Accuracy `json:"accuracy"`
	Epsilon  float64  `json:"epsilon_lower"` // ε at the claim's δ
	Refuted  bool     `json:"refuted"`
}

// Distance attacks a synthetic table of any origin by the distance to the closest record: rows that
// are nearer to a synthetic row are taken for training rows. Training and holdout rows are paired
// at random, and of each pair the attacker must say which was in.
//
// The claim under test is (ε, δ)-DP with replace-one neighbours for the budget. If training and
// holdout rows were split at random, each pair has a fair coin of its own, and the one-run theorem
// ([Guesses]) makes the bound on ε valid for one synthetic table, however the rows depend on each
// other through it. The larger of the two real tables is cut to the size of the smaller. Confidence
// is in (0, 1), .95 if 0. Errors are those of package eval for tables that cannot be compared.
func Distance(
	train, holdout, synthetic *table.Table, b accountant.Budget, confidence float64,
) (DistanceResult, error) {
	var r DistanceResult
	if confidence == 0 {
		confidence = .95
	}
	if !(confidence > 0 && confidence < 1) {
		return r, fmt.Errorf("attack: confidence %v must be in (0, 1)", confidence)
	}
	n := min(train.Rows(), holdout.Rows())
	if n == 0 || synthetic.Rows() == 0 {
		return r, fmt.Errorf("attack: %w: no rows", eval.ErrTables)
	}
	to, err := eval.TablePoints(synthetic, eval.Gower)
	if err != nil {
		return r, err
	}
	scores, labels := make([]float64, 0, 2*n), make([]bool, 0, 2*n)
	for side, t := range []*table.Table{train, holdout} {
		points, err := eval.TablePoints(t.Select(rand.Perm(t.Rows())[:n]), eval.Gower)
		if err != nil {
			return r, err
		}
		nearest, _, err := eval.Nearest(points, to)
		if err != nil {
			return r, err
		}
		for _, d := range nearest {
			scores = append(scores, -d)
			labels = append(labels, side == 0)
		}
	}
	right := 0
	for i := range n {
		if in, out := scores[i], scores[n+i]; in > out || in == out && rand.IntN(2) == 0 {
			right++
		}
	}
	r.Accuracy = accuracyOf(right, n, b, confidence)
	// The rounds share one table: what holds is the theorem, not independence.
	g := Guesses{Canaries: n, Made: n, Right: right}
	r.Epsilon = g.Epsilon(b.Delta, 1-confidence)
	r.Refuted = r.Epsilon > b.Epsilon
	r.Accuracy.Epsilon, r.Accuracy.Refuted = r.Epsilon, r.Refuted
	r.TPR = tprAt(scores, labels, .01)
	r.AUROC, err = eval.AUROC(scores, labels)
	if math.IsNaN(r.AUROC) {
		return r, fmt.Errorf("attack: %w", eval.ErrTables)
	}
	return r, err
}
