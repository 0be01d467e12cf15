package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNearestIsADoubleLoop compares with the definition, bit by bit, at sizes around those of
// blocks, for points that are hard on rounding: ties, copies, close ones, in the worst order.
func TestNearestIsADoubleLoop(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	walk := 0.0
	for _, d := range []struct {
		name string
		draw func() float64
	}{
		{"normal", u.NormFloat64},
		{"few", func() float64 { return float64(u.IntN(2)) }},
		{"tenths", func() float64 { return float64(u.IntN(4)) / 10 }},
		{"spread", func() float64 { return math.Exp(max(-35, min(0, 20*u.NormFloat64()))) }},
		{"far off", func() float64 { return 99 + 1e-3*u.NormFloat64() }},
		{"walk", func() float64 { walk += 1e-3 * u.Float64(); return walk }},
		{"constant", func() float64 { return 3.3 }},
	} {
		for _, shape := range [][3]int{{1, 1, 1}, {2, 17, 3}, {6, 16, 1}, {7, 5, 2}, {100, 95, 8},
			{blockRows + 1, blockCols + 1, 40}} {
			t.Run(fmt.Sprint(d.name, shape), func(t *testing.T) {
				points := func(n int) *Points {
					x := make([]float64, n*shape[2])
					for i := range x {
						x[i] = d.draw()
					}
					return pointsAt(shape[2], x...)
				}
				a, b := points(shape[0]), points(shape[1])
				copy(b.row(b.n-1), a.row(a.n-1))
				compareNearest(t, a, b)
			})
		}
	}
}

// TestNearestRows is the same for rows of tables, under both distances.
func TestNearestRows(t *testing.T) {
	u := rand.New(rand.NewPCG(2, 2))
	s := schemaOf(t, category("a", 700), number("b", 100), optional(number("c", 5)),
		optional(category("d", 3)))
	for _, d := range []Distance{Euclidean, Gower} {
		a := pointsOf(t, uniformTable(t, s, 150, u), d)
		b := pointsOf(t, uniformTable(t, s, 2*blockCols, u), d)
		compareNearest(t, a, b)
	}
}

// compareNearest checks the search from a to b, and among those of a.
func compareNearest(t *testing.T, a, b *Points) {
	t.Helper()
	first, second, err := Nearest(a, b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.n {
		to, others := []float64{math.Inf(1), math.Inf(1)}, math.Inf(1)
		for j := range b.n {
			to = append(to, a.space.scale(a.space.between(a.row(i), b.row(j))))
		}
		for j := range a.n {
			if i != j {
				others = min(others, a.space.scale(a.space.between(a.row(i), a.row(j))))
			}
		}
		slices.Sort(to)
		if first[i] != to[0] || second[i] != to[1] || a.others()[i] != others {
			t.Errorf("point %d: %v, %v and %v, want %v, %v and %v", i, first[i], second[i],
				a.others()[i], to[0], to[1], others)
		}
	}
}
