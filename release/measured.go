package release

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/marginal"
)

// appendMeasured encodes, little-endian: the number of marginals, and of each its number of
// columns, for each column its number and 0 or the number of codes that have groups (uint32 each),
// the groups (uint16 each); σ (float64), the number of cells (uint32), the counts (varints).
func appendMeasured(b []byte, ms []marginal.Measurement) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(len(ms)))
	for _, m := range ms {
		b = le.AppendUint32(b, uint32(len(m.Cols)))
		for i, c := range m.Cols {
			var groups []uint16
			if m.Groups != nil {
				groups = m.Groups[i]
			}
			b = le.AppendUint32(b, uint32(c))
			b = le.AppendUint32(b, uint32(len(groups)))
			for _, g := range groups {
				b = le.AppendUint16(b, g)
			}
		}
		b = le.AppendUint64(b, math.Float64bits(m.Sigma))
		b = le.AppendUint32(b, uint32(len(m.Counts)))
		for _, x := range m.Counts {
			b = binary.AppendVarint(b, int64(x))
		}
	}
	return b
}

// measuredReader decodes until the first mistake.
type measuredReader struct {
	marginal.Reader
	sizes []int // of the schema
	seen  []int // of each column, the last marginal that has it, from 1
	count int   // of marginals
}

// readMeasured decodes what appendMeasured wrote of columns of these sizes, and what is left as the
// number of them of each party. It takes no more memory than a small multiple of the data.
func readMeasured(
	data []byte, sizes []int,
) (out []marginal.Measurement, parties []int, _ error) {
	r := &measuredReader{marginal.Reader{Data: data}, sizes, make([]int, len(sizes)), 0}
	n := r.Uint32()
	for ; r.count < n && r.Err == nil; r.count++ {
		out = append(out, r.one())
	}
	left := len(out)
	for len(r.Data) > 0 {
		parties = append(parties, r.Uint32())
		left -= parties[len(parties)-1]
	}
	if r.Err != nil || len(parties) > 0 && left != 0 {
		return nil, nil, fmt.Errorf("the noisy marginals are damaged: %w", ErrFormat)
	}
	return out, parties, nil
}

func (r *measuredReader) one() (m marginal.Measurement) {
	d := r.Uint32()
	if d > len(r.sizes) {
		r.Fail("%d columns", d)
	}
	for i := 0; i < d && r.Err == nil; i++ {
		c, n := r.Uint32(), r.Uint32()
		if c >= len(r.sizes) || r.seen[c] > r.count || n != 0 && n != r.sizes[c] ||
			2*n > len(r.Data) {
			r.Fail("column %d", c)
			return m
		}
		r.seen[c] = r.count + 1
		m.Cols = append(m.Cols, c)
		m.Groups = append(m.Groups, r.groups(n))
	}
	m.Sigma = r.Float64()
	cells := r.Uint32()
	if r.Err != nil || !(m.Sigma > 0 && m.Sigma <= math.MaxFloat64) || cells > len(r.Data) {
		r.Fail("noise %v, %d cells", m.Sigma, cells)
		return m
	}
	want := 1
	for _, n := range m.Shape(r.sizes) {
		if want *= n; want > cells {
			break
		}
	}
	if want != cells {
		r.Fail("%d cells", cells)
		return m
	}
	m.Counts = make([]float64, cells)
	for i := range m.Counts {
		x, n := binary.Varint(r.Data)
		if n <= 0 {
			r.Fail("cell %d", i)
			return m
		}
		m.Counts[i], r.Data = float64(x), r.Data[n:]
	}
	return m
}

// groups decodes the groups of n codes; they must be numbered without gaps.
func (r *measuredReader) groups(n int) []uint16 {
	if n == 0 {
		return nil
	}
	out, seen := make([]uint16, n), make([]bool, n)
	for i := range out {
		if out[i] = r.Uint16(); int(out[i]) >= n {
			r.Fail("group %d of %d codes", out[i], n)
			return nil
		}
		seen[out[i]] = true
	}
	if slices.Contains(seen[:int(slices.Max(out))+1], false) {
		r.Fail("groups with gaps")
	}
	return out
}
