package stats

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

// A mean and a quantile of a column need no blocks where each unit is one row: noisy counts of rows
// say what they are, with less noise and for all rows at once. Everything here is a function of
// what [privacy.Session.Measure] releases.

const (
	meanBits   = 20 // of a value, as a share of the range: its grid is that of blocks
	squareBits = 8  // of its square
)

// asked is a column whose rows a session counts.
type asked struct {
	s    *privacy.Session
	col  column
	unit float64 // standard deviation of counts at μ = 1
}

func newAsked(s *privacy.Session, c column) asked {
	return asked{s, c, unit(s.Neighbours().MeasureEvent(privacy.Marginal{}, 1))}
}

// split counts the rows in which the cell is not missing, as those with a code that is in the set
// and those with another, each with noise of standard deviation sigma, or 0 without such codes.
func (a asked) split(in []bool, sigma float64) (yes, no float64, err error) {
	groups := make([]uint16, len(in), len(in)+1)
	var of []int // the part of each group: 0 the other codes, 1 those of the set, 2 none
	group := func(part int) uint16 {
		if !slices.Contains(of, part) {
			of = append(of, part)
		}
		return uint16(slices.Index(of, part))
	}
	for code, ok := range in {
		part := 0
		if ok {
			part = 1
		}
		groups[code] = group(part)
	}
	if len(in) < a.s.Schema().Sizes()[a.col.at] { // missing
		groups = append(groups, group(2))
	}
	counts, err := a.s.Measure(privacy.Marginal{Cols: []int{a.col.at}, Groups: [][]uint16{groups}},
		sigma)
	if err != nil {
		return 0, 0, err
	}
	var parts [3]float64
	for g, part := range of {
		parts[part] = float64(counts[g])
	}
	return parts[1], parts[0], nil
}

// average is the mean of x, from 0 to 1, over the rows, of which there are about n. A sum is
// measured digit by digit: with b digits the j-th is worth w = 2^−j/(1 − 2^−b), and how many rows
// have a 1 there, and how many a 0, is counted with noise of variance unit²/(mu2·w). So both sums,
// of x and of 1 − x, have noise of variance unit²/mu2, as if their values had been added up, and
// all counts together are √mu2-GDP. Digits in which all codes agree with each other are one.
func (a asked) average(x []float64, digits int, mu2 float64) (mean, n, noise float64, err error) {
	whole := float64(int(1)<<digits - 1)
	weights, order := map[string]float64{}, []string{}
	for j := range digits {
		pattern := make([]byte, len(x))
		for code := range x {
			pattern[code] = byte(int(math.Round(x[code]*whole)) >> (digits - 1 - j) & 1)
		}
		if weights[string(pattern)] == 0 {
			order = append(order, string(pattern))
		}
		weights[string(pattern)] += float64(int(1)<<(digits-1-j)) / whole
	}
	var ones, zeros float64
	for _, pattern := range order {
		in, w := make([]bool, len(x)), weights[pattern]
		for code := range in {
			in[code] = pattern[code] == 1
		}
		yes, no, err := a.split(in, a.unit/math.Sqrt(mu2*w))
		if err != nil {
			return 0, 0, 0, err
		}
		ones, zeros = ones+w*yes, zeros+w*no
	}
	each := a.unit / math.Sqrt(mu2)
	n = math.Max(1, ones+zeros)
	mean = math.Max(0, math.Min(1, ones/n))
	least := math.Max(1, n-2*math.Sqrt2*each) // where n is mostly noise, the mean is too
	return mean, n, each * math.Hypot(mean, 1-mean) / least, nil
}

// directMean is the mean of a column, and its interval that of as many blocks as rows.
func directMean(a asked, mu2 float64, r *Validated) error {
	x, squares := make([]float64, len(a.col.values)), make([]float64, len(a.col.values))
	for code, v := range a.col.values {
		x[code] = (v - r.Lower) / (r.Upper - r.Lower)
		squares[code] = (2*x[code] - 1) * (2*x[code] - 1)
	}
	mean, n, noise, err := a.average(x, meanBits, mu2*(1-squareShare))
	if err != nil {
		return err
	}
	square, _, rough, err := a.average(squares, squareBits, mu2*squareShare)
	if err != nil {
		return err
	}
	r.Rows = n
	m := vote.Mean{Mean: r.Lower + (r.Upper-r.Lower)*mean, Square: square}
	r.interval(m, n, noise*n, rough*n)
	return nil
}

// directQuantile finds the quantile of order q, and the ends of its interval, by bisection: whether
// fewer rows than q of them are below a code is asked by a noisy count. An end is where the share
// below it differs from q by more than noise and the choice of rows explain.
func directQuantile(q float64) func(a asked, mu2 float64, r *Validated) error {
	return func(a asked, mu2 float64, r *Validated) error {
		size := len(a.col.values)
		sigma := a.unit * math.Sqrt(3*float64(bits.Len(uint(size-1)))/mu2)
		known := map[int][2]float64{} // of a code: rows below it, and rows
		var failed error
		search := func(z float64) int {
			return sort.Search(size-1, func(i int) bool {
				at := i + 1
				if _, ok := known[at]; !ok && failed == nil {
					in := make([]bool, size)
					for code := range at {
						in[code] = true
					}
					below, above, err := a.split(in, sigma)
					known[at], failed = [2]float64{below, math.Max(1, below+above)}, err
					r.Noise, r.Rows = math.Max(r.Noise, sigma/known[at][1]), known[at][1]
				}
				n := known[at][1]
				share := known[at][0] / n
				inside := math.Max(0, math.Min(1, share))
				noise := sigma * math.Hypot(inside, 1-inside) / n
				return share+z*math.Hypot(noise, math.Sqrt(q*(1-q)/n)) >= q
			})
		}
		at, low, high := search(0), search(z975), search(-z975)
		r.Estimate, r.Low, r.High = a.col.values[at], a.col.low[low], a.col.high[high]
		return failed
	}
}
