package marginal

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Measurement is one noisy marginal table: counts of rows plus independent, unbiased noise of known
// standard deviation. The noise itself need not be Gaussian.
type Measurement struct {
	Cols   []int     // distinct columns in any order; empty = the noisy number of rows, one count
	Counts []float64 // noisy counts, row-major over Cols as listed, last fastest
	Sigma  float64   // standard deviation of the noise of every cell, unless Sigmas is set
	Sigmas []float64 // optional: the standard deviation of each cell, in place of Sigma
	// Groups, if set, has one entry for each of Cols: nil, or the group of each code, groups
	// numbered from 0 without gaps. Counts are then over groups: a table at a lower resolution,
	// which may stand beside others over the same columns at full resolution.
	Groups [][]uint16
}

// NewMeasurement is the measurement that released integer counts are, with noise of sigma rows.
func NewMeasurement(cols []int, groups [][]uint16, counts []int64, sigma float64) Measurement {
	m := Measurement{Cols: cols, Groups: groups, Counts: make([]float64, len(counts)), Sigma: sigma}
	for i, c := range counts {
		m.Counts[i] = float64(c)
	}
	return m
}

// Sum is the measurement of column Cols[at] by itself, summed over the others: counts and variances
// add up. m has one Sigma and no Groups; sizes are the codes of every column.
func (m *Measurement) Sum(sizes []int, at int) Measurement {
	inner := 1
	for _, c := range m.Cols[at+1:] {
		inner *= sizes[c]
	}
	k := sizes[m.Cols[at]]
	out := Measurement{Cols: []int{m.Cols[at]}, Counts: make([]float64, k),
		Sigma: m.Sigma * math.Sqrt(float64(len(m.Counts)/k))}
	for i, x := range m.Counts {
		out.Counts[i/inner%k] += x
	}
	return out
}

// Times is the measurement in units of 1/x of a row. m has no Sigmas.
func (m Measurement) Times(x float64) Measurement {
	m.Counts, m.Sigma = slices.Clone(m.Counts), m.Sigma*x
	floats.Scale(x, m.Counts)
	return m
}

// Noise is the standard deviation of the sum of the cells: the root of the sum of their variances.
func (m *Measurement) Noise() float64 {
	if m.Sigmas == nil {
		return m.Sigma * math.Sqrt(float64(len(m.Counts)))
	}
	return floats.Norm(m.Sigmas, 2)
}

// Shape is the number of codes or groups of each of Cols; sizes are the codes of every column.
func (m *Measurement) Shape(sizes []int) []int { return sizesOf(m.sizes(sizes), m.Cols) }

// Cells is the cell of the measurement, which has Groups, of each cell over the codes of Cols, both
// row-major. sizes are the codes of every column.
func (m *Measurement) Cells(sizes []int) []int32 {
	coarse, _ := resolution{m.Cols, m.Groups}.cells(sizes)
	return coarse
}

// sizes returns the codes or groups of each column, as far as the measurement counts it; other
// columns are as in codes.
func (m *Measurement) sizes(codes []int) []int {
	if m.Groups == nil {
		return codes
	}
	out := slices.Clone(codes)
	for i, c := range m.Cols {
		if i < len(m.Groups) && m.Groups[i] != nil {
			out[c] = int(slices.Max(m.Groups[i])) + 1
		}
	}
	return out
}

// checkGroups returns an error if the groups do not fit columns of these sizes.
func (m *Measurement) checkGroups(sizes []int) error {
	if m.Groups == nil {
		return nil
	}
	if len(m.Groups) != len(m.Cols) {
		return fmt.Errorf("groups of %d columns for %d columns", len(m.Groups), len(m.Cols))
	}
	for i, g := range m.Groups {
		if g == nil {
			continue
		}
		if len(g) != sizes[m.Cols[i]] {
			return fmt.Errorf("groups of %d codes for the %d of column %d", len(g),
				sizes[m.Cols[i]], m.Cols[i])
		}
		seen := make([]bool, slices.Max(g)+1)
		for _, x := range g {
			seen[x] = true
		}
		if slices.Contains(seen, false) {
			return fmt.Errorf("the group numbers of column %d have gaps", m.Cols[i])
		}
	}
	return nil
}

// SigmaOf is the standard deviation of cell i.
func (m *Measurement) SigmaOf(i int) float64 {
	if m.Sigmas != nil {
		return m.Sigmas[i]
	}
	return m.Sigma
}

// mostCount bounds counts and noise, so that their squares and ratios are finite.
const mostCount = 1e60

// Check returns an error if the measurement does not fit columns of these sizes.
func (m *Measurement) Check(sizes []int) error {
	cols := slices.Sorted(slices.Values(m.Cols))
	n := len(cols)
	if n > 0 && (cols[0] < 0 || cols[n-1] >= len(sizes)) ||
		len(slices.Compact(cols)) < n {
		return fmt.Errorf("columns %v, want different ones from 0 to %d", m.Cols, len(sizes)-1)
	}
	if err := m.checkGroups(sizes); err != nil {
		return err
	}
	cells := cellsOf(m.sizes(sizes), m.Cols)
	if float64(len(m.Counts)) != cells {
		return fmt.Errorf("%d counts for %.0f cells", len(m.Counts), cells)
	}
	if m.Sigmas != nil && len(m.Sigmas) != len(m.Counts) {
		return fmt.Errorf("%d sigmas for %d counts", len(m.Sigmas), len(m.Counts))
	}
	for i, x := range m.Counts {
		if !(math.Abs(x) <= mostCount) {
			return fmt.Errorf("count %d is %v, want one within ±%v", i, x, mostCount)
		}
		if s := m.SigmaOf(i); !(s >= 1/mostCount && s <= mostCount) {
			return fmt.Errorf("sigma of cell %d is %v, want %v to %v", i, s, 1/mostCount, mostCount)
		}
	}
	return nil
}

// Total estimates the number of rows: the sums of the tables, weighted by their inverse variances
// (the variance of a sum of n cells is n·σ²). It is the expected number given that no number of
// rows is negative, and at least 1.
func Total(ms []Measurement) float64 {
	num, den := 0.0, 0.0
	for i := range ms {
		noise := ms[i].Noise()
		num += floats.Sum(ms[i].Counts) / (noise * noise)
		den += 1 / (noise * noise)
	}
	return math.Max(cutNormalMean(num/den, 1/math.Sqrt(den)), 1)
}

// Refine joins a measurement with one Sigma and an independent one of the same cells, or, of one
// column, one over groups of its codes: the best linear unbiased estimate. A group of
// k codes of noise σ that add up to S, and whose count is G with noise τ, moves each of its codes
// by (G − S)·σ²/(kσ² + τ²). The Sigma of the result is the root mean square of the noise that its
// codes have left; those of one group are correlated.
func Refine(m, coarse Measurement) Measurement {
	out := Measurement{Cols: m.Cols, Groups: m.Groups, Counts: slices.Clone(m.Counts)}
	variance := slices.Repeat([]float64{m.Sigma * m.Sigma}, len(m.Counts))
	noise := make([]float64, len(coarse.Counts))
	for g := range noise {
		noise[g] = coarse.SigmaOf(g) * coarse.SigmaOf(g)
	}
	var groups []uint16
	if coarse.Groups != nil {
		groups = coarse.Groups[0]
	}
	join(out.Counts, variance, groups, coarse.Counts, noise)
	out.Sigma = math.Sqrt(floats.Sum(variance) / float64(len(variance)))
	return out
}

// join joins counts y of the given variances and independent ones of groups of these codes, or of
// each if groups is nil: the best linear unbiased estimate, and its variances.
func join(y, variance []float64, groups []uint16, sums, noise []float64) {
	all, of := make([]float64, len(sums)), func(i int) int { return i }
	if groups != nil {
		of = func(i int) int { return int(groups[i]) }
	}
	left := slices.Clone(sums)
	for i, v := range variance {
		all[of(i)] += v
		left[of(i)] -= y[i]
	}
	for i, v := range variance {
		g := of(i)
		if math.IsInf(v, 1) { // no measurement before
			if groups == nil {
				y[i], variance[i] = sums[g], noise[g]
			}
			continue
		}
		weight := v / (all[g] + noise[g])
		y[i] += weight * left[g]
		variance[i] = v * (1 - weight)
	}
}

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

// A target is what is measured over one set of columns: all its measurements, averaged by inverse
// variance, which changes the squared error by a constant only.
type target struct {
	resolution
	sizes []int     // of every column at this resolution
	y     []float64 // counts
	sigma []float64
}

// targets merges the measurements by their sets of columns, in an order that depends on the sets
// only.
func targets(sizes []int, ms []Measurement) []target {
	var ts []target
	for i := range ms {
		m := &ms[i]
		cols, all, n := ranked(sizes, m.Cols), m.sizes(sizes), len(m.Counts)
		r := resolution{cols: cols}
		if slices.ContainsFunc(m.Groups, func(g []uint16) bool { return g != nil }) {
			for _, c := range cols {
				r.groups = append(r.groups, m.Groups[slices.Index(m.Cols, c)])
			}
		}
		y, weight := make([]float64, n), slices.Repeat([]float64{m.Sigma}, n)
		transpose(y, m.Counts, all, m.Cols, cols)
		if m.Sigmas != nil {
			transpose(weight, m.Sigmas, all, m.Cols, cols)
		}
		k := slices.IndexFunc(ts, func(t target) bool { return t.compare(r) == 0 })
		if k < 0 {
			ts = append(ts, target{r, all, y, weight})
			continue
		}
		t := &ts[k]
		for j := range y {
			a, b := 1/(t.sigma[j]*t.sigma[j]), 1/(weight[j]*weight[j])
			t.y[j] = (a*t.y[j] + b*y[j]) / (a + b)
			t.sigma[j] = 1 / math.Sqrt(a+b)
		}
	}
	slices.SortStableFunc(ts, func(a, b target) int { return a.compare(b.resolution) })
	return ts
}
