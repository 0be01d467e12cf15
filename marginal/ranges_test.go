package marginal

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
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

// TestInferIsLeastSquares compares the two passes, and the variance of every range, with the normal
// equations.
func TestInferIsLeastSquares(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][2]int{{1, 2}, {2, 2}, {7, 2}, {16, 2}, {16, 4}, {17, 4}, {30, 3},
		{10, 10}, {10, 40}, {29, 5}} {
		tree := newTree(shape[0], shape[1])
		for range 3 {
			counts := make([]float64, tree.Leaves())
			for i := range counts {
				counts[i] = float64(u.IntN(20))
			}
			levels := noisy(tree, counts, .5+3*u.Float64(), u.NormFloat64)
			got, err := tree.Infer(levels)
			if err != nil {
				t.Fatal(err)
			}
			want, cov := leastSquares(tree, levels)
			for i, x := range got.leaves() {
				if math.Abs(x-want.AtVec(i)) > 1e-9*(1+math.Abs(x)) {
					t.Fatalf("%v leaves, fan-out %d: leaf %d is %v, want %v", shape[0], shape[1], i, x,
						want.AtVec(i))
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
					if v := tree.variance(got.within, lo, hi); math.Abs(v-variance) > 1e-9*(1+variance) {
						t.Fatalf("%v leaves, fan-out %d, range %d to %d: variance %v, want %v", shape[0],
							shape[1], lo, hi, v, variance)
					}
				}
			}
			consistent(t, got)
			consistent(t, got.NonNegative())
		}
	}
}

// total is the count of the root.
// TestBinaryTreeIsHaar: the least-squares counts of a binary tree are those of the Haar wavelet
// (Privelet: Xiao, Wang, Gehrke 2011, arXiv 0909.5530): each wavelet v is a vector that the tree
// measures with precision λ, 2ʲ − 1 for one of 2ʲ leaves, independently of the others. So the two
// mechanisms of the sources are one.
func TestBinaryTreeIsHaar(t *testing.T) {
	const leaves = 16
	tree, u := newTree(leaves, 2), rand.New(rand.NewPCG(3, 4))
	levels := noisy(tree, make([]float64, leaves), 1, u.NormFloat64)
	c, err := tree.Infer(levels)
	if err != nil {
		t.Fatal(err)
	}
	got, variance := c.Range(3, 11)
	sum, want := 0.0, 0.0
	wavelet := func(from, size int, lambda float64, constant bool) {
		measured, inside := 0.0, 0.0 // products with the measurements, and with the range
		for i := range size {
			v := 1.0
			if !constant && i >= size/2 {
				v = -1
			}
			for l, level := range levels {
				measured += v * level[(from+i)*len(level)/leaves]
				if x := from + i; l == 0 && x >= 3 && x < 11 {
					inside += v
				}
			}
		}
		sum += inside * measured / (lambda * float64(size))
		want += inside * inside / (lambda * float64(size))
	}
	wavelet(0, leaves, leaves-1, true)
	for size := leaves; size > 1; size /= 2 {
		for from := 0; from < leaves; from += size {
			wavelet(from, size, float64(size-1), false)
		}
	}
	if math.Abs(got-sum) > 1e-9 || math.Abs(variance-want) > 1e-9 {
		t.Errorf("the tree has %v, variance %v, the wavelets %v, %v", got, variance, sum, want)
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
	tree := newTree(200, 4)
	counts := make([]float64, 200)
	for range 10 {
		counts[u.IntN(200)] = 100
	}
	before, after := 0.0, 0.0
	for range 50 {
		c, err := tree.Infer(noisy(tree, counts, 10, u.NormFloat64))
		if err != nil {
			t.Fatal(err)
		}
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
	exact, err := tree.Infer(noisy(tree, counts, 0, func() float64 { return 0 }))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range exact.NonNegative().leaves() {
		if math.Abs(x-counts[i]) > 1e-9 {
			t.Fatalf("leaf %d: %v, want %v", i, x, counts[i])
		}
	}
	negative, err := tree.Infer(noisy(tree, make([]float64, 200), 10, func() float64 { return -1 }))
	if err != nil {
		t.Fatal(err)
	}
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

// laplace draws from the Laplace distribution of scale 1, whose variance is 2.
func laplace(u *rand.Rand) float64 { return u.ExpFloat64() - u.ExpFloat64() }

// sumSquares is the squared error over all ranges of a tree measured with Laplace noise at ε = 1 in
// all: scale height.
func sumSquares(u *rand.Rand, tree *Tree) float64 {
	c, err := tree.Infer(noisy(tree, make([]float64, tree.Leaves()), float64(tree.Height()),
		func() float64 { return laplace(u) }))
	if err != nil {
		panic(err)
	}
	prefix := []float64{0}
	for _, x := range c.leaves() {
		prefix = append(prefix, prefix[len(prefix)-1]+x)
	}
	// Σ over lo < hi of (P_hi − P_lo)² = m·ΣP² − (ΣP)² for m = n+1 prefixes.
	sum, squares := 0.0, 0.0
	for _, p := range prefix {
		sum, squares = sum+p, squares+p*p
	}
	return float64(len(prefix))*squares - sum*sum
}

// TestErrorFalls: over all ranges of k cells at ε = 1 the squared error of flat counts grows as k³,
// that of the tree as k²(log k)³ at most (Hay et al. 2010, section 4). Mean of 60 draws a size; the
// exponents are asked for within .35, 8 standard errors.
func TestErrorFalls(t *testing.T) {
	if got := growth(t, func(k int) int { return k }); math.Abs(got-3) > .35 {
		t.Errorf("flat counts grow as k^%.2f, want k^3", got)
	}
	tree := growth(t, func(int) int { return 16 })
	if logs := 2 + 3*math.Log(math.Log(4096)/math.Log(64))/math.Log(4096./64); tree > logs+.35 {
		t.Errorf("the tree grows as k^%.2f, want at most k^%.2f", tree, logs)
	}
}

// growth is the exponent of k between 64 and 4096 cells.
func growth(t *testing.T, fanout func(k int) int) float64 {
	u := rand.New(rand.NewPCG(7, 8))
	at := func(k int) float64 {
		tree := newTree(k, fanout(k))
		sum := 0.0
		for range 60 {
			sum += sumSquares(u, tree)
		}
		return sum
	}
	return math.Log(at(4096)/at(64)) / math.Log(4096./64)
}

// TestFanout: the chosen fan-out is the best of those compared, and beats flat counts where there
// are many leaves.
func TestFanout(t *testing.T) {
	cost := func(n, b int) float64 { return newTree(n, b).cost() }
	for _, n := range []int{1, 2, 5, 16, 17, 64, 256, 1024, 5000} {
		b := bestFanout(n)
		for _, other := range []int{2, 3, 4, 8, 16, max(2, n)} {
			if cost(n, b) > cost(n, other)*(1+1e-12) {
				t.Errorf("%d leaves: fan-out %d costs %v, %d only %v", n, b, cost(n, b), other, cost(n, other))
			}
		}
		if n >= 1024 && cost(n, b) > cost(n, n)/8 {
			t.Errorf("%d leaves: the tree's variance %v, flat %v", n, cost(n, b), cost(n, n))
		}
	}
}

func TestBins(t *testing.T) {
	tree := newTree(10, 3)
	exact := func(counts ...float64) *Counts {
		c, err := tree.Infer(noisy(tree, counts, 0, func() float64 { return 0 }))
		if err != nil {
			t.Fatal(err)
		}
		return c.NonNegative()
	}
	c := exact(0, 10, 10, 0, 0, 20, 0, 40, 20, 0)
	empty := exact(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, tt := range []struct {
		c    *Counts
		k    int
		want []int
	}{
		{c, 1, []int{0}}, {c, 2, []int{0, 5}}, {empty, 5, nil},
		{exact(90, 1, 1, 1, 1, 1, 1, 1, 1, 2), 3, []int{0, 1, 6}}, // the spike is alone
		{exact(1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 10, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{exact(0, 0, 0, 0, 0, 0, 0, 0, 0, 9), 4, nil},
	} {
		got := tt.c.Bins(tt.k, 0)
		if len(got) != tt.k || got[0] != 0 {
			t.Fatalf("%d intervals: %v", tt.k, got)
		}
		for i := 1; i < len(got); i++ {
			if got[i] <= got[i-1] || got[i] >= 10 {
				t.Fatalf("%d intervals: %v", tt.k, got)
			}
		}
		if tt.want != nil && fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%d intervals: %v, want %v", tt.k, got, tt.want)
		}
	}
}

// TestBinsAreEven: on a smooth table no interval holds twice its share.
func TestBinsAreEven(t *testing.T) {
	tree, _ := NewTree(1000)
	counts := make([]float64, 1000)
	for i := range counts {
		counts[i] = 1e4 * math.Exp(-float64(i)/100)
	}
	c, err := tree.Infer(noisy(tree, counts, 0, func() float64 { return 0 }))
	if err != nil {
		t.Fatal(err)
	}
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
	tree, _ := NewTree(1000)
	counts := make([]float64, 1000)
	for i := range 400 {
		counts[i] = 10
	}
	counts[123] = 1000
	c, err := tree.Infer(noisy(tree, counts, 0, func() float64 { return 0 }))
	if err != nil {
		t.Fatal(err)
	}
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
	for _, leaves := range []int{-1, 0, maxLeaves + 1} {
		if _, err := NewTree(leaves); !errors.Is(err, errShape) {
			t.Errorf("%v leaves: %v", leaves, err)
		}
	}
	tree := newTree(4, 2)
	for name, levels := range map[string][][]float64{
		"levels":       {{1, 2}},
		"short level":  {{1}, {1, 2, 3, 4}},
		"infinite":     {{1, math.Inf(1)}, {1, 2, 3, 4}},
		"not a number": {{1, 2}, {1, 2, 3, math.NaN()}},
	} {
		if _, err := tree.Infer(levels); !errors.Is(err, errShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := tree.Infer([][]float64{{1, 2}, {1, 2, 3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{0, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d bins: no panic", k)
				}
			}()
			c.Bins(k, 0)
		}()
	}
}

// Variance of a range, tree against flat, at one total cost under Gaussian noise, in units of that
// of one of the flat counts.
func ExampleTree() {
	for _, n := range []int{64, 1024, 16384} {
		tree, _ := NewTree(n)
		fmt.Printf("%5d leaves: fan-out %2d, %d levels, variance %5.1f; flat %6.1f\n", n, tree.fanout,
			tree.Height(), tree.cost(), newTree(n, n).cost())
	}
	// Output:
	//    64 leaves: fan-out  4, 3 levels, variance   8.2; flat   22.5
	//  1024 leaves: fan-out  2, 10 levels, variance  20.3; flat  359.7
	// 16384 leaves: fan-out  3, 9 levels, variance  36.8; flat 5756.6
}
