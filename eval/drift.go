package eval

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Summary sums up the numbers of a column: days for dates, microseconds for timestamps.
type Summary struct {
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

// summary is that of the numbers of a column, which has some.
func (c *cells) summary() *Summary {
	x := c.numbers
	mean, std := moments(x)
	at := func(p float64) Number { return Number(quantile(x, p)) }
	return &Summary{Number(mean), Number(std), at(0), at(.05), at(.25), at(.5), at(.75), at(.95),
		at(1)}
}

// Drift is how far the numbers of a synthetic column are from the real ones.
type Drift struct {
	Mean        Number `json:"mean_shift"`   // MeanShift
	Spread      Number `json:"spread_ratio"` // SpreadRatio
	Wasserstein Number `json:"wasserstein"`
	// standard error of MeanShift between two real samples of these sizes
	MeanError float64 `json:"-"`
	// standard error of log SpreadRatio between two real samples of these sizes; infinite if one
	// table may have one value only by chance
	SpreadError float64 `json:"-"`
	// of the numbers of each table; nil if a table has none, and all figures NaN
	Real      *Summary `json:"train,omitempty"`
	Synthetic *Summary `json:"synthetic,omitempty"`
}

// drift compares the numbers of an ordered column as they are, without bins.
func (c *comparison) drift() Drift {
	x, y := c.a.numbers, c.b.numbers
	if len(x) == 0 || len(y) == 0 {
		none := Number(math.NaN())
		return Drift{Mean: none, Spread: none, Wasserstein: none}
	}
	a, b, n, m := c.a.summary(), c.b.summary(), float64(len(x))/c.of[0].designEffect(),
		float64(len(y))/c.of[1].designEffect()
	std := float64(a.Std)
	over := func(x float64) Number {
		if x == 0 {
			return 0
		}
		return Number(x / std)
	}
	ratio := float64(b.Std) / std
	out := Drift{over(float64(b.Mean - a.Mean)), Number(ratio),
		over(stat.WassersteinDistance(x, y, nil, nil)),
		math.Sqrt(1/n + ratio*ratio/m),
		math.Hypot(spreadError(x, n), spreadError(y, m)), a, b}
	switch {
	case a.Std == 0 && b.Std == 0:
		out.Spread = 1
	case b.Std == 0 && !missedBeyondChance(others(x)*n/float64(len(x)), n, m),
		a.Std == 0 && !missedBeyondChance(others(y)*m/float64(len(y)), m, n):
		out.SpreadError = math.Inf(1)
	}
	return out
}

// others counts the numbers of a sorted list that are not the most frequent one.
func others(x []float64) float64 {
	most := int64(0)
	for _, n := range runs(x) {
		most = max(most, n)
	}
	return float64(int64(len(x)) - most)
}

// spreadError is the standard error of the logarithm of the standard deviation of x, which tell as
// much as n, √((κ − 1)/4n) with the kurtosis κ: large where a few far values make up the deviation.
// Source: Kendall & Stuart 1969, The Advanced Theory of Statistics 1, section 10.8.
func spreadError(x []float64, n float64) float64 {
	mean, std := moments(x)
	if std == 0 {
		return 0
	}
	kurtosis := stat.MomentAbout(4, x, mean, nil) / math.Pow(std, 4)
	return math.Sqrt((kurtosis - 1) / (4 * n))
}
