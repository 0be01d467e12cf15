package marginal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// errModel is wrapped by every error of UnmarshalBinary.
var errModel = errors.New("invalid model")

// The format, little-endian: version, number of columns, size of each, the total (float64), number
// of cliques, and for each clique its parent plus one (0 for the first), its number of columns, the
// columns in rank order, and a float64 a cell: the probabilities, row-major. Numbers without a type
// are uint32.
const modelVersion = 1

// MarshalBinary encodes the model: about 8 bytes a cell of the junction tree. What a warm start
// uses is left out.
func (m *Model) MarshalBinary() ([]byte, error) {
	t := m.tree
	le := binary.LittleEndian
	b := le.AppendUint32(nil, modelVersion)
	b = le.AppendUint32(b, uint32(len(t.sizes)))
	for _, s := range t.sizes {
		b = le.AppendUint32(b, uint32(s))
	}
	b = le.AppendUint64(b, math.Float64bits(m.total))
	b = le.AppendUint32(b, uint32(len(t.cliques)))
	for i, q := range t.cliques {
		b = le.AppendUint32(b, uint32(t.parent[i]+1))
		b = le.AppendUint32(b, uint32(len(q)))
		for _, c := range q {
			b = le.AppendUint32(b, uint32(c))
		}
		for _, x := range m.p[i] {
			b = le.AppendUint64(b, math.Float64bits(x))
		}
	}
	return b, nil
}

// UnmarshalBinary decodes what MarshalBinary wrote. Damaged or hostile input is an error that wraps
// errModel, found before memory beyond a small multiple of len(data) is taken. It checks the tree,
// and that every clique holds probabilities that sum to 1; not that neighbouring cliques agree.
func (m *Model) UnmarshalBinary(data []byte) error {
	r := Reader{Data: data}
	t, p, total := r.model()
	if err := r.end(); err != nil {
		return err
	}
	*m = *newModel(t, p, total)
	return nil
}

// Reader decodes little-endian numbers until the first error; then it reads zeros.
type Reader struct {
	Data []byte // that is left
	Err  error  // the first
}

// Fail is an error, unless there was one before.
func (r *Reader) Fail(format string, args ...any) {
	if r.Err == nil {
		r.Err = fmt.Errorf(""+format+": %w", append(args, errModel)...)
		r.Data = nil
	}
}

// Take takes the next n bytes; after an error there are none.
func (r *Reader) Take(n uint64) []byte {
	if uint64(len(r.Data)) < n {
		r.Fail("cut short")
		return nil
	}
	b := r.Data[:n]
	r.Data = r.Data[n:]
	return b
}

// number reads n ≤ 8 bytes.
func (r *Reader) number(n uint64) uint64 {
	var b [8]byte
	copy(b[:], r.Take(n))
	return binary.LittleEndian.Uint64(b[:])
}

// Uint32 reads four bytes.
func (r *Reader) Uint32() int { return int(r.number(4)) }

// end is the first error; bytes that are left are one.
func (r *Reader) end() error {
	if r.Err == nil && len(r.Data) > 0 {
		r.Fail("%d bytes too many", len(r.Data))
	}
	return r.Err
}

func (r *Reader) model() (t *junctionTree, p [][]float64, total float64) {
	if v := r.Uint32(); v != modelVersion {
		r.Fail("version %d, want %d", v, modelVersion)
		return
	}
	d := r.Uint32()
	if d < 1 || d > maxColumns || d > len(r.Data)/4 {
		r.Fail("%d columns in %d bytes", d, len(r.Data))
		return
	}
	t = &junctionTree{sizes: make([]int, d)}
	for c := range t.sizes {
		if t.sizes[c] = r.Uint32(); t.sizes[c] < 1 || t.sizes[c] > maxCodes {
			r.Fail("column %d has %d codes", c, t.sizes[c])
			return
		}
	}
	if total = math.Float64frombits(r.number(8)); !(total >= 1) || math.IsInf(total, 1) {
		r.Fail("total %v", total)
		return
	}
	k := r.Uint32()
	if k < 1 || k > d {
		r.Fail("%d cliques for %d columns", k, d)
		return
	}
	seen := colsetOf(d)
	for i := range k {
		cols := r.clique(t, i, seen)
		if r.Err != nil {
			return
		}
		p = append(p, r.probabilities(cellsOf(t.sizes, cols)))
	}
	if n := seen.count(); r.Err == nil && n != d {
		r.Fail("%d columns are in no clique", d-n)
	}
	return t, p, total
}

// clique reads the parent and the columns of clique i and adds it to the tree.
func (r *Reader) clique(t *junctionTree, i int, seen colset) []int {
	parent := r.Uint32() - 1
	if parent >= i || (parent < 0) != (i == 0) {
		r.Fail("clique %d has parent %d", i, parent)
		return nil
	}
	n := r.Uint32()
	if n < 1 || n > len(t.sizes) || n > len(r.Data)/4 {
		r.Fail("clique %d has %d columns", i, n)
		return nil
	}
	cols, own := make([]int, n), colsetOf(len(t.sizes))
	for j := range cols {
		c := r.Uint32()
		if c >= len(t.sizes) || own.has(c) {
			r.Fail("clique %d repeats a column or has one out of range", i)
			return nil
		}
		cols[j] = c
		own.add(c)
	}
	if !slices.Equal(cols, ranked(t.sizes, cols)) {
		r.Fail("the columns of clique %d are out of order", i)
		return nil
	}
	// Running intersection: what was seen before must be in the parent.
	var sep []int
	if parent >= 0 {
		sep = shared(cols, colsetOf(len(t.sizes), t.cliques[parent]...))
	}
	if before := shared(cols, seen); len(before) != len(sep) || len(sep) == n {
		r.Fail("clique %d does not fit the tree", i)
		return nil
	}
	seen.union(own)
	t.cliques = append(t.cliques, cols)
	t.parent = append(t.parent, parent)
	t.seps = append(t.seps, sep)
	return cols
}

func (r *Reader) probabilities(cells float64) []float64 {
	if cells > float64(len(r.Data)/8) {
		r.Fail("%.4g cells in %d bytes", cells, len(r.Data))
		return nil
	}
	v := make([]float64, int(cells))
	sum := 0.0
	for i := range v {
		v[i] = math.Float64frombits(r.number(8))
		if !(v[i] >= 0) {
			r.Fail("a probability is not ≥ 0")
			return nil
		}
		sum += v[i]
	}
	if !(math.Abs(sum-1) < 1e-6) {
		r.Fail("probabilities sum to %v", sum)
		return nil
	}
	return v
}

const groupingVersion = 1

// maxGrouped bounds the codes of all columns of a grouping that is decoded, two bytes each.
const maxGrouped = 1 << 24

// MarshalBinary encodes the grouping, little-endian: version (uint32), columns (uint32), and for
// each column its codes and the number of merged ones (uint32 each), then the merged codes (uint16)
// and their weights (uint32).
func (g *Grouping) MarshalBinary() ([]byte, error) {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, groupingVersion)
	b = le.AppendUint32(b, uint32(len(g.columns)))
	for _, c := range g.columns {
		b = le.AppendUint32(b, uint32(c.codes))
		b = le.AppendUint32(b, uint32(len(c.rare)))
		for _, code := range c.rare {
			b = le.AppendUint16(b, code)
		}
		for _, w := range c.weights {
			b = le.AppendUint32(b, w)
		}
	}
	return b, nil
}

// UnmarshalBinary decodes a grouping; hostile input is an error that wraps errModel.
func (g *Grouping) UnmarshalBinary(data []byte) error {
	r := Reader{Data: data}
	if v := r.Uint32(); v != groupingVersion {
		r.Fail("grouping of version %d", v)
	}
	n := r.Uint32()
	if n > len(data)/8 || n > maxColumns {
		r.Fail("a grouping of %d columns in %d bytes", n, len(data))
	}
	columns, codes := []grouped(nil), 0
	for i := 0; i < n && r.Err == nil; i++ {
		k := r.Uint32()
		// A column of 65,536 codes with two merged ones is 20 bytes here, and 128 kB in memory.
		if codes += k; codes > maxGrouped {
			r.Fail("a grouping of more than %d codes", maxGrouped)
		}
		if k < 1 || k > maxCodes {
			r.Fail("column %d of a grouping has %d codes", i, k)
		}
		columns = append(columns, r.grouped(k))
	}
	if err := r.end(); err != nil {
		return err
	}
	g.columns = columns
	return nil
}

// grouped reads the merged codes of a column.
func (r *Reader) grouped(codes int) grouped {
	n := r.Uint32()
	if n < 0 || n == 1 || n > codes || n*6 > len(r.Data) {
		r.Fail("%d of %d codes are merged in %d bytes", n, codes, len(r.Data))
	}
	if n == 0 || r.Err != nil {
		return newGrouped(codes, nil, nil)
	}
	rare, weights := make([]uint16, n), make([]uint32, n)
	for i := range rare {
		rare[i] = uint16(r.number(2))
		if int(rare[i]) >= codes || i > 0 && rare[i] <= rare[i-1] {
			r.Fail("merged codes out of order")
			return grouped{}
		}
	}
	for i := range weights {
		if weights[i] = uint32(r.Uint32()); weights[i] < 1 || weights[i] > maxWeight {
			r.Fail("a merged code of weight %d", weights[i])
		}
	}
	return newGrouped(codes, rare, weights)
}
