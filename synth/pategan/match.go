package pategan

import (
	"math"

	"github.com/decoy-dp/decoy/internal/matrix"
)

// measured is a noisy marginal of one or two columns, as fractions of the rows.
type measured struct {
	Cols   []int
	Groups [][]uint16 // of the codes of each column; nil: none merged
	Sizes  []int      // groups a column
	Mean   []float32  // row-major
	SD     []float32  // > 0
}

// newMeasured divides noisy counts by the noisy number of rows, whose relative error counts too.
func newMeasured(
	cols []int, groups [][]uint16, sizes []int, counts []int64, sigma, rows, rowsError float64,
) measured {
	m := measured{Cols: cols, Groups: groups, Sizes: sizes, Mean: make([]float32, len(counts)),
		SD: make([]float32, len(counts))}
	for i, c := range counts {
		x := float64(c) / rows
		m.Mean[i] = float32(x)
		m.SD[i] = float32(math.Hypot(sigma/rows, x*rowsError))
	}
	return m
}

// matcher compares generated rows with measured marginals.
type matcher struct {
	offsets []int
	all     []measured
	cells   int          // measured
	codes   []uint16     // of the batch, row by row
	mean    [2][]float32 // of the halves of the batch
}

func newMatcher(offsets []int) *matcher { return &matcher{offsets: offsets} }

func (m *matcher) add(x measured) {
	m.all = append(m.all, x)
	m.cells += len(x.Mean)
	for h := range m.mean {
		if len(m.mean[h]) < len(x.Mean) {
			m.mean[h] = make([]float32, len(x.Mean))
		}
	}
}

// gradientTo adds to dst, shaped like the hard cells x, the gradient with respect to x of
//
//	L = mean over measured cells of (a − p)(b − p)/sd²,
//
// where p is what was released and a, b are the means over the two halves of the rows, as in
// gan.History: an unbiased estimate of the squared error of the generator's own mean. The number of
// rows must be even. It returns L.
func (m *matcher) gradientTo(dst, x matrix.Matrix) float64 {
	d := len(m.offsets) - 1
	if len(m.codes) < x.Rows*d {
		m.codes = make([]uint16, x.Rows*d)
	}
	for i := range x.Rows {
		row := x.Row(i)
		for k := range d {
			block := row[m.offsets[k]:m.offsets[k+1]]
			for c, v := range block {
				if v == 1 {
					m.codes[i*d+k] = uint16(c)
					break
				}
			}
		}
	}
	half := x.Rows / 2
	total := 0.0
	for n := range m.all {
		q := &m.all[n]
		group := func(side int, code uint16) int {
			if q.Groups == nil || q.Groups[side] == nil {
				return int(code)
			}
			return int(q.Groups[side][code])
		}
		cellOf := func(i int) int {
			cell := group(0, m.codes[i*d+q.Cols[0]])
			if len(q.Cols) == 2 {
				cell = cell*q.Sizes[1] + group(1, m.codes[i*d+q.Cols[1]])
			}
			return cell
		}
		for h := range 2 {
			mean := m.mean[h][:len(q.Mean)]
			clear(mean)
			for i := h * half; i < (h+1)*half; i++ {
				mean[cellOf(i)]++
			}
			for c := range mean {
				mean[c] = mean[c]/float32(half) - q.Mean[c]
			}
		}
		a, b := m.mean[0][:len(q.Mean)], m.mean[1][:len(q.Mean)]
		scale := 1 / float32(half*m.cells)
		for c := range a {
			square := q.SD[c] * q.SD[c]
			total += float64(a[c] * b[c] / square)
			a[c], b[c] = a[c]/square*scale, b[c]/square*scale
		}
		for i := range x.Rows {
			r := b // the residual of the other half
			if i >= half {
				r = a
			}
			out := dst.Row(i)
			if len(q.Cols) == 1 {
				for c := range m.offsets[q.Cols[0]+1] - m.offsets[q.Cols[0]] {
					out[m.offsets[q.Cols[0]]+c] += r[group(0, uint16(c))]
				}
				continue
			}
			first, second := q.Cols[0], q.Cols[1]
			gi, gj := group(0, m.codes[i*d+first]), group(1, m.codes[i*d+second])
			block := out[m.offsets[first]:m.offsets[first+1]]
			for c := range block {
				block[c] += r[group(0, uint16(c))*q.Sizes[1]+gj]
			}
			block = out[m.offsets[second]:m.offsets[second+1]]
			line := r[gi*q.Sizes[1]:][:q.Sizes[1]]
			for c := range block {
				block[c] += line[group(1, uint16(c))]
			}
		}
	}
	return total / float64(max(1, m.cells))
}
