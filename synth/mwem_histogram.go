package synth

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/workload"
)

// histogram is a distribution over the columns that items speak of, and its answers to them.
type histogram struct {
	cols     []int     // increasing
	p        []float64 // probability of each cell, row-major, last column fastest
	measured []*measured

	items   []workload.Item
	all     []int // codes of every column of the table
	dense   *workload.Dense
	answers workload.Answers // to each item, as probabilities
}

// measured is a noisy query or marginal.
type measured struct {
	item  int // of the plan
	y     []float64
	sigma float64
	theta []float64 // log potential of each part
	part  []int32   // of each cell: that of a marginal; of a count 0, or 1 outside
}

// newHistogram is the uniform distribution over the columns that the items speak of.
func newHistogram(sizes []int, items []workload.Item) (*histogram, error) {
	h := &histogram{cols: named(items), items: items, all: sizes}
	cells := int(cellsOf(sizes, h.cols))
	h.p = slices.Repeat([]float64{1 / float64(cells)}, cells)
	var err error
	if h.dense, err = workload.NewDense(sizes, h.cols, items); err != nil {
		return nil, err
	}
	for _, it := range items {
		n := 1
		if !it.IsCount() {
			n = int(cellsOf(sizes, it.Cols))
		}
		h.answers = append(h.answers, make([]float64, n))
	}
	h.dense.AnswersTo(h.answers, h.p)
	return h, nil
}

// named are the columns that items speak of, or the first if they speak of none.
func named(items []workload.Item) (cols []int) {
	for _, it := range items {
		cols = append(cols, it.Columns()...)
	}
	if len(cols) == 0 {
		return []int{0}
	}
	slices.Sort(cols)
	return slices.Compact(cols)
}

// add takes up a measurement of an item: y is the measured number of rows of each part. A second
// measurement of an item is averaged with the first.
func (h *histogram) add(item int, y []float64, sigma float64) {
	for _, m := range h.measured {
		if m.item == item {
			both := marginal.Refine(marginal.Measurement{Counts: m.y, Sigma: m.sigma},
				marginal.Measurement{Counts: y, Sigma: sigma})
			m.y, m.sigma = both.Counts, both.Sigma
			return
		}
	}
	m := &measured{item: item, y: slices.Clone(y), sigma: sigma, theta: make([]float64, len(y)),
		part: h.parts(h.items[item])}
	h.measured = append(h.measured, m)
}

// parts is the part of an item that each cell is in.
func (h *histogram) parts(it workload.Item) []int32 {
	cols := it.Columns()
	m := marginal.Measurement{Cols: h.cols, Groups: make([][]uint16, len(h.cols))}
	for i, c := range h.cols {
		if !slices.Contains(cols, c) {
			m.Groups[i] = make([]uint16, h.all[c]) // summed out
		}
	}
	out := m.Cells(h.all)
	if !it.IsCount() {
		return out
	}
	outside := slices.Repeat([]int32{1}, int(cellsOf(h.all, cols)))
	for _, r := range workload.Runs(it.Where, h.all, cols) {
		clear(outside[r.Lo:r.Hi])
	}
	for i, k := range out {
		out[i] = outside[k]
	}
	return out
}

// What a fit is made with. Sweeps over all measurements end when no potential moves by more than
// tolerance; shrink is the strength of the pull towards the uniform distribution.
const (
	sweeps    = 20
	shrink    = 1
	tolerance = 1e-4
)

// fit goes over all measurements. n is the number of rows.
//
// Symbols: y the measured rows of a part, σ the standard deviation of its noise, q its probability,
// θ its log potential, so that the density of a cell is ∝ exp Σ θ over the parts that it is in. The
// fit is the maximum of the entropy of n rows under a pull of the potentials to zero,
//
//	min_θ  n·log Z(θ) − Σ θ·y + ½ Σ r·θ²,  r = shrink·σ rows,
//
// by coordinate steps: d solves n·q(θ+d) + r·(θ+d) = y. At the solution a part misses its
// measurement by r·θ, a fraction of its noise: noise is not fitted as if it were data. (The update
// of the paper, exp(q(x)(m−q)/2n), is a short step in the same direction.)
func (h *histogram) fit(n float64) {
	for range sweeps {
		moved := 0.0
		for _, m := range h.measured {
			moved = max(moved, h.step(m, n))
		}
		if moved < tolerance {
			break
		}
	}
	h.dense.AnswersTo(h.answers, h.p)
}

// step makes the coordinate step of a count, or those of all cells of a marginal at once, each as
// if the sum of all were free, and normalises.
func (h *histogram) step(m *measured, n float64) (moved float64) {
	mass := make([]float64, max(2, len(m.y))) // of each part
	for i, g := range m.part {
		mass[g] += h.p[i]
	}
	factors, count := slices.Repeat([]float64{1}, len(mass)), len(m.y) == 1
	for g, y := range m.y {
		q := mass[g]
		if !(q > 1e-300) || count && q >= 1 {
			continue
		}
		d := solve(y, shrink*m.sigma, m.theta[g], func(d float64) (value, slope float64) {
			x := q * math.Exp(d)
			if count {
				x /= 1 - q + x
				return n * x, n * x * (1 - x)
			}
			return n * x, n * x
		})
		m.theta[g] += d
		moved = max(moved, math.Abs(d)*math.Min(1, n*q/m.sigma))
		factors[g] = math.Exp(d)
	}
	z := 0.0
	for g, q := range mass {
		z += q * factors[g]
	}
	for i, g := range m.part {
		h.p[i] *= factors[g] / z
	}
	return moved
}

// solve finds d in [−8, 8] with value(d) + r·(theta+d) = y by Newton's method inside a bracket;
// value is increasing.
func solve(y, r, theta float64, value func(d float64) (v, slope float64)) float64 {
	lo, hi, d := -8.0, 8.0, 0.0
	for range 60 {
		v, slope := value(d)
		f := v + r*(theta+d) - y
		if f > 0 {
			hi = d
		} else {
			lo = d
		}
		next := d - f/(slope+r)
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-d) < 1e-9 {
			return next
		}
		d = next
	}
	return d
}
