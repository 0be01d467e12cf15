package marginal

import (
	"cmp"
	"slices"
)

// A resolution says at which detail a set of columns is measured.
type resolution struct {
	cols   []int      // rank order
	groups [][]uint16 // nil, or per column nil or the group of each code
}

// compare orders resolutions.
func (r resolution) compare(o resolution) int {
	return cmp.Or(slices.Compare(r.cols, o.cols),
		slices.CompareFunc(r.groups, o.groups, slices.Compare[[]uint16]))
}

func (r resolution) equal(o resolution) bool { return r.compare(o) == 0 }

// cells maps each cell over the codes to its cell over the groups, both row-major, and returns the
// number of the latter. Without groups the map is nil.
func (r resolution) cells(sizes []int) (coarse []int32, n int) {
	if r.groups == nil {
		return nil, int(cellsOf(sizes, r.cols))
	}
	coarse = []int32{0}
	m := Measurement{Cols: r.cols, Groups: r.groups}
	all := m.sizes(sizes)
	for i, c := range r.cols {
		next := make([]int32, 0, len(coarse)*sizes[c])
		for _, o := range coarse {
			for code := range sizes[c] {
				if r.groups[i] != nil {
					code = int(r.groups[i][code])
				}
				next = append(next, o*int32(all[c])+int32(code))
			}
		}
		coarse = next
	}
	return coarse, int(cellsOf(all, r.cols))
}

// addTo adds the term's cells of theta to a stretch of a table over its columns that begins at cell
// lo.
func (t *term) addTo(v, theta []float64, lo int) {
	theta = theta[t.off : t.off+t.cells]
	if t.coarse == nil {
		addTo(v, theta[lo:])
		return
	}
	for i, o := range t.coarse[lo:][:len(v)] {
		v[i] += theta[o]
	}
}

// sumTo sets the term's cells of mu to the sums of v, a table over its columns.
func (t *term) sumTo(mu, v []float64) {
	mu = mu[t.off : t.off+t.cells]
	if t.coarse == nil {
		copy(mu, v)
		return
	}
	clear(mu)
	for i, o := range t.coarse {
		mu[o] += v[i]
	}
}
