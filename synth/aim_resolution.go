package synth

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/privacy"
)

// levels are the resolutions of a candidate besides full detail: codes a column at most. Those of
// apartCodes and more are for columns of many codes, of which few stand out of the noise of a pair.
var levels = []int{4096, 2048, 1024, 512, 256, apartCodes, 32, 16, 8, quarters, halves}

// The coarsest resolutions: a table of four cells shows a relation where noise drowns all others.
const quarters, halves = 4, 2

// allLevels begin with full detail.
var allLevels = append([]int{0}, levels...)

// resolutions holds, for each level, the run of each code of each column; nil where the column has
// no more codes than the level.
type resolutions map[int][][]uint16

// newResolutions cuts the codes of each column into runs of about equal mass, or, for the levels of
// columns of many codes without an order, keeps the heaviest codes apart. mass is public: noisy
// counts or what was made of them.
func newResolutions(mass [][]float64, ordered func(col int) bool) resolutions {
	r := resolutions{}
	for _, level := range levels {
		r[level] = make([][]uint16, len(mass))
		for c, m := range mass {
			switch {
			case len(m) <= level:
			case level >= apartCodes && !ordered(c):
				r[level][c] = heaviest(m, level)
			default:
				r[level][c] = runs(m, level)
			}
		}
	}
	return r
}

// runs numbers the codes by runs of neighbours, at most n of them, each of about an n-th of the
// mass or a single heavier code.
func runs(mass []float64, n int) []uint16 {
	total, sum := floats.Sum(mass), 0.0
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

// heaviest leaves the n − 1 heaviest codes as they are and merges the others, as number n − 1.
func heaviest(mass []float64, n int) []uint16 {
	order := make([]int, len(mass))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(mass[b], mass[a]) })
	out := slices.Repeat([]uint16{uint16(n - 1)}, len(mass))
	slices.Sort(order[:n-1])
	for number, code := range order[:n-1] {
		out[code] = uint16(number)
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
	m := Grouped(f.groups, cols...)
	for i := range runs {
		if g := m.Groups[i]; g == nil {
			m.Groups[i] = runs[i]
		} else if runs[i] != nil {
			m.Groups[i] = make([]uint16, len(g))
			for code, of := range g {
				m.Groups[i][code] = runs[i][of]
			}
		}
	}
	return m
}
