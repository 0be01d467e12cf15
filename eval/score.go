package eval

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
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
	return scoreOf(scores, labels, ranking.auroc)
}

// AveragePrecision is Σ (R_k − R_{k−1})·P_k over the distinct scores from the highest down, with
// P_k and R_k the precision and the recall of predicting positive from that score on: the area
// under the step-wise precision-recall curve, without interpolation.
//
// Name AveragePrecision. Alias average_precision_score (scikit-learn), PR-AUC.
// Range 0 to 1, the rate of positives for scores that say nothing; goal: as
// high as for a model trained on real rows. Input and errors are those of [AUROC].
func AveragePrecision(scores []float64, labels []bool) (float64, error) {
	return scoreOf(scores, labels, ranking.averagePrecision)
}

func scoreOf(
	scores []float64, labels []bool, metric func(ranking, []uint32) float64,
) (float64, error) {
	r, err := rank(scores, labels)
	if err != nil {
		return 0, err
	}
	return metric(r, nil), nil
}

// corners are those of the ROC curve. Points on the straight line between their neighbours are left
// out (as scikit-learn's roc_curve does by default), so that the trapezoid area of the points is
// [AUROC].
func (r ranking) corners() (out [][2]float64) {
	corners, at := []counts{{}}, counts{}
	for _, n := range r.groups(nil) {
		at = counts{at.positive + n.positive, at.negative + n.negative}
		if k := len(corners) - 1; k > 0 {
			a, b := corners[k-1], corners[k]
			if (b.positive-a.positive)*(at.negative-b.negative) ==
				(at.positive-b.positive)*(b.negative-a.negative) { // b is on the line
				corners = corners[:k]
			}
		}
		corners = append(corners, at)
	}
	for _, c := range corners {
		out = append(out, [2]float64{float64(c.negative) / float64(at.negative),
			float64(c.positive) / float64(at.positive)})
	}
	return out
}

// ranking is rows in the order of their scores, the highest first.
type ranking []ranked

// ranked is a row by its score.
type ranked struct {
	score    float64
	row      uint32
	positive bool
}

// rank sorts the rows by their scores.
func rank(scores []float64, labels []bool) (ranking, error) {
	if len(scores) != len(labels) || len(scores) == 0 {
		return nil, fmt.Errorf("%d scores for %d labels: %w", len(scores), len(labels), ErrScores)
	}
	r := make(ranking, len(scores))
	for i, s := range scores {
		if s != s {
			return nil, fmt.Errorf("score %d is not a number: %w", i, ErrScores)
		}
		r[i] = ranked{s, uint32(i), labels[i]}
	}
	if _, err := bothClasses(labels); err != nil {
		return nil, err
	}
	slices.SortFunc(r, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return r, nil
}

// bothClasses counts the positive labels, and fails unless there are both.
func bothClasses(labels []bool) (positives int, err error) {
	for _, l := range labels {
		if l {
			positives++
		}
	}
	if positives == 0 || positives == len(labels) {
		err = fmt.Errorf("%d of %d labels are positive: %w", positives, len(labels), ErrOneClass)
	}
	return positives, err
}

// counts is how many rows of each class there are.
type counts struct{ positive, negative uint64 }

// groups yields every distinct score, from the highest down, with the rows that have it; row i
// counts times[i] times, or once without times.
func (r ranking) groups(times []uint32) iter.Seq2[float64, counts] {
	return func(yield func(float64, counts) bool) {
		for i := 0; i < len(r); {
			score := r[i].score
			var n counts
			for ; i < len(r) && r[i].score == score; i++ {
				k := uint64(1)
				if times != nil {
					k = uint64(times[r[i].row])
				}
				if r[i].positive {
					n.positive += k
				} else {
					n.negative += k
				}
			}
			if !yield(score, n) {
				return
			}
		}
	}
}

// auroc is NaN if times leave one class only.
func (r ranking) auroc(times []uint32) float64 {
	var twice, above, total uint64 // twice the pairs won; positives above; negatives
	for _, n := range r.groups(times) {
		twice += n.negative * (2*above + n.positive)
		above += n.positive
		total += n.negative
	}
	if total == 0 || above == 0 {
		return math.NaN()
	}
	return float64(twice) / (2 * float64(total) * float64(above))
}

// averagePrecision is NaN if times leave one class only.
func (r ranking) averagePrecision(times []uint32) float64 {
	var hits, seen uint64
	sum := 0.0
	for _, n := range r.groups(times) {
		hits, seen = hits+n.positive, seen+n.positive+n.negative
		if n.positive > 0 {
			sum += float64(n.positive) * (float64(hits) / float64(seen))
		}
	}
	if hits == 0 || hits == seen {
		return math.NaN()
	}
	return sum / float64(hits)
}
