package nearest

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// kdTree is a set cut in halves at the coordinate of the widest spread, again
// and again. A search visits the near half first and the far half only if the
// cut is closer than the neighbours found so far (Friedman, Bentley & Finkel
// 1977, ACM TOMS 3; Arya & Mount 1993 for the distance to a cell).
type kdTree struct {
	set   Set
	order []int32 // points; those of a node are together
	nodes []kdNode
	norm  float64 // largest squared norm
}

// kdNode is a run of points; left and right are nodes, 0 in a leaf.
type kdNode struct {
	lo, hi      int32
	left, right int32
	at          int32   // coordinate that is cut
	cut         float64 // left: at most cut; right: at least cut
}

const leafPoints = 12

func newTree(s Set) *kdTree {
	t := &kdTree{set: s, order: make([]int32, s.N)}
	for i := range t.order {
		t.order[i] = int32(i)
		t.norm = max(t.norm, squaredNorm(t.point(i)))
	}
	t.build(0, int32(s.N))
	return t
}

func (t *kdTree) point(i int) []float32 { return t.set.X[i*t.set.K : (i+1)*t.set.K] }

func squaredNorm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// build makes the node of order[lo:hi] and those below it, and returns its number.
func (t *kdTree) build(lo, hi int32) int32 {
	number := int32(len(t.nodes))
	t.nodes = append(t.nodes, kdNode{lo: lo, hi: hi})
	if hi-lo <= leafPoints {
		return number
	}
	at, spread := 0, float32(0)
	for k := range t.set.K {
		low, high := float32(math.Inf(1)), float32(math.Inf(-1))
		for _, i := range t.order[lo:hi] {
			x := t.set.X[int(i)*t.set.K+k]
			low, high = min(low, x), max(high, x)
		}
		if high-low > spread {
			at, spread = k, high-low
		}
	}
	if spread == 0 {
		return number // all in one place
	}
	coordinate := func(i int32) float32 { return t.set.X[int(i)*t.set.K+at] }
	run := t.order[lo:hi]
	slices.SortFunc(run, func(a, b int32) int {
		switch x, y := coordinate(a), coordinate(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	// Cut between two values, the pair nearest to the middle.
	middle := len(run) / 2
	for step := 0; ; step++ {
		if k := middle + step; k < len(run) && coordinate(run[k-1]) < coordinate(run[k]) {
			middle = k
			break
		}
		if k := middle - step; k > 0 && coordinate(run[k-1]) < coordinate(run[k]) {
			middle = k
			break
		}
	}
	cut := (float64(coordinate(run[middle-1])) + float64(coordinate(run[middle]))) / 2
	left := t.build(lo, lo+int32(middle))
	right := t.build(lo+int32(middle), hi)
	n := &t.nodes[number]
	n.left, n.right, n.at, n.cut = left, right, int32(at), cut
	return number
}

// query is the search for the neighbours of one point; it is reused.
type query struct {
	tree        *kdTree
	x           []float32
	distance    func(j int) float64
	skip        int // point that does not count, or −1
	second      bool
	first, next float64 // best distances so far
	margin      float64 // by how much rounded coordinates may overstate a distance
	offset      []float64
	visits      int
	budget      int // visits after which the search gives up, 0 = none
}

func (q *query) worst() float64 {
	if q.second {
		return q.next
	}
	return q.first
}

// search finds the best distances of x.
func (q *query) search(x []float32) {
	q.x, q.first, q.next, q.visits = x, math.Inf(1), math.Inf(1), 0
	const u = 1. / (1 << 24)
	q.margin = 5 * u * (squaredNorm(x) + q.tree.norm) // see pack
	clear(q.offset)
	if len(q.tree.order) > 0 {
		q.visit(0, 0)
	}
}

// visit searches a node whose cell is at least below away, in squared distance.
func (q *query) visit(number int32, below float64) {
	n := &q.tree.nodes[number]
	if n.left == 0 {
		for _, j := range q.tree.order[n.lo:n.hi] {
			if int(j) == q.skip {
				continue
			}
			q.visits++
			switch d := q.distance(int(j)); {
			case d < q.first:
				q.first, q.next = d, q.first
			case d < q.next:
				q.next = d
			}
			if q.worst() == 0 {
				return
			}
		}
		return
	}
	away := float64(q.x[n.at]) - n.cut
	near, far := n.left, n.right
	if away > 0 {
		near, far = far, near
	}
	q.visit(near, below)
	if q.budget > 0 && q.visits > q.budget {
		return
	}
	before := q.offset[n.at]
	further := below - before + away*away
	if further-q.margin < q.worst() {
		q.offset[n.at] = away * away
		q.visit(far, further)
		q.offset[n.at] = before
	}
}

// newQuery prepares searches of the tree.
func (t *kdTree) newQuery(second bool) *query {
	return &query{tree: t, skip: -1, second: second, offset: make([]float64, t.set.K)}
}

// all finds the neighbours of every point of a set, on all processors. self says
// that it is the tree's own set.
func (t *kdTree) all(a Set, distance func(i, j int) float64, self, second bool) Best {
	out := Best{First: make([]float64, a.N)}
	if second {
		out.Second = make([]float64, a.N)
	}
	const chunk = 64
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			q := t.newQuery(second)
			i := 0
			q.distance = func(j int) float64 { return distance(i, j) }
			for {
				from := int(next.Add(chunk)) - chunk
				if from >= a.N {
					return
				}
				for i = from; i < min(from+chunk, a.N); i++ {
					if self {
						q.skip = i
					}
					q.search(a.X[i*a.K : (i+1)*a.K])
					out.First[i] = q.first
					if second {
						out.Second[i] = q.next
					}
				}
			}
		})
	}
	wg.Wait()
	return out
}

// Costs in nanoseconds on one processor with AVX2, measured with the benchmarks
// of this package. They decide which search is used, never what it returns.
const (
	pairCost       = .45 // of a pair in the product
	coordinateCost = .02 // more for every coordinate
	visitCost      = 32  // of a point that a tree search measures
	buildCost      = 100 // of a point and level of a tree
	pilots         = 50  // searches that estimate the visits
	smallest       = 8000
)

// pays returns a tree of b if searching it for the points of a is estimated to be faster than the
// product, else nil. once says that the product sees each pair once for both of its points.
func pays(a, b Set, distance func(i, j int) float64, self, second, once bool) *kdTree {
	if a.N < smallest || b.N < smallest {
		return nil
	}
	product := (pairCost + coordinateCost*float64(a.K)) * float64(b.N)
	if once {
		product /= 2
	}
	build := buildCost * math.Log2(float64(b.N)/leafPoints) * float64(b.N) / float64(a.N)
	budget := int((product - build) / visitCost) // visits that one search may take
	if budget < 2*leafPoints {
		return nil
	}
	t := newTree(b)
	q := t.newQuery(second)
	q.budget = 8 * budget
	u := rand.New(rand.NewPCG(1, 2))
	visits := 0
	for range pilots {
		i := u.IntN(a.N)
		if self {
			q.skip = i
		}
		q.distance = func(j int) float64 { return distance(i, j) }
		q.search(a.X[i*a.K : (i+1)*a.K])
		if visits += q.visits; visits > pilots*budget {
			return nil
		}
	}
	return t
}
