package marginal

import (
	"math"
	"slices"
)

// smoothLeast is the number of codes from which Smooth changes a table.
const smoothLeast = 16

// smoothCut is the threshold in standard deviations of a coefficient.
const smoothCut = 2.5

// smoothShifts is the most shifts that the mean is taken over, a power of two.
const smoothShifts = 1024

// Smooth returns the measurement of one column with neighbouring codes drawn together where the
// noise hides their difference: Haar wavelets, coefficients below 2.5 standard deviations set to
// zero, averaged over up to 1024 shifts (Coifman, Donoho, Translation-invariant de-noising, 1995).
// A peak stays, a slope or a plateau loses most of its noise. The measurement is returned as it is
// if Stein's unbiased risk estimate does not promise less error, as in a column whose neighbouring
// codes have nothing in common, if the column has fewer than 16 codes, or if the noise of its sum
// is larger than rows, the number of rows. The new Sigma is the root of the estimated risk a cell,
// at least a quarter of the old. The sum of the counts is kept.
func Smooth(m Measurement, rows float64) Measurement {
	k := len(m.Counts)
	if len(m.Cols) != 1 || m.Sigmas != nil || k < smoothLeast || m.Noise() > rows {
		return m
	}
	n := 1
	for n < k {
		n *= 2
	}
	// mirrored at the end, so that the first and the last code are no neighbours
	ext := make([]float64, 2*n)
	for i := range ext {
		j := i % (2 * k)
		if j >= k {
			j = 2*k - 1 - j
		}
		ext[i] = m.Counts[j]
	}
	n = len(ext)
	out, kept := make([]float64, k), 0.0
	shifted := make([]float64, n)
	// The mean over all shifts takes n² steps; of a long list some stand for all. As their distance is
	// odd, they take each residue at the fine levels equally often.
	shifts, apart := n, 1
	if n > smoothShifts {
		shifts, apart = smoothShifts, n/smoothShifts|1
	}
	for shift := range shifts {
		s := shift * apart % n
		for i := range shifted {
			shifted[i] = ext[(i+s)%n]
		}
		frac := haarCut(shifted, smoothCut*m.Sigma)
		kept += frac
		for i := range out {
			out[i] += shifted[(i-s+n)%n] / float64(shifts)
		}
	}
	kept /= float64(shifts)
	change, sum := 0.0, 0.0
	for i, x := range out {
		change += (x - m.Counts[i]) * (x - m.Counts[i])
		sum += m.Counts[i] - x
	}
	variance := m.Sigma * m.Sigma
	risk := change/float64(k) - variance + 2*variance*kept
	risk = math.Max(risk, variance*kept)
	if risk >= variance*0.9 {
		return m
	}
	for i := range out {
		out[i] += sum / float64(k)
	}
	return Measurement{Cols: slices.Clone(m.Cols), Counts: out,
		Sigma: math.Max(math.Sqrt(risk), m.Sigma/4)}
}

// haarCut sets the Haar coefficients of v, whose length is a power of two, below cut to zero, in
// place, and returns the share that is kept.
func haarCut(v []float64, cut float64) float64 {
	n := len(v)
	tmp := make([]float64, n)
	kept := 1
	for h := n / 2; h >= 1; h /= 2 {
		for i := range h {
			a, b := v[2*i], v[2*i+1]
			tmp[i] = (a + b) / math.Sqrt2
			d := (a - b) / math.Sqrt2
			if math.Abs(d) < cut {
				d = 0
			} else {
				kept++
			}
			tmp[h+i] = d
		}
		copy(v, tmp[:2*h])
	}
	for h := 1; h < n; h *= 2 {
		for i := range h {
			a, d := v[i], v[h+i]
			tmp[2*i], tmp[2*i+1] = (a+d)/math.Sqrt2, (a-d)/math.Sqrt2
		}
		copy(v, tmp[:2*h])
	}
	return float64(kept) / float64(n)
}
