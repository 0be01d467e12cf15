package vote

import (
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/noise"
)

// voteNoise is the noise of a ballot: of an answer's counts, and of a check, nil without one.
type voteNoise struct {
	count, check interface{ Sample(src *noise.Source) int64 }
}

// noise validates the aggregator for a ballot, without reading a row.
func (a Aggregator) noise(b Ballot) (n voteNoise, err error) {
	if b.Questions < 1 || b.Classes < 2 || b.Classes > maxClasses {
		return n, fmt.Errorf(
			"a ballot of %d questions (at least 1) and %d classes (2 to %d)", b.Questions, b.Classes,
			maxClasses,
		)
	}
	if a.CheckSigma == 0 && (a.Threshold != 0 || a.Student != nil) {
		return n, errors.New("a threshold or a student, and no check")
	}
	if a.Laplace != 0 {
		if a.Sigma != 0 || a.CheckSigma != 0 {
			return n, errors.New("both Laplace and Gaussian noise")
		}
		n.count, err = noise.NewDiscreteLaplace(a.Laplace)
		return n, err
	}
	if n.count, err = noise.NewRoundedGaussian(a.Sigma); err != nil || a.CheckSigma == 0 {
		return n, err
	}
	if n.check, err = noise.NewRoundedGaussian(a.CheckSigma); err != nil {
		return n, err
	}
	if math.IsNaN(a.Threshold) || math.IsInf(a.Threshold, 0) {
		return n, fmt.Errorf("threshold %v must be finite", a.Threshold)
	}
	if a.Student == nil {
		return n, nil
	}
	if len(a.Student) != b.Questions*b.Classes {
		return n, fmt.Errorf(
			"%d probabilities of a student for %d questions of %d classes", len(a.Student), b.Questions,
			b.Classes,
		)
	}
	for _, p := range a.Student {
		if !(p >= 0 && p <= 1) {
			return n, fmt.Errorf("a student's probability is %v", p)
		}
	}
	return n, nil
}

// passes reports whether a question gets an answer: the noisy largest of n_j, or of n_j − M·p_j,
// reaches the threshold. Moving one vote moves the largest by at most 1.
func (a Aggregator) passes(
	counts []int64, question int, teachers int64, n voteNoise, src *noise.Source,
) bool {
	top := int64(math.MinInt64)
	for j, c := range counts {
		if a.Student != nil {
			c -= int64(math.Round(float64(teachers) * a.Student[question*len(counts)+j]))
		}
		top = max(top, c)
	}
	return float64(top+n.check.Sample(src)) >= a.Threshold
}

// addNoise adds noise to the counts of a question. Of two classes only the second is noised and the
// other is what is left of all votes: the sum of the counts is the public number of teachers.
func (n voteNoise) addNoise(counts []int64, src *noise.Source) {
	if len(counts) == 2 {
		x := n.count.Sample(src)
		counts[0], counts[1] = counts[0]-x, counts[1]+x
		return
	}
	for j := range counts {
		counts[j] += n.count.Sample(src)
	}
}
