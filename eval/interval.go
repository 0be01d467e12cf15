package eval

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/data/table"
)

// ErrInterval is wrapped by every error about a confidence interval that cannot
// be computed as asked: a level outside (0, 1), no observations, impossible counts.
var ErrInterval = errors.New("unsuitable interval")

// Interval is an estimate with a confidence interval around it.
type Interval struct{ Estimate, Low, High float64 }

// Wilson is the score interval of a proportion: of all rates under which successes of n independent
// trials are not rejected by the normal approximation. With z the normal quantile of (1+level)/2
// and p = successes/n it is (p + z²/2n ± z·√(p(1−p)/n + z²/4n²))/(1 + z²/n), within [0, 1], and
// keeps its level for rare classes where p ± z·√(p(1−p)/n) does not (Wilson 1927, JASA 22; Brown,
// Cai & DasGupta 2001, Statistical Science 16). level is in (0, 1), such as .95.
func Wilson(successes, n int64, level float64) (Interval, error) {
	if err := checkLevel(level); err != nil {
		return Interval{}, err
	}
	if n < 1 || successes < 0 || successes > n {
		return Interval{}, fmt.Errorf("%d successes of %d trials: %w", successes, n, ErrInterval)
	}
	z := math.Sqrt2 * math.Erfinv(level)
	total := float64(n)
	p := float64(successes) / total
	middle := p + z*z/(2*total)
	half := z * math.Sqrt(p*(1-p)/total+z*z/(4*total*total))
	scale := 1 + z*z/total
	out := Interval{p, (middle - half) / scale, (middle + half) / scale}
	if successes == 0 {
		out.Low = 0 // rounding must not leave it out
	}
	if successes == n {
		out.High = 1
	}
	return out, nil
}

func checkLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("level %v is not between 0 and 1: %w", level, ErrInterval)
	}
	return nil
}

// RareClassRate is the share of rows with one code of a column, with its [Wilson] interval.
//
// Name RareClassRate. Alias none among the usual tools; in papers, outcome or prevalence rate.
// Range 0 to 1; goal: the rate of the training table and of a holdout, whose intervals stand beside
// it. A rare class that vanished is an interval that excludes theirs. Source: J. Pedersen, RPI 2022
// (hdl 20.500.13015/6261), chapter 3; interval as cited in [Wilson].
func RareClassRate(t *table.Table, column string, code uint16, level float64) (Interval, error) {
	columns, err := compatible(t)
	if err != nil {
		return Interval{}, err
	}
	at := t.Schema().Index(column)
	if at < 0 || int(code) >= columns[at].size {
		return Interval{}, fmt.Errorf("the schema has no code %d of a column %q: %w", code, column,
			ErrColumn)
	}
	return Wilson(t.Counts(at)[code], int64(t.Rows()), level)
}

// BootstrapOptions says how a bootstrap draws. The zero value is usable.
type BootstrapOptions struct {
	Replicates int     // default 1000
	Level      float64 // default .95
	Seed       uint64  // public; the same seed gives the same interval
}

// Bootstrap is the percentile interval of a statistic of n observations. It calls metric with
// the number of times that each observation occurs in a sample of n drawn with replacement, and
// once with 1 for all for the estimate. metric must be safe for concurrent use and must not keep
// its argument. Samples for which it returns NaN (a class that was not drawn, say) are left out; it
// is an error if more than a tenth are. Source: Efron & Tibshirani 1993, An Introduction to the
// Bootstrap, section 13.3.
func Bootstrap(n int, o BootstrapOptions, metric func(times []uint32) float64) (Interval, error) {
	o.Replicates, o.Level = cmp.Or(o.Replicates, 1000), cmp.Or(o.Level, .95)
	if err := checkLevel(o.Level); err != nil {
		return Interval{}, err
	}
	if n < 1 || o.Replicates < 20 {
		return Interval{}, fmt.Errorf("%d replicates (at least 20) of %d observations (at least "+
			"1): %w", o.Replicates, n, ErrInterval)
	}
	out := Interval{Estimate: metric(slices.Repeat([]uint32{1}, n))}
	values := make([]float64, o.Replicates)
	inParallel(o.Replicates, func() func(int) {
		times := make([]uint32, n)
		return func(r int) {
			// one stream a replicate: the result does not depend on the number of processors
			u := rand.New(rand.NewPCG(o.Seed, uint64(r)))
			clear(times)
			for range n {
				times[u.IntN(n)]++
			}
			values[r] = metric(times)
		}
	})
	values = slices.DeleteFunc(values, func(v float64) bool { return v != v })
	if len(values) < o.Replicates-o.Replicates/10 || out.Estimate != out.Estimate {
		return Interval{}, fmt.Errorf("the statistic is undefined for %d of %d samples: %w",
			o.Replicates-len(values), o.Replicates, ErrInterval)
	}
	slices.Sort(values)
	out.Low, out.High = quantile(values, (1-o.Level)/2), quantile(values, (1+o.Level)/2)
	return out, nil
}

// quantile interpolates linearly between the sorted values (definition 7 of
// Hyndman & Fan 1996, NumPy's default).
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i >= len(sorted)-1 || sorted[i] == sorted[i+1] { // also keeps Inf − Inf out
		return sorted[min(i, len(sorted)-1)]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// moments are the mean and the standard deviation, 0 of one number.
func moments(x []float64) (mean, std float64) {
	if len(x) == 1 {
		return x[0], 0
	}
	return stat.MeanStdDev(x, nil)
}

// Curve is how well scores rank, with bootstrap intervals over the test rows.
type Curve struct {
	AUROC, AveragePrecision Interval
	// corners of the ROC curve from (0, 0) to (1, 1): the rates of false and of true positives when
	// the scores from one on are predicted positive
	Points [][2]float64
}

// CurveOf is the curve of scores, with [AUROC] and [AveragePrecision], whose input and errors it
// has. Scores are sorted once; a replicate is one pass over them.
func CurveOf(scores []float64, labels []bool, o BootstrapOptions) (Curve, error) {
	r, err := rank(scores, labels)
	if err != nil {
		return Curve{}, err
	}
	auroc, err := Bootstrap(len(r), o, r.auroc)
	precision, other := Bootstrap(len(r), o, r.averagePrecision)
	return Curve{auroc, precision, r.corners()}, cmp.Or(err, other)
}

// Combine joins estimates q of m ≥ 2 synthetic tables, with their variances u within the tables,
// which have synthetic rows each while the private table had rows. With b the variance of the q:
//
//	T = (1 + 1/m)·b − ū,  ν = (m − 1)·(1 − ū/((1 + 1/m)·b))²
//
// and where T is not positive, (synthetic/rows)·ū with ν = ∞ (Raghunathan, Reiter, Rubin, Multiple
// imputation for statistical disclosure limitation, J. Official Statistics 2003, section 4). The
// tables must come from models that differ as the uncertainty says (release.Model.Replicates).
// Lists of different lengths, or shorter than two, panic. NaN in gives NaN out.
func Combine(q, u []float64, synthetic, rows float64) (estimate, variance, freedom float64) {
	if len(q) != len(u) || len(q) < 2 {
		panic("eval: Combine: lists that do not fit")
	}
	m := float64(len(q))
	mean, b := stat.MeanVariance(q, nil)
	within := stat.Mean(u, nil)
	between := (1 + 1/m) * b
	if t := between - within; !(t <= 0) {
		part := 1 - within/between
		return mean, t, (m - 1) * part * part
	}
	return mean, synthetic / rows * within, math.Inf(1)
}
