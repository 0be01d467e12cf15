package vote

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/noise"
)

// aggregator is what all kinds of [Aggregator] have in common.
type aggregator struct {
	laplace, sigma, check float64 // laplace or sigma > 0; check 0: no check
	threshold             float64
	student               []float64
	checked               bool
}

func (LNMax) aggregates()            {}
func (GNMax) aggregates()            {}
func (ConfidentGNMax) aggregates()   {}
func (InteractiveGNMax) aggregates() {}

// sealed reads an aggregator, once. A type of another package can embed an Aggregator and so be
// one; it is none of the four.
func sealed(a Aggregator) (aggregator, error) {
	switch a := a.(type) {
	case LNMax:
		return aggregator{laplace: a.Scale}, nil
	case GNMax:
		return aggregator{sigma: a.Sigma}, nil
	case ConfidentGNMax:
		return aggregator{sigma: a.Sigma, check: a.CheckSigma, threshold: a.Threshold,
			checked: true}, nil
	case InteractiveGNMax:
		return aggregator{sigma: a.Sigma, check: a.CheckSigma, threshold: a.Threshold,
			student: slices.Clone(a.Student), checked: true}, nil
	}
	return aggregator{}, errors.New("an aggregator that is none of this package's")
}

// voteNoise is the noise of a ballot.
type voteNoise struct {
	count sampler // of an answer's counts
	check sampler // nil without a check
}

type sampler interface {
	Sample(src *noise.Source) int64
}

// noise validates the aggregator for a ballot, without reading a row.
func (g aggregator) noise(b Ballot) (n voteNoise, err error) {
	if b.Questions < 1 || b.Classes < 2 || b.Classes > MaxClasses {
		return n, fmt.Errorf(
			"a ballot of %d questions (at least 1) and %d classes (2 to %d)", b.Questions, b.Classes,
			MaxClasses,
		)
	}
	if g.laplace != 0 {
		n.count, err = noise.NewDiscreteLaplace(g.laplace)
		return n, err
	}
	if n.count, err = noise.NewRoundedGaussian(g.sigma); err != nil || !g.checked {
		return n, err
	}
	if n.check, err = noise.NewRoundedGaussian(g.check); err != nil {
		return n, err
	}
	if math.IsNaN(g.threshold) || math.IsInf(g.threshold, 0) {
		return n, fmt.Errorf("threshold %v must be finite", g.threshold)
	}
	if g.student == nil {
		return n, nil
	}
	if len(g.student) != b.Questions*b.Classes {
		return n, fmt.Errorf(
			"%d probabilities of a student for %d questions of %d classes", len(g.student), b.Questions,
			b.Classes,
		)
	}
	for _, p := range g.student {
		if !(p >= 0 && p <= 1) {
			return n, fmt.Errorf("a student's probability is %v", p)
		}
	}
	return n, nil
}

// passes reports whether a question gets an answer: the noisy largest of n_j, or of n_j − M·p_j,
// reaches the threshold. Moving one vote moves the largest by at most 1.
func (g aggregator) passes(
	counts []int64, question int, teachers int64, n voteNoise, src *noise.Source,
) bool {
	top := int64(math.MinInt64)
	for j, c := range counts {
		if g.student != nil {
			c -= int64(math.Round(float64(teachers) * g.student[question*len(counts)+j]))
		}
		top = max(top, c)
	}
	return float64(top+n.check.Sample(src)) >= g.threshold
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
