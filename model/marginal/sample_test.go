package marginal

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestSampleSupport: sizes, ranges, and no row where the model has none.
func TestSampleSupport(t *testing.T) {
	u := rand.New(rand.NewPCG(11, 1))
	for _, d := range domains {
		t.Run(d.name, func(t *testing.T) {
			m, j := randomModel(t, d.sizes, d.cliques, 300, u)
			for _, n := range []int{0, 1, 2, 1000} {
				rows := m.Sample(n, u)
				if len(rows) != len(d.sizes) {
					t.Fatalf("%d columns, want %d", len(rows), len(d.sizes))
				}
				for c := range rows {
					if len(rows[c]) != n {
						t.Fatalf("column %d has %d rows, want %d", c, len(rows[c]), n)
					}
				}
				all := make([]int, len(d.sizes))
				for c := range all {
					all[c] = c
				}
				for i, k := range countRows(d.sizes, rows, all) {
					if k > 0 && j.p[i] < 1e-12 {
						t.Errorf("%v rows in a cell of probability %v", k, j.p[i])
					}
				}
			}
		})
	}
}

// TestSampleIsUnbiased. Null: every row has the model's joint distribution, so the count of a cell
// over the repeats has mean repeats·n·p. Its variance is taken from the repeats, which are
// independent, and at least the mean (rare cells). Two-sided normal bound z = 6.1 for a false-alarm
// rate of 1e-6 per domain over at most 200 cells. A joint that is 30 % off in one cell is rejected.
func TestSampleIsUnbiased(t *testing.T) {
	const n, repeats, z = 7, 20_000, 6.1
	u := rand.New(rand.NewPCG(12, 1))
	for _, d := range domains {
		if newJoint(d.sizes).cells() > 200 {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			m, j := randomModel(t, d.sizes, d.cliques, 1, u)
			all := make([]int, len(d.sizes))
			for c := range all {
				all[c] = c
			}
			sum, squares := make([]float64, len(j.p)), make([]float64, len(j.p))
			for range repeats {
				for i, k := range countRows(d.sizes, m.Sample(n, u), all) {
					sum[i] += k
					squares[i] += k * k
				}
			}
			reject := func(p []float64) (rejected bool) {
				for i, x := range p {
					mean := repeats * n * x
					variance := max(squares[i]-sum[i]*sum[i]/repeats, mean)
					if x == 1 {
						variance = 0
					}
					if math.Abs(sum[i]-mean) > z*math.Sqrt(variance)+1e-6 {
						rejected = true
					}
				}
				return rejected
			}
			if reject(j.p) {
				t.Errorf("the joint of the samples is not the model's")
			}
			if len(j.p) > 1 {
				wrong := slices.Clone(j.p)
				wrong[slices.Index(wrong, slices.Max(wrong))] /= 1.3
				if !reject(wrong) {
					t.Errorf("a joint that is 30 %% off in one cell is not rejected")
				}
			}
		})
	}
}

// TestSampleKeepsCliqueCounts: inside the root clique every cell gets its expected number rounded
// up or down; inside another, every cell does so given its separator's rows.
func TestSampleKeepsCliqueCounts(t *testing.T) {
	u := rand.New(rand.NewPCG(13, 1))
	for _, d := range domains {
		t.Run(d.name, func(t *testing.T) {
			m, _ := randomModel(t, d.sizes, d.cliques, 1, u)
			const n = 997
			rows := m.Sample(n, u)
			for i, q := range m.tree.cliques {
				counts := countRows(d.sizes, rows, q)
				sep := m.tree.seps[i]
				parent := project(d.sizes, factor{q, m.p[i]}, sep)
				sepRows := countRows(d.sizes, rows, sep)
				pl := newPlan(d.sizes, q, sep)
				for cell, got := range counts {
					block := len(counts) / len(pl.hi)
					in := cell % block
					s := int(pl.hi[cell/block]) + int(pl.lo[in/pl.run])
					if pl.kept {
						s += in % pl.run
					}
					want := sepRows[s] * m.p[i][cell] / parent.v[s]
					if math.Abs(got-want) > 1+1e-9 {
						t.Errorf("clique %v cell %d has %v rows, want %v rounded up or down",
							q, cell, got, want)
					}
				}
			}
		})
	}
}

// TestSampleIsLowVariance compares the error of pairs in and out of cliques with that of
// independent rows (samples of one row), over 20 samples of each. Inside a clique the error must be
// that of rounding, far below; outside, no more.
func TestSampleIsLowVariance(t *testing.T) {
	u := rand.New(rand.NewPCG(14, 1))
	sizes := []int{4, 5, 3, 4}
	m, _ := randomModel(t, sizes, [][]int{{0, 1}, {1, 2}, {2, 3}}, 0.5, u)
	const n = 2000
	for _, c := range []struct {
		cols  []int
		ratio float64 // the most allowed against independent rows
	}{
		{m.tree.cliques[0], 0.1}, // the first clique: less than one row a cell
		{m.tree.cliques[1], 0.2},
		{m.tree.cliques[2], 0.2},
		{[]int{0, 3}, 1.1},
	} {
		want := make([]float64, int(cellsOf(sizes, c.cols)))
		stattest.Check(t, m.MarginalTo(want, c.cols))
		tv := func(rows [][]uint16) (sum float64) {
			for i, k := range countRows(sizes, rows, c.cols) {
				sum += math.Abs(k/n-want[i]) / 2
			}
			return sum
		}
		clever, plain := 0.0, 0.0
		for range 20 {
			clever += tv(m.Sample(n, u))
			rows := make([][]uint16, len(sizes))
			for range n {
				for k, x := range m.Sample(1, u) {
					rows[k] = append(rows[k], x[0])
				}
			}
			plain += tv(rows)
		}
		if clever > c.ratio*plain {
			t.Errorf("columns %v: error %.5f, of independent rows %.5f; want at most %v of it",
				c.cols, clever/20, plain/20, c.ratio)
		}
	}
}

// TestSampleRowsAreExchangeable. Null: the code of row i of n does not depend on i. The mean code
// of the first half of the rows minus that of the second, over independent samples, is normal with
// mean 0; |z| < 4.9 (1e-6).
func TestSampleRowsAreExchangeable(t *testing.T) {
	u := rand.New(rand.NewPCG(15, 1))
	m, _ := randomModel(t, []int{4, 5, 3, 4}, [][]int{{0, 1}, {1, 2}, {2, 3}}, 1, u)
	for c := range 4 {
		sum, squares := 0.0, 0.0
		for range 2000 {
			d := 0.0
			for i, x := range m.Sample(50, u)[c] {
				d += float64(x) * float64(1-i/25*2)
			}
			sum += d
			squares += d * d
		}
		if z := sum / math.Sqrt(squares); math.Abs(z) > 4.9 {
			t.Errorf("column %d: the first half of the rows differs from the second, z = %.1f",
				c, z)
		}
	}
}

// TestSampleIsReproducible pins the sample of a decoded model: it must never change for a format
// version, on any platform.
func TestSampleIsReproducible(t *testing.T) {
	m := &Model{}
	stattest.Check(t, m.UnmarshalBinary(pinnedModel()))
	h := fnv.New64a()
	for _, col := range m.Sample(1000, rand.New(rand.NewPCG(1, 2))) {
		fmt.Fprint(h, col)
	}
	if got, want := h.Sum64(), uint64(0xcbdb9edb154efdac); got != want {
		t.Errorf("hash of the sample = %#x, want %#x", got, want)
	}
}

func pinnedTree() *junctionTree {
	tree, err := newJunctionTree([]int{3, 4, 5, 2}, [][]int{{0, 1}, {1, 2}, {2, 3}})
	if err != nil {
		panic(err)
	}
	return tree
}

// pinnedModel has probabilities that need no mathematical function.
func pinnedModel() []byte {
	tree := pinnedTree()
	var p [][]float64
	for _, q := range tree.cliques {
		v := make([]float64, int(cellsOf(tree.sizes, q)))
		sum := 0.0
		for i := range v {
			v[i] = float64(1 + i*i%7)
			sum += v[i]
		}
		for i := range v {
			v[i] /= sum
		}
		p = append(p, v)
	}
	b, err := newModel(tree, p, 10).MarshalBinary()
	if err != nil {
		panic(err)
	}
	return b
}
