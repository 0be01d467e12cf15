package marginal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrModel is wrapped by every error of UnmarshalBinary.
var ErrModel = errors.New("invalid model")

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
// ErrModel, found before memory beyond a small multiple of len(data) is taken. It checks the tree,
// and that every clique holds probabilities that sum to 1; not that neighbouring cliques agree. The
// answers of the model have the default limit of cells.
func (m *Model) UnmarshalBinary(data []byte) error {
	r := modelReader{data: data}
	t, p, total := r.model()
	if r.err == nil && len(r.data) > 0 {
		r.fail("%d bytes too many", len(r.data))
	}
	if r.err != nil {
		return r.err
	}
	*m = *newModel(t, p, total, defaultMaxCells)
	return nil
}

// modelReader decodes until the first error.
type modelReader struct {
	data []byte
	err  error
}

func (r *modelReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("marginal: "+format+": %w", append(args, ErrModel)...)
		r.data = nil
	}
}

func (r *modelReader) uint32() int {
	if len(r.data) < 4 {
		r.fail("cut short")
		return 0
	}
	x := binary.LittleEndian.Uint32(r.data)
	r.data = r.data[4:]
	return int(x)
}

func (r *modelReader) float64() float64 {
	if len(r.data) < 8 {
		r.fail("cut short")
		return 0
	}
	x := math.Float64frombits(binary.LittleEndian.Uint64(r.data))
	r.data = r.data[8:]
	return x
}

func (r *modelReader) model() (t *junctionTree, p [][]float64, total float64) {
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
func (r *modelReader) clique(t *junctionTree, i int, seen colset) []int {
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
	cols := make([]int, n)
	own := newColset(len(t.sizes))
	for j := range cols {
		c := r.uint32()
		if c >= len(t.sizes) || own.has(c) {
			r.fail("clique %d repeats a column or has one out of range", i)
			return nil
		}
		cols[j] = c
		own.add(c)
	}
	ranked := slices.Clone(cols)
	rankOrder(t.sizes, ranked)
	if !slices.Equal(cols, ranked) {
		r.fail("the columns of clique %d are out of order", i)
		return nil
	}
	// Running intersection: what was seen before must be in the parent.
	var sep []int
	if parent >= 0 {
		up := newColset(len(t.sizes))
		for _, c := range t.cliques[parent] {
			up.add(c)
		}
		sep = shared(cols, up)
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

func (r *modelReader) probabilities(cells float64) []float64 {
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
