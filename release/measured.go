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
	data  []byte
	sizes []int // of the schema
	seen  []int // of each column, the last marginal that has it, from 1
	count int   // of marginals
	bad   bool
}

func (r *measuredReader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.data) {
		r.bad = true
		return make([]byte, 8)
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *measuredReader) number() int { return int(binary.LittleEndian.Uint32(r.take(4))) }

// list decodes what appendMeasured wrote, and what is left as the number of them of each party. It
// takes no more memory than a small multiple of the data.
func (r *measuredReader) list() (_ []marginal.Measurement, parties []int, _ error) {
	n := r.number()
	var out []marginal.Measurement
	for range n {
		m := r.one()
		if r.bad {
			break
		}
		out = append(out, m)
	}
	left := len(out)
	for !r.bad && len(r.data) > 0 {
		parties = append(parties, r.number())
		left -= parties[len(parties)-1]
	}
	if r.bad || len(parties) > 0 && left != 0 {
		return nil, nil, fmt.Errorf("the noisy marginals are damaged: %w", ErrFormat)
	}
	return out, parties, nil
}

func (r *measuredReader) one() (m marginal.Measurement) {
	d := r.number()
	if d > len(r.sizes) {
		r.bad = true
	}
	if r.seen == nil {
		r.seen = make([]int, len(r.sizes))
	}
	r.count++
	for i := 0; i < d && !r.bad; i++ {
		c := r.number()
		n := r.number()
		if r.bad || c >= len(r.sizes) || r.seen[c] == r.count || n != 0 && n != r.sizes[c] ||
			2*n > len(r.data) {
			r.bad = true
			return m
		}
		r.seen[c] = r.count
		m.Cols = append(m.Cols, c)
		m.Groups = append(m.Groups, r.groups(n))
	}
	m.Sigma = math.Float64frombits(binary.LittleEndian.Uint64(r.take(8)))
	cells := r.number()
	if r.bad || !(m.Sigma > 0 && m.Sigma <= math.MaxFloat64) || cells > len(r.data) {
		r.bad = true
		return m
	}
	want := 1
	for _, n := range m.Shape(r.sizes) {
		if want *= n; want > cells {
			break
		}
	}
	if want != cells {
		r.bad = true
		return m
	}
	m.Counts = make([]float64, cells)
	for i := range m.Counts {
		x, n := binary.Varint(r.data)
		if n <= 0 {
			r.bad = true
			return m
		}
		m.Counts[i], r.data = float64(x), r.data[n:]
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
		out[i] = binary.LittleEndian.Uint16(r.take(2))
		if int(out[i]) >= n {
			r.bad = true
			return nil
		}
		seen[out[i]] = true
	}
	if slices.Contains(seen[:int(slices.Max(out))+1], false) {
		r.bad = true
	}
	return out
}
