package marginal

import (
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A factor is a table over columns in rank order.
type factor struct {
	cols []int
	v    []float64
}

// MarginalTo writes to dst the expected number of rows in each cell of the table over cols:
// row-major in the order of cols, last fastest, so that dst sums to Total. len(dst) must be the
// product of the sizes of cols, else it panics. cols are distinct columns in any order, inside a
// clique or not; empty cols give Total.
//
// Outside the cliques it eliminates variables over the part of the junction tree that connects
// cols, which is exact. A product that would need more than 10⁸ terms is refused
// (errTooLarge). It is safe for concurrent use.
func (m *Model) MarginalTo(dst []float64, cols []int) error {
	sizes := m.tree.sizes
	for i, c := range cols {
		if c < 0 || c >= len(sizes) {
			return fmt.Errorf("column %d is not in 0..%d", c, len(sizes)-1)
		}
		if slices.Contains(cols[:i], c) {
			return fmt.Errorf("column %d is listed twice", c)
		}
	}
	if float64(len(dst)) != cellsOf(sizes, cols) {
		panic(fmt.Sprintf("marginal: MarginalTo %d cells for a table of %.0f", len(dst),
			cellsOf(sizes, cols)))
	}
	clear(dst)
	floats.AddConst(m.total, dst)
	for i, c := range cols {
		joined := func(d int) bool { return m.part[d] == m.part[c] }
		if slices.ContainsFunc(cols[:i], joined) {
			continue
		}
		want := colsetOf(len(sizes), slices.DeleteFunc(slices.Clone(cols),
			func(d int) bool { return !joined(d) })...)
		top := m.root(want)
		f, err := m.child(top, top, want, want, nil)
		if err != nil {
			return err
		}
		for i, o := range offsets(sizes, cols, strides(sizes, f.cols)) {
			dst[i] *= f.v[o]
		}
	}
	return nil
}

// Expect returns the expected value of Σ_rows Π_c w_c(code of column c): with weights 0 and 1 it is
// the expected number of rows whose codes are allowed in every weighted column. weights[c] has one
// entry a code of column c; columns without an entry weigh 1. Columns that are not there or weights
// of another length panic.
//
// It is exact: weighted sums go up the junction tree, over the part of it that connects the
// weighted columns, and a clique is first summed down to the columns that matter. No table over all
// weighted columns is formed, so a conjunction may touch any number of them. It is safe for
// concurrent use.
func (m *Model) Expect(weights map[int][]float64) float64 {
	t := m.tree
	for c, w := range weights {
		if c < 0 || c >= len(t.sizes) || len(w) != t.sizes[c] {
			panic("marginal: weights that do not fit the model's columns")
		}
	}
	if len(weights) == 0 {
		return m.total
	}
	want := colsetOf(len(t.sizes), slices.Collect(maps.Keys(weights))...)
	top := m.root(want)
	f, err := m.eliminate(top, top, want, colsetOf(len(t.sizes)), weights)
	if err != nil {
		panic(err) // its products are as large as a clique
	}
	return m.total * f.v[0]
}

// eliminate returns, over the kept columns at or below clique i and the separator with its parent,
// the expected product of the weights at or below i that the parent does not hold, given the
// separator; at the top, over the kept columns alone, plain expectations. want are the columns that
// are kept or have weights.
func (m *Model) eliminate(
	i, top int, want, keep colset, weights map[int][]float64,
) (factor, error) {
	t := m.tree
	need := want.overlap(m.holds[i]) // and the separators of the children that matter
	var sep []int
	if i != top {
		sep = t.seps[i]
	}
	stay := colsetOf(len(t.sizes), sep...)
	need.union(stay)
	stay.union(keep)
	var kids []factor
	for k := i + 1; k < len(t.cliques); k++ { // the children that matter
		if t.parent[k] != i || want.overlap(m.under[k]).count() == 0 {
			continue
		}
		f, err := m.child(k, top, want, keep, weights)
		if err != nil {
			return factor{}, err
		}
		kids = append(kids, f)
		need.union(colsetOf(len(t.sizes), t.seps[k]...))
	}
	f := project(t.sizes, factor{t.cliques[i], m.p[i]}, shared(t.cliques[i], need))
	if i != top {
		given(t.sizes, f, sep)
	}
	for _, c := range f.cols { // but those of the separator
		if weights[c] != nil && !slices.Contains(sep, c) {
			multiply(t.sizes, f, []int{c}, weights[c])
		}
	}
	for j, kid := range kids {
		if colsetOf(len(t.sizes), kid.cols...).within(colsetOf(len(t.sizes), f.cols...)) {
			multiply(t.sizes, f, kid.cols, kid.v) // nothing is kept below
			continue
		}
		// Keep what is to stay, and what later children join on.
		out := colsetOf(len(t.sizes))
		for _, c := range slices.Concat(f.cols, kid.cols) {
			if stay.has(c) || slices.ContainsFunc(kids[j+1:],
				func(o factor) bool { return slices.Contains(o.cols, c) }) {
				out.add(c)
			}
		}
		var err error
		if f, err = m.join(f, kid, out); err != nil {
			return factor{}, err
		}
	}
	if cols := shared(f.cols, stay); len(cols) < len(f.cols) {
		f = project(t.sizes, f, cols)
	}
	return f, nil
}

// keptCells is how many cells of factors a model keeps for further answers: 32 MiB. With a quarter
// as many, aim takes a quarter longer on 112 columns at ε = 10.
const keptCells = 1 << 22

// child is eliminate of clique i, at the top or below its parent. With one kept column there and no
// weights it is the same for every answer, and kept.
func (m *Model) child(
	i, top int, want, keep colset, weights map[int][]float64,
) (factor, error) {
	below, at := keep, -1
	if i != top {
		below, at = keep.overlap(m.under[i]), i
	}
	if weights != nil || below.count() != 1 {
		return m.eliminate(i, top, want, keep, weights)
	}
	key := [2]int{at, slices.Collect(below.each)[0]}
	if f, ok := m.kept.Load(key); ok {
		return f.(factor), nil
	}
	f, err := m.eliminate(i, top, want, keep, weights)
	if err == nil && m.cells.Add(int64(len(f.v))) <= keptCells {
		m.kept.Store(key, f)
	}
	return f, err
}

// join multiplies two factors and sums out the columns that are not in out.
func (m *Model) join(a, b factor, out colset) (factor, error) {
	sizes := m.tree.sizes
	order := ranked(sizes, slices.Collect(
		colsetOf(len(sizes), slices.Concat(a.cols, b.cols)...).each))
	if n := cellsOf(sizes, order); n > mostCells {
		return factor{}, fmt.Errorf("an answer of %.4g terms, limit %d: %w", n,
			mostCells, errTooLarge)
	}
	cols := shared(order, out)
	f := factor{cols, make([]float64, int(cellsOf(sizes, cols)))}
	// Loops: the kept columns but the last, the summed ones, the last kept.
	outer, inner := order[:0:0], 1
	sa, sb, sf := strides(sizes, a.cols), strides(sizes, b.cols), strides(sizes, cols)
	var na, nb int
	if k := len(cols) - 1; k >= 0 {
		outer, inner, na, nb = cols[:k], sizes[cols[k]], sa[cols[k]], sb[cols[k]]
	}
	var summed []int
	for _, c := range order {
		if !out.has(c) {
			summed = append(summed, c)
		}
	}
	ka, kb, kf := offsets(sizes, outer, sa), offsets(sizes, outer, sb), offsets(sizes, outer, sf)
	ra, rb := offsets(sizes, summed, sa), offsets(sizes, summed, sb)
	for i, of := range kf {
		dst := f.v[of:][:inner] // the last kept column has stride 1
		for j := range ra {
			x, y := a.v[ka[i]+ra[j]:], b.v[kb[i]+rb[j]:]
			switch {
			case na == 0 && nb == 1:
				floats.AddScaled(dst, x[0], y[:inner])
			case nb == 0 && na == 1:
				floats.AddScaled(dst, y[0], x[:inner])
			default:
				for k := range dst {
					dst[k] += x[k*na] * y[k*nb]
				}
			}
		}
	}
	return f, nil
}

// project sums a factor down to cols, which it holds, in rank order.
func project(sizes []int, f factor, cols []int) factor {
	out := factor{cols, make([]float64, int(cellsOf(sizes, cols)))}
	newPlan(sizes, f.cols, cols).over((*plan).sum, f.v, out.v)
	return out
}

// multiply multiplies a factor, in place, by a table over some of its columns, in rank order.
func multiply(sizes []int, f factor, cols []int, by []float64) {
	newPlan(sizes, f.cols, cols).over((*plan).mul, f.v, by)
}

// sizesOf are the sizes of cols.
func sizesOf(sizes, cols []int) []int {
	ns := make([]int, len(cols))
	for i, c := range cols {
		ns[i] = sizes[c]
	}
	return ns
}
