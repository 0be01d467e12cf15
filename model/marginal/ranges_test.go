package marginal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// noisy measures counts on every level of a tree.
func noisy(t *Tree, counts []float64, sigma float64, draw func() float64) [][]float64 {
	levels := make([][]float64, t.Height())
	for l := range levels {
		levels[l] = make([]float64, t.Nodes(l+1))
		for leaf, g := range t.Groups(l + 1) {
			levels[l][g] += counts[leaf]
		}
		for i := range levels[l] {
			levels[l][i] += sigma * draw()
		}
	}
	return levels
}

// leastSquares solves the normal equations of the measurements for the leaves: estimate and
// covariance, in units of σ².
func leastSquares(t *Tree, levels [][]float64) (x *mat.VecDense, cov *mat.Dense) {
	n := t.Leaves()
	normal, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for l, y := range levels {
		groups := t.Groups(l + 1)
		for i := range n {
			for j := i; j < n; j++ {
				if groups[i] == groups[j] {
					normal.SetSym(i, j, normal.At(i, j)+1)
				}
			}
			right.SetVec(i, right.AtVec(i)+y[groups[i]])
		}
	}
	cov = &mat.Dense{}
	if err := cov.Inverse(normal); err != nil {
		panic(err)
	}
	x = &mat.VecDense{}
	x.MulVec(cov, right)
	return x, cov
}

// leaves are the counts of the leaves.
func (c *Counts) leaves() []float64 { return slices.Clone(c.values[c.tree.Height()]) }

// TestInferIsLeastSquares compares the two passes and the variance of every range with the normal
// equations.
func TestInferIsLeastSquares(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	for _, leaves := range []int{1, 2, 3, 7, 9, 16, 28} {
		tree := must(NewTree(leaves))
		for range 3 {
			counts := make([]float64, tree.Leaves())
			for i := range counts {
				counts[i] = float64(u.IntN(20))
			}
			levels := noisy(tree, counts, .5+3*u.Float64(), u.NormFloat64)
			got := stattest.Must(tree.Infer(levels))
			want, cov := leastSquares(tree, levels)
			for i, x := range got.leaves() {
				if math.Abs(x-want.AtVec(i)) > 1e-9*(1+math.Abs(x)) {
					t.Fatalf("%v leaves: leaf %d is %v, want %v", leaves, i, x, want.AtVec(i))
				}
			}
			for lo := range tree.Leaves() + 1 {
				variance := 0.0
				for hi := lo; hi <= tree.Leaves(); hi++ {
					if hi > lo {
						variance += cov.At(hi-1, hi-1)
						for j := lo; j < hi-1; j++ {
							variance += 2 * cov.At(hi-1, j)
						}
					}
					if _, v := got.Range(lo, hi); math.Abs(v-variance) > 1e-9*(1+variance) {
						t.Fatalf("%v leaves, range %d to %d: variance %v, want %v", leaves, lo, hi, v, variance)
					}
				}
			}
			consistent(t, got)
			consistent(t, got.NonNegative())
		}
	}
}

func (c *Counts) total() float64 { return c.values[0][0] }

// consistent asks that each parent is the sum of its children.
func consistent(t *testing.T, c *Counts) {
	t.Helper()
	for level := range c.tree.Height() {
		for i, parent := range c.values[level] {
			if sum, _ := c.below(level, i); math.Abs(sum-parent) > 1e-9*(1+math.Abs(parent)) {
				t.Fatalf("level %d node %d has %v, its children %v", level, i, parent, sum)
			}
		}
	}
}

// TestNonNegative: nothing is below zero, exact counts stay as they are, and on sparse counts the
// error falls.
func TestNonNegative(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	tree := must(NewTree(200))
	counts := make([]float64, 200)
	for range 10 {
		counts[u.IntN(200)] = 100
	}
	before, after := 0.0, 0.0
	for range 50 {
		c := stattest.Must(tree.Infer(noisy(tree, counts, 10, u.NormFloat64)))
		n := c.NonNegative()
		for i, x := range n.leaves() {
			if x < 0 {
				t.Fatalf("leaf %d has %v", i, x)
			}
			before += math.Pow(c.leaves()[i]-counts[i], 2)
			after += math.Pow(x-counts[i], 2)
		}
		if math.Abs(n.total()-c.total()) > 1e-6 {
			t.Errorf("the total moved from %v to %v", c.total(), n.total())
		}
	}
	if after > before/2 {
		t.Errorf("squared error %v, before %v", after, before)
	}
	exact := stattest.Must(tree.Infer(noisy(tree, counts, 0, func() float64 { return 0 })))
	for i, x := range exact.NonNegative().leaves() {
		if math.Abs(x-counts[i]) > 1e-9 {
			t.Fatalf("leaf %d: %v, want %v", i, x, counts[i])
		}
	}
	negative := must(tree.Infer(noisy(tree, make([]float64, 200), 10, func() float64 { return -1 })))
	if got := negative.NonNegative().total(); got != 0 {
		t.Errorf("a negative table has %v rows", got)
	}
}

// TestProject compares with the optimality conditions: x' = max(0, x − λV) for one λ, and the sum.
func TestProject(t *testing.T) {
	u := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		n := 1 + u.IntN(6)
		x, v := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], v[i] = 4*u.NormFloat64(), .1+u.Float64()
		}
		total := float64(u.IntN(3)) * u.Float64()
		got := append([]float64(nil), x...)
		closest(got, v, total)
		sum, lambda := 0.0, math.NaN()
		for i, y := range got {
			sum += y
			if y > 0 {
				lambda = (x[i] - y) / v[i]
			}
		}
		if math.Abs(sum-total) > 1e-9 {
			t.Fatalf("sum %v, want %v", sum, total)
		}
		for i, y := range got {
			if y < 0 || total > 0 && math.Abs(y-max(0, x[i]-lambda*v[i])) > 1e-9 {
				t.Fatalf("%v became %v", x, got)
			}
		}
	}
}

// TestBinsAreEven: on a smooth table no interval holds twice its share.
func TestBinsAreEven(t *testing.T) {
	tree := must(NewTree(1000))
	counts := make([]float64, 1000)
	for i := range counts {
		counts[i] = 1e4 * math.Exp(-float64(i)/100)
	}
	c := stattest.Must(tree.Infer(noisy(tree, counts, 0, func() float64 { return 0 })))
	starts := append(c.Bins(16, 0), 1000)
	for i := range 16 {
		got := 0.0
		for _, x := range c.leaves()[starts[i]:starts[i+1]] {
			got += x
		}
		if got > 2*c.total()/16 {
			t.Errorf("interval %d has %v of %v", i, got, c.total())
		}
	}
}

// TestBinsBend: a spike is alone, and an empty tail is cut off, before even rows are divided; what
// does not stand out of the noise is not cut.
func TestBinsBend(t *testing.T) {
	tree := must(NewTree(1000))
	counts := make([]float64, 1000)
	for i := range 400 {
		counts[i] = 10
	}
	counts[123] = 1000
	c := stattest.Must(tree.Infer(noisy(tree, counts, 0, func() float64 { return 0 })))
	for _, start := range []int{123, 124, 400} {
		if got := c.Bins(6, 0); !slices.Contains(got, start) {
			t.Errorf("six bins start at %v, none at %d", got, start)
		}
	}
	rows, variance := c.Range(124, 400)
	if rows != 2760 || variance <= 0 {
		t.Errorf("leaves 124 to 399 have %v rows with variance %v", rows, variance)
	}
	if got := c.Bins(32, 2000); len(got) > 2 {
		t.Errorf("noise of 2000 rows lets bins start at %v", got)
	}
	if got := c.Bins(32, 1e6); len(got) != 1 {
		t.Errorf("noise of a million rows lets bins start at %v", got)
	}
}

func TestRefusals(t *testing.T) {
	for _, leaves := range []int{-1, 0, maxCodes + 1} {
		stattest.Wraps(t, stattest.Err(NewTree(leaves)), errShape, "%v leaves", leaves)
	}
	tree := must(NewTree(4))
	for _, levels := range [][][]float64{{{1, 2}}, {{1}, {1, 2, 3, 4}}} {
		stattest.Wraps(t, stattest.Err(tree.Infer(levels)), errShape, "%v", levels)
	}
}
