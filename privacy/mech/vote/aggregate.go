package vote

import (
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// The names of aggregators.
const (
	GNMax       = "gnmax"
	LNMax       = "lnmax"
	Confident   = "confident"
	Interactive = "interactive"
)

// Aggregators are their names; the first is the default.
var Aggregators = []string{GNMax, LNMax, Confident, Interactive}

// Named is the aggregator of a name that asks k questions of a ballot's classes, paid for by an
// account: with Gaussian noise they cost Mu2 together, and with LNMax Epsilon each. A check takes
// half of its question's part, as half of the questions are answered at most; see [Aggregator.For].
func Named(name string, b Ballot, k int, left accountant.Account) (Aggregator, Ballot) {
	one, two := 1., 1. // what a teacher moves, in L1 and in L2
	if b.Classes > 2 {
		one, two = 2, math.Sqrt2
	}
	if name == LNMax {
		return Aggregator{Laplace: one / left.Epsilon * (1 + 1e-12)}, b
	}
	sigma := math.Sqrt(float64(k)/left.Mu2) * (1 + 1e-9)
	if name != Confident && name != Interactive {
		return Aggregator{Sigma: two * sigma}, b
	}
	b.Answers = max(1, b.Questions/2)
	sigma *= math.Sqrt(max(1, .5+float64(b.Answers)/float64(b.Questions))) // of a single question
	return Aggregator{Sigma: two * sigma, CheckSigma: math.Sqrt2 * sigma}, b
}

// Shares of the teachers that a check asks for: that agree, and by how many they differ from the
// student.
const (
	agreement    = .6
	disagreement = .25
)

// For is the aggregator for so many teachers, whose check, if it has one, asks of the student, or
// without one whether the teachers agree.
func (a Aggregator) For(teachers int, student []float64) Aggregator {
	if a.CheckSigma == 0 {
		return a
	}
	a.Threshold, a.Student = agreement*float64(teachers), student
	if student != nil {
		a.Threshold = disagreement * float64(teachers)
	}
	return a
}

// Scale is the standard deviation of the noise of a count.
func (a Aggregator) Scale() float64 { return max(a.Sigma, math.Sqrt2*a.Laplace) }

// voteNoise is the noise of a ballot: of an answer's counts, and of a check, nil without one.
type voteNoise struct {
	count, check interface{ Sample(src *noise.Source) int64 }
}

// noise validates the aggregator for a ballot, without reading a row.
func (a Aggregator) noise(b Ballot) (n voteNoise, err error) {
	if b.Questions < 1 || b.Classes < 2 || b.Classes > MaxClasses {
		return n, fmt.Errorf(
			"a ballot of %d questions (at least 1) and %d classes (2 to %d)", b.Questions, b.Classes,
			MaxClasses,
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
