package marginal

import "slices"

// Conditionals are the distributions of one column of a model given all others. They are safe for
// concurrent use.
type Conditionals struct {
	of [][]conditional // of each column: the cliques that hold it
}

// conditional is a clique's table given its separator, as one of its columns sees it.
type conditional struct {
	given   []float64
	stride  int   // of the column
	others  []int // the clique's other columns
	strides []int
}

// tiny is a probability below which a condition counts as impossible: ratios of smaller numbers are
// not to be trusted.
const tiny = 1e-280

// Conditionals prepares them: it takes as much memory as the model.
func (m *Model) Conditionals() *Conditionals {
	t := m.tree
	out := &Conditionals{make([][]conditional, len(t.sizes))}
	for i, q := range t.cliques {
		f := m.conditional(i)
		stride, all := strides(t.sizes, q), make([]int, len(q))
		for k, c := range q {
			all[k] = stride[c]
		}
		for k, c := range q {
			out.of[c] = append(out.of[c], conditional{f.v, all[k],
				slices.Delete(slices.Clone(q), k, k+1), slices.Delete(slices.Clone(all), k, k+1)})
		}
	}
	return out
}

// conditional is the table of a clique given its separator.
func (m *Model) conditional(i int) factor {
	sizes, sep := m.tree.sizes, m.tree.seps[i]
	f := factor{m.tree.cliques[i], slices.Clone(m.p[i])}
	each := project(sizes, f, sep).v
	for j, x := range each {
		if each[j] = 0; x > tiny {
			each[j] = 1 / x
		}
	}
	multiply(sizes, f, sep, each)
	return f
}

// To sets dst to the probabilities of the codes of column c of row i, given the other codes of the
// row, up to a factor. codes are column-major.
func (c *Conditionals) To(dst []float32, codes [][]uint16, i, col int) {
	for k := range dst {
		dst[k] = 1
	}
	for _, q := range c.of[col] {
		at, top := 0, float32(0)
		for k, other := range q.others {
			at += int(codes[other][i]) * q.strides[k]
		}
		for k := range dst {
			dst[k] *= float32(q.given[at+k*q.stride])
			top = max(top, dst[k])
		}
		if top > 0 && top < 1e-9 { // so that no product becomes 0
			for k := range dst {
				dst[k] /= top
			}
		}
	}
}
