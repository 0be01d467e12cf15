package marginal

import (
	"fmt"
	"math"
	"slices"
)

// Measurement is one noisy marginal table: counts of rows plus independent,
// unbiased noise of known standard deviation. The noise itself need not be
// Gaussian.
type Measurement struct {
	Cols   []int     // distinct columns in any order; empty = the noisy number of rows, one count
	Counts []float64 // noisy counts, row-major over Cols as listed, last fastest
	Sigma  float64   // standard deviation of the noise of every cell; > 0 unless Sigmas is set
	Sigmas []float64 // optional: the standard deviation of each cell, > 0, in place of Sigma
}

// sigma returns the standard deviation of cell i.
func (m *Measurement) sigma(i int) float64 {
	if m.Sigmas != nil {
		return m.Sigmas[i]
	}
	return m.Sigma
}

// variance returns the variance of the sum of the cells.
func (m *Measurement) variance() float64 {
	if m.Sigmas == nil {
		return float64(len(m.Counts)) * m.Sigma * m.Sigma
	}
	v := 0.0
	for _, s := range m.Sigmas {
		v += s * s
	}
	return v
}

// check returns an error if the measurement does not fit columns of these sizes.
func (m *Measurement) check(sizes []int) error {
	cells := 1.0
	for i, c := range m.Cols {
		if c < 0 || c >= len(sizes) {
			return fmt.Errorf("column %d is not in 0..%d", c, len(sizes)-1)
		}
		if slices.Contains(m.Cols[:i], c) {
			return fmt.Errorf("column %d is listed twice", c)
		}
		cells *= float64(sizes[c])
	}
	if float64(len(m.Counts)) != cells {
		return fmt.Errorf("%d counts for %.0f cells", len(m.Counts), cells)
	}
	if m.Sigmas != nil && len(m.Sigmas) != len(m.Counts) {
		return fmt.Errorf("%d sigmas for %d counts", len(m.Sigmas), len(m.Counts))
	}
	for i, x := range m.Counts {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("count %d is not finite", i)
		}
		if s := m.sigma(i); !(s > 0) || math.IsInf(s, 1) {
			return fmt.Errorf("sigma of cell %d is %v, want > 0 and finite", i, s)
		}
	}
	return nil
}

// total estimates the number of rows: the sums of the tables, weighted by their
// inverse variances (the variance of a sum of n cells is n·σ²), at least 1.
func total(ms []Measurement) float64 {
	num, den := 0.0, 0.0
	for i := range ms {
		v := ms[i].variance()
		s := 0.0
		for _, x := range ms[i].Counts {
			s += x
		}
		num += s / v
		den += 1 / v
	}
	return math.Max(num/den, 1)
}

// A target is what is measured over one set of columns: all its measurements,
// averaged by inverse variance, which changes the squared error by a constant only.
type target struct {
	cols  []int     // rank order
	y     []float64 // counts
	sigma []float64
}

// targets merges the measurements by their sets of columns, in an order that
// depends on the sets only.
func targets(sizes []int, ms []Measurement) []target {
	var ts []target
	for i := range ms {
		m := &ms[i]
		cols := slices.Clone(m.Cols)
		rankOrder(sizes, cols)
		n := len(m.Counts)
		y, weight := make([]float64, n), make([]float64, n)
		transpose(y, m.Counts, sizes, m.Cols, cols)
		if m.Sigmas == nil {
			for k := range weight {
				weight[k] = m.Sigma
			}
		} else {
			transpose(weight, m.Sigmas, sizes, m.Cols, cols)
		}
		k := slices.IndexFunc(ts, func(t target) bool { return slices.Equal(t.cols, cols) })
		if k < 0 {
			ts = append(ts, target{cols, y, weight})
			continue
		}
		t := &ts[k]
		for j := range y {
			a, b := 1/(t.sigma[j]*t.sigma[j]), 1/(weight[j]*weight[j])
			t.y[j] = (a*t.y[j] + b*y[j]) / (a + b)
			t.sigma[j] = 1 / math.Sqrt(a+b)
		}
	}
	slices.SortFunc(ts, func(a, b target) int { return slices.Compare(a.cols, b.cols) })
	return ts
}
