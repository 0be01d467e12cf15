package aim

import (
	"fmt"
	"math"
	"slices"
)

// targetWeight is how much more a set with the target counts.
const targetWeight = 2

// candidate is a marginal that a round may choose. Its estimates are those of an earlier round
// where the model has hardly changed since.
type candidate struct {
	cols   []int    // increasing
	weight float64  // 0 < w ≤ 1
	age    int      // rounds since the estimates were made
	tables []detail // from full detail down; nil until first needed
	known  int      // most of them that were counted in the rows
}

// detail is a candidate at one resolution.
type detail struct {
	level    int // codes a column at most; 0 = all
	estimate []float64
}

// closure returns the downward closure of the workload, every set of columns inside a wanted one,
// with the weight w_r = Σ_s weight_s·|r ∩ s| of the paper, divided by the largest: a weight scales
// score and sensitivity alike.
func closure(sets []ColumnSet, target int) []candidate {
	var out []candidate
	at := map[string]int{}
	for _, s := range sets {
		for mask := 1; mask < 1<<len(s.Cols); mask++ {
			var cols []int
			for i, c := range s.Cols {
				if mask>>i&1 != 0 {
					cols = append(cols, c)
				}
			}
			key := fmt.Sprint(cols)
			if _, ok := at[key]; !ok {
				at[key] = len(out)
				out = append(out, candidate{cols: cols})
			}
		}
	}
	// |r ∩ s| = Σ_c [c ∈ r][c ∈ s]: the weight of a set is the sum over its columns of the weights
	// of the sets that hold the column.
	column := map[int]float64{}
	for _, s := range sets {
		w := s.Weight
		if slices.Contains(s.Cols, target) {
			w *= targetWeight
		}
		for _, c := range s.Cols {
			column[c] += w
		}
	}
	largest := 0.0
	for i := range out {
		for _, c := range out[i].cols {
			out[i].weight += column[c]
		}
		largest = math.Max(largest, out[i].weight)
	}
	for i := range out {
		out[i].weight = math.Max(out[i].weight/largest, 1.0/1024)
	}
	return out
}

// levels are the resolutions of a candidate besides full detail: codes a column at most.
var levels = []int{32, 16, 8, 4}

// resolutions holds, for each level, the run of each code of each column; nil where the column has
// no more codes than the level.
type resolutions map[int][][]uint16

// newResolutions cuts the codes of each column into runs of about equal mass. mass is public: noisy
// counts or what was made of them.
func newResolutions(mass [][]float64) resolutions {
	r := resolutions{}
	for _, level := range levels {
		r[level] = make([][]uint16, len(mass))
		for c, m := range mass {
			if len(m) > level {
				r[level][c] = runs(m, level)
			}
		}
	}
	return r
}

// runs numbers the codes by runs of neighbours, at most n of them, each of about an n-th of the
// mass or a single heavier code.
func runs(mass []float64, n int) []uint16 {
	total, sum := 0.0, 0.0
	for _, x := range mass {
		total += x
	}
	out, run := make([]uint16, len(mass)), 0
	for i, x := range mass {
		if i > 0 && run < n-1 && sum+x/2 > total*float64(run+1)/float64(n) {
			run++
		}
		out[i] = uint16(run)
		sum += x
	}
	return out
}

// of returns the runs of the columns at the level, nil at full detail, and the number of cells.
func (r resolutions) of(cols []int, level int, sizes []int) (groups [][]uint16, cells float64) {
	cells = 1
	for i, c := range cols {
		n := sizes[c]
		if level > 0 && r[level][c] != nil {
			if groups == nil {
				groups = make([][]uint16, len(cols))
			}
			groups[i] = r[level][c]
			n = int(slices.Max(groups[i])) + 1
		}
		cells *= float64(n)
	}
	return groups, cells
}

// coarsen sums a table over codes to one over runs.
func coarsen(fine []float64, cols, sizes []int, groups [][]uint16, cells int) []float64 {
	if groups == nil {
		return fine
	}
	offset := []int32{0}
	for i, c := range cols {
		n := sizes[c]
		if groups[i] != nil {
			n = int(slices.Max(groups[i])) + 1
		}
		next := make([]int32, 0, len(offset)*sizes[c])
		for _, o := range offset {
			for code := range sizes[c] {
				g := int32(code)
				if groups[i] != nil {
					g = int32(groups[i][code])
				}
				next = append(next, o*int32(n)+g)
			}
		}
		offset = next
	}
	out := make([]float64, cells)
	for i, x := range fine {
		out[offset[i]] += x
	}
	return out
}
