package release

import (
	"encoding/binary"
	"fmt"
	"math"

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

// readMeasured decodes what appendMeasured wrote of columns of these sizes, and what is left as the
// number of them of each party. It takes no more memory than a small multiple of the data.
func readMeasured(
	data []byte, sizes []int,
) (out []marginal.Measurement, parties []int, _ error) {
	r := &marginal.Reader{Data: data}
	n := r.Uint32()
	for len(out) < n && r.Err == nil {
		m := readMeasurement(r)
		if r.Err == nil {
			r.Err = m.Check(sizes)
		}
		out = append(out, m)
	}
	left := len(out)
	for len(r.Data) > 0 && r.Err == nil {
		parties = append(parties, r.Uint32())
		left -= parties[len(parties)-1]
	}
	if r.Err != nil || len(parties) > 0 && left != 0 {
		return nil, nil, fmt.Errorf("the noisy marginals are damaged: %w", ErrFormat)
	}
	return out, parties, nil
}

func readMeasurement(r *marginal.Reader) (m marginal.Measurement) {
	d := r.Uint32()
	for len(m.Cols) < d && r.Err == nil {
		m.Cols = append(m.Cols, r.Uint32())
		var groups []uint16
		for n := r.Uint32(); len(groups) < n && r.Err == nil; {
			groups = append(groups, r.Uint16())
		}
		m.Groups = append(m.Groups, groups)
	}
	m.Sigma = r.Float64()
	for cells := r.Uint32(); len(m.Counts) < cells && r.Err == nil; {
		x, n := binary.Varint(r.Data)
		if n <= 0 {
			r.Fail("cell %d", len(m.Counts))
		}
		r.Take(uint64(max(0, n)))
		m.Counts = append(m.Counts, float64(x))
	}
	return m
}
