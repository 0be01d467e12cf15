package synth

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/workload"
)

// histogram is a distribution over the columns that items speak of, and its answers to them. Every
// measurement multiplies all cells of a query, or of a cell of a marginal, by one factor; so cells
// that lie in the same parts of all measurements keep one density for ever. They form a class, and
// fitting works on classes, of which there are few as long as the measurements cut the table into
// few parts.
type histogram struct {
	cols     []int     // increasing
	sizes    []int     // codes of each
	class    []int32   // of each cell, row-major, last column fastest
	size     []float64 // cells of each class; 0 for one that was cut up
	mass     []float64 // probability of each class
	measured []*measured

	items   []workload.Item
	all     []int // codes of every column of the table
	dense   *workload.Dense
	answers workload.Answers // to each item, as probabilities
	weights []float64        // of each cell
}

// measured is a noisy query or marginal.
type measured struct {
	item    int // of the plan
	y       []float64
	sigma   float64
	theta   []float64 // log potential of each part
	group   []int32   // part of each class; -1: outside the query
	members []int32   // of a count: its classes
}

// newHistogram is the uniform distribution over the columns that the items speak of.
func newHistogram(sizes []int, items []workload.Item) (*histogram, error) {
	h := &histogram{cols: named(items), items: items, all: sizes, mass: []float64{1}}
	for _, c := range h.cols {
		h.sizes = append(h.sizes, sizes[c])
	}
	cells := int(cellsOf(sizes, h.cols))
	h.size, h.class = []float64{float64(cells)}, make([]int32, cells)
	h.weights = make([]float64, cells)
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
	density := make([]float64, len(h.mass))
	for k, m := range h.mass {
		if h.size[k] > 0 {
			density[k] = m / h.size[k]
		}
	}
	for i, k := range h.class {
		h.weights[i] = density[k]
	}
	h.dense.AnswersTo(h.answers, h.weights)
}

// index is for every cell its cell in the table over cols, which are among the histogram's columns
// and in increasing order.
func (h *histogram) index(cols []int) []int32 {
	strides := make([]int32, len(h.cols))
	stride := int32(1)
	for k := len(cols) - 1; k >= 0; k-- {
		at := slices.Index(h.cols, cols[k])
		strides[at] = stride
		stride *= int32(h.sizes[at])
	}
	out := make([]int32, 1, len(h.class))
	for k, n := range h.sizes {
		next := make([]int32, 0, len(out)*n)
		for _, o := range out {
			for code := range int32(n) {
				next = append(next, o+code*strides[k])
			}
		}
		out = next
	}
	return out
}

// add takes up a measurement of an item: y is the measured number of rows of each part. A second
// measurement of an item is averaged with the first.
func (h *histogram) add(item int, y []float64, sigma float64) {
	for _, m := range h.measured {
		if m.item == item {
			// Inverse-variance weights; every measurement of an item has the same noise.
			before := sigma * sigma / (m.sigma * m.sigma)
			for i := range y {
				m.y[i] = (before*m.y[i] + y[i]) / (before + 1)
			}
			m.sigma = sigma / math.Sqrt(before+1)
			return
		}
	}
	m := &measured{item: item, y: slices.Clone(y), sigma: sigma, theta: make([]float64, len(y))}
	it := h.items[item]
	m.group = h.cut(h.index(it.Columns()), partsOf(it, h.all), len(y))
	h.measured = append(h.measured, m)
}

// cut splits the classes so that each lies in one part or outside all, and returns which. The first
// part met of a class keeps its number unless some of the class is outside, which then does.
func (h *histogram) cut(index, part []int32, parts int) []int32 {
	old := len(h.mass)
	keep := make([]int32, old) // the part that keeps the number
	for i := range keep {
		keep[i] = -2
	}
	for i, k := range h.class {
		if g := part[index[i]]; keep[k] == -2 || g == -1 {
			keep[k] = g
		}
	}
	group := slices.Clone(keep)
	for k, g := range group {
		group[k] = max(g, -1) // a class without cells is in no part
	}
	var parent []int32
	known := newPairs(old, parts)
	count := make([]float64, old, 2*old)
	for i, k := range h.class {
		g := part[index[i]]
		if g != keep[k] {
			id, fresh := known.number(k, g, int32(old+len(parent)))
			if fresh {
				parent, group, count = append(parent, k), append(group, g), append(count, 0)
			}
			h.class[i], k = id, id
		}
		count[k]++
	}
	h.mass = append(h.mass, make([]float64, len(parent))...)
	for i, from := range parent {
		h.mass[old+i] = h.mass[from] * count[old+i] / h.size[from]
	}
	for k := range old {
		if count[k] != h.size[k] {
			h.mass[k] *= count[k] / h.size[k]
		}
	}
	h.size = count
	for _, m := range h.measured {
		for _, from := range parent {
			m.group = append(m.group, m.group[from])
		}
	}
	return group
}

// pairs numbers (class, part).
type pairs struct {
	parts int
	dense []int32
	few   map[int]int32
}

func newPairs(classes, parts int) *pairs {
	p := &pairs{parts: parts}
	if classes*parts <= 1<<24 {
		p.dense = make([]int32, classes*parts)
	} else {
		p.few = map[int]int32{}
	}
	return p
}

// number gives the number of a pair, next if it is new.
func (p *pairs) number(class, part, next int32) (id int32, fresh bool) {
	at := int(class)*p.parts + int(part)
	if p.dense != nil {
		// no pair has the number 0: the classes before the cut have it
		if id = p.dense[at]; id == 0 {
			p.dense[at] = next
			return next, true
		}
		return id, false
	}
	id, ok := p.few[at]
	if !ok {
		p.few[at] = next
		return next, true
	}
	return id, false
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

// update makes the update of the paper with a measured count, and adds the distribution to sum.
func (h *histogram) update(item int, y, n float64, sum []float64) []float64 {
	gap := y/n - h.answers[item][0]
	h.add(item, []float64{y}, 1)
	i := slices.IndexFunc(h.measured, func(m *measured) bool { return m.item == item })
	factor, z := math.Exp(gap/2), 0.0
	for k, g := range h.measured[i].group {
		if g >= 0 {
			h.mass[k] *= factor
		}
		z += h.mass[k]
	}
	h.normalise(z)
	h.refresh()
	if sum == nil {
		sum = make([]float64, len(h.weights))
	}
	for k, x := range h.weights {
		sum[k] += x
	}
	return sum
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
	for _, m := range h.measured {
		if len(m.y) > 1 {
			continue
		}
		m.members = m.members[:0]
		for k, g := range m.group {
			if g >= 0 && h.size[k] > 0 {
				m.members = append(m.members, int32(k))
			}
		}
	}
	for range sweeps {
		moved := 0.0
		z := 1.0 // the masses sum to it
		for _, m := range h.measured {
			if len(m.y) == 1 {
				moved = max(moved, h.stepCount(m, n, shrink*m.sigma, &z))
			} else {
				h.normalise(z)
				moved, z = max(moved, h.stepTable(m, n, shrink*m.sigma)), 1
			}
		}
		h.normalise(z)
		if moved < tolerance {
			break
		}
	}
	h.refresh()
}

func (h *histogram) normalise(z float64) {
	if z == 1 {
		return
	}
	for k := range h.mass {
		h.mass[k] /= z
	}
}

// stepCount makes the coordinate step of a count and returns |d|. It touches the classes of the
// count only: the sum of all masses goes from z to another number.
func (h *histogram) stepCount(m *measured, n, r float64, z *float64) float64 {
	q := 0.0
	for _, k := range m.members {
		q += h.mass[k]
	}
	sum := q
	if q /= *z; !(q > 1e-300) || q >= 1 {
		return 0
	}
	d := solve(m.y[0], r, m.theta[0], func(d float64) (value, slope float64) {
		e := math.Exp(d)
		p := q * e / (1 - q + q*e)
		return n * p, n * p * (1 - p)
	})
	e := math.Exp(d)
	for _, k := range m.members {
		h.mass[k] *= e
	}
	*z += sum * (e - 1)
	m.theta[0] += d
	return math.Abs(d)
}

// stepTable makes the steps of all cells of a marginal at once, each as if the sum of all were
// free, then normalises.
func (h *histogram) stepTable(m *measured, n, r float64) float64 {
	q := make([]float64, len(m.y))
	for k, g := range m.group {
		if g >= 0 {
			q[g] += h.mass[k]
		}
	}
	moved := 0.0
	for g := range q {
		if !(q[g] > 1e-300) {
			q[g] = 1
			continue
		}
		at := q[g]
		d := solve(m.y[g], r, m.theta[g], func(d float64) (value, slope float64) {
			v := n * at * math.Exp(d)
			return v, v
		})
		m.theta[g] += d
		moved = max(moved, math.Abs(d)*math.Min(1, n*at/m.sigma))
		q[g] = math.Exp(d)
	}
	z := 0.0
	for k, g := range m.group {
		if g >= 0 {
			h.mass[k] *= q[g]
			z += h.mass[k]
		}
	}
	h.normalise(z)
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
