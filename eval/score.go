package eval

import (
	"errors"
	"fmt"
	"math"
)

// ErrScores is wrapped by every error about scores and labels: none at all,
// different numbers of them, a NaN.
var ErrScores = errors.New("unsuitable scores")

// ErrOneClass reports labels that are all positive or all negative, for which
// neither an ROC curve nor an average precision exists.
var ErrOneClass = errors.New("labels of one class only")

// AUROC is the area under the ROC curve: the probability that a random row of
// the positive class scores higher than a random one of the negative class,
// ties counting half (the Mann-Whitney statistic over P·N).
//
// Name AUROC. Alias roc_auc_score (scikit-learn), roc_auc (synthcity). Range 0
// to 1, .5 for scores that say nothing; goal: as high as for a model trained on
// real rows. Source: Hanley & McNeil 1982, Radiology 143.
//
// Scores may be infinite, −0 equals 0, and labels[i] is true for a positive
// row. It is exact: pairs are counted in integers (up to 2³¹ rows). Errors wrap
// [ErrScores] or [ErrOneClass]. Time is that of sorting the scores.
func AUROC(scores []float64, labels []bool) (float64, error) {
	r, err := rank(scores, labels)
	if err != nil {
		return 0, err
	}
	var twice, below uint64 // twice the pairs won; negatives below the current score
	r.ascending(func(_ float64, positive, negative int) {
		twice += uint64(positive) * (2*below + uint64(negative))
		below += uint64(negative)
	})
	return float64(twice) / (2 * float64(len(r.positive)) * float64(len(r.negative))), nil
}

// AveragePrecision is Σ (R_k − R_{k−1})·P_k over the distinct scores from the
// highest down, with P_k and R_k the precision and the recall of predicting
// positive from that score on: the area under the step-wise precision-recall
// curve, without interpolation.
//
// Name AveragePrecision. Alias average_precision_score (scikit-learn), PR-AUC.
// Range 0 to 1, the rate of positives for scores that say nothing; goal: as
// high as for a model trained on real rows. Input and errors are those of [AUROC].
func AveragePrecision(scores []float64, labels []bool) (float64, error) {
	r, err := rank(scores, labels)
	if err != nil {
		return 0, err
	}
	tp, fp, sum := 0, 0, 0.0
	r.descending(func(_ float64, positive, negative int) {
		tp += positive
		fp += negative
		sum += float64(positive) * (float64(tp) / float64(tp+fp))
	})
	return sum / float64(len(r.positive)), nil
}

// ROCPoint is one corner of an ROC curve: the rates of false and of true
// positives when scores of at least Threshold are predicted positive.
type ROCPoint struct{ Threshold, FPR, TPR float64 }

// ROC returns the ROC curve from (0, 0), at threshold +Inf, to (1, 1). Points on
// the straight line between their neighbours are left out (as scikit-learn's
// roc_curve does by default), so that the trapezoid area of the points is
// [AUROC]. Input and errors are those of [AUROC].
func ROC(scores []float64, labels []bool) ([]ROCPoint, error) {
	r, err := rank(scores, labels)
	if err != nil {
		return nil, err
	}
	p, n := len(r.positive), len(r.negative)
	type corner struct {
		threshold float64
		tp, fp    int
	}
	corners := []corner{{threshold: math.Inf(1)}}
	tp, fp := 0, 0
	r.descending(func(score float64, positive, negative int) {
		tp, fp = tp+positive, fp+negative
		if k := len(corners) - 1; k > 0 {
			a, b := corners[k-1], corners[k]
			if (b.tp-a.tp)*(fp-b.fp) == (tp-b.tp)*(b.fp-a.fp) { // b is on the line
				corners = corners[:k]
			}
		}
		corners = append(corners, corner{score, tp, fp})
	})
	out := make([]ROCPoint, len(corners))
	for i, c := range corners {
		out[i] = ROCPoint{c.threshold, float64(c.fp) / float64(n), float64(c.tp) / float64(p)}
	}
	return out, nil
}

// ranking is the scores of the two classes, each sorted upwards, as keys that
// sort like the scores.
type ranking struct{ positive, negative []uint64 }

// rank sorts the scores of the two classes.
func rank(scores []float64, labels []bool) (ranking, error) {
	if len(scores) != len(labels) || len(scores) == 0 {
		return ranking{},
			fmt.Errorf("eval: %d scores for %d labels: %w", len(scores), len(labels), ErrScores)
	}
	positives := 0
	for i, s := range scores {
		if s != s {
			return ranking{}, fmt.Errorf("eval: score %d is not a number: %w", i, ErrScores)
		}
		if labels[i] {
			positives++
		}
	}
	if positives == 0 || positives == len(labels) {
		return ranking{},
			fmt.Errorf("eval: %d of %d labels are positive: %w", positives, len(labels),
				ErrOneClass)
	}
	// One array holds both classes, filled from its two ends without a branch.
	keys := make([]uint64, len(scores))
	at := [2]int{positives, 0}
	for i, s := range scores {
		k := 0
		if labels[i] {
			k = 1
		}
		keys[at[k]] = sortKey(s)
		at[k]++
	}
	r := ranking{positive: keys[:positives], negative: keys[positives:]}
	buffer := make([]uint64, max(len(r.positive), len(r.negative)))
	sortKeys(r.positive, buffer)
	sortKeys(r.negative, buffer)
	return r, nil
}

// ascending calls f for every distinct score from the lowest up, with the rows
// of each class that have it.
func (r ranking) ascending(f func(score float64, positive, negative int)) {
	p, n := 0, 0
	for p < len(r.positive) || n < len(r.negative) {
		key := uint64(math.MaxUint64)
		if p < len(r.positive) {
			key = r.positive[p]
		}
		if n < len(r.negative) {
			key = min(key, r.negative[n])
		}
		p0, n0 := p, n
		for p < len(r.positive) && r.positive[p] == key {
			p++
		}
		for n < len(r.negative) && r.negative[n] == key {
			n++
		}
		f(scoreOf(key), p-p0, n-n0)
	}
}

// descending is ascending from the highest score down.
func (r ranking) descending(f func(score float64, positive, negative int)) {
	p, n := len(r.positive), len(r.negative)
	for p > 0 || n > 0 {
		var key uint64
		if p > 0 {
			key = r.positive[p-1]
		}
		if n > 0 {
			key = max(key, r.negative[n-1])
		}
		p0, n0 := p, n
		for p > 0 && r.positive[p-1] == key {
			p--
		}
		for n > 0 && r.negative[n-1] == key {
			n--
		}
		f(scoreOf(key), p0-p, n0-n)
	}
}
