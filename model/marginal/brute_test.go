package marginal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// A joint is an explicit table over every column: what the clever code is checked against.
type joint struct {
	sizes []int
	p     []float64 // row-major over all columns
}

func newJoint(sizes []int) *joint {
	n := 1
	for _, s := range sizes {
		n *= s
	}
	return &joint{sizes, make([]float64, n)}
}

func (j *joint) cells() int { return len(j.p) }

// cell returns the index in a row-major table over cols of cell i of the joint.
func (j *joint) cell(i int, cols []int) int {
	codes := make([]int, len(j.sizes))
	for c := len(j.sizes) - 1; c >= 0; c-- {
		codes[c] = i % j.sizes[c]
		i /= j.sizes[c]
	}
	k := 0
	for _, c := range cols {
		k = k*j.sizes[c] + codes[c]
	}
	return k
}

func (j *joint) marginal(cols []int) []float64 {
	out := make([]float64, int(cellsOf(j.sizes, cols)))
	for i, x := range j.p {
		out[j.cell(i, cols)] += x
	}
	return out
}

// normalize turns logarithms into probabilities and returns log Z.
func (j *joint) normalize() float64 {
	top := slices.Max(j.p)
	z := 0.0
	for i, x := range j.p {
		j.p[i] = math.Exp(x - top)
		z += j.p[i]
	}
	for i := range j.p {
		j.p[i] /= z
	}
	return top + math.Log(z)
}

// domains are small, awkward and named: sizes and cliques.
var domains = []struct {
	name    string
	sizes   []int
	cliques [][]int
}{
	{"one column", []int{3}, [][]int{{0}}},
	{"one column of one code", []int{1}, [][]int{{0}}},
	{"nothing measured", []int{2, 3}, nil},
	{"only the total", []int{2, 3}, [][]int{{}}},
	{"all columns of one code", []int{1, 1, 1}, [][]int{{0, 1}, {1, 2}, {0, 2}}},
	{"one pair", []int{2, 3}, [][]int{{0, 1}}},
	{"pair in reverse order", []int{3, 2}, [][]int{{1, 0}}},
	{"chain", []int{2, 3, 1, 4}, [][]int{{0, 1}, {1, 2}, {2, 3}}},
	{"star", []int{3, 2, 2, 3}, [][]int{{0, 1}, {0, 2}, {3, 0}}},
	{"disconnected", []int{2, 3, 2, 2, 3}, [][]int{{0, 1}, {3, 4}}},
	{"cycle of four pairs", []int{2, 3, 2, 3}, [][]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}}},
	{"cycle of five pairs", []int{2, 3, 2, 2, 3}, [][]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}},
	{"clique in a clique", []int{2, 3, 2, 3}, [][]int{{0, 1, 2}, {1, 2}, {1}, {2, 0}, {3, 2}, {}}},
	{"everything", []int{2, 3, 2}, [][]int{{2, 0, 1}, {0}, {1}, {2}, {0, 2}}},
	{"two triples", []int{2, 3, 2, 3, 2}, [][]int{{0, 1, 2}, {1, 2, 3}, {3, 4}, {4}}},
	{"all pairs", []int{2, 3, 2, 1, 3}, [][]int{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3},
		{1, 4}, {2, 3}, {2, 4}, {3, 4}}},
	{"wide", []int{5, 3, 7, 4}, [][]int{{0, 1}, {1, 2}, {2, 3}, {0, 3}}},
	{"merged projections", []int{4, 4, 4, 4, 4, 4}, [][]int{{0, 1, 2, 3, 4, 5}, {0, 1}, {1, 2},
		{2, 3}, {3, 4}, {4, 5}, {0, 5}, {0, 1, 2}, {5}}},
}

// allSubsets lists the subsets of 0..n-1 of up to most columns.
func allSubsets(n, most int) (out [][]int) {
	for mask := range 1 << n {
		var cols []int
		for c := range n {
			if mask>>c&1 != 0 {
				cols = append(cols, c)
			}
		}
		if len(cols) <= most {
			out = append(out, cols)
		}
	}
	return out
}

func distinctRanked(sizes []int, cliques [][]int) [][]int {
	var out [][]int
	for _, q := range cliques {
		r := ranked(sizes, q)
		if !slices.ContainsFunc(out, func(o []int) bool { return slices.Equal(o, r) }) {
			out = append(out, r)
		}
	}
	return out
}

// full measures every set of columns code by code.
func full(cols [][]int) []resolution {
	var out []resolution
	for _, c := range cols {
		out = append(out, resolution{cols: c})
	}
	return out
}

// halved adds each set of columns a second time, over groups: codes in pairs, or split by parity,
// in every other column.
func halved(sizes []int, cols [][]int) []resolution {
	out := full(cols)
	for i, c := range cols {
		if len(c) == 0 {
			continue
		}
		groups := make([][]uint16, len(c))
		for j := i % 2; j < len(c); j += 2 {
			g := make([]uint16, sizes[c[j]])
			for code := range g {
				g[code] = uint16(code / 2)
				if i%3 == 0 {
					g[code] = uint16(code % 2)
				}
			}
			groups[j] = g
		}
		if slices.ContainsFunc(groups, func(g []uint16) bool { return g != nil }) {
			out = append(out, resolution{cols: c, groups: groups})
		}
	}
	return out
}

// cell is the cell of the term that cell i of the joint belongs to.
func (j *joint) termCell(i int, tm term) int {
	k := j.cell(i, tm.cols)
	if tm.coarse != nil {
		k = int(tm.coarse[k])
	}
	return k
}

// termMarginal is the joint's marginal over the term's cells.
func (j *joint) termMarginal(tm term) []float64 {
	out := make([]float64, tm.cells)
	for i, p := range j.p {
		out[j.termCell(i, tm)] += p
	}
	return out
}

func TestPropagatorAgainstBruteForce(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	for _, d := range domains {
		for _, scale := range []float64{0, 1, 30, 2000} {
			t.Run(fmt.Sprintf("%s/scale=%v", d.name, scale), func(t *testing.T) {
				tree := stattest.Must(newJunctionTree(d.sizes, d.cliques))
				cols := distinctRanked(d.sizes, d.cliques)
				p := newPropagator(tree, halved(d.sizes, cols))
				theta := make([]float64, p.dim)
				for i := range theta {
					theta[i] = scale * u.NormFloat64()
				}
				j := newJoint(d.sizes)
				for _, tm := range p.terms {
					for i := range j.p {
						j.p[i] += theta[tm.off+j.termCell(i, tm)]
					}
				}
				wantZ := j.normalize()
				mu := make([]float64, p.dim)
				for range 2 { // twice: nothing is left over from the first
					logZ := p.run(mu, theta)
					if math.Abs(logZ-wantZ) > 1e-10*(1+math.Abs(wantZ)) {
						t.Errorf("log Z = %v, want %v", logZ, wantZ)
					}
				}
				tol := 1e-12 * (1 + scale)
				for _, tm := range p.terms {
					compare(t, fmt.Sprint("term ", tm.cols), mu[tm.off:tm.off+tm.cells],
						j.termMarginal(tm), tol)
				}
				for i, q := range tree.cliques {
					compare(t, fmt.Sprint("clique ", q), p.cliques[i].table, j.marginal(q), tol)
				}
			})
		}
	}
}

func compare(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d cells, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol) {
			t.Errorf("%s: cell %d = %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

// randomModel returns a calibrated model with random potentials over the cliques of a domain, and
// its joint.
func randomModel(
	t *testing.T, sizes []int, cliques [][]int, scale float64, u *rand.Rand,
) (*Model, *joint) {
	t.Helper()
	tree := stattest.Must(newJunctionTree(sizes, cliques))
	p := newPropagator(tree, full(distinctRanked(sizes, cliques)))
	theta := make([]float64, p.dim)
	j := newJoint(sizes)
	for _, tm := range p.terms {
		for i := range tm.cells {
			theta[tm.off+i] = scale * u.NormFloat64()
		}
		for i := range j.p {
			j.p[i] += theta[tm.off+j.cell(i, tm.cols)]
		}
	}
	j.normalize()
	p.run(make([]float64, p.dim), theta)
	return newModel(tree, p.tables(), 1), j
}

func TestMarginalToAgainstBruteForce(t *testing.T) {
	u := rand.New(rand.NewPCG(2, 2))
	for _, d := range domains {
		t.Run(d.name, func(t *testing.T) {
			for _, scale := range []float64{1, 200} {
				m, j := randomModel(t, d.sizes, d.cliques, scale, u)
				m.total = 7
				for _, cols := range allSubsets(len(d.sizes), 6) {
					u.Shuffle(len(cols), func(a, b int) { cols[a], cols[b] = cols[b], cols[a] })
					want := j.marginal(cols)
					for i := range want {
						want[i] *= 7
					}
					got := make([]float64, len(want))
					stattest.Check(t, m.MarginalTo(got, cols))
					compare(t, fmt.Sprint("columns ", cols), got, want, 1e-12*(1+scale))
				}
			}
		})
	}
}
