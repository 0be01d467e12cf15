package eval

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Summary sums up the numbers of a column: days for dates, microseconds for timestamps.
type Summary struct {
	Count  int    `json:"-"`
	Mean   Number `json:"mean"`
	Std    Number `json:"std"`
	Min    Number `json:"min"`
	P05    Number `json:"p05"`
	P25    Number `json:"p25"`
	Median Number `json:"median"`
	P75    Number `json:"p75"`
	P95    Number `json:"p95"`
	Max    Number `json:"max"`
}

// Summary gives the summary of an ordered column. A column that is not, or that has no number, is
// an error that wraps [ErrColumn].
func (v *Values) Summary(name string) (Summary, error) {
	c, err := v.column(name)
	if err != nil {
		return Summary{}, err
	}
	if len(c.numbers) == 0 {
		return Summary{}, fmt.Errorf("eval: column %q has no numbers: %w", name, ErrColumn)
	}
	x := c.numbers
	mean, std := moments(x)
	at := func(p float64) Number { return Number(quantile(x, p)) }
	return Summary{len(x), Number(mean), Number(std), at(0), at(.05), at(.25), at(.5), at(.75),
		at(.95), at(1)}, nil
}

// Drift is how far the numbers of a synthetic column are from the real ones.
type Drift struct {
	Mean   float64 // MeanShift
	Spread float64 // SpreadRatio
	// standard error of log SpreadRatio between two real samples of these sizes
	SpreadError float64
	Wasserstein float64
}

// NumberDrift compares the numbers of an ordered column as they are, without bins. σ is the
// standard deviation of the real ones; where it is 0, a difference is infinite.
//
// Name MeanShift. Alias standardized mean difference, StatisticSimilarity (SDMetrics). The
// synthetic mean less the real one, over σ. Range any number; goal: 0. Source: Cohen 1988,
// Statistical Power Analysis, section 2.2, with σ of the real rows alone.
//
// Name SpreadRatio. Alias none; variance ratio is its square. The synthetic standard deviation over
// σ. Range 0 up; goal: 1. Source: Rubin 2001, Health Services & Outcomes Research Methodology 2.
//
// Name Wasserstein. Alias wasserstein_dist (synthcity), earth mover's distance. The mean distance
// ∫|F⁻¹ − G⁻¹| of quantiles, over σ. Range 0 up; goal: that of a holdout. Source: Vallender 1974,
// Theory of Probability and Its Applications 18.
func NumberDrift(real, synthetic *Values, name string) (Drift, error) {
	a, err := real.Summary(name)
	if err != nil {
		return Drift{}, err
	}
	b, err := synthetic.Summary(name)
	if err != nil {
		return Drift{}, err
	}
	std := float64(a.Std)
	over := func(x float64) float64 {
		if x == 0 {
			return 0
		}
		return x / std
	}
	c, d, _ := both(real, synthetic, name)
	out := Drift{over(float64(b.Mean - a.Mean)), float64(b.Std) / std,
		spreadError(c.numbers) * math.Sqrt(1+float64(a.Count)/float64(b.Count)),
		over(stat.WassersteinDistance(c.numbers, d.numbers, nil, nil))}
	if a.Std == 0 && b.Std == 0 {
		out.Spread = 1
	}
	return out, nil
}

// spreadError is the standard error of the logarithm of the standard deviation of x, √((κ − 1)/4n)
// with the kurtosis κ: large where a few far values make up the deviation. Source: Kendall & Stuart
// 1969, The Advanced Theory of Statistics 1, section 10.8.
func spreadError(x []float64) float64 {
	mean, std := moments(x)
	if std == 0 {
		return 0
	}
	kurtosis := stat.MomentAbout(4, x, mean, nil) / math.Pow(std, 4)
	return math.Sqrt((kurtosis - 1) / (4 * float64(len(x))))
}

// Uncovered is what of a column of the real table the synthetic one does not reach.
type Uncovered struct {
	Share float64 // of the real cells
	// of a column that is not ordered: lost categories that the schema has, the most frequent first,
	// with their shares of the real cells
	Lost   []string
	Shares []float64
}

// UncoveredShare is the share of real cells that lie beyond the least and the greatest synthetic
// number, by more than a hundredth of their standard deviation, or whose category the synthetic
// table does not have. Cells that the schema does not allow are left out.
//
// Name UncoveredShare. Alias RangeCoverage and CategoryCoverage (SDMetrics), which compare ranges
// and sets of categories: there one outlier, or one category of one row, counts as much as all
// others. Range 0 to 1; goal: that of a holdout. Source: SDMetrics documentation, RangeCoverage,
// CategoryCoverage.
//
// A column without cells in one of the tables is an error that wraps [ErrColumn].
func UncoveredShare(real, synthetic *Values, name string) (Uncovered, error) {
	a, b, err := both(real, synthetic, name)
	if err != nil {
		return Uncovered{}, err
	}
	if a.ordered() {
		return uncoveredNumbers(real, a, b)
	}
	var out Uncovered
	for _, code := range byCount(a.count) {
		if n := a.count[code]; n > 0 && b.count[code] == 0 {
			out.Lost = append(out.Lost, a.codec.Label(uint16(code)))
			out.Shares = append(out.Shares, float64(n)/float64(real.rows))
		}
	}
	out.Share = floats.Sum(out.Shares)
	return out, nil
}

func uncoveredNumbers(real *Values, a, b *cells) (Uncovered, error) {
	if len(a.numbers) == 0 || len(b.numbers) == 0 {
		return Uncovered{}, fmt.Errorf("eval: column %q has no numbers: %w", a.name, ErrColumn)
	}
	_, std := moments(a.numbers)
	lo, hi := a.bounds()
	least, greatest := b.numbers[0]-std/100, b.numbers[len(b.numbers)-1]+std/100
	n := 0
	for _, x := range a.numbers {
		if lo <= x && x <= hi && (x < least || x > greatest) {
			n++
		}
	}
	return Uncovered{Share: float64(n) / float64(real.rows)}, nil
}

// Heap is a number that many cells of a column are exactly.
type Heap struct {
	Value           float64
	Real, Synthetic float64 // shares of the cells of each table, 0 to 1
}

// Heaps lists, in rising order, the numbers that at least the given share of the cells of an
// ordered real column are exactly, such as a zero that stands for none. Range of share: above 0. A
// column that is not there is an error that wraps [ErrColumn].
func Heaps(real, synthetic *Values, name string, share float64) ([]Heap, error) {
	a, b, err := both(real, synthetic, name)
	if err != nil {
		return nil, err
	}
	equal := func(sorted []float64, x float64) int {
		first, _ := slices.BinarySearch(sorted, x)
		next, _ := slices.BinarySearch(sorted, math.Nextafter(x, math.Inf(1)))
		return next - first
	}
	var out []Heap
	for at := 0; at < len(a.numbers); {
		h, n := Heap{Value: a.numbers[at]}, equal(a.numbers, a.numbers[at])
		if h.Real = float64(n) / float64(real.rows); h.Real >= share {
			h.Synthetic = float64(equal(b.numbers, h.Value)) / float64(synthetic.rows)
			out = append(out, h)
		}
		at += n
	}
	return out, nil
}
