package mwem

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/workload"
)

// factored is a product of independent components, and what it says of the items.
type factored struct {
	sizes []int
	items []workload.Item
	limit int // cells of all components
	comps []*component
	of    []int // component of each column
	views []*view
	parts [][]location // per item: where its answer comes from
	cells [][]int32    // per item: partsOf, once it was needed
}

// view answers the part of the items that lies in one component.
type view struct {
	dense   *workload.Dense
	answers workload.Answers
	weights []float64
}

// location is an answer of a view.
type location struct{ comp, at int }

// newFactored starts from the uniform distribution: one component if the domain is small enough,
// else one a column.
func newFactored(sizes []int, items []workload.Item, limit int) (*factored, error) {
	f := &factored{sizes: sizes, items: items, limit: limit, of: make([]int, len(sizes)),
		cells: make([][]int32, len(items))}
	all := make([]int, len(sizes))
	for i := range all {
		all[i] = i
	}
	if domain(sizes) <= float64(limit) {
		f.comps = []*component{uniform(all, sizes)}
	} else {
		for i := range all {
			f.comps = append(f.comps, uniform(all[i:i+1], sizes))
		}
	}
	return f, f.arrange()
}

// arrange prepares the views after the components changed.
func (f *factored) arrange() error {
	for i, c := range f.comps {
		for _, col := range c.cols {
			f.of[col] = i
		}
	}
	lists := make([][]workload.Item, len(f.comps))
	f.parts = make([][]location, len(f.items))
	shared := map[string]location{} // marginals that several items need
	for i, it := range f.items {
		within := map[int][]int{}
		for _, c := range it.Columns() {
			within[f.of[c]] = append(within[f.of[c]], c)
		}
		if len(within) == 0 { // a condition that is always true or never
			within[0] = nil
		}
		for comp := range f.comps {
			cols, ok := within[comp]
			if !ok {
				continue
			}
			if len(within) == 1 {
				f.parts[i] = []location{{comp, len(lists[comp])}}
				lists[comp] = append(lists[comp], it)
				continue
			}
			key := string(key32(cols))
			at, known := shared[key]
			if !known {
				at = location{comp, len(lists[comp])}
				shared[key] = at
				lists[comp] = append(lists[comp], workload.Item{Cols: cols})
			}
			f.parts[i] = append(f.parts[i], at)
		}
	}
	f.views = make([]*view, len(f.comps))
	for i, c := range f.comps {
		d, err := workload.NewDense(f.sizes, c.cols, lists[i])
		if err != nil {
			return err
		}
		v := &view{dense: d, weights: make([]float64, len(c.class))}
		for _, it := range lists[i] {
			v.answers = append(v.answers, make([]float64, int(cellsOf(f.sizes, it.Cols))))
		}
		f.views[i] = v
	}
	f.refresh()
	return nil
}

func key32(cols []int) []rune {
	out := make([]rune, len(cols))
	for i, c := range cols {
		out[i] = rune(c)
	}
	return out
}

// refresh takes up the components' present distributions.
func (f *factored) refresh() {
	for i, c := range f.comps {
		f.views[i].refresh(c)
	}
}

func (v *view) refresh(c *component) {
	c.weightsTo(v.weights)
	v.dense.AnswersTo(v.answers, v.weights)
}

// answer is the probability of item i, or of each of its cells.
func (f *factored) answer(i int) []float64 {
	it := f.items[i]
	if len(f.parts[i]) == 1 {
		at := f.parts[i][0]
		return f.views[at.comp].answers[at.at]
	}
	joint := f.joint(i)
	if !it.IsCount() {
		return joint
	}
	sum := 0.0
	for cell, g := range f.partsOf(i) {
		if g == 0 {
			sum += joint[cell]
		}
	}
	return []float64{sum}
}

// joint is the table over the item's columns, increasing, as the product of its components'
// marginals.
func (f *factored) joint(i int) []float64 {
	cols := f.items[i].Columns()
	at := make([][]int32, len(f.parts[i]))
	// Cell by cell of the growing table, the cell of each component's marginal.
	for k := range at {
		at[k] = []int32{0}
	}
	for _, c := range cols {
		n := f.sizes[c]
		for k, p := range f.parts[i] {
			own := f.of[c] == p.comp
			next := make([]int32, 0, len(at[k])*n)
			for _, x := range at[k] {
				for code := range int32(n) {
					if own {
						next = append(next, x*int32(n)+code)
					} else {
						next = append(next, x)
					}
				}
			}
			at[k] = next
		}
	}
	out := make([]float64, len(at[0]))
	for j := range out {
		out[j] = 1
		for k, p := range f.parts[i] {
			out[j] *= f.views[p.comp].answers[p.at][at[k][j]]
		}
	}
	return out
}

// partsOf is the part of each cell of the table over the columns of item i: of a marginal the cell
// itself, of a count 0 or, outside, -1.
func (f *factored) partsOf(i int) []int32 {
	if f.cells[i] == nil {
		f.cells[i] = partsOf(f.items[i], f.sizes)
	}
	return f.cells[i]
}

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

// fits reports whether item i can be measured: the component that would then hold its columns
// leaves all within the limit.
func (f *factored) fits(i int) bool {
	joined := map[int]bool{}
	for _, p := range f.parts[i] {
		joined[p.comp] = true
	}
	if len(joined) == 1 {
		return true
	}
	cells, product := 0.0, 1.0
	for k, c := range f.comps {
		if joined[k] {
			product *= float64(len(c.class))
		} else {
			cells += float64(len(c.class))
		}
	}
	return cells+product <= float64(f.limit) && product < math.MaxInt32
}

// add takes up a measurement of item i, joining components if it spans several, and fits its
// component again.
func (f *factored) add(i int, y []float64, sigma, n, shrink float64, sweeps int) error {
	home := f.parts[i][0].comp
	if len(f.parts[i]) > 1 {
		var rest []*component
		joined := f.comps[home]
		for k, c := range f.comps {
			switch {
			case k == home:
			case slices.ContainsFunc(f.parts[i], func(p location) bool { return p.comp == k }):
				joined = joined.times(c, f.sizes)
			default:
				rest = append(rest, c)
			}
		}
		f.comps = append(rest, joined)
		home = len(rest)
	}
	c := f.comps[home]
	c.add(i, f.items[i].Columns(), f.partsOf(i), y, sigma)
	c.fit(n, shrink, sweeps)
	if len(f.parts[i]) > 1 {
		return f.arrange()
	}
	f.views[home].refresh(c)
	return nil
}
