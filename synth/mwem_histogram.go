package synth

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/workload"
)

// histogram is a distribution over the columns that items speak of, and its answers to them. Every
// measurement multiplies all cells of a query, or of a cell of a marginal, by one factor; so cells
// that lie in the same parts of all measurements keep one density for ever. They form a class, and
// fitting works on classes, of which there are few as long as the measurements cut the table into
// few parts.
type histogram struct {
	cols     []int     // increasing
	class    []int32   // of each cell, row-major, last column fastest
	size     []float64 // cells of each class
	mass     []float64 // probability of each class
	measured []*measured

	items   []workload.Item
	all     []int // codes of every column of the table
	dense   *workload.Dense
	answers workload.Answers // to each item, as probabilities
	weights []float64        // of each cell
	sum     []float64        // of the weights after each update of the paper
}

// measured is a noisy query or marginal.
type measured struct {
	item  int // of the plan
	y     []float64
	sigma float64
	theta []float64 // log potential of each part
	group []int32   // part of each class; -1: outside the query
}

// newHistogram is the uniform distribution over the columns that the items speak of.
func newHistogram(sizes []int, items []workload.Item) (*histogram, error) {
	h := &histogram{cols: named(items), items: items, all: sizes, mass: []float64{1}}
	cells := int(cellsOf(sizes, h.cols))
	h.size, h.class = []float64{float64(cells)}, make([]int32, cells)
	h.weights, h.sum = make([]float64, cells), make([]float64, cells)
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
	h.refresh()
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

// refresh makes the weights of cells and the answers those of the classes.
func (h *histogram) refresh() {
	for i, k := range h.class {
		h.weights[i] = h.mass[k] / h.size[k]
	}
	h.dense.AnswersTo(h.answers, h.weights)
}

// index is for every cell its cell in the table over cols, which are among the histogram's columns
// and in increasing order.
func (h *histogram) index(cols []int) []int32 {
	m := marginal.Measurement{Cols: h.cols, Groups: make([][]uint16, len(h.cols))}
	for i, c := range h.cols {
		if !slices.Contains(cols, c) {
			m.Groups[i] = make([]uint16, h.all[c]) // summed out
		}
	}
	return m.Cells(h.all)
}

// add takes up a measurement of an item: y is the measured number of rows of each part. A second
// measurement of an item is averaged with the first.
func (h *histogram) add(item int, y []float64, sigma float64) *measured {
	for _, m := range h.measured {
		if m.item == item {
			// Inverse-variance weights; every measurement of an item has the same noise.
			before := sigma * sigma / (m.sigma * m.sigma)
			for i := range y {
				m.y[i] = (before*m.y[i] + y[i]) / (before + 1)
			}
			m.sigma = sigma / math.Sqrt(before+1)
			return m
		}
	}
	m := &measured{item: item, y: slices.Clone(y), sigma: sigma, theta: make([]float64, len(y))}
	it := h.items[item]
	h.cut(m, h.index(it.Columns()), partsOf(it, h.all))
	h.measured = append(h.measured, m)
	return m
}

// cut numbers the classes anew, so that each lies in one part of the measurement or outside all.
func (h *histogram) cut(m *measured, index, part []int32) {
	type pair struct{ class, part int32 }
	number := map[pair]int32{}
	var from []int32 // the old class of each
	var size []float64
	last, id := pair{-1, -1}, int32(0)
	for i, k := range h.class {
		if p := (pair{k, part[index[i]]}); p != last {
			var known bool
			if id, known = number[p]; !known {
				id = int32(len(from))
				number[p] = id
				from, size = append(from, k), append(size, 0)
				m.group = append(m.group, p.part)
			}
			last = p
		}
		h.class[i] = id
		size[id]++
	}
	mass := make([]float64, len(from))
	for id, k := range from {
		mass[id] = h.mass[k] * size[id] / h.size[k]
	}
	for _, other := range h.measured {
		group := make([]int32, len(from))
		for id, k := range from {
			group[id] = other.group[k]
		}
		other.group = group
	}
	h.size, h.mass = size, mass
}

// partsOf is the part of each cell of the table over the columns of an item: of a marginal the cell
// itself, of a count 0 or, outside, -1.
func partsOf(it workload.Item, sizes []int) []int32 {
	cols := it.Columns()
	out := make([]int32, int(cellsOf(sizes, cols)))
	if !it.IsCount() {
		for i := range out {
			out[i] = int32(i)
		}
		return out
	}
	for i := range out {
		out[i] = -1
	}
	for _, r := range workload.Runs(it.Where, sizes, cols) {
		clear(out[r.Lo:r.Hi])
	}
	return out
}

// scale multiplies the mass of each part of a measurement by a factor, and normalises.
func (h *histogram) scale(m *measured, factors []float64) {
	sum := 0.0
	for k, g := range m.group {
		if g >= 0 {
			h.mass[k] *= factors[g]
		}
		sum += h.mass[k]
	}
	for k := range h.mass {
		h.mass[k] /= sum
	}
}

// update makes the update of the paper with a measured count, and adds the distribution to the sum.
func (h *histogram) update(item int, y, n float64) {
	gap := y/n - h.answers[item][0]
	h.scale(h.add(item, []float64{y}, 1), []float64{math.Exp(gap / 2)})
	h.refresh()
	for k, x := range h.weights {
		h.sum[k] += x
	}
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
	h.refresh()
}

// step makes the coordinate step of a count, or those of all cells of a marginal at once, each as
// if the sum of all were free, and normalises.
func (h *histogram) step(m *measured, n float64) (moved float64) {
	factors := make([]float64, len(m.y))
	for k, g := range m.group {
		if g >= 0 {
			factors[g] += h.mass[k]
		}
	}
	count := len(m.y) == 1
	for g, q := range factors {
		if factors[g] = 1; !(q > 1e-300) || count && q >= 1 {
			continue
		}
		d := solve(m.y[g], shrink*m.sigma, m.theta[g], func(d float64) (value, slope float64) {
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
	h.scale(m, factors)
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
