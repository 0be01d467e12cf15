package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// euclidean makes sets of float64 points and their exact squared distance.
func euclidean(a, b [][]float64) (Set, Set, Metric) {
	return setOf(a), setOf(b), Metric{Distance: func(i, j int) float64 {
		sum := 0.0
		for k, x := range a[i] {
			sum += (x - b[j][k]) * (x - b[j][k])
		}
		return sum
	}}
}

func setOf(points [][]float64) Set {
	s := Set{N: len(points)}
	for _, p := range points {
		s.K = len(p)
		for _, x := range p {
			s.X = append(s.X, float32(x))
		}
	}
	return s
}

// brute is the definition.
func brute(n, m int, distance func(i, j int) float64, self bool) Best {
	out := Best{First: make([]float64, n), Second: make([]float64, n)}
	for i := range n {
		all := []float64{math.Inf(1), math.Inf(1)}
		for j := range m {
			if !self || i != j {
				all = append(all, distance(i, j))
			}
		}
		slices.Sort(all)
		out.First[i], out.Second[i] = all[0], all[1]
	}
	return out
}

func points(n, k int, draw func() float64) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, k)
		for j := range out[i] {
			out[i][j] = draw()
		}
	}
	return out
}

// TestAgainstDefinition compares with the double loop, bit by bit, at sizes around those of tiles
// and blocks, for points that are hard on rounding: ties, copies, tiny and huge coordinates, sorted
// in the worst order.
func TestAgainstDefinition(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	walk := 0.0
	draws := []struct {
		name string
		draw func() float64
	}{
		{"normal", u.NormFloat64},
		{"few", func() float64 { return float64(u.IntN(2)) }},
		{"tenths", func() float64 { return float64(u.IntN(4)) / 10 }},
		{"huge", func() float64 { return 1e15 * u.NormFloat64() }},
		{"tiny", func() float64 { return 1e-25 * u.NormFloat64() }},
		{"spread", func() float64 { return math.Exp(max(-35, min(35, 20*u.NormFloat64()))) }},
		{"far off", func() float64 { return 1e4 + 1e-3*u.NormFloat64() }},
		{"walk", func() float64 { walk += u.Float64(); return walk }},
		{"constant", func() float64 { return 3.3 }},
	}
	for _, form := range forms {
		for _, d := range draws {
			for _, shape := range [][3]int{{1, 1, 1}, {2, 17, 3}, {6, 16, 1}, {7, 5, 2},
				{100, 95, 8}, {70, 130, 40}} {
				t.Run(fmt.Sprint(form.name, " ", d.name, shape), func(t *testing.T) {
					before := tile
					defer func() { tile = before }()
					tile = form.tile
					a, b := points(shape[0], shape[2], d.draw), points(shape[1], shape[2], d.draw)
					copy(b[len(b)-1], a[len(a)-1])
					sa, sb, metric := euclidean(a, b)
					for _, second := range []bool{true, false} {
						swapped := func(i, j int) float64 { return metric.Distance(j, i) }
						ab, ba := Cross(sa, sb, metric, true, second)
						compare(t, "first to second", ab,
							brute(len(a), len(b), metric.Distance, false), second)
						compare(t, "second to first", ba,
							brute(len(b), len(a), swapped, false), second)
						one, none := Cross(sa, sb, metric, false, second)
						compare(t, "one way", one, ab, second)
						if none.First != nil {
							t.Error("the other way was not asked for")
						}
						_, _, within := euclidean(b, b)
						self := brute(len(b), len(b), within.Distance, true)
						compare(t, "self", Self(sb, within, second), self, second)
						compare(t, "tree", newTree(sb).all(sa, metric.Distance, false, second), ab,
							second)
						compare(t, "self by tree",
							newTree(sb).all(sb, within.Distance, true, second), self, second)
					}
				})
			}
		}
	}
}

var forms = []struct {
	name string
	tile func(int, []float32, []float32, *[rowsPerTile]float32, *[colsPerTile]float32,
		*[rowsPerTile]uint32) uint32
}{{"plain", tileGo}, {"fastest", tile}}

func compare(t *testing.T, what string, got, want Best, second bool) {
	t.Helper()
	if !slices.Equal(got.First, want.First) {
		t.Errorf("%s: nearest %v, want %v", what, got.First, want.First)
	}
	if second && !slices.Equal(got.Second, want.Second) {
		t.Errorf("%s: second nearest %v, want %v", what, got.Second, want.Second)
	}
	if !second && got.Second != nil {
		t.Errorf("%s: the second nearest was not asked for", what)
	}
}

// TestIntegralMeasuresFew counts the exact distances of points with very many ties.
func TestIntegralMeasuresFew(t *testing.T) {
	u := rand.New(rand.NewPCG(2, 2))
	a, b := points(400, 12, func() float64 { return float64(u.IntN(2)) }),
		points(500, 12, func() float64 { return float64(u.IntN(2)) })
	sa, sb, metric := euclidean(a, b)
	want := brute(len(a), len(b), metric.Distance, false)
	measured := [2]int{}
	for i, integral := range []bool{false, true} {
		counted := metric
		counted.Integral = integral
		counts := make(chan int, len(a)*len(b)+1)
		counted.Distance = func(i, j int) float64 { counts <- 1; return metric.Distance(i, j) }
		got, _ := Cross(sa, sb, counted, false, true)
		compare(t, fmt.Sprint("integral ", integral), got, want, true)
		measured[i] = len(counts)
	}
	if measured[1] >= measured[0] || measured[1] > 60*len(a) {
		t.Errorf("%d distances measured with whole coordinates, %d without, of %d pairs",
			measured[1], measured[0], len(a)*len(b))
	}
}

// TestLowerBound uses an embedding that understates distances.
func TestLowerBound(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 3))
	a, b := points(200, 3, u.Float64), points(220, 3, u.Float64)
	sa, sb, exact := euclidean(a, b)
	metric := Metric{Distance: func(i, j int) float64 {
		return exact.Distance(i, j) +
			.5*float64((i+j)%2)
	}}
	got, _ := Cross(sa, sb, metric, false, true)
	compare(t, "lower bound", got, brute(len(a), len(b), metric.Distance, false), true)
}

// TestTreeIsChosen: for many points of few coordinates, or on a line through many, and not for many
// coordinates. The results of both searches are the same.
func TestTreeIsChosen(t *testing.T) {
	u := rand.New(rand.NewPCG(6, 6))
	const n = smallest + 4000
	x, coordinate := 0.0, 0
	line := func() float64 { // twenty coordinates that are nearly the same
		if coordinate++; coordinate%20 == 1 {
			x = u.NormFloat64()
		}
		return x + .001*u.NormFloat64()
	}
	for _, test := range []struct {
		name   string
		k      int
		draw   func() float64
		expect bool
	}{
		{"plane", 2, u.NormFloat64, true},
		{"line", 20, line, true},
		{"many coordinates", 30, u.NormFloat64, false},
		{"one place", 3, func() float64 { return 1 }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b := points(n, test.k, test.draw), points(n, test.k, test.draw)
			sa, sb, metric := euclidean(a, b)
			if got := pays(sa, sb, metric.Distance, false, true, true) != nil; got != test.expect {
				t.Errorf("tree %v, want %v", got, test.expect)
			}
			ab, ba := Cross(sa, sb, metric, true, true)
			wantAB, wantBA := product(sa, sb, metric, true, true)
			compare(t, "first to second", ab, wantAB, true)
			compare(t, "second to first", ba, wantBA, true)
			_, _, within := euclidean(a, a)
			compare(t, "self", Self(sa, within, false), productWithin(sa, within, false), false)
		})
	}
}

func TestShapesPanic(t *testing.T) {
	_, _, metric := euclidean(nil, nil)
	for name, call := range map[string]func(){
		"other coordinates": func() {
			Cross(Set{N: 1, K: 1, X: []float32{1}}, Set{N: 1, K: 2, X: []float32{1, 2}}, metric,
				true, true)
		},
		"too few": func() { Self(Set{N: 2, K: 1, X: []float32{1}}, metric, true) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}

// TestTilesAgree compares the forms of tile on sums that sit at the thresholds.
func TestTilesAgree(t *testing.T) {
	u := rand.New(rand.NewPCG(4, 4))
	for _, depth := range []int{1, 2, 7, 64} {
		for range 200 {
			a, b := make([]float32, 6*depth), make([]float32, 16*depth)
			for i := range a {
				a[i] = float32(u.IntN(5) - 2)
			}
			for i := range b {
				b[i] = float32(u.IntN(5) - 2)
			}
			var row [rowsPerTile]float32
			var col [colsPerTile]float32
			for i := range row {
				row[i] = float32(u.IntN(9) - 2)
			}
			for i := range col {
				col[i] = float32(u.IntN(9) - 2)
			}
			if u.IntN(4) == 0 {
				row[2], col[3] = float32(math.Inf(-1)), float32(math.Inf(1))
			}
			var plain, fast [rowsPerTile]uint32
			p, f := tileGo(depth, a, b, &row, &col, &plain), tile(depth, a, b, &row, &col, &fast)
			if p != f || plain != fast {
				t.Fatalf("depth %d: hits %v, union %x; want %v, %x", depth, fast, f, plain, p)
			}
		}
	}
}

func BenchmarkCross(b *testing.B) {
	u := rand.New(rand.NewPCG(5, 5))
	for _, shape := range [][2]int{{10000, 3}, {100000, 3}, {100000, 6}, {10000, 8}, {10000, 20},
		{10000, 100}} {
		x, y := points(shape[0], shape[1], u.NormFloat64), points(shape[0], shape[1], u.NormFloat64)
		sx, sy, metric := euclidean(x, y)
		b.Run(fmt.Sprint(shape), func(b *testing.B) {
			for b.Loop() {
				Cross(sx, sy, metric, true, true)
			}
			pairs := float64(shape[0]) * float64(shape[0])
			b.ReportMetric(pairs*2*float64(shape[1])*float64(b.N)/b.Elapsed().Seconds()/1e9,
				"GFLOP/s")
		})
	}
}
