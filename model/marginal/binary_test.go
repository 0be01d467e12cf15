package marginal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestModelBinary(t *testing.T) {
	u := rand.New(rand.NewPCG(30, 1))
	for _, d := range domains {
		t.Run(d.name, func(t *testing.T) {
			m, _ := randomModel(t, d.sizes, d.cliques, 1, u)
			m.total = 123.5
			b := must(m.MarshalBinary())
			got := &Model{}
			stattest.Check(t, got.UnmarshalBinary(b))
			if !slices.Equal(got.Sizes(), m.Sizes()) || got.Total() != m.Total() {
				t.Errorf("sizes %v, total %v; want %v, %v", got.Sizes(), got.Total(),
					m.Sizes(), m.Total())
			}
			checkTree(t, got.tree, d.cliques)
			again, err := got.MarshalBinary()
			if err != nil || !bytes.Equal(again, b) {
				t.Errorf("encoded again it differs (%v)", err)
			}
			a, c := m.Sample(50, rand.New(rand.NewPCG(1, 1))),
				got.Sample(50, rand.New(rand.NewPCG(1, 1)))
			for i := range a {
				if !slices.Equal(a[i], c[i]) {
					t.Errorf("column %d samples differently", i)
				}
			}
		})
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	le := binary.LittleEndian
	good := pinnedModel() // sizes 3 4 5 2
	const firstClique = 4 + 4 + 4*4 + 8 + 4
	put := func(at int, x uint32) []byte {
		b := slices.Clone(good)
		le.PutUint32(b[at:], x)
		return b
	}
	putFloat := func(at int, x float64) []byte {
		b := slices.Clone(good)
		le.PutUint64(b[at:], math.Float64bits(x))
		return b
	}
	secondClique := firstClique + 8 + 2*4 + 8*20 // the first has columns 1 and 2
	thirdClique := len(good) - 8 - 2*4 - 8*12
	if tree := pinnedTree(); tree.parent[2] != 0 || cellsOf(tree.sizes, tree.cliques[2]) != 12 {
		t.Fatalf("the tree is not the one this test is written for")
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "cut short"},
		{"version", put(0, 99), "version 99"},
		{"no columns", put(4, 0), "0 columns"},
		{"columns without end", put(4, math.MaxUint32), "columns in"},
		{"no codes", put(8, 0), "0 codes"},
		{"too many codes", put(8, 1<<16+1), "65537 codes"},
		{"total", putFloat(24, 0.5), "total 0.5"},
		{"total NaN", putFloat(24, math.NaN()), "total NaN"},
		{"no cliques", put(32, 0), "0 cliques"},
		{"more cliques than columns", put(32, 5), "5 cliques"},
		{"a clique less", put(32, 2), "in no clique"},
		{"the first has a parent", put(firstClique, 1), "parent 0"},
		{"the second has none", put(secondClique, 0), "parent -1"},
		{"a parent that comes later", put(secondClique, 3), "parent 2"},
		{"empty clique", put(firstClique+4, 0), "0 columns"},
		{"clique too wide", put(firstClique+4, 5), "5 columns"},
		{"column out of range", put(firstClique+8, 4), "out of range"},
		{"column twice", put(firstClique+8, 2), "repeats"},
		{"columns out of order", func() []byte {
			b := put(firstClique+8, 2)
			le.PutUint32(b[firstClique+12:], 1)
			return b
		}(), "out of order"},
		{"no running intersection", put(thirdClique, 2), "does not fit"},
		{"more cells than bytes", put(8+2*4, 1<<16), "cells in"},
		{"negative probability", putFloat(firstClique+16, -0.1), "not ≥ 0"},
		{"probability NaN", putFloat(firstClique+16, math.NaN()), "not ≥ 0"},
		{"probabilities of sum 2", putFloat(firstClique+16, 1.2), "sum to"},
		{"cut short", good[:len(good)-1], "cells in"},
		{"cut in the header", good[:30], "cut short"},
		{"a byte too many", append(slices.Clone(good), 0), "1 bytes too many"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &Model{}
			err := m.UnmarshalBinary(c.data)
			if !errors.Is(err, errModel) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if m.tree != nil {
				t.Errorf("the model was changed")
			}
		})
	}
}

// TestUnmarshalMemory: a short file that claims a huge table costs nothing.
func TestUnmarshalMemory(t *testing.T) {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, modelVersion)
	b = le.AppendUint32(b, 2)
	b = le.AppendUint32(b, 1<<16)
	b = le.AppendUint32(b, 1<<16)
	b = le.AppendUint64(b, math.Float64bits(10))
	for _, x := range []uint32{1, 0, 2, 0, 1} {
		b = le.AppendUint32(b, x)
	}
	b = append(b, make([]byte, 1000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	stattest.Wraps(t, new(Model).UnmarshalBinary(b), errModel, "")
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<16 {
		t.Errorf("%d bytes allocated for %d of input", used, len(b))
	}
}

func FuzzModel(f *testing.F) {
	f.Add(pinnedModel())
	u := rand.New(rand.NewPCG(31, 1))
	for _, d := range domains {
		if newJoint(d.sizes).cells() < 100 {
			tree := stattest.Must(newJunctionTree(d.sizes, d.cliques))
			p := newPropagator(tree, nil)
			p.run(nil, nil)
			b := stattest.Must(newModel(tree, p.tables(), 1+u.Float64()).MarshalBinary())
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &Model{}
		if err := m.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, errModel) {
				t.Fatalf("error %v is not errModel", err)
			}
			return
		}
		if b, err := m.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
			t.Fatalf("encoded again it differs (%v)", err)
		}
		for c, col := range m.Sample(20, rand.New(rand.NewPCG(1, 1))) {
			for _, x := range col {
				if int(x) >= m.Sizes()[c] {
					t.Fatalf("column %d has code %d of %d", c, x, m.Sizes()[c])
				}
			}
		}
		for c, size := range m.Sizes() {
			stattest.Check(t, m.MarginalTo(make([]float64, size), []int{c}))
		}
	})
}
