package marginal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestPlanAgainstBruteForce compares every operation of a plan with the same by indices, on tables
// of one and of many blocks, with every kind of run.
func TestPlanAgainstBruteForce(t *testing.T) {
	u := rand.New(rand.NewPCG(40, 1))
	kinds := map[string]int{}
	for _, sizes := range [][]int{
		{}, {1}, {5}, {3000}, {1, 1}, {1, 6, 1}, {2, 2, 2, 2}, {3, 4, 5, 6}, {60, 50},
		{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
		{40, 3, 2, 7, 5, 2}, {70, 100}, {2, 5000}, {9, 2, 300, 2}, {7, 1, 400, 1},
	} {
		all := make([]int, len(sizes))
		for c := range all {
			all[c] = c
		}
		j := newJoint(sizes)
		for range 12 {
			var small []int
			for c := range all {
				if u.IntN(2) == 0 {
					small = append(small, c)
				}
			}
			p := newPlan(sizes, all, small)
			switch {
			case p.run == 1:
				kinds["cell by cell"]++
			case p.kept:
				kinds["kept run"]++
			default:
				kinds["summed run"]++
			}
			if len(p.hi) > 1 {
				kinds["blocks"]++
			}
			big := make([]float64, j.cells())
			for i := range big {
				big[i] = u.Float64()
			}
			table := make([]float64, int(cellsOf(sizes, small)))
			for i := range table {
				table[i] = u.Float64()
			}
			block := len(big) / len(p.hi)
			each := func(v []float64, f func(b []float64, k int)) []float64 {
				v = slices.Clone(v)
				for k := 0; k*block < len(v); k++ {
					f(v[k*block:(k+1)*block], k)
				}
				return v
			}
			sum, most := make([]float64, len(table)),
				slices.Repeat([]float64{math.Inf(-1)}, len(table))
			added := each(big, func(b []float64, k int) { p.add(b, table, k) })
			multiplied := each(big, func(b []float64, k int) { p.mul(b, table, k) })
			each(big, func(b []float64, k int) { p.sum(b, sum, k); p.max(b, most, k) })
			wantSum, wantMost := make([]float64, len(table)),
				slices.Repeat([]float64{math.Inf(-1)}, len(table))
			for i, x := range big {
				s := j.cell(i, small)
				if added[i] != x+table[s] || multiplied[i] != x*table[s] {
					t.Fatalf("sizes %v to columns %v: cell %d: %v and %v, want %v and %v", sizes,
						small, i, added[i], multiplied[i], x+table[s], x*table[s])
				}
				wantSum[s] += x
				wantMost[s] = max(wantMost[s], x)
			}
			what := fmt.Sprintf("sizes %v to columns %v", sizes, small)
			compare(t, what+": sum", sum, wantSum, 1e-9)
			compare(t, what+": max", most, wantMost, 0)
		}
	}
	for _, k := range []string{"cell by cell", "kept run", "summed run", "blocks"} {
		if kinds[k] == 0 {
			t.Errorf("no plan with %s was tried", k)
		}
	}
}

func TestTranspose(t *testing.T) {
	u := rand.New(rand.NewPCG(41, 1))
	sizes := []int{2, 3, 1, 4}
	j := newJoint(sizes)
	for i := range j.p {
		j.p[i] = float64(i)
	}
	for range 20 {
		from, to := u.Perm(4), u.Perm(4)
		got := make([]float64, len(j.p))
		transpose(got, j.marginal(from), sizes, from, to)
		compare(t, fmt.Sprint(from, " to ", to), got, j.marginal(to), 0)
	}
}

// TestSpans: a table divided among goroutines gives what one would give.
func TestSpans(t *testing.T) {
	u := rand.New(rand.NewPCG(42, 1))
	for _, d := range []int{16, 20} {
		sizes := slices.Repeat([]int{2}, d)
		all := make([]int, d)
		for c := range all {
			all[c] = c
		}
		tree := stattest.Must(newJunctionTree(sizes, [][]int{all}))
		terms := [][]int{all[1:], all[:d-2], {0, d - 1}, {5, d - 1}, {7}}
		many, one := newPropagator(tree, full(terms)), newPropagator(tree, full(terms))
		c := &one.cliques[0]
		c.spans = []span{{0, len(c.sep.hi)}}
		c.partial, c.top = c.partial[:1], c.top[:1]
		if len(many.cliques[0].spans) < 2 {
			t.Fatalf("%d columns: not what this test is for: %d spans", d,
				len(many.cliques[0].spans))
		}
		theta := make([]float64, one.dim)
		for i := range theta {
			theta[i] = u.NormFloat64()
		}
		mu1, mu2 := make([]float64, one.dim), make([]float64, one.dim)
		for range 2 {
			if a, b := one.run(mu1, theta), many.run(mu2, theta); math.Abs(a-b) > 1e-9 {
				t.Errorf("log Z = %v and %v", a, b)
			}
			compare(t, "terms", mu2, mu1, 1e-12)
		}
	}
}

func TestPropagatorDoesNotAllocate(t *testing.T) {
	sizes, ms := treeProblem()
	e := estimatorFor(t, sizes, ms)
	if n := testing.AllocsPerRun(10, func() { e.prop.run(e.mu, e.center) }); n > 0 {
		t.Errorf("%v allocations in a pass over a tree of small cliques", n)
	}
}
