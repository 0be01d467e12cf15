// Package nearest finds, for every point of a set, the nearest points of
// another set or of its own, exactly, at the speed of a matrix product or better.
//
// The distance is the caller's and may be any function. What makes the search fast is an embedding
// in float32 vectors whose squared Euclidean distance, which a matrix product gives for 96 pairs at
// a time, never exceeds the distance. Rounding errors are bounded and counted, so that the product
// only ever proves that a pair is too far to matter; the few pairs that it cannot rule out are
// measured by the caller's function. Where points are many and coordinates few, a tree of the
// embedded points rules out more with less. Either way the result is what a double loop over the
// caller's function would give, bit by bit.
package nearest

import "fmt"

// Set is N points as rows of K coordinates.
type Set struct {
	N, K int
	X    []float32 // row-major, N·K numbers; the sum of the squares of a row is at most 2¹²⁰
}

// Metric is the exact distance of two sets (or within one).
type Metric struct {
	// Distance is the distance of point i of the first set and point j of the second. It must be safe
	// for concurrent use, not NaN, and at least ‖e(i) − e(j)‖², the coordinates being e rounded to
	// float32. The closer it is to that, the fewer pairs are measured.
	Distance func(i, j int) float64
	// Integral says that all coordinates are integers and that squared norms stay below 2²⁰. Nothing
	// is rounded then, and pairs as far as the best ones so far are ruled out without measuring them.
	Integral bool
}

// Best is the distances of each point to its nearest and second nearest
// neighbour, +Inf where there is none. Second is filled only if asked for.
type Best struct{ First, Second []float64 }

// Cross finds the nearest points of b for every point of a and, if both is set,
// the nearest points of a for every point of b; second asks for the second
// nearest too. Points are distinct even where they coincide.
func Cross(a, b Set, m Metric, both, second bool) (ab, ba Best) {
	if a.K != b.K {
		panic(fmt.Sprintf("nearest: sets of %d and of %d coordinates", a.K, b.K))
	}
	check(a)
	check(b)
	if t := pays(a, b, m.Distance, false, second, both); t != nil {
		ab = t.all(a, m.Distance, false, second)
		if both {
			ba = newTree(a).all(b, func(j, i int) float64 { return m.Distance(i, j) }, false, second)
		}
		return ab, ba
	}
	return product(a, b, m, both, second)
}

// Self finds, for every point of a, the nearest other points of a.
func Self(a Set, m Metric, second bool) Best {
	check(a)
	if t := pays(a, a, m.Distance, true, second, true); t != nil {
		return t.all(a, m.Distance, true, second)
	}
	return productWithin(a, m, second)
}

func check(s Set) {
	if len(s.X) != s.N*s.K {
		panic(fmt.Sprintf("nearest: %d coordinates for %d points of %d", len(s.X), s.N, s.K))
	}
	for i := range s.N {
		if !(squaredNorm(s.X[i*s.K:(i+1)*s.K]) <= 0x1p120) {
			panic("nearest: a point is farther from the origin than 2⁶⁰")
		}
	}
}
