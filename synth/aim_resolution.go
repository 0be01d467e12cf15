package synth

import (
	"slices"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
)

// levels are the resolutions of a candidate besides full detail: codes a column at most.
var levels = []int{32, 16, 8, 4}

// allLevels begin with full detail.
var allLevels = append([]int{0}, levels...)

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
	out := make([]float64, cells)
	m := marginal.Measurement{Cols: cols, Groups: groups}
	for i, cell := range m.Cells(sizes) {
		out[cell] += fine[i]
	}
	return out
}

// marginalOf is the table that the gate counts: codes merged by the grouping and then into runs.
func (f *aimFit) marginalOf(cols []int, runs [][]uint16) privacy.Marginal {
	m := privacy.Marginal{Cols: cols, Groups: make([][]uint16, len(cols))}
	for i, c := range cols {
		g := f.groups.Groups(c)
		if runs == nil || runs[i] == nil {
			m.Groups[i] = g
			continue
		}
		m.Groups[i] = make([]uint16, f.sizes[c])
		for code := range m.Groups[i] {
			of := uint16(code)
			if g != nil {
				of = g[code]
			}
			m.Groups[i][code] = runs[i][of]
		}
	}
	return m
}
