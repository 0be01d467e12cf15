package ranges

// variances is the variance of every node's count given the measurements of its own subtree, by
// level: V_v = 1/(1 + 1/ΣV), the sum over the children of v, in units of σ².
func (t *Tree) variances() [][]float64 {
	out := make([][]float64, t.Height()+1)
	for level := t.Height(); level >= 0; level-- {
		out[level] = make([]float64, t.counts[level])
		for i := range out[level] {
			if level == t.Height() {
				out[level][i] = 1
				continue
			}
			v := 0.0
			for lo, hi := t.children(level, i); lo < hi; lo++ {
				v += out[level+1][lo]
			}
			if level > 0 { // the root is not measured
				v = 1 / (1 + 1/v)
			}
			out[level][i] = v
		}
	}
	return out
}

// variance of the inferred count of the leaves lo to hi−1, in units of σ².
func (t *Tree) variance(within [][]float64, lo, hi int) float64 {
	p := t.part(within, 0, 0, lo, hi)
	return p.residual + p.slope*p.slope*within[0][0]
}

// part is what a range takes of a node, given the measurements of the node's own subtree. The count
// f of the leaves in the range is, with t the node's count, f = slope·t + an error of variance
// residual that is independent of t.
type part struct{ slope, residual float64 }

// part of node i. Children are independent given their own subtrees, so with t = Σt_c and f = Σf_c
//
//	slope = Σ slope_c·V_c/ΣV,   residual = Σ residual_c + Σ slope_c²·V_c − (Σ slope_c·V_c)²/ΣV.
//
// Measuring the node itself tells of t only and leaves both as they are.
func (t *Tree) part(within [][]float64, level, i, lo, hi int) part {
	from, to := t.span(level, i)
	switch {
	case hi <= from || to <= lo:
		return part{}
	case lo <= from && to <= hi:
		return part{slope: 1}
	}
	var p part
	var all, cross, square float64
	first, last := t.children(level, i)
	for k := first; k < last; k++ {
		v := within[level+1][k]
		q := t.part(within, level+1, k, lo, hi)
		p.residual += q.residual
		all += v
		cross += q.slope * v
		square += q.slope * q.slope * v
	}
	p.slope = cross / all
	p.residual += max(0, square-cross*cross/all)
	return p
}
