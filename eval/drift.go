package eval

import (
	"fmt"
	"math"
	"slices"
)

// Summary sums up the numbers of a column: days for dates, microseconds for timestamps.
type Summary struct {
	Count                                int
	Mean, Std                            float64
	Min, P05, P25, Median, P75, P95, Max float64
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
	mean, se := moments(x)
	return Summary{len(x), mean, se * math.Sqrt(float64(len(x))), x[0], quantile(x, .05),
		quantile(x, .25),
		quantile(x, .5), quantile(x, .75), quantile(x, .95), x[len(x)-1]}, nil
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
	over := func(x float64) float64 {
		if x == 0 {
			return 0
		}
		return x / a.Std
	}
	c, _ := real.column(name)
	d, _ := synthetic.column(name)
	out := Drift{over(b.Mean - a.Mean), b.Std / a.Std,
		spreadError(c.numbers, a) * math.Sqrt(1+float64(a.Count)/float64(b.Count)),
		over(transport(c.numbers, d.numbers))}
	if a.Std == 0 && b.Std == 0 {
		out.Spread = 1
	}
	return out, nil
}

// spreadError is the standard error of the logarithm of the standard deviation of x, √((κ − 1)/4n)
// with the kurtosis κ: large where a few far values make up the deviation. Source: Kendall & Stuart
// 1969, The Advanced Theory of Statistics 1, section 10.8.
func spreadError(x []float64, s Summary) float64 {
	if s.Std == 0 {
		return 0
	}
	kurtosis := 0.
	for _, v := range x {
		z := (v - s.Mean) / s.Std
		kurtosis += z * z * z * z / float64(len(x))
	}
	return math.Sqrt((kurtosis - 1) / (4 * float64(len(x))))
}

// transport is ∫|F − G| for sorted samples.
func transport(x, y []float64) float64 {
	sum, last := 0., min(x[0], y[0])
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		next := math.Inf(1)
		if i < len(x) {
			next = x[i]
		}
		if j < len(y) {
			next = min(next, y[j])
		}
		gap := float64(i)/float64(len(x)) - float64(j)/float64(len(y))
		sum += math.Abs(gap) * (next - last)
		for last = next; i < len(x) && x[i] == next; i++ {
		}
		for ; j < len(y) && y[j] == next; j++ {
		}
	}
	return sum
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
	a, err := real.column(name)
	if err != nil {
		return Uncovered{}, err
	}
	b, err := synthetic.column(name)
	if err != nil {
		return Uncovered{}, err
	}
	if a.ordered() {
		return uncoveredNumbers(real, a, b)
	}
	var out Uncovered
	codes := make([]int, 0, len(a.count))
	lost := 0
	for code, n := range a.count {
		if n > 0 && b.count[code] == 0 {
			codes, lost = append(codes, code), lost+n
		}
	}
	slices.SortStableFunc(codes, func(i, j int) int { return a.count[j] - a.count[i] })
	for _, code := range codes {
		out.Lost = append(out.Lost, a.codec.Label(uint16(code)))
		out.Shares = append(out.Shares, float64(a.count[code])/float64(real.rows))
	}
	out.Share = float64(lost) / float64(real.rows)
	return out, nil
}

func uncoveredNumbers(real *Values, a, b *cells) (Uncovered, error) {
	if len(a.numbers) == 0 || len(b.numbers) == 0 {
		return Uncovered{}, fmt.Errorf("eval: column %q has no numbers: %w", a.name, ErrColumn)
	}
	_, se := moments(a.numbers)
	lo, hi := a.bounds()
	slack := se * math.Sqrt(float64(len(a.numbers))) / 100
	least, greatest := b.numbers[0]-slack, b.numbers[len(b.numbers)-1]+slack
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
	a, err := real.column(name)
	if err != nil {
		return nil, err
	}
	b, err := synthetic.column(name)
	if err != nil {
		return nil, err
	}
	equal := func(sorted []float64, x float64) int {
		first, _ := slices.BinarySearch(sorted, x)
		n := first
		for n < len(sorted) && sorted[n] == x {
			n++
		}
		return n - first
	}
	var out []Heap
	for at := 0; at < len(a.numbers); {
		n := equal(a.numbers[at:], a.numbers[at])
		if h := (Heap{Value: a.numbers[at], Real: float64(n) / float64(real.rows)}); h.Real >= share {
			h.Synthetic = float64(equal(b.numbers, h.Value)) / float64(synthetic.rows)
			out = append(out, h)
		}
		at += n
	}
	return out, nil
}
