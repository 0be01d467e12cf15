package marginal

import (
	"fmt"
	"slices"
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
// cols, which is exact. A product that would need more than Options.MaxCells terms is refused
// (errTooLarge). It is safe for concurrent use.
func (m *Model) MarginalTo(dst []float64, cols []int) error {
	sizes := m.tree.sizes
	for i, c := range cols {
		if c < 0 || c >= len(sizes) {
			return fmt.Errorf("marginal: column %d is not in 0..%d", c, len(sizes)-1)
		}
		if slices.Contains(cols[:i], c) {
			return fmt.Errorf("marginal: column %d is listed twice", c)
		}
	}
	if float64(len(dst)) != cellsOf(sizes, cols) {
		panic(fmt.Sprintf("marginal: MarginalTo %d cells for a table of %.0f", len(dst),
			cellsOf(sizes, cols)))
	}
	want := colsetOf(len(sizes), cols...)
	i, holds := m.root(want)
	f := m.table(i)
	var err error
	if holds {
		f = project(sizes, f, ranked(sizes, cols))
	} else {
		f, err = m.eliminate(i, i, want)
	}
	if err != nil {
		return err
	}
	transpose(dst, f.v, sizes, f.cols, cols)
	for i := range dst {
		dst[i] *= m.total
	}
	return nil
}

// eliminate returns the probabilities of the wanted columns that are at or below clique i, given
// the separator with its parent, over both; at the top, their plain probabilities.
func (m *Model) eliminate(i, top int, want colset) (factor, error) {
	t := m.tree
	need := want.clone() // of this clique: and the separators of the children that matter
	need.intersect(m.holds[i])
	sep := newColset(len(t.sizes))
	if i != top {
		sep = colsetOf(len(t.sizes), t.seps[i]...)
		need.union(sep)
	}
	var kids []factor
	for _, k := range m.children(i, want) {
		f, err := m.eliminate(k, top, want)
		if err != nil {
			return factor{}, err
		}
		kids = append(kids, f)
		need.union(colsetOf(len(t.sizes), t.seps[k]...))
	}
	f := project(t.sizes, m.table(i), shared(t.cliques[i], need))
	if i != top {
		marginal := project(t.sizes, f, t.seps[i])
		for s, x := range marginal.v {
			if x > 0 {
				marginal.v[s] = 1 / x
			}
		}
		multiply(t.sizes, f, t.seps[i], marginal.v)
	}
	for j, kid := range kids {
		// Keep what is wanted so far, the own separator, and what later children join on.
		out := newColset(len(t.sizes))
		for _, cols := range [][]int{f.cols, kid.cols} {
			for _, c := range cols {
				if want.has(c) || sep.has(c) || slices.ContainsFunc(kids[j+1:],
					func(o factor) bool { return slices.Contains(o.cols, c) }) {
					out.add(c)
				}
			}
		}
		var err error
		if f, err = m.join(f, kid, out); err != nil {
			return factor{}, err
		}
	}
	return f, nil
}

// join multiplies two factors and sums out the columns that are not in out.
func (m *Model) join(a, b factor, out colset) (factor, error) {
	sizes := m.tree.sizes
	order := ranked(sizes, colsetOf(len(sizes), slices.Concat(a.cols, b.cols)...).cols())
	if n := cellsOf(sizes, order); n > float64(m.limit) {
		return factor{}, fmt.Errorf("marginal: an answer of %.4g terms, limit %d: %w", n,
			m.limit, errTooLarge)
	}
	cols := shared(order, out)
	f := factor{cols, make([]float64, int(cellsOf(sizes, cols)))}
	// Loops: the kept columns but the last, the summed ones, the last kept.
	type loop struct{ n, a, b, f int }
	strides := func(cols []int) map[int]int {
		s, st := 1, map[int]int{}
		for i := len(cols) - 1; i >= 0; i-- {
			st[cols[i]] = s
			s *= sizes[cols[i]]
		}
		return st
	}
	sa, sb, sf := strides(a.cols), strides(b.cols), strides(f.cols)
	var loops []loop
	add := func(c int) { loops = append(loops, loop{sizes[c], sa[c], sb[c], sf[c]}) }
	inner := loop{n: 1}
	for _, c := range cols[:max(len(cols)-1, 0)] {
		add(c)
	}
	for _, c := range order {
		if !out.has(c) {
			add(c)
		}
	}
	if len(cols) > 0 {
		c := cols[len(cols)-1]
		inner = loop{sizes[c], sa[c], sb[c], sf[c]}
	}
	idx := make([]int, len(loops))
	var oa, ob, of int
	for {
		dst := f.v[of : of+inner.n] // the last kept column has stride 1
		switch {
		case inner.a == 0 && inner.b == 1:
			axpy(dst, a.v[oa], b.v[ob:])
		case inner.b == 0 && inner.a == 1:
			axpy(dst, b.v[ob], a.v[oa:])
		default:
			for j := range dst {
				dst[j] += a.v[oa+j*inner.a] * b.v[ob+j*inner.b]
			}
		}
		k := len(loops) - 1
		for ; k >= 0; k-- {
			l := &loops[k]
			idx[k]++
			oa, ob, of = oa+l.a, ob+l.b, of+l.f
			if idx[k] < l.n {
				break
			}
			idx[k] = 0
			oa, ob, of = oa-l.n*l.a, ob-l.n*l.b, of-l.n*l.f
		}
		if k < 0 {
			return f, nil
		}
	}
}

// axpy adds x·src to dst; src is at least as long.
func axpy(dst []float64, x float64, src []float64) {
	if x == 0 {
		return
	}
	src = src[:len(dst)]
	for i := range dst {
		dst[i] += x * src[i]
	}
}

// project sums a factor down to cols, which it holds, in rank order.
func project(sizes []int, f factor, cols []int) factor {
	out := factor{cols, make([]float64, int(cellsOf(sizes, cols)))}
	pl := newPlan(sizes, f.cols, cols)
	f.blocks(sizes, func(k int, b []float64) { pl.sum(out.v, b, k) })
	return out
}

// multiply multiplies a factor, in place, by a table over some of its columns, in rank order.
func multiply(sizes []int, f factor, cols []int, by []float64) {
	pl := newPlan(sizes, f.cols, cols)
	f.blocks(sizes, func(k int, b []float64) { pl.mul(b, by, k) })
}

// blocks calls do for every block of the factor.
func (f factor) blocks(sizes []int, do func(k int, block []float64)) {
	nd := node{cells: len(f.v), block: blockOf(sizesOf(sizes, f.cols))}
	nd.blocks(f.v, do)
}

func sizesOf(sizes, cols []int) []int {
	ns := make([]int, len(cols))
	for i, c := range cols {
		ns[i] = sizes[c]
	}
	return ns
}
