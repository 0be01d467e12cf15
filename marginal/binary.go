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
	size := 24 + 4*len(t.sizes)
	for i, q := range t.cliques {
		size += 8 + 4*len(q) + 8*len(m.p[i])
	}
	le := binary.LittleEndian
	b := le.AppendUint32(make([]byte, 0, size), modelVersion)
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
// and that every clique holds probabilities that sum to 1; not that neighbouring cliques agree. The
// answers of the model have the default limit of cells.
func (m *Model) UnmarshalBinary(data []byte) error {
	r := reader{data: data}
	t, p, total := r.model()
	if err := r.end(); err != nil {
		return err
	}
	*m = *newModel(t, p, total, defaultMaxCells)
	return nil
}

// reader decodes until the first error; then it reads zeros.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("marginal: "+format+": %w", append(args, errModel)...)
		r.data = nil
	}
}

// take takes the next n ≤ 8 bytes.
func (r *reader) take(n int) []byte {
	if len(r.data) < n {
		r.fail("cut short")
		return make([]byte, 8)
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) uint32() int { return int(binary.LittleEndian.Uint32(r.take(4))) }
func (r *reader) float64() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(r.take(8)))
}

// end is the first error; bytes that are left are one.
func (r *reader) end() error {
	if r.err == nil && len(r.data) > 0 {
		r.fail("%d bytes too many", len(r.data))
	}
	return r.err
}

func (r *reader) model() (t *junctionTree, p [][]float64, total float64) {
	if v := r.uint32(); v != modelVersion {
		r.fail("version %d, want %d", v, modelVersion)
		return
	}
	d := r.uint32()
	if d < 1 || d > maxColumns || d > len(r.data)/4 {
		r.fail("%d columns in %d bytes", d, len(r.data))
		return
	}
	t = &junctionTree{sizes: make([]int, d)}
	for c := range t.sizes {
		if t.sizes[c] = r.uint32(); t.sizes[c] < 1 || t.sizes[c] > maxCodes {
			r.fail("column %d has %d codes", c, t.sizes[c])
			return
		}
	}
	if total = r.float64(); !(total >= 1) || math.IsInf(total, 1) {
		r.fail("total %v", total)
		return
	}
	k := r.uint32()
	if k < 1 || k > d {
		r.fail("%d cliques for %d columns", k, d)
		return
	}
	seen := newColset(d)
	for i := range k {
		cols := r.clique(t, i, seen)
		if r.err != nil {
			return
		}
		p = append(p, r.probabilities(cellsOf(t.sizes, cols)))
	}
	if n := seen.count(); r.err == nil && n != d {
		r.fail("%d columns are in no clique", d-n)
	}
	return t, p, total
}

// clique reads the parent and the columns of clique i and adds it to the tree.
func (r *reader) clique(t *junctionTree, i int, seen colset) []int {
	parent := r.uint32() - 1
	if parent >= i || (parent < 0) != (i == 0) {
		r.fail("clique %d has parent %d", i, parent)
		return nil
	}
	n := r.uint32()
	if n < 1 || n > len(t.sizes) || n > len(r.data)/4 {
		r.fail("clique %d has %d columns", i, n)
		return nil
	}
	cols, own := make([]int, n), newColset(len(t.sizes))
	for j := range cols {
		c := r.uint32()
		if c >= len(t.sizes) || own.has(c) {
			r.fail("clique %d repeats a column or has one out of range", i)
			return nil
		}
		cols[j] = c
		own.add(c)
	}
	if !slices.Equal(cols, ranked(t.sizes, cols)) {
		r.fail("the columns of clique %d are out of order", i)
		return nil
	}
	// Running intersection: what was seen before must be in the parent.
	var sep []int
	if parent >= 0 {
		sep = shared(cols, colsetOf(len(t.sizes), t.cliques[parent]...))
	}
	if before := shared(cols, seen); len(before) != len(sep) || len(sep) == n {
		r.fail("clique %d does not fit the tree", i)
		return nil
	}
	seen.union(own)
	t.cliques = append(t.cliques, cols)
	t.parent = append(t.parent, parent)
	t.seps = append(t.seps, sep)
	return cols
}

func (r *reader) probabilities(cells float64) []float64 {
	if cells > float64(len(r.data)/8) {
		r.fail("%.4g cells in %d bytes", cells, len(r.data))
		return nil
	}
	v := make([]float64, int(cells))
	sum := 0.0
	for i := range v {
		v[i] = r.float64()
		if !(v[i] >= 0) {
			r.fail("a probability is not ≥ 0")
			return nil
		}
		sum += v[i]
	}
	if !(math.Abs(sum-1) < 1e-6) {
		r.fail("probabilities sum to %v", sum)
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
	r := reader{data: data}
	if v := r.uint32(); v != groupingVersion {
		r.fail("grouping of version %d", v)
	}
	n := r.uint32()
	if n > len(data)/8 || n > maxColumns {
		r.fail("a grouping of %d columns in %d bytes", n, len(data))
	}
	columns, codes := []grouped(nil), 0
	for i := 0; i < n && r.err == nil; i++ {
		c := grouped{codes: r.uint32()}
		// A column of 65,536 codes with two merged ones is 20 bytes here, and 128 kB in memory.
		if codes += c.codes; codes > maxGrouped {
			r.fail("a grouping of more than %d codes", maxGrouped)
		}
		if c.codes < 1 || c.codes > maxCodes {
			r.fail("column %d of a grouping has %d codes", i, c.codes)
		}
		r.rare(&c)
		columns = append(columns, c)
	}
	if err := r.end(); err != nil {
		return err
	}
	g.columns = columns
	return nil
}

// rare reads the merged codes of a column.
func (r *reader) rare(c *grouped) {
	n := r.uint32()
	if n < 0 || n == 1 || n > c.codes || n*6 > len(r.data) {
		r.fail("%d of %d codes are merged in %d bytes", n, c.codes, len(r.data))
	}
	if n == 0 || r.err != nil {
		return
	}
	c.rare, c.weights = make([]uint16, n), make([]uint32, n)
	for i := range c.rare {
		c.rare[i] = binary.LittleEndian.Uint16(r.take(2))
		if int(c.rare[i]) >= c.codes || i > 0 && c.rare[i] <= c.rare[i-1] {
			r.fail("merged codes out of order")
			return
		}
	}
	for i := range c.weights {
		if c.weights[i] = uint32(r.uint32()); c.weights[i] < 1 || c.weights[i] > maxWeight {
			r.fail("a merged code of weight %d", c.weights[i])
		}
	}
	c.number()
}
