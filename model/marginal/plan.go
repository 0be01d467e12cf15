package marginal

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// blockCells is the number of cells that fused passes over a table handle at a time: 16 KiB of
// float64, half of a first-level cache.
const blockCells = 2048

// A plan maps the cells of a big table to the cells of a small one over a subset of its columns,
// block by block: cell i of block k of the big table belongs to cell hi[k] + lo[i/run] (+ i%run
// when the run is kept) of the small. A block is the largest product of trailing columns that is at
// most blockCells, or the last column when that alone is larger: every plan of one table has the
// same blocks.
type plan struct {
	kept bool    // the trailing run of columns is kept by the small table, else summed out
	run  int     // its number of cells
	hi   []int32 // per block
	lo   []int32 // per run inside a block
}

// offsets are where the cells of a table over cols are in another, whose columns have these
// strides; it sums over columns without one.
func offsets(sizes, cols []int, stride map[int]int) []int32 {
	out := []int32{0}
	for _, c := range cols {
		next := make([]int32, 0, len(out)*sizes[c])
		for _, o := range out {
			for x := range sizes[c] {
				next = append(next, o+int32(x*stride[c]))
			}
		}
		out = next
	}
	return out
}

// strides are those of the columns of a table.
func strides(sizes, cols []int) map[int]int {
	out, stride := make(map[int]int, len(cols)), 1
	for _, c := range slices.Backward(cols) {
		out[c] = stride
		stride *= sizes[c]
	}
	return out
}

// newPlan returns the plan from a table over big to one over small. Both list columns in the same
// relative order and small ⊆ big; sizes are by column.
func newPlan(sizes []int, big, small []int) *plan {
	stride, block, inner := strides(sizes, small), 1, len(big)
	for ; inner > 0; inner-- {
		n := sizes[big[inner-1]]
		if block > 1 && n > 1 && block*n > blockCells {
			break
		}
		block *= n
	}
	p := &plan{run: 1, kept: true}
	// The run: trailing columns of one kind; columns of one code fit either.
	first := true
	tail := len(big)
	for ; tail > inner; tail-- {
		n, kept := sizes[big[tail-1]], stride[big[tail-1]] != 0
		if n > 1 {
			if first {
				p.kept, first = kept, false
			}
			if kept != p.kept {
				break
			}
		}
		p.run *= n
	}
	if p.run < 4 { // shorter than the overhead of a loop: one offset a cell
		p.run, p.kept, tail = 1, true, len(big)
	}
	p.hi = offsets(sizes, big[:inner], stride)
	p.lo = offsets(sizes, big[inner:tail], stride)
	return p
}

// add adds the small table to block k of the big one.
func (p *plan) add(block, small []float64, k int) {
	s := small[p.hi[k]:]
	switch {
	case p.run == 1:
		block = block[:len(p.lo)]
		for i, o := range p.lo {
			block[i] += s[o]
		}
	case p.kept:
		for i, o := range p.lo {
			addTo(block[i*p.run:(i+1)*p.run], s[o:])
		}
	default:
		for i, o := range p.lo {
			x := s[o]
			b := block[i*p.run : (i+1)*p.run]
			for j := range b {
				b[j] += x
			}
		}
	}
}

// mul multiplies block k of the big table by the small one.
func (p *plan) mul(block, small []float64, k int) {
	s := small[p.hi[k]:]
	switch {
	case p.run == 1:
		block = block[:len(p.lo)]
		for i, o := range p.lo {
			block[i] *= s[o]
		}
	case p.kept:
		for i, o := range p.lo {
			b := block[i*p.run : (i+1)*p.run]
			t := s[o:][:len(b)]
			for j := range b {
				b[j] *= t[j]
			}
		}
	default:
		for i, o := range p.lo {
			x := s[o]
			b := block[i*p.run : (i+1)*p.run]
			for j := range b {
				b[j] *= x
			}
		}
	}
}

// sum adds block k of the big table into the small one.
func (p *plan) sum(block, small []float64, k int) {
	s := small[p.hi[k]:]
	switch {
	case p.run == 1:
		block = block[:len(p.lo)]
		for i, o := range p.lo {
			s[o] += block[i]
		}
	case p.kept:
		for i, o := range p.lo {
			addTo(s[o:][:p.run], block[i*p.run:])
		}
	default:
		for i, o := range p.lo {
			s[o] += floats.Sum(block[i*p.run : (i+1)*p.run])
		}
	}
}

// max raises the cells of the small table to the largest of block k.
func (p *plan) max(block, small []float64, k int) {
	s := small[p.hi[k]:]
	for i, x := range block {
		o := int(p.lo[i/p.run])
		if p.kept {
			o += i % p.run
		}
		s[o] = max(s[o], x)
	}
}

// over does what do, one of the operations above, does with a block, with all blocks of the big
// table.
func (p *plan) over(do func(p *plan, block, small []float64, k int), big, small []float64) {
	n := len(big) / len(p.hi)
	for k := range p.hi {
		do(p, big[k*n:(k+1)*n], small, k)
	}
}

// addTo adds src to dst, element by element; src is at least as long.
func addTo(dst, src []float64) {
	src = src[:len(dst)]
	if len(dst) >= 16 { // in assembly
		floats.Add(dst, src)
		return
	}
	for i := range dst {
		dst[i] += src[i]
	}
}

// cellsOf returns the product of the sizes of cols as a float: it may be far beyond any integer.
func cellsOf(sizes, cols []int) float64 {
	n := 1.0
	for _, c := range cols {
		n *= float64(sizes[c])
	}
	return n
}

// transpose writes src, a table over from, to dst in the column order to. Both are row-major, last
// column fastest, over the same set of columns; sizes are by column. dst and src must not overlap.
func transpose(dst, src []float64, sizes, from, to []int) {
	for i, o := range offsets(sizes, from, strides(sizes, to)) {
		dst[o] = src[i]
	}
}
